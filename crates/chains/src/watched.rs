//! The addresses that are watched, of any family and length: eight bytes of each, so that ten million of them fit into memory. Who is found here
//! may be somebody else and is looked up in full; who is not found is none of ours.

/// What is left empty of a table.
const EMPTY: u64 = 0;
const SLOTS_MIN: usize = 1 << 10;

/// An open table of fingerprints, at most three quarters full.
#[derive(Clone, Debug)]
pub struct Watched {
    slots: Vec<u64>,
    len: usize,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched {
            slots: vec![EMPTY; SLOTS_MIN],
            len: 0,
        }
    }
}

impl Watched {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes room for so many more, at once.
    pub fn reserve(&mut self, more: usize) {
        let wanted = (self.len + more).saturating_mul(4) / 3 + 1;
        if wanted > self.slots.len() {
            self.grow(wanted.next_power_of_two());
        }
    }

    pub fn insert(&mut self, address: &[u8]) {
        self.reserve(1);
        let fingerprint = fingerprint(address);
        let at = self.find(fingerprint);
        if self.slots[at] == EMPTY {
            self.slots[at] = fingerprint;
            self.len += 1;
        }
    }

    /// False is certain.
    pub fn may_have(&self, address: &[u8]) -> bool {
        self.slots[self.find(fingerprint(address))] != EMPTY
    }

    /// Where a fingerprint is, or would be.
    fn find(&self, fingerprint: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = spread(fingerprint) & mask;
        while self.slots[at] != fingerprint && self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        for fingerprint in old.into_iter().filter(|slot| *slot != EMPTY) {
            let at = self.find(fingerprint);
            self.slots[at] = fingerprint;
        }
    }
}

/// The end of an address: beginnings are what people grind for.
fn fingerprint(address: &[u8]) -> u64 {
    let last = address.last_chunk::<8>().copied().unwrap_or_else(|| {
        let mut short = [0; 8];
        short[..address.len()].copy_from_slice(address);
        short
    });
    match u64::from_le_bytes(last) {
        EMPTY => 1,
        fingerprint => fingerprint,
    }
}

/// Addresses are hashes, but destinations are chosen: neighbours must not crowd one place.
fn spread(fingerprint: u64) -> usize {
    let mixed = fingerprint.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 20).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn address(end: u64) -> [u8; 20] {
        let mut address = [7; 20];
        address[12..].copy_from_slice(&end.to_le_bytes());
        address
    }

    #[test]
    fn an_address_is_found_by_its_end_and_zero_is_one_too() {
        let mut watched = Watched::default();
        assert!(!watched.may_have(&address(0)));
        watched.insert(&address(0));
        watched.insert(&address(0));
        assert!(watched.may_have(&address(0)));
        assert!(!watched.may_have(&address(2)));
        assert_eq!(watched.len(), 1);
    }

    #[test]
    fn a_million_neighbours_are_found_and_cost_what_was_promised() {
        let mut watched = Watched::default();
        for end in 0..1_000_000 {
            watched.insert(&address(end * 256 + 3));
        }
        assert_eq!(watched.len(), 1_000_000);
        assert!(watched.slots.len() <= 2 << 20, "at most 16 bytes for each");
        assert!((0..1_000_000).all(|end| watched.may_have(&address(end * 256 + 3))));
        let others = (0..1_000_000).filter(|end| watched.may_have(&address(end * 256 + 4)));
        assert_eq!(others.count(), 0);
    }

    proptest! {
        #[test]
        fn it_has_what_was_put_in_and_nothing_else(
            ours: HashSet<Vec<u8>>, others: Vec<[u8; 20]>, more in 0usize..5_000,
        ) {
            let mut watched = Watched::default();
            watched.reserve(more);
            ours.iter().for_each(|address| watched.insert(address));
            prop_assert!(ours.iter().all(|address| watched.may_have(address)));
            let ends: HashSet<u64> = ours.iter().map(|it| fingerprint(it)).collect();
            prop_assert_eq!(watched.len(), ends.len());
            for other in others {
                prop_assert_eq!(watched.may_have(&other), ends.contains(&fingerprint(&other)));
            }
        }
    }
}
