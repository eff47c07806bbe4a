//! Networks and the assets on them: the one table that says what a code such as `USDC@eip155:1` means.
//!
//! The table is data (`data/networks.json`), compiled in, so that every part of the program and every
//! machine of an installation answers the same question in the same way.

mod nearest;
mod registry;
#[cfg(test)]
mod tests;

pub use registry::{Asset, DEFAULT_TEST_ASSETS, Depth, Evidence, Family, Mode, Network, Registry};
