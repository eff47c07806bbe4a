//! What exists in test mode only: simulated payments, reversals and the clock.

mod clock;
mod payments;

pub use clock::{Advance, reach_goal, read_clock, set_goal};
pub use payments::{Simulation, raise_payment, reverse_payment, simulate_payment};
