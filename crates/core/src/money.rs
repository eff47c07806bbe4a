//! Amounts as integers of the smallest unit, and their exact decimal text.

use std::fmt;

use iso_currency::Currency as Iso;
use serde::{Deserialize, Serialize};

/// More digits than any real amount has; what is longer is refused before it is parsed.
pub const DIGITS_MAX: usize = 36;

/// An amount of a token in its base units. Wide enough for 18 decimals and every supply on our networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Units(pub u128);

impl Units {
    pub const ZERO: Units = Units(0);

    /// So much and more moves nowhere: no supply comes near it, and it takes tens of thousands of what is below it to make a sum
    /// that does not fit.
    pub const END: Units = Units(1 << 112);

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Sums of an invoice's transfers do not overflow: what is not below [`Units::END`] is refused where transfers come in.
    pub fn plus(self, other: Units) -> Units {
        Units(self.0.saturating_add(other.0))
    }

    /// None when there is not so much.
    pub fn minus(self, other: Units) -> Option<Units> {
        self.0.checked_sub(other.0).map(Units)
    }
}

// Base units travel and rest as text: JSON numbers and SQL integers are too narrow for them.
impl Serialize for Units {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Units, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map(Units).map_err(serde::de::Error::custom)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    Malformed,
    TooManyDecimals,
    TooLarge,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecimalError::Malformed => "must be a plain decimal number such as \"25.00\"",
            DecimalError::TooManyDecimals => "has more decimals than its unit",
            DecimalError::TooLarge => "is too large",
        })
    }
}

/// Reads `digits[.digits]` exactly; never rounds.
pub fn parse(text: &str, decimals: u32) -> Result<Units, DecimalError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(DecimalError::Malformed),
        None => (text, ""),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(DecimalError::Malformed);
    }
    if text.len() > DIGITS_MAX + 1 {
        return Err(DecimalError::TooLarge);
    }
    let decimals = decimals as usize;
    if fraction.len() > decimals {
        return Err(DecimalError::TooManyDecimals);
    }
    let mut value: u128 = 0;
    let padding = decimals - fraction.len();
    for digit in whole
        .bytes()
        .chain(fraction.bytes())
        .chain(std::iter::repeat_n(b'0', padding))
    {
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u128::from(digit - b'0')))
            .ok_or(DecimalError::TooLarge)?;
    }
    if value >= 1 << 120 {
        return Err(DecimalError::TooLarge);
    }
    Ok(Units(value))
}

/// Writes whole tokens as a decimal: at least two decimals where the unit has them, no idle zeros beyond.
pub fn show(units: Units, decimals: u32) -> String {
    let decimals = decimals as usize;
    let digits = format!("{:0>width$}", units.0, width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let kept = fraction.trim_end_matches('0').len().max(decimals.min(2));
    if kept == 0 {
        whole.to_owned()
    } else {
        format!("{whole}.{}", &fraction[..kept])
    }
}

/// The same for what may be below zero.
pub fn show_signed(units: i128, decimals: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{}", show(Units(units.unsigned_abs()), decimals))
}

/// A fiat currency of ISO 4217 that prices can be quoted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Currency(Iso);

impl Currency {
    /// Upper-case codes only. Funds, metals and test codes have no minor unit and are no prices.
    pub fn parse(code: &str) -> Option<Currency> {
        if code.len() != 3 || !code.bytes().all(|b| b.is_ascii_uppercase()) {
            return None;
        }
        let iso = Iso::from_code(code)?;
        iso.exponent().map(|_| Currency(iso))
    }

    pub fn code(self) -> &'static str {
        self.0.code()
    }

    pub fn decimals(self) -> u32 {
        self.0.exponent().map_or(2, u32::from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_plain_decimals_are_amounts() {
        let bad = [
            "", "1e5", "1E-7", "+1", "-1", "-0", " 1", "1 ", "1,0", "٣", "0x10", "NaN", "1.", ".5",
            ".", "1.2.3", "１",
        ];
        for text in bad {
            assert_eq!(parse(text, 6), Err(DecimalError::Malformed), "{text}");
        }
        assert_eq!(parse("1.1234567", 6), Err(DecimalError::TooManyDecimals));
        assert_eq!(
            parse(&"9".repeat(1_000_000), 6),
            Err(DecimalError::TooLarge)
        );
        assert_eq!(
            parse("340282366920938463463374607431768211456", 0),
            Err(DecimalError::TooLarge)
        );
    }

    #[test]
    fn amounts_show_two_decimals_and_no_idle_zeros() {
        for (units, decimals, text) in [
            (25_000_000, 6, "25.00"),
            (25_004_213, 6, "25.004213"),
            (7_500_000, 6, "7.50"),
            (50_000, 8, "0.0005"),
            (0, 6, "0.00"),
            (12, 0, "12"),
            (5, 1, "0.5"),
        ] {
            assert_eq!(show(Units(units), decimals), text);
        }
    }

    #[test]
    fn currencies_are_upper_case_iso_codes_with_a_minor_unit() {
        assert_eq!(Currency::parse("USD").map(Currency::decimals), Some(2));
        assert_eq!(Currency::parse("JPY").map(Currency::decimals), Some(0));
        for bad in ["usd", "US", "XYZ", "XAU", "XXX", "", "USDC"] {
            assert_eq!(Currency::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(units in 0u128..(1 << 120), decimals in 0u32..19) {
            let text = show(Units(units), decimals);
            if text.len() <= DIGITS_MAX {
                prop_assert_eq!(parse(&text, decimals), Ok(Units(units)));
            }
        }

        #[test]
        fn reading_never_panics(text in "\\PC*", decimals in 0u32..19) {
            let _ = parse(&text, decimals);
        }
    }
}
