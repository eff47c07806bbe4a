//! What an invoice costs in each asset: exact, rounded up to the asset's grid, never down.

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer as _;
use num_traits::Signed as _;

use crate::error::{Code, Refusal};
use crate::money::{self, Currency, Units};

/// A price of one whole token in a currency, as digits and a scale: `50000.5` is 500005 with scale 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    digits: u128,
    scale: u32,
}

/// Digits behind the point at most.
const SCALE_MAX: u32 = 18;

impl Price {
    /// A zero, negative or malformed price is no price.
    pub fn parse(text: &str) -> Option<Price> {
        let scale = u32::try_from(
            text.split_once('.')
                .map_or(0, |(_, fraction)| fraction.len()),
        )
        .ok()?;
        if scale > SCALE_MAX {
            return None;
        }
        let digits = crate::money::parse(text, scale).ok()?.0;
        (digits > 0).then_some(Price { digits, scale })
    }
}

impl Price {
    /// A whole number, so many of whose digits are behind the point.
    pub fn scaled(digits: u128, scale: u32) -> Option<Price> {
        (digits > 0 && scale <= SCALE_MAX).then_some(Price { digits, scale })
    }

    /// Whether it is within so many hundredths of a percent of another.
    pub fn is_near(self, centre: Price, max_spread_bps: u32) -> bool {
        let centre = BigInt::from(centre.value());
        let apart = BigInt::from(self.value()) - &centre;
        apart.abs() * 10_000u32 <= centre * max_spread_bps
    }

    /// In the smallest step that any price has.
    fn value(self) -> BigUint {
        BigUint::from(self.digits) * BigUint::from(10u8).pow(SCALE_MAX - self.scale)
    }
}

/// As `parse` reads it.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&money::show(Units(self.digits), self.scale))
    }
}

/// What an invoice counts one whole token as: the price, when it was so, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    pub price: Price,
    /// In milliseconds. Of several sources, the time of the oldest.
    pub at: i64,
    /// The sources that agreed on it; none where the operator set the price.
    pub sources: Vec<String>,
}

/// The one in the middle of what several sources say, the lower one of two, if so many are that near to it: within
/// hundredths of a percent.
pub fn agreed(prices: &[Price], min_sources: usize, max_spread_bps: u32) -> Option<Price> {
    let mut sorted = prices.to_vec();
    sorted.sort_by_key(|price| price.value());
    let middle = *sorted.get(sorted.len().checked_sub(1)? / 2)?;
    let is_near = |price: &&Price| price.is_near(middle, max_spread_bps);
    (sorted.iter().filter(is_near).count() >= min_sources).then_some(middle)
}

/// A positive amount in minor units, small enough to be a price.
pub fn price_minor(param: &str, text: &str, currency: Currency) -> Result<u64, Refusal> {
    // Twelve digits before the point are more than any price and far from overflow.
    const MINOR_MAX: u128 = 999_999_999_999_999;
    let invalid = |message: String| Refusal::new(Code::ParameterInvalid, message).param(param);
    let minor = money::parse(text, currency.decimals())
        .map_err(|error| invalid(format!("{param} {error}")))?
        .0;
    match u64::try_from(minor) {
        Ok(0) => Err(invalid(format!("{param} must be greater than zero"))),
        Ok(minor) if u128::from(minor) <= MINOR_MAX => Ok(minor),
        _ => Err(invalid(format!("{param} is too large"))),
    }
}

/// A stablecoin in its own currency: one token is one unit of the currency.
pub fn at_par(amount_minor: u64, currency: Currency, decimals: u32) -> Option<Units> {
    at_price(
        amount_minor,
        currency,
        decimals,
        Price {
            digits: 1,
            scale: 0,
        },
    )
}

