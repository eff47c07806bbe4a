//! Subscriptions and prepaid credit under chance: customers who top up, subscribe, pay, pay in part or not at all, payments
//! that leave the chain, merchants who pause, resume, cancel and refund, days and months that pass, and processes that
//! die in between. What must hold is read from the tables.

mod credit;
mod hold;
mod steps;

use std::collections::BTreeSet;

use till_core::scope::Scope;

use crate::world::World;

/// The merchant: the first account's test mode.
const M: usize = 0;

pub struct Story {
    pub world: World,
    pub customers: Vec<String>,
    pub plans: Vec<String>,
    pub subscriptions: Vec<String>,
    pub top_ups: Vec<String>,
    /// A payment has left the chain: what was paid may be unpaid again.
    pub has_reversed: bool,
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
            customers: Vec::new(),
            plans: Vec::new(),
            subscriptions: Vec::new(),
            top_ups: Vec::new(),
            has_reversed: false,
        };
        steps::begin(&mut story).await?;
        for step in 0..steps {
            let mut done = steps::step(&mut story).await;
            if done.is_ok() {
                done = hold::always(&mut story).await;
            }
            if done.is_ok() {
                done = credit::always(&mut story).await;
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
fn subscriptions_and_credit_keep_their_invariants_on_every_seed() {
    let seeds = crate::number("TILL_TEST_SUBSCRIPTION_SEEDS", 12);
    let mut visited = BTreeSet::new();
    for seed in 0..u64::try_from(seeds).unwrap() {
        let mut happened = run(seed, 250).unwrap_or_else(|failure| panic!("{failure}"));
        visited.append(&mut happened);
    }
    let missing: Vec<_> = [
        "subscribed",
        "topped up",
        "paused",
        "resumed",
        "cancelled",
        "refunded",
        "paid by credit alone",
        "paid by an invoice",
        "paid by both",
        "returned",
        "past_due",
        "incomplete",
        "requested",
        "unpaid",
        "credit undone",
        "subscription_state",
        "killed when done",
        "killed and undone",
        "came back",
        "reviewed",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
