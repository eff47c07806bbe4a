//! Nothing but twins: two customers do the same, and then payments are made, leave the chain and come back at one moment, told in
//! an order of its own to each. Nobody dies here, for that takes time, and what is paid later than it was cancelled is another story.

use super::{Story, steps, twins};
use crate::run::{Checks, Simulated};
use crate::runner;
use crate::seeds::{Family, Seed};
use crate::settings::number;
use crate::tape::Tape;
use crate::world::{Check, World};

pub struct Orders(Story);

impl Simulated for Orders {
    const STEPS: usize = 8;
    const KEEPS_TIME: bool = false;

    async fn new(seed: u64, tape: Option<Tape>) -> Orders {
        let mut story = Story::of(World::roomy(seed, tape).await);
        story.is_mortal = false;
        Orders(story)
    }

    fn world(&mut self) -> &mut World {
        &mut self.0.world
    }

    async fn begin(&mut self) -> Check {
        steps::begin(&mut self.0).await
    }

    async fn step(&mut self) -> Check {
        twins::compare_with_payments(&mut self.0).await
    }

    async fn check(&mut self, step: usize, checks: Checks) -> Check {
        self.0.check(step, checks).await
    }
}

#[test]
fn the_order_in_which_payments_and_reversals_are_told_does_not_matter() {
    let seeds = number("TILL_TEST_ORDER_SEEDS", 8);
    let seeds = (0..u64::try_from(seeds).unwrap()).map(|number| Seed {
        family: Family::Orders,
        number,
    });
    let visited = runner::must_hold(seeds);
    let missing: Vec<_> = [
        "two orders of facts",
        "paid at that moment",
        "topped up at that moment",
    ]
    .into_iter()
    .filter(|name| !visited.contains(*name))
    .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
