//! Wallet payments: what a connected wallet is told to send, so that its transfer can be told from others.

use std::collections::HashSet;

use crate::money::Units;

/// How many open payments of one amount a wallet may owe to one destination.
pub const SUFFIXES_MAX: u128 = 100;

/// The amount due, or the next free amount above it: less than one cent more, on the asset's grid.
/// None when too many payments of this amount are open.
pub fn exact_amount(due: Units, decimals: u32, taken: &HashSet<Units>) -> Option<(Units, Units)> {
    let cent = 10u128.pow(decimals.saturating_sub(2));
    (0..SUFFIXES_MAX.min(cent))
        .map(|suffix| (Units(due.0 + suffix), Units(suffix)))
        .find(|(amount, _)| !taken.contains(amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_amount_due_is_told_unless_it_is_taken() {
        let due = Units(25_000_000);
        assert_eq!(exact_amount(due, 6, &HashSet::new()), Some((due, Units(0))));
        let taken = HashSet::from([due, Units(25_000_001)]);
        assert_eq!(
            exact_amount(due, 6, &taken),
            Some((Units(25_000_002), Units(2)))
        );
        let all: HashSet<Units> = (0..SUFFIXES_MAX)
            .map(|suffix| Units(due.0 + suffix))
            .collect();
        assert_eq!(exact_amount(due, 6, &all), None);
    }

    #[test]
    fn a_suffix_stays_below_one_cent_and_on_the_grid() {
        let taken: HashSet<Units> = (0..9).map(|suffix| Units(100 + suffix)).collect();
        assert_eq!(
            exact_amount(Units(100), 3, &taken),
            Some((Units(109), Units(9)))
        );
        let more: HashSet<Units> = (0..10).map(|suffix| Units(100 + suffix)).collect();
        assert_eq!(exact_amount(Units(100), 3, &more), None);
        assert_eq!(
            exact_amount(Units(100), 2, &HashSet::from([Units(100)])),
            None
        );
    }
}
