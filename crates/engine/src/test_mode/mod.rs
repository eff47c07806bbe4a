//! What exists in test mode only: simulated payments, reversals and the clock.

mod clock;
mod payments;

pub use clock::{Advance, advance_clock, read_clock};
pub use payments::{Simulation, reverse_payment, simulate_payment};
