//! The real binary beside real chains: anvil nodes that each test starts for itself and treats as badly as it likes.
//! `scripts/with-anvil` names the program in TILL_TEST_ANVIL_PROGRAM. Without it these tests say that they are skipped, or
//! fail if TILL_REQUIRE_ANVIL is 1.

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each suite uses its own part of what they share")]
mod common;
mod lies;
mod node;
mod proxy;
mod shop;
mod watched;

mod alone;
mod believing;
mod endpoints;
mod fakes;
mod fewer;
mod liars;
mod live_story;
mod passing_on;
mod paying;
mod prices;
mod ranges;
mod reorganised;
mod rescans;
mod senders;
mod servers;
mod sweeping;
mod sweeping_again;
mod sweeping_tron;
mod unfit;
