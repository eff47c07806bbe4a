//! Runs a seed, wholly or some of its steps, and says how it ended.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Once};
use std::task::Poll;

use futures::FutureExt as _;

use crate::tape::{Part, Recording, Start, Tape};
use crate::world::{Check, World};

/// How often a step's future is polled at most: far more often than any needs, and soon reached by one that goes round in
/// circles. Time would depend on what else the machine does.
const POLLS_MAX: u64 = 500_000;
/// Where a recording keeps what comes before the first step and after the last.
const BEGINNING: usize = 0;
const REST: usize = usize::MAX;

/// A family of simulations: a world, what can happen in it, and what must hold.
pub trait Simulated: Sized {
    /// Steps of a whole run.
    const STEPS: usize;
    /// Whether a repeated step happens when it did in the recorded run, although steps in which time passed are left out.
    const KEEPS_TIME: bool;

    async fn new(seed: u64, tape: Option<Tape>) -> Self;
    fn world(&mut self) -> &mut World;
    fn pass_time(&mut self, ms: i64) {
        self.world().clock.advance(ms);
    }
    async fn begin(&mut self) -> Check {
        Ok(())
    }
    async fn step(&mut self) -> Check;
    /// What must hold after a step. Dear checks may be left out after most.
    async fn check(&mut self, step: usize, checks: Checks) -> Check;
    async fn come_to_rest(&mut self) -> Check {
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Checks {
    AsUsual,
    /// All of them, after each step.
    All,
}

/// The steps of a run that are repeated, each with the parts it leaves out.
pub type Kept = BTreeMap<usize, BTreeSet<usize>>;

pub enum Way<'a> {
    Whole,
    /// The same, with its draws written down.
    Recorded,
    Repeated {
        recording: &'a Arc<Recording>,
        kept: &'a Kept,
        /// Whether it is brought to rest after the last step.
        rests: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// None when it was coming to rest.
    pub step: Option<usize>,
    pub wrong: String,
}

/// What a step did, in words.
#[derive(Clone, Debug)]
pub struct Told {
    /// None for the coming to rest.
    pub step: Option<usize>,
    pub clock_ms: i64,
    pub lines: Vec<String>,
    pub parts: Vec<Part>,
}

pub struct Ran {
    pub failure: Option<Failure>,
    /// The hash of every step and its outcome.
    pub trace: String,
    pub visited: BTreeSet<String>,
    pub told: Vec<Told>,
    pub recording: Option<Recording>,
}

pub fn run<S: Simulated>(seed: u64, steps: usize, checks: Checks, way: &Way) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(drive::<S>(seed, steps, checks, way))
}

async fn drive<S: Simulated>(seed: u64, steps: usize, checks: Checks, way: &Way<'_>) -> Ran {
    let tape = match way {
        Way::Whole => None,
        Way::Recorded => Some(Tape::record()),
        Way::Repeated { recording, .. } => Some(Tape::repeat(recording)),
    };
    let nothing = BTreeSet::new();
    let whole: Kept;
    let (kept, rests) = match way {
        Way::Repeated { kept, rests, .. } => (*kept, *rests),
        Way::Whole | Way::Recorded => {
            whole = (0..steps).map(|step| (step, BTreeSet::new())).collect();
            (&whole, true)
        }
    };
    let mut it = S::new(seed, tape).await;
    let mut told = Vec::new();
    start(&mut it, BEGINNING, &nothing);
    let mut failure = fails(it.begin()).await.map(|wrong| (Some(0), wrong));
    for (step, left_out) in kept {
        if failure.is_some() {
            break;
        }
        let clock_ms = start(&mut it, step + 1, left_out);
        let mut wrong = fails(it.step()).await;
        if wrong.is_none() {
            wrong = fails(it.check(*step, checks)).await;
        }
        told.push(tell(&mut it, Some(*step), clock_ms));
        failure = wrong.map(|wrong| (Some(*step), wrong));
    }
    if failure.is_none() && rests {
        let clock_ms = start(&mut it, REST, &nothing);
        let wrong = fails(it.come_to_rest()).await;
        told.push(tell(&mut it, None, clock_ms));
        failure = wrong.map(|wrong| (None, wrong));
    }
    let trace = it.world().trace_hash();
    let visited = std::mem::take(&mut it.world().visited);
    let rng = std::mem::replace(&mut it.world().rng, crate::rng::Rng::new(0, None));
    Ran {
        failure: failure.map(|(step, wrong)| Failure { step, wrong }),
        trace,
        visited,
        told,
        recording: rng.into_tape().and_then(Tape::recording),
    }
}

/// Begins a step, in a repeated run as it began in the recorded one. Answers what the clock says.
fn start<S: Simulated>(it: &mut S, step: usize, left_out: &BTreeSet<usize>) -> i64 {
    let world = it.world();
    let now = Start {
        rng: world.rng.state(),
        entropy: world.entropy.count(),
        clock_ms: world.real_now(),
        keys_made: world.keys_made,
        transactions_made: world.transactions_made,
    };
    let tape = world.rng.tape();
    if let Some(was) = tape.and_then(|tape| tape.begin(step, left_out, now)) {
        world.rng.set_state(was.rng);
        world.entropy.skip_to(was.entropy);
        world.keys_made = world.keys_made.max(was.keys_made);
        world.transactions_made = world.transactions_made.max(was.transactions_made);
        if S::KEEPS_TIME && was.clock_ms > now.clock_ms {
            it.pass_time(was.clock_ms - now.clock_ms);
        }
    }
    it.world().real_now()
}

fn tell<S: Simulated>(it: &mut S, step: Option<usize>, clock_ms: i64) -> Told {
    let world = it.world();
    let tape = world.rng.tape();
    Told {
        step,
        clock_ms,
        parts: tape.map(|tape| tape.parts().to_vec()).unwrap_or_default(),
        lines: world.take_notes(),
    }
}

thread_local! {
    /// Where and why the thread panicked, while somebody waits to hear of it; none while nobody does.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What is wrong, if anything is: a failed check, a panic, or a step that does not end.
async fn fails(work: impl Future<Output = Check>) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_awaited = PANIC.with_borrow_mut(|told| match told {
                Some(told) => {
                    *told = panic.to_string();
                    true
                }
                None => false,
            });
            if !is_awaited {
                usual(panic);
            }
        }));
    });
    PANIC.set(Some(String::new()));
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    let mut polls = 0;
    let done = std::future::poll_fn(|cx| {
        polls += 1;
        match work.as_mut().poll(cx) {
            Poll::Pending if polls > POLLS_MAX => Poll::Ready(None),
            poll => poll.map(Some),
        }
    });
    let done = done.await;
    let panic = PANIC.take();
    match done {
        Some(Ok(done)) => done.err(),
        Some(Err(_)) => panic,
        None => Some("it does not end".to_owned()),
    }
}
