//! Prepaid credit: a stablecoin counts at par in its own currency, the oldest first, to the last unit.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

use crate::money::{Currency, Units};

/// What one payment has left to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditSource<'a> {
    pub payment: &'a str,
    pub units: Units,
    pub decimals: u32,
}

/// So much of a currency, to the last unit of any token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(BigRational);

impl Value {
    pub fn zero() -> Value {
        Value(BigRational::zero())
    }

    /// What so much of a stablecoin is worth.
    pub fn of(units: Units, decimals: u32) -> Value {
        Value(BigRational::new(units.0.into(), ten(decimals)))
    }

    fn of_price(minor: u64, currency: Currency) -> Value {
        Value::of(Units(minor.into()), currency.decimals())
    }

    pub fn plus(&self, more: &Value) -> Value {
        Value(&self.0 + &more.0)
    }

    /// What is left of it after so much.
    pub fn less(&self, taken: &Value) -> Value {
        Value((&self.0 - &taken.0).max(BigRational::zero()))
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}

/// What a price takes of credit, and what that leaves to be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    pub from: Vec<(String, Units)>,
    /// The share of the price that is left.
    left: BigRational,
}

impl Drawn {
    pub fn nothing() -> Drawn {
        Drawn {
            from: Vec::new(),
            left: BigRational::one(),
        }
    }

    /// What credit of this value leaves of a price.
    pub fn leaving(value: &Value, price_minor: u64, currency: Currency) -> Drawn {
        let price = Value::of_price(price_minor, currency);
        let left = match price.is_zero() {
            true => BigRational::zero(),
            false => (BigRational::one() - &value.0 / price.0).max(BigRational::zero()),
        };
        let from = Vec::new();
        Drawn { from, left }
    }

    /// Whether what is left is not asked for: nothing, less than the currency's smallest amount, or no more than the merchant
    /// tolerates of the price.
    pub fn pays_all(&self, price_minor: u64, tolerance_bps: u32) -> bool {
        let is_dust = &self.left * BigInt::from(price_minor) < BigRational::one();
        let tolerated = BigRational::from_integer(tolerance_bps.into());
        is_dust || (!self.from.is_empty() && &self.left * BigInt::from(10_000) <= tolerated)
    }

    /// What is left of an amount that the whole price comes to, rounded up to the asset's grid.
    pub fn due(&self, whole: Units) -> Units {
        Units(ceil(&self.left * BigInt::from(whole.0)).min(whole.0))
    }

    /// What is left of the price in minor units, rounded up.
    pub fn due_minor(&self, price_minor: u64) -> u64 {
        let due = ceil(&self.left * BigInt::from(price_minor));
        u64::try_from(due).unwrap_or(price_minor)
    }
}

fn ceil(number: BigRational) -> u128 {
    number.ceil().to_integer().to_u128().unwrap_or(u128::MAX)
}

fn ten(exponent: u32) -> BigInt {
    BigInt::from(10u8).pow(exponent)
}

/// What was found of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCredit {
    pub from: Vec<(String, Units)>,
    pub value: Value,
}

/// Takes a value out of these, in their order, until there is enough or nothing is left.
pub fn find(sources: &[CreditSource<'_>], wanted: &Value) -> FoundCredit {
    let mut found = FoundCredit {
        from: Vec::new(),
        value: Value::zero(),
    };
    for source in sources {
        let left = (&wanted.0 - &found.value.0).max(BigRational::zero());
        let taken = source.units.0.min(ceil(left * ten(source.decimals)));
        if taken > 0 {
            let value = Value::of(Units(taken), source.decimals);
            found.value = found.value.plus(&value);
            found.from.push((source.payment.to_owned(), Units(taken)));
        }
    }
    found
}

/// What something needs of a customer's credit, and what it was given when it first took of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub wanted: Value,
    pub own: Vec<(String, Units)>,
}

