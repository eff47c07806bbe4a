//! The bloom of a block's or a transaction's logs: what it does not name is not there, what it names may be.

use alloy_primitives::keccak256;

use super::words::{DecodeError, bytes};

const BYTES: usize = 256;

#[derive(Clone, PartialEq, Eq)]
pub struct Bloom([u8; BYTES]);

impl Default for Bloom {
    fn default() -> Bloom {
        Bloom([0; BYTES])
    }
}

impl std::fmt::Debug for Bloom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits: u32 = self.0.iter().map(|byte| byte.count_ones()).sum();
        write!(f, "Bloom of {bits} bits")
    }
}

impl Bloom {
    pub fn parse(text: &str) -> Result<Bloom, DecodeError> {
        bytes::<BYTES>(text).map(Bloom)
    }

    #[cfg(test)]
    pub fn shown(&self) -> String {
        format!("0x{}", hex::encode(self.0))
    }

    pub fn add(&mut self, item: &[u8]) {
        for (byte, bit) in places(item) {
            self.0[byte] |= bit;
        }
    }

    /// False is certain.
    pub fn may_have(&self, item: &[u8]) -> bool {
        places(item)
            .iter()
            .all(|(byte, bit)| self.0[*byte] & bit != 0)
    }
}

/// Three bits, each named by two bytes of the item's hash, counted from the end.
fn places(item: &[u8]) -> [(usize, u8); 3] {
    let hash = keccak256(item);
    [0, 2, 4].map(|at| {
        let bit = (usize::from(hash[at]) << 8 | usize::from(hash[at + 1])) & 0x7ff;
        (BYTES - 1 - bit / 8, 1 << (bit % 8))
    })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Bloom as Reference, BloomInput};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_bloom_that_others_compute(items: Vec<Vec<u8>>, other: Vec<u8>) {
            let (mut ours, mut theirs) = (Bloom::default(), Reference::ZERO);
            for item in &items {
                ours.add(item);
                theirs.accrue(BloomInput::Raw(item));
            }
            prop_assert_eq!(&ours.0[..], &theirs.0[..]);
            prop_assert!(items.iter().all(|item| ours.may_have(item)));
            let contains = theirs.contains_input(BloomInput::Raw(&other));
            prop_assert_eq!(ours.may_have(&other), contains);
            prop_assert_eq!(Bloom::parse(&ours.shown()), Ok(ours));
        }
    }
}
