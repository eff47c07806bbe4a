//! Subscriptions and prepaid credit under chance: customers who top up, subscribe, pay, pay in part or not at all, payments
//! that leave the chain, merchants who pause, resume, cancel and refund, days and months that pass, and processes that
//! die in between. What must hold is read from the tables.

mod credit;
mod hold;
mod steps;
mod tile;
mod twins;

use till_core::scope::Scope;

use crate::run::{Checks, Simulated};
use crate::runner;
use crate::seeds::{Family, Seed};
use crate::settings::number;
use crate::tape::Tape;
use crate::world::{Check, World};

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
    /// Somebody on a list sends to addresses that invoices of subscriptions had or have, in one seed of four: which are not
    /// those with twins.
    pub has_strangers: bool,
}

impl Story {
    pub fn scope(&self) -> Scope {
        self.world.model.merchants[M].scope.clone()
    }
}

impl Simulated for Story {
    const STEPS: usize = 250;
    const KEEPS_TIME: bool = false;

    async fn new(seed: u64, tape: Option<Tape>) -> Story {
        Story {
            world: World::new(seed, tape).await,
            customers: Vec::new(),
            plans: Vec::new(),
            subscriptions: Vec::new(),
            top_ups: Vec::new(),
            has_reversed: false,
            has_strangers: seed % 4 == 1,
        }
    }

    fn world(&mut self) -> &mut World {
        &mut self.world
    }

    async fn begin(&mut self) -> Check {
        steps::begin(self).await
    }

    async fn step(&mut self) -> Check {
        steps::step(self).await
    }

    async fn check(&mut self, _: usize, _: Checks) -> Check {
        hold::always(self).await?;
        tile::always(self).await?;
        crate::check::properties::overpaid_has_its_price(&self.world).await?;
        credit::always(self).await
    }
}

#[test]
fn subscriptions_and_credit_keep_their_invariants_on_every_seed() {
    let seeds = number("TILL_TEST_SUBSCRIPTION_SEEDS", 12);
    let seeds = (0..u64::try_from(seeds).unwrap()).map(|number| Seed {
        family: Family::Subscriptions,
        number,
    });
    let visited = runner::must_hold(seeds);
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
        "a stranger paid",
        "a pause that moved a period",
        "two orders of facts",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
