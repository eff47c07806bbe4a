//! Prices of volatile assets. An old price is no price.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use till_core::asset::Mode;
use till_core::pricing::Price;

#[derive(Clone, Debug, Default)]
pub struct FixedPrices {
    pub test: BTreeMap<String, String>,
    pub live: BTreeMap<String, String>,
}

pub struct Prices {
    fixed: FixedPrices,
    max_age_ms: i64,
    observed: RwLock<HashMap<(Mode, String), (Price, i64)>>,
}

impl Prices {
    pub fn new(fixed: FixedPrices, max_age_ms: i64) -> Prices {
        Prices {
            fixed,
            max_age_ms,
            observed: RwLock::default(),
        }
    }

    /// Whether what was said then counts now. From the future is as wrong as old.
    pub fn is_fresh(&self, at_ms: i64, now_ms: i64) -> bool {
        let age = now_ms.checked_sub(at_ms);
        age.is_some_and(|age| (-self.max_age_ms..=self.max_age_ms).contains(&age))
    }

    /// Takes in what a price source said, and when it said so.
    pub fn observe(&self, mode: Mode, pair: &str, price: Price, at_ms: i64) {
        let mut observed = self
            .observed
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        observed.insert((mode, pair.to_owned()), (price, at_ms));
    }

    /// Whether this symbol has a price in any currency.
    pub fn has_any(&self, mode: Mode, symbol: &str, now_ms: i64) -> bool {
        let is_of = |pair: &str| {
            let priced = pair.split_once('/');
            priced.is_some_and(|(of, _)| of == symbol)
        };
        let fixed = self.fixed_in(mode).iter();
        let mut fixed = fixed.filter(|(_, price)| Price::parse(price).is_some());
        if fixed.any(|(pair, _)| is_of(pair)) {
            return true;
        }
        let observed = self.observed.read().unwrap_or_else(PoisonError::into_inner);
        observed.iter().any(|((of_mode, pair), (_, at_ms))| {
            *of_mode == mode && is_of(pair) && self.is_fresh(*at_ms, now_ms)
        })
    }

    fn fixed_in(&self, mode: Mode) -> &BTreeMap<String, String> {
        match mode {
            Mode::Test => &self.fixed.test,
            Mode::Live => &self.fixed.live,
        }
    }

    /// The price of one whole `symbol` in `currency`; a configured one wins over an observed one.
    pub fn current(&self, mode: Mode, symbol: &str, currency: &str, now_ms: i64) -> Option<Price> {
        let pair = format!("{symbol}/{currency}");
        if let Some(text) = self.fixed_in(mode).get(&pair) {
            return Price::parse(text);
        }
        let observed = self.observed.read().unwrap_or_else(PoisonError::into_inner);
        let (price, at_ms) = *observed.get(&(mode, pair))?;
        self.is_fresh(at_ms, now_ms).then_some(price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_beyond_its_age_is_no_price() {
        let prices = Prices::new(FixedPrices::default(), 120_000);
        let price = Price::parse("50000").unwrap();
        prices.observe(Mode::Live, "BTC/USD", price, 1_000_000);
        assert_eq!(
            prices.current(Mode::Live, "BTC", "USD", 1_120_000),
            Some(price)
        );
        assert_eq!(prices.current(Mode::Live, "BTC", "USD", 1_120_001), None);
        assert_eq!(prices.current(Mode::Test, "BTC", "USD", 1_000_000), None);
        assert_eq!(prices.current(Mode::Live, "BTC", "EUR", 1_000_000), None);
        assert!(prices.has_any(Mode::Live, "BTC", 1_120_000));
        assert!(!prices.has_any(Mode::Live, "BTC", 1_120_001));
        assert!(!prices.has_any(Mode::Test, "BTC", 1_000_000));
        assert!(!prices.has_any(Mode::Live, "BT", 1_000_000));
    }

    #[test]
    fn a_configured_price_wins_and_a_malformed_one_is_none() {
        let fixed = FixedPrices {
            test: [
                ("BTC/USD".into(), "50000".into()),
                ("BTC/EUR".into(), "0".into()),
            ]
            .into(),
            live: BTreeMap::new(),
        };
        let prices = Prices::new(fixed, 120_000);
        prices.observe(Mode::Test, "BTC/USD", Price::parse("1").unwrap(), 0);
        assert_eq!(
            prices.current(Mode::Test, "BTC", "USD", 0),
            Price::parse("50000")
        );
        assert_eq!(prices.current(Mode::Test, "BTC", "EUR", 0), None);
    }
}
