//! The domain of Till: pure data and functions, without I/O, clock or randomness.

pub mod error;
pub mod limits;
