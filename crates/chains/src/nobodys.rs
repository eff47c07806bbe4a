//! Addresses that nobody holds the key of: what is sent to one is lost, or anybody's who comes first.

use till_core::asset::Family;

use crate::evm::multicall::MULTICALL3;
use crate::raw::raw;
use crate::registers;

/// `0xdEAD…42069420694206942069`.
const BURNT: [u8; 20] = [
    0xde, 0xad, 0, 0, 0, 0, 0, 0, 0, 0, 0x42, 0x06, 0x94, 0x20, 0x69, 0x42, 0x06, 0x94, 0x20, 0x69,
];
const ZEROS: usize = 16;
const OF_SOLANA: [&str; 2] = [
    "1nc1nerator11111111111111111111111111111111",
    "11111111111111111111111111111111",
];

/// Where people send what shall be lost (nothing but `dead` and zeros, all `f`, all `e`), what has so many zeros in a row that no
/// key can have been found for it, as a chain's built-in contracts do, and the shared contracts that this program itself asks.
pub fn is_nobodys(family: Family, address: &str) -> bool {
    let is_shared = |bytes: &[u8; 20]| {
        family == Family::Evm && (*bytes == MULTICALL3 || registers::is_oracle(bytes))
    };
    let is_burnt = |bytes: [u8; 20]| {
        let is_built_in = bytes.windows(ZEROS).any(|some| some == [0; ZEROS]);
        let is_dead = hex::encode(bytes)
            .replace("dead", "")
            .bytes()
            .all(|digit| digit == b'0');
        let is_named = bytes == [0xee; 20] || bytes == [0xff; 20] || bytes == BURNT;
        is_built_in || is_dead || is_named || is_shared(&bytes)
    };
    let is_solanas = family == Family::Solana && OF_SOLANA.contains(&address);
    is_solanas || raw(family, address).is_some_and(is_burnt)
}
