//! Spoiled answers for as long as there is time, by numbered rounds: a failure names the round, and the round is the same again.
//!
//! `TILL_FUZZ_SECONDS` is the time for each target (one second), `TILL_FUZZ_SEED` the first round (the first).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

use super::mutate::{Change, changed, changes};

/// Spoiled answers of one round.
const CASES: u32 = 256;

/// Whether an answer was taken for one. What it must not do is panic.
pub type Check = fn(&[u8]) -> bool;

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub taken: u64,
    pub refused: u64,
}

fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |text| text.parse().expect("a number"))
}

/// Runs a target for its time, and says what failed.
pub fn fuzz(name: &str, corpus: &[&[u8]], check: Check) {
    for answer in corpus {
        check(answer);
    }
    let time = Duration::from_secs(setting("TILL_FUZZ_SECONDS", 1));
    #[expect(
        clippy::disallowed_methods,
        reason = "how long to go on is no part of what is found"
    )]
    let began = Instant::now();
    let mut tried = Tried::default();
    for seed in setting("TILL_FUZZ_SEED", 0).. {
        let found = round(seed, corpus, check, &mut tried);
        if let Err(why) = found {
            panic!("{name}: TILL_FUZZ_SEED={seed} TILL_FUZZ_SECONDS=0 shows it again\n{why}");
        }
        if began.elapsed() >= time {
            break;
        }
    }
    println!("{name}: {tried:?}");
    // Spoiled so much that all are refused at the door, or so little that none is, they would test nothing.
    assert!(tried.taken > 0 && tried.refused > 0, "{name}: {tried:?}");
}

/// One round of spoiled answers. An error has the smallest that was found, as text.
pub fn round(seed: u64, corpus: &[&[u8]], check: Check, tried: &mut Tried) -> Result<(), String> {
    let config = Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    let counted = Cell::new(*tried);
    let spoil = |(which, other, changes): &(usize, usize, Vec<Change>)| {
        let of = |which: usize| corpus[which % corpus.len()];
        changed(of(*which), of(*other), changes)
    };
    let found = TestRunner::new(config).run(&(any::<usize>(), any::<usize>(), changes()), |it| {
        let answer = spoil(&it);
        let taken = catch_unwind(AssertUnwindSafe(|| check(&answer)));
        let mut now = counted.get();
        match taken {
            Ok(true) => now.taken += 1,
            Ok(false) => now.refused += 1,
            Err(_) => return Err(TestCaseError::fail("it panics")),
        }
        counted.set(now);
        Ok(())
    });
    *tried = counted.get();
    match found {
        Ok(()) => Ok(()),
        Err(TestError::Fail(why, it)) => {
            let answer = String::from_utf8_lossy(&spoil(&it)).into_owned();
            Err(format!("{why}\nchanges: {:?}\nanswer: {answer}", it.2))
        }
        Err(error) => Err(error.to_string()),
    }
}
