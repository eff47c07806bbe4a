//! Two processes on one database whose clocks disagree and are set back, and what leaves them beside webhooks: receipts by
//! mail, and live streams that are followed in one process while the other works. What must hold is read from the tables, from
//! the post and from what readers saw; there is no model.

mod hold;
mod post;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use till_core::scope::Scope;
use till_engine::Engine;
use till_engine::checkout::stream::Subscription;
use till_engine::testing::StillClock;

use crate::run::{Checks, Simulated};
use crate::runner;
use crate::seeds::{Family, Seed};
use crate::tape::Tape;
use crate::world::{Check, World};
use post::Post;

/// The merchant: the first account's test mode.
const M: usize = 0;
/// How far a clock is from the truth at most.
const ASTRAY_MS: i64 = 60_000;
/// As the documentation tells receivers: what comes from a clock that is astray is still believed.
const TOLERANCE_S: i64 = 300;

pub struct Process {
    pub clock: Arc<StillClock>,
    pub engine: Arc<Engine>,
}

/// Somebody who watches an invoice's page.
pub struct Reader {
    pub process: usize,
    pub invoice: String,
    pub subscription: Subscription,
    pub seen: i64,
}

pub struct Story {
    /// Its clock is the true one, and the receivers'.
    pub world: World,
    pub processes: [Process; 2],
    pub post: Arc<Post>,
    pub invoices: Vec<String>,
    pub readers: Vec<Reader>,
    /// Each page's token, by its invoice.
    pub sessions: BTreeMap<String, String>,
    /// What a stream said under each number, whoever read it first.
    pub told: BTreeMap<(String, i64), Value>,
}

impl Story {
    async fn new(seed: u64, tape: Option<Tape>) -> Story {
        let world = World::new(seed, tape).await;
        world.receiver.tolerate(TOLERANCE_S);
        let post = Post::open().await;
        let processes = [0, 1].map(|_| {
            let clock = Arc::new(StillClock::at(world.real_now()));
            let engine = world.process(&clock, Some(post.mailer()));
            Process { clock, engine }
        });
        Story {
            world,
            processes,
            post,
            invoices: Vec::new(),
            readers: Vec::new(),
            sessions: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    pub fn scope(&self) -> Scope {
        self.world.model.merchants[M].scope.clone()
    }

    /// A process died and starts again; who followed a stream in it connects again when they read next.
    pub fn restart(&mut self, process: usize) {
        let clock = Arc::clone(&self.processes[process].clock);
        let engine = self.world.process(&clock, Some(self.post.mailer()));
        self.processes[process] = Process { clock, engine };
        let scope = self.scope();
        for reader in self.readers.iter_mut().filter(|it| it.process == process) {
            let hub = &self.processes[process].engine.hub;
            reader.subscription = hub.subscribe(&scope, &reader.invoice, 0);
        }
    }
}

impl Simulated for Story {
    const STEPS: usize = 300;
    const KEEPS_TIME: bool = true;

    async fn new(seed: u64, tape: Option<Tape>) -> Story {
        Story::new(seed, tape).await
    }

    fn world(&mut self) -> &mut World {
        &mut self.world
    }

    fn pass_time(&mut self, ms: i64) {
        steps::advance(self, ms);
    }

    async fn step(&mut self) -> Check {
        steps::step(self).await
    }

    async fn check(&mut self, _: usize, _: Checks) -> Check {
        hold::always(self).await
    }

    async fn come_to_rest(&mut self) -> Check {
        steps::come_to_rest(self).await?;
        hold::at_rest(self).await
    }
}

#[test]
fn processes_whose_clocks_disagree_lose_and_double_nothing() {
    let seeds = (0..8).map(|number| Seed {
        family: Family::Apart,
        number,
    });
    let visited = runner::must_hold(seeds);
    let missing: Vec<_> = [
        "a clock set back",
        "expired",
        "paid",
        "reversed",
        "cancelled",
        "an address left",
        "a mail",
        "a mail refused",
        "woken by the other process",
        "read after coming back",
        "killed when done",
        "killed and undone",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