/// `None` when the amount is beyond what an on-chain amount can hold.
pub fn at_price(
    amount_minor: u64,
    currency: Currency,
    decimals: u32,
    price: Price,
) -> Option<Units> {
    let ten = |exponent: u32| BigUint::from(10u8).pow(exponent);
    let numerator = BigUint::from(amount_minor) * ten(decimals) * ten(price.scale);
    let denominator = ten(currency.decimals()) * BigUint::from(price.digits);
    let units = u128::try_from(numerator.div_ceil(&denominator)).ok()?;
    (units < 1 << 120).then_some(Units(units))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_price_is_the_middle_of_what_enough_sources_say() {
        let agree = |texts: &[&str]| {
            let prices: Vec<Price> = texts.iter().filter_map(|it| Price::parse(it)).collect();
            agreed(&prices, 2, 100)
        };
        let price = |text: &str| Price::parse(text);
        assert_eq!(agree(&["100", "101.0"]), price("100"));
        assert_eq!(
            agree(&["101.01", "100"]),
            None,
            "more than a hundredth apart"
        );
        assert_eq!(agree(&["100", "5000", "100.5"]), price("100.5"));
        assert_eq!(
            agree(&["1", "100", "5000"]),
            None,
            "nobody agrees with the middle"
        );
        assert_eq!(agree(&["100"]), None, "one is not two");
        assert_eq!(agree(&[]), None);
        assert_eq!(Price::scaled(10_050, 2), price("100.50"));
        assert_eq!((Price::scaled(0, 2), Price::scaled(1, 19)), (None, None));
    }

    fn usd() -> Currency {
        Currency::parse("USD").unwrap()
    }

    #[test]
    fn a_stablecoin_costs_its_face_value() {
        assert_eq!(at_par(2500, usd(), 6), Some(Units(25_000_000)));
        assert_eq!(at_par(1, usd(), 18), Some(Units(10_000_000_000_000_000)));
        assert_eq!(at_par(1, usd(), 0), Some(Units(1)));
    }

    #[test]
    fn a_volatile_asset_rounds_up_by_less_than_one_unit() {
        let price = Price::parse("50000").unwrap();
        assert_eq!(at_price(2500, usd(), 8, price), Some(Units(50_000)));
        assert_eq!(
            at_price(1, usd(), 8, Price::parse("30000").unwrap()),
            Some(Units(34))
        );
    }

    #[test]
    fn nonsense_is_no_price() {
        for bad in ["", "0", "0.00", "-1", "NaN", "1e5", "1."] {
            assert_eq!(Price::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_price_is_written_as_it_is_read() {
        for (text, shown) in [
            ("50000", "50000"),
            ("50000.5", "50000.5"),
            ("97123.10", "97123.10"),
            ("97123.100000", "97123.10"),
            ("0.000000000000000001", "0.000000000000000001"),
        ] {
            let price = Price::parse(text).unwrap();
            assert_eq!(price.to_string(), shown);
            let again = Price::parse(shown).unwrap();
            assert_eq!(again.value(), price.value(), "{text}");
        }
    }

    #[test]
    fn a_price_has_at_most_18_decimals() {
        let of = |decimals: usize| Price::parse(&format!("0.{}1", "0".repeat(decimals - 1)));
        let (digits, scale) = (1, 18);
        assert_eq!(of(18), Some(Price { digits, scale }));
        assert_eq!(of(19), None);
    }

    #[test]
    fn an_amount_is_positive_in_the_decimals_of_its_currency_and_no_more_than_a_price() {
        let of = |text| price_minor("amount", text, usd()).map_err(|refusal| refusal.message);
        assert_eq!(of("0.01"), Ok(1));
        assert_eq!(of("9999999999999.99"), Ok(999_999_999_999_999));
        for (bad, message) in [
            ("10000000000000.00", "amount is too large"),
            ("200000000000000000000.00", "amount is too large"),
            ("0.00", "amount must be greater than zero"),
        ] {
            assert_eq!(of(bad), Err(message.into()), "{bad}");
        }
        let refusal = price_minor("min_amount", "0.001", usd()).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("min_amount"));
        assert_eq!(refusal.code, Code::ParameterInvalid);
    }

    #[test]
    fn no_more_is_due_than_an_amount_can_hold() {
        // One cent in an asset of 55 decimals, at a price that makes it 2^120 units, and at a little more.
        let digits = u128::try_from(BigUint::from(10u8).pow(73) >> 120u32).unwrap() + 1;
        let due = |digits| at_price(1, usd(), 55, Price { digits, scale: 20 });
        assert_eq!(due(digits), None);
        assert_eq!(due(digits + 7), Some(Units((1 << 120) - 1)));
    }

    proptest! {
        #[test]
        fn the_amount_due_is_worth_at_least_the_price(minor in 1u64..1_000_000_000_000, digits in 1u128..10_000_000_000) {
            let price = Price { digits, scale: 2 };
            let due = at_price(minor, usd(), 8, price).unwrap();
            // due / 10^8 * digits / 10^2 >= minor / 10^2, and one unit less is not enough
            let worth = |units: u128| BigUint::from(units) * BigUint::from(digits);
            let owed = BigUint::from(minor) * BigUint::from(100_000_000u64);
            prop_assert!(worth(due.0) >= owed);
            prop_assert!(worth(due.0 - 1) < owed);
        }
    }
}
