//! The deterministic simulator: the real engine and store, everything around them decided by a seed.
//!
//! After each step the touched invoices are compared with a model that knows the contract and none of the
//! engine's code; every so often, and at the end, everything is. See `docs/simulator.md`.

mod apart;
mod chain;
mod check;
mod expect;
mod model;
mod net;
mod receiver;
mod refunds;
mod rng;
mod steps;
mod subscriptions;
mod world;

use std::collections::BTreeSet;
use std::ops::Range;

use world::World;

/// Seeds that CI runs, and how many steps each takes.
const SEEDS: u64 = 24;
const STEPS: usize = 400;
/// The tests share the seeds out among them, so that the runner can use every core.
const SHARES: u64 = 4;
const CHECK_ALL_EVERY: usize = 25;
const PROPERTIES_EVERY: usize = 5;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("TILL_TEST_SEEDS") else {
        return 0..SEEDS;
    };
    let number = |text: &str| -> u64 {
        text.parse()
            .expect("TILL_TEST_SEEDS is a count or a range such as 17..18")
    };
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

fn number(name: &str, default: usize) -> usize {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

struct Done {
    /// The hash of every step and its outcome.
    trace: String,
    visited: BTreeSet<String>,
}

/// Runs one seed to its end, or says all that is needed to replay its failure.
fn simulate(seed: u64, steps: usize) -> Result<Done, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let every = number("TILL_TEST_CHECK_EVERY", CHECK_ALL_EVERY);
    runtime.block_on(async {
        let mut world = World::new(seed).await;
        for step in 0..steps {
            let mut done = steps::step(&mut world).await;
            if done.is_ok() {
                done = check::links::tables(&world).await;
            }
            if done.is_ok() {
                done = check::bindings::tables(&world).await;
            }
            if done.is_ok() && step % PROPERTIES_EVERY == PROPERTIES_EVERY - 1 {
                done = check::properties::check(&world).await;
            }
            if done.is_ok() && step % every == every - 1 {
                done = check::all(&mut world).await;
            }
            done.map_err(|wrong| report(&world, seed, step, &wrong))?;
        }
        let mut done = steps::quiet::come_to_rest(&mut world).await;
        if done.is_ok() {
            done = check::properties::check(&world).await;
        }
        done.map_err(|wrong| report(&world, seed, steps, &wrong))?;
        Ok(Done {
            trace: world.trace_hash(),
            visited: world.visited,
        })
    })
}

fn report(world: &World, seed: u64, step: usize, wrong: &str) -> String {
    format!(
        "seed {seed} fails at step {step}: {wrong}\nthe last steps:\n{}\n\
         replay: TILL_TEST_SEEDS={seed}..{} TILL_TEST_CHECK_EVERY=1 cargo test -p till-engine --test simulate",
        world.last_steps(),
        seed + 1
    )
}

fn run_share(share: u64) {
    let steps = number("TILL_TEST_STEPS", STEPS);
    let mut failures = Vec::new();
    for seed in seeds().filter(|seed| seed % SHARES == share) {
        if let Err(failure) = simulate(seed, steps) {
            eprintln!("{failure}\n");
            failures.push(seed);
        }
    }
    assert!(failures.is_empty(), "failing seeds: {failures:?}");
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

fn must(seed: u64, steps: usize) -> Done {
    simulate(seed, steps).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_seed_takes_the_same_way_every_time_and_another_seed_another() {
    // The last has its database in a file.
    for seed in [5, 7] {
        assert_eq!(must(seed, 150).trace, must(seed, 150).trace);
    }
    assert_ne!(must(5, 20).trace, must(6, 20).trace);
}

#[test]
fn the_seeds_visit_every_status_event_and_kind_of_refusal() {
    let mut visited = BTreeSet::new();
    for seed in 0..15 {
        visited.append(&mut must(seed, STEPS).visited);
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
