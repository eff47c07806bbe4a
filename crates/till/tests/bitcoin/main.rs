//! The real binary beside a real Bitcoin chain: a regtest node that each test starts for itself. `scripts/with-bitcoin` names in
//! TILL_TEST_BITCOIN where it is. Without it these tests say that they are skipped, or fail if TILL_REQUIRE_BITCOIN is 1.

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each suite uses its own part of what they share")]
mod common;
#[path = "../chains/shop.rs"]
#[expect(dead_code, reason = "each suite uses its own part of what they share")]
mod shop;

mod node;
mod publisher;
mod watched;

mod blocks;
mod endpoints;
mod hinted;
mod paying;
mod providers;
mod replaced;
mod restarted;
mod sweeping;
