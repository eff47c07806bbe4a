//! Runs many seeds. Says first which of them fail and how to replay them, and tells each failure as a short story at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::run::{Checks, Failure, Ran, Way};
use crate::seeds::{Family, Seed};
use crate::settings::{number, setting};
use crate::shrink;

/// For all the failures of one test together.
const SHRINK_S: usize = 60;
const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// They change what a seed does or what is noticed of it, so a replay needs them too.
const PASSED_ON: [&str; 2] = ["TILL_TEST_STEPS", "TILL_TEST_CHECK_EVERY"];

/// Runs seeds. Fails when one fails; otherwise answers what happened in them.
pub fn must_hold(seeds: impl IntoIterator<Item = Seed>) -> BTreeSet<String> {
    run_all(seeds, |_, _| ())
}

/// Calls `done` after each seed, with whether it failed.
fn run_all(seeds: impl IntoIterator<Item = Seed>, done: impl Fn(Seed, bool)) -> BTreeSet<String> {
    let mut visited = BTreeSet::new();
    let mut failed = Vec::new();
    for seed in seeds {
        let mut ran = first_run(seed);
        visited.append(&mut ran.visited);
        done(seed, ran.failure.is_some());
        if let Some(failure) = ran.failure {
            eprintln!("{}", announce(seed, &failure, None));
            failed.push(seed);
        }
    }
    tell_stories(&failed);
    assert!(failed.is_empty(), "failing seeds: {}", list(&failed));
    visited
}

/// Runs one test's share of the seeds that somebody asked for, says how far it has come, and at the end how it went.
pub fn run_share(share: u64, of: u64, asked_for: &[Seed]) {
    progress().begin(asked_for.len(), of);
    let seeds = asked_for.iter().filter(|it| it.share(of) == share);
    let count = |seed, fails| progress().count(seed, fails);
    let done = std::panic::catch_unwind(|| run_all(seeds.copied(), count));
    progress().end_share();
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// Whole, or the steps that were asked for.
fn first_run(seed: Seed) -> Ran {
    let run = |checks: Checks, way: &Way| seed.family.run(seed.number, checks, way);
    let Some(text) = setting("TILL_TEST_KEEP") else {
        return run(Checks::AsUsual, &Way::Whole);
    };
    let (kept, rests) =
        shrink::parse(&text).expect("TILL_TEST_KEEP is a list of steps such as 3,17-0-2,40,rest");
    let ran = shrink::repeat(&run, &kept, rests);
    eprintln!("{}", shrink::story(&ran.told, None));
    ran
}

/// One line that says what fails, and one that replays it.
fn announce(seed: Seed, failure: &Failure, kept: Option<&str>) -> String {
    let Seed { family, number } = seed;
    let at = match failure.step {
        Some(step) => format!("at step {step}"),
        None => "at rest".to_owned(),
    };
    let mut replay = format!(
        "TILL_TEST_FAMILY={} TILL_TEST_SEEDS={number}..{}",
        family.name(),
        number + 1
    );
    for name in PASSED_ON {
        if let Some(value) = setting(name) {
            replay += &format!(" {name}={value}");
        }
    }
    if let Some(kept) = kept {
        replay += &format!(" TILL_TEST_KEEP={kept}");
    }
    let name = family.name();
    let wrong = &failure.wrong;
    format!(
        "{name} seed {number} fails {at}: {wrong}\n  \
         replay: {replay} cargo test -p till-engine --test simulate every_invariant -- --nocapture\n"
    )
}

fn list(seeds: &[Seed]) -> String {
    let names = seeds
        .iter()
        .map(|it| format!("{} {}", it.family.name(), it.number));
    names.collect::<Vec<_>>().join(", ")
}

fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it takes is no part of what is found"
    )]
    Instant::now()
}

/// Shrinks the failures, one after the other, as long as there is time.
fn tell_stories(failed: &[Seed]) {
    let seconds = number("TILL_TEST_SHRINK_SECONDS", SHRINK_S);
    // What is kept already is not made shorter.
    if setting("TILL_TEST_KEEP").is_some() || seconds == 0 {
        return;
    }
    let end = now() + Duration::from_secs(seconds as u64);
    for seed in failed {
        let run = |checks: Checks, way: &Way| seed.family.run(seed.number, checks, way);
        let (name, number) = (seed.family.name(), seed.number);
        if now() >= end {
            eprintln!(
                "{name} seed {number} is not made shorter: TILL_TEST_SHRINK_SECONDS={seconds} are over"
            );
            continue;
        }
        match shrink::shrink(&run, &|| now() < end) {
            Ok(shrunk) => {
                let steps = shrunk.kept.len();
                let end = match shrunk.is_done {
                    true => "",
                    false => ", and could become shorter with more TILL_TEST_SHRINK_SECONDS",
                };
                let story = shrink::story(&shrunk.told, Some(&shrunk.failure));
                let kept = shrink::show(&shrunk.kept, shrunk.failure.step.is_none());
                let replay = announce(*seed, &shrunk.failure, Some(&kept));
                eprintln!("{name} seed {number} in {steps} steps{end}:\n{story}\n{replay}");
            }
            Err(why) => eprintln!("{name} seed {number} cannot be made shorter: {why}"),
        }
    }
}

/// How far the tests of this process have come with the seeds that somebody asked for.
#[derive(Default)]
struct Progress {
    /// None as long as nobody asked.
    began: Option<Instant>,
    told: Option<Instant>,
    total: usize,
    done: usize,
    failed: BTreeMap<Family, usize>,
    shares_left: u64,
}

fn progress() -> MutexGuard<'static, Progress> {
    static PROGRESS: LazyLock<Mutex<Progress>> = LazyLock::new(Mutex::default);
    PROGRESS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    fn begin(&mut self, total: usize, shares: u64) {
        if self.began.is_none() {
            self.total = total;
            self.shares_left = shares;
            self.began = Some(now());
            self.told = self.began;
        }
    }

    fn count(&mut self, seed: Seed, fails: bool) {
        self.done += 1;
        if fails {
            *self.failed.entry(seed.family).or_default() += 1;
        }
        let (Some(began), Some(told)) = (self.began, self.told) else {
            return;
        };
        if told.elapsed() >= PROGRESS_EVERY {
            self.told = Some(now());
            let (done, total, seconds) = (self.done, self.total, began.elapsed().as_secs());
            let failed: usize = self.failed.values().sum();
            eprintln!("{done} of {total} runs in {seconds} s, {failed} failed");
        }
    }

    fn end_share(&mut self) {
        self.shares_left -= 1;
        let Some(began) = self.began.filter(|_| self.shares_left == 0) else {
            return;
        };
        let failed = |family: &Family| self.failed.get(family).copied().unwrap_or_default();
        let families = Family::ALL
            .iter()
            .map(|it| format!("{} {}", it.name(), failed(it)));
        let families = families.collect::<Vec<_>>().join(", ");
        let (done, seconds) = (self.done, began.elapsed().as_secs());
        eprintln!("{done} runs in {seconds} s; failed: {families}");
    }
}