/// Shares what there is among claims: each has what was its own from the beginning, as far as that is there and it needs it; of
/// the rest the first claim is given first. What it comes to depends on nothing else.
pub fn share(sources: &[CreditSource<'_>], claims: &[Claim]) -> Vec<FoundCredit> {
    let mut left = sources.to_vec();
    let mut shared: Vec<FoundCredit> = claims
        .iter()
        .map(|claim| take(&mut left, &claim.wanted, Some(&claim.own)))
        .collect();
    for (claim, found) in claims.iter().zip(&mut shared) {
        let missing = Value((&claim.wanted.0 - &found.value.0).max(BigRational::zero()));
        let more = take(&mut left, &missing, None);
        found.value = found.value.plus(&more.value);
        for (payment, units) in more.from {
            match found.from.iter_mut().find(|(known, _)| *known == payment) {
                Some((_, known)) => *known = known.plus(units),
                None => found.from.push((payment, units)),
            }
        }
    }
    shared
}

/// Takes a value out of these, or out of no more than this of them.
fn take(
    left: &mut [CreditSource<'_>],
    wanted: &Value,
    only: Option<&[(String, Units)]>,
) -> FoundCredit {
    let of = |source: &CreditSource<'_>| match only {
        None => source.units,
        Some(only) => {
            let own = only.iter().filter(|(payment, _)| payment == source.payment);
            let own = own.fold(Units::ZERO, |sum, (_, units)| sum.plus(*units));
            Units(source.units.0.min(own.0))
        }
    };
    let offered: Vec<CreditSource<'_>> = left
        .iter()
        .map(|source| CreditSource {
            units: of(source),
            ..*source
        })
        .collect();
    let found = find(&offered, wanted);
    for (payment, taken) in &found.from {
        let source = left.iter_mut().find(|source| source.payment == payment);
        if let Some(source) = source {
            source.units = Units(source.units.0.saturating_sub(taken.0));
        }
    }
    found
}

/// Takes a price out of these in the same way, and says what that leaves of it.
pub fn draw(sources: &[CreditSource<'_>], price_minor: u64, currency: Currency) -> Drawn {
    let found = find(sources, &Value::of_price(price_minor, currency));
    Drawn {
        from: found.from,
        ..Drawn::leaving(&found.value, price_minor, currency)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usd() -> Currency {
        Currency::parse("USD").unwrap()
    }

    fn source(payment: &'static str, units: u128, decimals: u32) -> CreditSource<'static> {
        CreditSource {
            payment,
            units: Units(units),
            decimals,
        }
    }

    fn from(drawn: &Drawn) -> Vec<(&str, u128)> {
        let from = drawn.from.iter();
        from.map(|(payment, units)| (payment.as_str(), units.0))
            .collect()
    }

    #[test]
    fn the_oldest_is_taken_first_and_no_more_than_the_price() {
        let sources = [
            source("a", 4_000_000, 6),
            source("b", 30_000_000, 6),
            source("c", 5_000_000, 6),
        ];
        let drawn = draw(&sources, 2500, usd());
        assert_eq!(from(&drawn), [("a", 4_000_000), ("b", 21_000_000)]);
        assert!(drawn.pays_all(2500, 0));
    }

    #[test]
    fn what_is_not_enough_lowers_what_is_due_to_the_last_unit() {
        let drawn = draw(&[source("a", 12_345_678, 6)], 2000, usd());
        assert_eq!(from(&drawn), [("a", 12_345_678)]);
        assert!(!drawn.pays_all(2000, 500));
        assert_eq!(drawn.due(Units(20_000_000)), Units(7_654_322));
        assert_eq!(drawn.due_minor(2000), 766, "rounded up to a cent");
        let nothing = draw(&[], 2000, usd());
        assert_eq!(nothing, Drawn::nothing());
        assert_eq!(nothing.due(Units(20_000_000)), Units(20_000_000));
        assert_eq!(nothing.due_minor(2000), 2000);
    }

    #[test]
    fn tokens_of_other_decimals_count_by_their_value() {
        let sources = [source("a", 500_000_000_000_000_001, 18), source("b", 9, 0)];
        let drawn = draw(&sources, 100, usd());
        assert_eq!(
            from(&drawn),
            [("a", 500_000_000_000_000_001), ("b", 1)],
            "a token that cannot be divided pays the rest alone"
        );
        assert!(drawn.pays_all(100, 0));
    }

    #[test]
    fn what_is_tolerated_or_less_than_a_cent_is_not_asked_for() {
        let left_of_ten = |units: u128| draw(&[source("a", 10_000_000 - units, 6)], 1000, usd());
        assert!(left_of_ten(9_999).pays_all(1000, 0), "less than a cent");
        assert!(!left_of_ten(10_000).pays_all(1000, 0));
        assert!(left_of_ten(30_000).pays_all(1000, 30));
        assert!(!left_of_ten(30_001).pays_all(1000, 30));
        assert!(
            !draw(&[], 1000, usd()).pays_all(1000, 10_000),
            "nothing pays nothing"
        );
    }

    fn claim(units: u128, own: &[(&str, u128)]) -> Claim {
        let own = own.iter();
        Claim {
            wanted: Value::of(Units(units), 6),
            own: own
                .map(|(payment, units)| ((*payment).to_owned(), Units(*units)))
                .collect(),
        }
    }

    fn given(shared: &[FoundCredit]) -> Vec<Vec<(&str, u128)>> {
        shared
            .iter()
            .map(|found| {
                let from = found.from.iter();
                from.map(|(payment, units)| (payment.as_str(), units.0))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn who_comes_first_is_given_first_of_what_is_nobody_s_own() {
        let sources = [source("a", 4, 6), source("b", 8, 6)];
        let shared = share(&sources, &[claim(5, &[]), claim(5, &[]), claim(5, &[])]);
        assert_eq!(
            given(&shared),
            [vec![("a", 4), ("b", 1)], vec![("b", 5)], vec![("b", 2)]]
        );
        let shared = share(&sources, &[claim(5, &[("gone", 5)]), claim(8, &[("b", 8)])]);
        assert_eq!(
            given(&shared),
            [vec![("a", 4)], vec![("b", 8)]],
            "nobody loses what is its own"
        );
        let shared = share(&sources, &[claim(6, &[]), claim(2, &[("b", 8)])]);
        assert_eq!(
            given(&shared),
            [vec![("a", 4), ("b", 2)], vec![("b", 2)]],
            "what is not needed is nobody's own"
        );
    }

    proptest! {
        #[test]
        fn no_unit_is_taken_that_is_not_there_or_not_needed(
            price in 1u64..1_000_000_000, units in prop::collection::vec((0u128..1_000_000_000_000_000, 0u32..19), 0..6)
        ) {
            let sources: Vec<CreditSource<'_>> = units.iter().map(|(units, decimals)| source("p", *units, *decimals)).collect();
            let drawn = draw(&sources, price, usd());
            let whole = Units(u128::from(price) * 10u128.pow(16));
            let paid = whole.0 - drawn.due(whole).0;
            let mut value = BigRational::zero();
            let mut sources = sources.iter().filter(|source| source.units.0 > 0);
            for (_, taken) in &drawn.from {
                let source = sources.next().unwrap();
                prop_assert!(taken.0 > 0 && *taken <= source.units);
                value += BigRational::new(taken.0.into(), BigInt::from(10u8).pow(source.decimals));
            }
            let value = value * BigInt::from(10u8).pow(18);
            prop_assert!(value >= BigRational::from_integer(paid.into()));
            if !drawn.left.is_zero() {
                prop_assert_eq!(sources.next(), None, "all of it was taken");
                prop_assert_eq!(value, BigRational::from_integer(paid.into()));
            }
        }
    }
}
