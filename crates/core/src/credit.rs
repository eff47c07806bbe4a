//! Prepaid credit: a stablecoin counts at par in its own currency, the oldest first, to the last unit.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

use crate::money::{Currency, Units};

/// What one payment has left to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditSource<'a> {
    pub payment: &'a str,
    pub seen_at: i64,
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

    /// Without what is less than the currency's smallest amount.
    pub fn in_whole_minor(&self, currency: Currency) -> Value {
        let minor = ten(currency.decimals());
        let whole = (&self.0 * &minor).floor().to_integer();
        Value(BigRational::new(whole, minor))
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
        is_forgiven(
            &self.left,
            price_minor,
            tolerance_bps,
            !self.from.is_empty(),
        )
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

fn is_forgiven(left: &BigRational, price_minor: u64, tolerance_bps: u32, has_any: bool) -> bool {
    let is_dust = left * BigInt::from(price_minor) < BigRational::one();
    let tolerated = BigRational::from_integer(tolerance_bps.into());
    is_dust || (has_any && left * BigInt::from(10_000) <= tolerated)
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

impl FoundCredit {
    fn nothing() -> FoundCredit {
        FoundCredit {
            from: Vec::new(),
            value: Value::zero(),
        }
    }

    fn add(&mut self, more: FoundCredit) {
        self.value = self.value.plus(&more.value);
        for (payment, units) in more.from {
            match self.from.iter_mut().find(|(known, _)| *known == payment) {
                Some((_, known)) => *known = known.plus(units),
                None => self.from.push((payment, units)),
            }
        }
    }
}

/// Takes a value out of these, in their order, until there is enough or nothing is left.
pub fn find(sources: &[CreditSource<'_>], wanted: &Value) -> FoundCredit {
    let mut found = FoundCredit::nothing();
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

/// What something needs of a customer's credit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub wanted: Value,
    /// What nobody else is given while this pays it, and the id of the first entry about that: ids grow with time.
    pub own: Vec<(String, Units)>,
    pub own_since: Option<String>,
    /// It keeps its own, whether or not that pays the period: nobody has a better right to it.
    pub keeps: bool,
    /// When what it is for ended: nothing that was first seen after that pays for it.
    pub ended_at: Option<i64>,
    /// The period that it would pay; none for what takes whatever there is.
    pub period: Option<PeriodClaim>,
}

/// A period that credit pays in full or not at all: a part is of use to the first alone that its subscription owes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodClaim {
    pub subscription: String,
    pub price_minor: u64,
    pub currency: Currency,
    pub tolerance_bps: u32,
    /// What it was paid with once, which is enough whatever the merchant tolerates by now.
    pub enough: Option<Value>,
    /// What it has besides.
    pub fixed: Value,
    pub takes: Takes,
}

/// What a period takes of credit that is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// Its whole price.
    All,
    /// What there is of its price, where it is the first that is owed.
    Some,
}

impl PeriodClaim {
    /// Whether so much pays it, with what it has besides.
    pub fn is_paid_by(&self, value: &Value) -> bool {
        let value = value.plus(&self.fixed);
        if self.enough.as_ref().is_some_and(|enough| value >= *enough) {
            return true;
        }
        let left = Drawn::leaving(&value, self.price_minor, self.currency).left;
        is_forgiven(
            &left,
            self.price_minor,
            self.tolerance_bps,
            !value.is_zero(),
        )
    }
}

impl Claim {
    fn is_paid_by(&self, value: &Value) -> bool {
        let period = self.period.as_ref();
        period.is_some_and(|period| period.is_paid_by(value))
    }

    fn takes(&self, source: &CreditSource<'_>) -> bool {
        self.ended_at.is_none_or(|end| source.seen_at <= end)
    }
}

/// Shares what there is among claims. Who keeps what it has comes first. What is a period's own stays with it, as long as that pays
/// it; who takes whatever there is keeps what was its own of it. Nobody's own is what was another's before, whether or not that one can
/// have it now. Of the rest the first claim is given first. What it comes to depends on nothing else.
pub fn share(sources: &[CreditSource<'_>], claims: &[Claim]) -> Vec<FoundCredit> {
    let mut left = sources.to_vec();
    let mut nobodys = sources.to_vec();
    let mut shared = vec![FoundCredit::nothing(); claims.len()];
    let mut by_own: Vec<usize> = (0..claims.len()).collect();
    by_own.sort_by_key(|at| (!claims[*at].keeps, claims[*at].own_since.as_deref()));
    for at in by_own {
        let claim = &claims[at];
        let own = only(&nobodys, &claim.own);
        remove(&mut nobodys, &claim.own);
        let own = find(&own, &claim.wanted);
        if claim.period.is_none() || claim.keeps || claim.is_paid_by(&own.value) {
            remove(&mut left, &own.from);
            shared[at] = own;
        }
    }
    let mut owing: BTreeSet<&str> = BTreeSet::new();
    for (claim, has) in claims.iter().zip(&mut shared) {
        if claim.is_paid_by(&has.value) {
            continue;
        }
        let open: Vec<_> = left.iter().filter(|it| claim.takes(it)).copied().collect();
        let more = find(&open, &claim.wanted.less(&has.value));
        let pays = |period: &PeriodClaim| period.is_paid_by(&has.value.plus(&more.value));
        let is_taken = match &claim.period {
            None => true,
            Some(period) if period.takes != Takes::Nothing && pays(period) => true,
            Some(period) => {
                let is_first = owing.insert(&period.subscription);
                is_first && period.takes == Takes::Some
            }
        };
        if is_taken {
            remove(&mut left, &more.from);
            has.add(more);
        }
    }
    shared
}

/// No more than this of each.
fn only<'s>(left: &[CreditSource<'s>], own: &[(String, Units)]) -> Vec<CreditSource<'s>> {
    let offer = |source: &CreditSource<'s>| {
        let own = own.iter().filter(|(payment, _)| payment == source.payment);
        let own = own.fold(Units::ZERO, |sum, (_, units)| sum.plus(*units));
        CreditSource {
            units: source.units.min(own),
            ..*source
        }
    };
    left.iter().map(offer).collect()
}

