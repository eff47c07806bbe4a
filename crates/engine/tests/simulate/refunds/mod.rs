//! Refunds and claims under chance: payments that arrive, are held, decided about and taken back, refunds that are made,
//! claimed, sent, cancelled and forgotten, and processes that die in between. What must hold is read from the tables.

mod hold;
mod steps;

pub use steps::listed;

use std::collections::{BTreeMap, BTreeSet};

use till_core::scope::Scope;

use crate::world::World;

/// The merchant: the first account's test mode.
const M: usize = 0;
const CHECK_BOOKS_EVERY: usize = 20;

/// What was answered about a refund, and nothing that the server worked out from it.
#[derive(Clone, Debug)]
pub struct Made {
    pub id: String,
    pub token: String,
    pub invoice: String,
    /// What of it gave back a price that was paid.
    pub gives: u128,
}

pub struct Story {
    pub world: World,
    pub invoices: Vec<String>,
    pub refunds: Vec<Made>,
    /// Each refund's history as it was last read: it may only grow.
    pub histories: BTreeMap<String, Vec<String>>,
    /// Invoices of which a payment left the chain.
    pub reversed: BTreeSet<String>,
}

impl Story {
    pub fn scope(&self) -> Scope {
        self.world.model.merchants[M].scope.clone()
    }
}

/// Runs one seed to its end, and says what happened in it.
fn run(seed: u64, steps: usize) -> Result<BTreeSet<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut story = Story {
            world: World::new(seed).await,
            invoices: Vec::new(),
            refunds: Vec::new(),
            histories: BTreeMap::new(),
            reversed: BTreeSet::new(),
        };
        for step in 0..steps {
            let mut done = steps::step(&mut story).await;
            if done.is_ok() {
                done = hold::always(&mut story).await;
            }
            if done.is_ok() && step % CHECK_BOOKS_EVERY == CHECK_BOOKS_EVERY - 1 {
                done = hold::books(&mut story).await;
            }
            done.map_err(|wrong| {
                let last = story.world.last_steps();
                format!("seed {seed}, step {step}: {wrong}\n{last}")
            })?;
        }
        Ok(story.world.visited)
    })
}

#[test]
fn refunds_keep_their_invariants_on_every_seed() {
    let seeds = crate::number("TILL_TEST_REFUND_SEEDS", 8);
    let mut visited = BTreeSet::new();
    for seed in 0..u64::try_from(seeds).unwrap() {
        let mut happened = run(seed, 250).unwrap_or_else(|failure| panic!("{failure}"));
        visited.append(&mut happened);
    }
    let missing: Vec<_> = [
        "refunded",
        "claimed",
        "in review",
        "sent",
        "cancelled",
        "lapsed",
        "refunded beyond received",
        "refunded_and_reversed",
        "refund_exceeds_received",
        "nothing_received",
        "claim_already_submitted",
        "claim_cancelled",
        "claim_expired",
        "claim_already_sent",
        "refund_not_ready",
        "refund_already_sent",
        "killed when done",
        "killed and undone",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
