//! Prices of volatile assets. An old price is no price.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use till_core::asset::Mode;
use till_core::pricing::{Price, Rate};

#[derive(Clone, Debug, Default)]
pub struct FixedPrices {
    pub test: BTreeMap<String, String>,
    pub live: BTreeMap<String, String>,
}

pub struct Prices {
    fixed: FixedPrices,
    max_age_ms: i64,
    observed: RwLock<HashMap<(Mode, String), Rate>>,
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

    /// Takes in what price sources agreed on.
    pub fn observe(&self, mode: Mode, pair: &str, rate: Rate) {
        let mut observed = self
            .observed
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        observed.insert((mode, pair.to_owned()), rate);
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
        observed.iter().any(|((of_mode, pair), rate)| {
            *of_mode == mode && is_of(pair) && self.is_fresh(rate.at, now_ms)
        })
    }

    fn fixed_in(&self, mode: Mode) -> &BTreeMap<String, String> {
        match mode {
            Mode::Test => &self.fixed.test,
            Mode::Live => &self.fixed.live,
        }
    }

    /// The price of one whole `symbol` in `currency`; a configured one wins over an observed one, and is as of now.
    pub fn current(&self, mode: Mode, symbol: &str, currency: &str, now_ms: i64) -> Option<Rate> {
        let pair = format!("{symbol}/{currency}");
        if let Some(text) = self.fixed_in(mode).get(&pair) {
            return Price::parse(text).map(|price| Rate {
                price,
                at: now_ms,
                sources: Vec::new(),
            });
        }
        let observed = self.observed.read().unwrap_or_else(PoisonError::into_inner);
        let rate = observed.get(&(mode, pair))?;
        self.is_fresh(rate.at, now_ms).then(|| rate.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(price: &str, at: i64) -> Rate {
        Rate {
            price: Price::parse(price).unwrap(),
            at,
            sources: vec!["prices.example".to_owned()],
        }
    }

    #[test]
    fn a_price_beyond_its_age_is_no_price() {
        let prices = Prices::new(FixedPrices::default(), 120_000);
        let rate = rate("50000", 1_000_000);
        prices.observe(Mode::Live, "BTC/USD", rate.clone());
        assert_eq!(
            prices.current(Mode::Live, "BTC", "USD", 1_120_000),
            Some(rate)
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
        prices.observe(Mode::Test, "BTC/USD", rate("1", 0));
        let configured = Rate {
            sources: Vec::new(),
            ..rate("50000", 7)
        };
        assert_eq!(
            prices.current(Mode::Test, "BTC", "USD", 7),
            Some(configured)
        );
        assert_eq!(prices.current(Mode::Test, "BTC", "EUR", 0), None);
    }
}
