//! The deterministic simulator: the real engine and store, everything around them decided by a seed.
//!
//! After each step the touched invoices are compared with a model that knows the contract and none of the
//! engine's code; every so often, and at the end, everything is. See `docs/simulator.md`.

mod apart;
mod chain;
mod check;
mod expect;
mod members;
mod model;
mod net;
mod receiver;
mod refunds;
mod rng;
mod run;
mod runner;
mod seeds;
mod settings;
mod shrink;
mod steps;
mod subscriptions;
mod tape;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use run::{Checks, Ran, Simulated, Way};
use settings::number;
use tape::Tape;
use world::{Check, World};

/// As in the program. Most of a seed's time goes into small pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The tests share the seeds out among them, so that the runner can use every core.
const SHARES: u64 = 4;
const CHECK_ALL_EVERY: usize = 25;
const PROPERTIES_EVERY: usize = 5;

impl Simulated for World {
    const STEPS: usize = 400;
    const KEEPS_TIME: bool = true;

    async fn new(seed: u64, tape: Option<Tape>) -> World {
        World::new(seed, tape).await
    }

    fn world(&mut self) -> &mut World {
        self
    }

    async fn step(&mut self) -> Check {
        steps::step(self).await
    }

    async fn check(&mut self, step: usize, checks: Checks) -> Check {
        let is_turn = |every: usize| match checks {
            Checks::AsUsual => step % every == every - 1,
            Checks::All => true,
        };
        check::links::tables(self).await?;
        check::bindings::tables(self).await?;
        if is_turn(PROPERTIES_EVERY) {
            check::properties::check(self).await?;
        }
        if is_turn(number("TILL_TEST_CHECK_EVERY", CHECK_ALL_EVERY)) {
            check::all(self).await?;
        }
        Ok(())
    }

    async fn come_to_rest(&mut self) -> Check {
        steps::quiet::come_to_rest(self).await?;
        check::properties::check(self).await
    }
}

fn run_share(share: u64) {
    match seeds::asked_for() {
        Some(seeds) => runner::run_share(share, SHARES, &seeds),
        None => {
            let turns = (0..SHARES).cycle();
            let mine = seeds::of_ci().into_iter().zip(turns);
            runner::must_hold(
                mine.filter(|(_, turn)| *turn == share)
                    .map(|(seed, _)| seed),
            );
        }
    }
}

#[test]
fn every_invariant_holds_on_the_first_share_of_seeds() {
    run_share(0);
}

#[test]
fn every_invariant_holds_on_the_second_share_of_seeds() {
    run_share(1);
}

#[test]
fn every_invariant_holds_on_the_third_share_of_seeds() {
    run_share(2);
}

#[test]
fn every_invariant_holds_on_the_fourth_share_of_seeds() {
    run_share(3);
}

fn must(seed: u64, steps: usize) -> Ran {
    let ran = run::run::<World>(seed, steps, Checks::AsUsual, &Way::Whole);
    assert_eq!(ran.failure, None, "seed {seed}");
    ran
}

#[test]
fn a_seed_takes_the_same_way_every_time_and_another_seed_another() {
    // The last has its database in a file, and in none of its steps a process dies while it sends webhooks: how many are out by then is
    // up to threads.
    for seed in [5, 15] {
        assert_eq!(must(seed, 150).trace, must(seed, 150).trace);
    }
    assert_ne!(must(5, 20).trace, must(6, 20).trace);
}

/// What a whole run did, and what it does when it is recorded and all its steps are repeated.
fn ways<S: Simulated>(seed: u64, steps: usize) -> [String; 3] {
    let run = |way: &Way| run::run::<S>(seed, steps, Checks::AsUsual, way);
    let whole = run(&Way::Whole);
    assert_eq!(whole.failure, None, "seed {seed}");
    let recorded = run(&Way::Recorded);
    let repeated = run(&Way::Repeated {
        recording: &Arc::new(recorded.recording.unwrap()),
        kept: &(0..steps).map(|step| (step, BTreeSet::new())).collect(),
        rests: true,
    });
    [whole.trace, recorded.trace, repeated.trace]
}

#[test]
fn a_seed_whose_steps_are_all_repeated_takes_the_same_way() {
    for [whole, recorded, repeated] in [
        ways::<World>(5, 120),
        ways::<World>(6, 120),
        ways::<refunds::Story>(1, 60),
        ways::<subscriptions::Story>(1, 60),
        ways::<apart::Story>(1, 60),
        ways::<members::Story>(1, 60),
    ] {
        assert_eq!(whole, recorded);
        assert_eq!(whole, repeated);
    }
}

#[test]
fn the_seeds_visit_every_status_event_and_kind_of_refusal() {
    let mut visited = BTreeSet::new();
    // A crowd at a link is rare: the last has one.
    for seed in (0..16).chain([451]) {
        visited.append(&mut must(seed, World::STEPS).visited);
    }
    let statuses = check::transitions::STATUSES;
    let mut expected: Vec<String> = statuses
        .iter()
        .map(|name| format!("invoice.{name}"))
        .collect();
    expected.extend(
        [
            "invoice.created",
            "invoice.payment_reversed",
            "invoice.wrong_asset",
            "invoice.late_payment",
            "invoice.review_resolved",
            "invoice_not_cancellable",
            "review_not_open",
            "idempotency_key_reused",
            "deposit_addresses_exhausted",
            "live_change_requires_dashboard",
            "payment_link_inactive",
            "payment_link_expired",
            "payment_link_sold_out",
            "payment_link_fully_reserved",
            "payment_link_busy",
            "invoice_not_awaiting_payment",
            "wallet_unsupported",
            "wallet_binding_limit",
            "suffixed",
            "settled with a suffix",
            "asked again",
            "paid by wallet",
            "ended unpicked",
            "replayed",
            "killed when done",
            "killed and undone",
        ]
        .map(str::to_owned),
    );
    let missing: Vec<_> = expected
        .iter()
        .filter(|name| !visited.contains(*name))
        .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
