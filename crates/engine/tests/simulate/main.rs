//! The deterministic simulator: the real engine and store, everything around them decided by a seed.
//!
//! After each step the touched invoices are compared with a model that knows the contract and none of the
//! engine's code; every so often, and at the end, everything is. See `docs/simulator.md`.

mod chain;
mod check;
mod expect;
mod model;
mod receiver;
mod rng;
mod steps;
mod world;

use std::ops::Range;

use world::World;

/// Seeds that CI runs, and how many steps each takes.
const SEEDS: u64 = 24;
const STEPS: usize = 400;
/// The tests share the seeds out among them, so that the runner can use every core.
const SHARES: u64 = 4;
const CHECK_ALL_EVERY: usize = 25;

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

/// Runs one seed to its end. Answers with the hash of its trace, or with all that is needed to replay it.
fn simulate(seed: u64, steps: usize) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let every = number("TILL_TEST_CHECK_EVERY", CHECK_ALL_EVERY);
    runtime.block_on(async {
        let mut world = World::new(seed).await;
        for step in 0..steps {
            let mut done = steps::step(&mut world).await;
            if done.is_ok() && step % every == every - 1 {
                done = check::all(&mut world).await;
            }
            done.map_err(|wrong| report(&world, seed, step, &wrong))?;
        }
        let done = steps::quiet::come_to_rest(&mut world).await;
        done.map_err(|wrong| report(&world, seed, steps, &wrong))?;
        Ok(world.trace_hash())
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

#[test]
fn a_seed_takes_the_same_way_every_time_and_another_seed_another() {
    let trace = |seed| simulate(seed, 120).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(trace(5), trace(5));
    assert_ne!(trace(5), trace(6));
}
