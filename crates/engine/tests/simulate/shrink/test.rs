//! Whether shrinking leaves what matters, and nothing else.

use super::{kind, parse, repeat, show, shrink};
use crate::run::{Checks, Ran, Simulated, Way, run};
use crate::tape::{Part, Tape};
use crate::world::{Check, World};

/// A family that fails when something is used that was made and spoiled before. Three steps of its sixty matter.
struct Toy {
    world: World,
    /// What was made, and whether it is spoiled.
    things: Vec<(String, bool)>,
}

impl Simulated for Toy {
    const STEPS: usize = 60;
    const KEEPS_TIME: bool = true;

    async fn new(seed: u64, tape: Option<Tape>) -> Toy {
        Toy {
            world: World::new(seed, tape).await,
            things: Vec::new(),
        }
    }

    fn world(&mut self) -> &mut World {
        &mut self.world
    }

    async fn step(&mut self) -> Check {
        let Toy { world, things } = self;
        match world.rng.below(8) {
            0 | 1 => {
                world.transactions_made += 1;
                let name = format!("thing-{}", world.transactions_made);
                world.note(format!("{name} is made"));
                things.push((name, false));
            }
            2 if !things.is_empty() => {
                let names: Vec<String> = things.iter().map(|(name, _)| name.clone()).collect();
                let at = world.rng.place(&names);
                if world.rng.keeps(Part::Death) {
                    world.note(format!("{} is spoiled", names[at]));
                    things[at].1 = true;
                }
            }
            3 if !things.is_empty() => {
                let names: Vec<String> = things.iter().map(|(name, _)| name.clone()).collect();
                let at = world.rng.place(&names);
                world.note(format!("{} is used", names[at]));
                if things[at].1 {
                    return Err(format!("{} is {}, expected 0", names[at], at + 1));
                }
            }
            _ => world.note("nothing of note".to_owned()),
        }
        Ok(())
    }

    async fn check(&mut self, _: usize, _: Checks) -> Check {
        Ok(())
    }
}

fn run_toy(seed: u64) -> impl Fn(Checks, &Way) -> Ran {
    move |checks, way| run::<Toy>(seed, Toy::STEPS, checks, way)
}

#[test]
fn a_failing_run_is_shrunk_to_the_steps_that_matter_and_these_replay_it() {
    let mut shrunk_seeds = 0;
    for seed in 0..8 {
        let run = run_toy(seed);
        if run(Checks::AsUsual, &Way::Whole).failure.is_none() {
            continue;
        }
        let shrunk = shrink(&run, &|| true).unwrap();
        let lines = shrunk.told.iter().flat_map(|told| told.lines.clone());
        let thing = shrunk.failure.wrong.split_whitespace().next().unwrap();
        let expected = ["made", "spoiled", "used"].map(|what| format!("{thing} is {what}"));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        assert!(shrunk.is_done);

        let line = show(&shrunk.kept, false);
        let (kept, rests) = parse(&line).unwrap();
        let again = repeat(&run, &kept, rests).failure.unwrap();
        assert_eq!(again, shrunk.failure, "{line}");
        for step in kept.keys() {
            let mut fewer = kept.clone();
            fewer.remove(step);
            assert_eq!(
                repeat(&run, &fewer, rests).failure,
                None,
                "{line} without {step}"
            );
        }
        shrunk_seeds += 1;
    }
    assert!(shrunk_seeds > 3, "only {shrunk_seeds} seeds fail");
}

#[test]
fn shrinking_ends_when_its_time_is_over() {
    let seed = (0..).find(|seed| {
        run_toy(*seed)(Checks::AsUsual, &Way::Whole)
            .failure
            .is_some()
    });
    let tries = std::cell::Cell::new(0);
    let may_go_on = || {
        tries.set(tries.get() + 1);
        tries.get() < 4
    };
    let shrunk = shrink(&run_toy(seed.unwrap()), &may_go_on).unwrap();
    assert!(!shrunk.is_done);
    assert_eq!(tries.get(), 4);
}

#[test]
fn failures_are_of_one_kind_when_only_numbers_and_ids_differ() {
    let id = |end: char| format!("inv_01mcc5rm00e068dqnfer41rcc{end}");
    let same = |one: &str, other: &str| kind(one) == kind(other);
    let units = |m: u8, end: char, found: u32| {
        format!("m{m} {}: tx-{found}: units is {found}, expected 5", id(end))
    };
    assert!(same(&units(1, 'a', 12), &units(3, 'b', 7)));
    assert!(!same(&units(1, 'a', 12), &units(1, 'a', 3)));
    assert!(same(
        "the books is {\"a\": 1}, expected {}",
        "the books is {}, expected {}"
    ));
    assert!(!same(
        "status is \"paid\", expected 1",
        "status is \"expired\", expected 1"
    ));
}

#[test]
fn kept_steps_are_read_as_they_are_shown_and_nothing_else() {
    for text in ["3", "3,17-0-2,40", "3-1,rest"] {
        let (kept, rests) = parse(text).unwrap();
        assert_eq!(show(&kept, rests), text);
    }
    for text in ["", "3,", "rest,3", "3,3", "3--1", "three"] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}