fn remove(left: &mut [CreditSource<'_>], from: &[(String, Units)]) {
    for (payment, taken) in from {
        let source = left.iter_mut().find(|source| source.payment == payment);
        if let Some(source) = source {
            source.units = Units(source.units.0.saturating_sub(taken.0));
        }
    }
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
            seen_at: 0,
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
            own_since: None,
            keeps: false,
            ended_at: None,
            period: None,
        }
    }

    /// A period of five dollars.
    fn period(subscription: &str, own: &[(&str, u128)], takes: Takes) -> Claim {
        let period = PeriodClaim {
            subscription: subscription.to_owned(),
            price_minor: 500,
            currency: usd(),
            tolerance_bps: 0,
            enough: None,
            fixed: Value::zero(),
            takes,
        };
        Claim {
            period: Some(period),
            ..claim(5_000_000, own)
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

    #[test]
    fn what_came_after_the_end_pays_for_nothing_that_ended() {
        let late = CreditSource {
            seen_at: 11,
            ..source("late", 8, 6)
        };
        let sources = [source("in time", 4, 6), late];
        let ended = Claim {
            ended_at: Some(10),
            ..claim(5, &[("gone", 5)])
        };
        let shared = share(&sources, &[ended, claim(20, &[])]);
        assert_eq!(given(&shared), [vec![("in time", 4)], vec![("late", 8)]]);
    }

    const DOLLAR: u128 = 1_000_000;

    #[test]
    fn what_paid_a_period_is_its_own_and_a_part_of_it_is_not() {
        let sources = [source("a", 6 * DOLLAR, 6)];
        let first = period("x", &[("gone", 5 * DOLLAR)], Takes::Some);
        let own = period("x", &[("a", 5 * DOLLAR)], Takes::Some);
        let shared = share(&sources, &[first.clone(), own]);
        assert_eq!(
            given(&shared),
            [vec![("a", DOLLAR)], vec![("a", 5 * DOLLAR)]]
        );
        let part = period("x", &[("a", 4 * DOLLAR), ("gone", DOLLAR)], Takes::Some);
        let shared = share(&sources, &[first, part]);
        assert_eq!(
            given(&shared),
            [vec![("a", 5 * DOLLAR)], vec![("a", DOLLAR)]],
            "a part of it is for who was asked first"
        );
    }

    #[test]
    fn who_was_paid_with_it_first_keeps_it() {
        let own = [("a", 5 * DOLLAR)];
        let since = |id: &str, subscription: &str| Claim {
            own_since: Some(id.to_owned()),
            ..period(subscription, &own, Takes::Some)
        };
        let [late, early] = [since("2", "x"), since("1", "y")];
        let a = source("a", 5 * DOLLAR, 6);
        let shared = share(&[a], &[late.clone(), early.clone()]);
        assert_eq!(given(&shared), [vec![], vec![("a", 5 * DOLLAR)]]);
        // What was another's first is not its own, though that one cannot have it.
        let mut short = early;
        short.own.push(("gone".to_owned(), Units(5 * DOLLAR)));
        short.wanted = Value::of(Units(10 * DOLLAR), 6);
        short.period.as_mut().unwrap().price_minor = 1000;
        let asked_first = period("z", &[], Takes::Some);
        let shared = share(&[a], &[asked_first, late, short]);
        assert_eq!(given(&shared), [vec![("a", 5 * DOLLAR)], vec![], vec![]]);
    }

    #[test]
    fn who_keeps_what_it_has_loses_nothing_to_whom_a_part_of_it_paid_once() {
        let a = source("a", 10 * DOLLAR, 6);
        let keeping = |id: &str, units: u128| Claim {
            keeps: true,
            own_since: Some(id.to_owned()),
            ..period(id, &[("a", units)], Takes::Some)
        };
        // What paid it at first is gone but for a part, which others have by now.
        let short = Claim {
            own_since: Some("1".to_owned()),
            ..period("x", &[("gone", DOLLAR), ("a", 4 * DOLLAR)], Takes::Some)
        };
        let (paid, lowered) = (keeping("2", 5 * DOLLAR), keeping("3", 3 * DOLLAR));
        let shared = share(&[a], &[short, paid, lowered]);
        assert_eq!(
            given(&shared),
            [
                vec![("a", 2 * DOLLAR)],
                vec![("a", 5 * DOLLAR)],
                vec![("a", 3 * DOLLAR)]
            ]
        );
    }

    #[test]
    fn a_part_is_for_the_first_period_that_is_owed_and_may_be_asked_for() {
        let sources = [source("a", 8 * DOLLAR, 6)];
        let [some, all, nothing] =
            [Takes::Some, Takes::All, Takes::Nothing].map(|takes| period("x", &[], takes));
        let other = period("y", &[], Takes::Some);
        let shared = share(
            &sources,
            &[some.clone(), some.clone(), some.clone(), other.clone()],
        );
        assert_eq!(
            given(&shared),
            [
                vec![("a", 5 * DOLLAR)],
                vec![("a", 3 * DOLLAR)],
                vec![],
                vec![]
            ]
        );
        let shared = share(&sources, &[all.clone(), all, other.clone()]);
        assert_eq!(
            given(&shared),
            [vec![("a", 5 * DOLLAR)], vec![], vec![("a", 3 * DOLLAR)]]
        );
        let shared = share(&sources, &[nothing, some, other]);
        assert_eq!(
            given(&shared),
            [vec![], vec![("a", 5 * DOLLAR)], vec![("a", 3 * DOLLAR)]]
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
