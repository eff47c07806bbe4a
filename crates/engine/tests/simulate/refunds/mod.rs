//! Refunds and claims under chance: payments that arrive, are held, decided about and taken back, refunds that are made,
//! claimed, sent, cancelled and forgotten, and processes that die in between. What must hold is read from the tables.

mod hold;
mod steps;

pub use steps::listed;

use std::collections::{BTreeMap, BTreeSet};

use till_core::scope::Scope;

use crate::run::{Checks, Simulated};
use crate::runner;
use crate::seeds::{Family, Seed};
use crate::settings::number;
use crate::tape::Tape;
use crate::world::{Check, World};

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

/// A transfer of the merchant's own wallet that pays a refund out.
#[derive(Clone, Debug)]
pub struct PaidOut {
    pub refund: String,
    pub tx_hash: String,
}

pub struct Story {
    pub world: World,
    /// The slug of a link with few units, once it was made.
    pub link: Option<String>,
    pub invoices: Vec<String>,
    pub refunds: Vec<Made>,
    /// What the chain shows, and nobody has told the server yet.
    pub paid_out: Vec<PaidOut>,
    /// Refunds of which the server has answered that they were sent.
    pub sent: BTreeSet<String>,
    /// Each refund's history as it was last read: it may only grow.
    pub histories: BTreeMap<String, Vec<String>>,
    /// Invoices of which more may be refunded than is there: a payment left the chain, or a payout was recorded though its
    /// refund had been cancelled.
    pub may_exceed: BTreeSet<String>,
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
            link: None,
            invoices: Vec::new(),
            refunds: Vec::new(),
            paid_out: Vec::new(),
            sent: BTreeSet::new(),
            histories: BTreeMap::new(),
            may_exceed: BTreeSet::new(),
        }
    }

    fn world(&mut self) -> &mut World {
        &mut self.world
    }

    async fn step(&mut self) -> Check {
        steps::step(self).await
    }

    async fn check(&mut self, step: usize, checks: Checks) -> Check {
        hold::always(self).await?;
        crate::check::properties::overpaid_has_its_price(&self.world).await?;
        match checks {
            Checks::AsUsual if step % CHECK_BOOKS_EVERY < CHECK_BOOKS_EVERY - 1 => Ok(()),
            Checks::AsUsual | Checks::All => hold::books(self).await,
        }
    }
}

#[test]
fn refunds_keep_their_invariants_on_every_seed() {
    let seeds = number("TILL_TEST_REFUND_SEEDS", 8);
    let seeds = (0..u64::try_from(seeds).unwrap()).map(|number| Seed {
        family: Family::Refunds,
        number,
    });
    let visited = runner::must_hold(seeds);
    let missing: Vec<_> = [
        "ordered",
        "payment_link_fully_reserved",
        "payment_link_sold_out",
        "refunded",
        "claimed",
        "in review",
        "sent",
        "paid out and recorded in review",
        "paid out and recorded after cancel",
        "cancelled",
        "lapsed",
        "refunded beyond received",
        "refunded_and_reversed",
        "sent_in_review",
        "sent_after_cancel",
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
