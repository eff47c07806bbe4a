//! The gathered values, and how they are taken out one by one.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use toml::Value;

use super::error::ConfigError;
use super::origin::{GivenValue, Origin};

/// Confirmations that a final block may be asked to have.
const DEPTHS: RangeInclusive<u32> = 1..=1_000;

/// Each reader takes its value out, so that what nobody read can be noticed.
pub(super) struct Settings(pub(super) BTreeMap<String, GivenValue>);

impl Settings {
    pub(super) fn origin(&self, key: &str) -> Origin {
        self.0
            .get(key)
            .map_or(Origin::Default, |given| given.origin.clone())
    }

    pub(super) fn text<T>(
        &mut self,
        key: &str,
        default: &str,
        parse: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<T, ConfigError> {
        match self.0.remove(key) {
            None => parse(default).map_err(|problem| wrong(Origin::Default, key, problem)),
            Some(given) => one(key, &given.origin, &given.value, &parse),
        }
    }

    /// An empty text takes a setting away again that a weaker layer gave.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<Option<T>, ConfigError> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(given) if given.value.as_str() == Some("") => Ok(None),
            Some(given) => one(key, &given.origin, &given.value, &parse).map(Some),
        }
    }

    pub(super) fn list<T>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<Vec<T>, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            return Ok(Vec::new());
        };
        // One item needs no brackets, in the file as little as in a variable.
        let items = match value {
            Value::Array(items) => items,
            text @ Value::String(_) => vec![text],
            _ => return Err(wrong(origin, key, "must be a list of texts")),
        };
        let read = |item| one(key, &origin, item, &parse);
        items.iter().map(read).collect()
    }

    /// Figures of prices, and how many confirmations each asks for.
    pub(super) fn final_depths(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<String, &'static str>,
    ) -> Result<BTreeMap<String, u32>, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            return Ok(BTreeMap::new());
        };
        let Value::Table(table) = value else {
            return Err(wrong(origin, key, "must be a table of figures and numbers"));
        };
        let mut depths = BTreeMap::new();
        for (given, depth) in table {
            let key = format!("{key}.{given:?}");
            let problem = |problem: &str| wrong(origin.clone(), &key, problem);
            let figure = parse(&given).map_err(problem)?;
            let depth = depth.as_integer().and_then(|it| u32::try_from(it).ok());
            let depth = depth.filter(|it| DEPTHS.contains(it));
            let depth = depth.ok_or_else(|| problem("must be a number between 1 and 1000"))?;
            depths.insert(figure, depth);
        }
        Ok(depths)
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> Result<bool, ConfigError> {
        match self.0.remove(key) {
            None => Ok(default),
            Some(GivenValue {
                value: Value::Boolean(value),
                ..
            }) => Ok(value),
            Some(given) => Err(wrong(given.origin, key, "must be true or false")),
        }
    }

    pub(super) fn number(
        &mut self,
        key: &str,
        default: u32,
        range: RangeInclusive<u32>,
    ) -> Result<u32, ConfigError> {
        Ok(self.optional_number(key, range)?.unwrap_or(default))
    }

    pub(super) fn optional_number(
        &mut self,
        key: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            return Ok(None);
        };
        let Value::Integer(number) = value else {
            return Err(wrong(origin, key, "must be a whole number"));
        };
        u32::try_from(number)
            .ok()
            .filter(|number| range.contains(number))
            .map(Some)
            .ok_or_else(|| {
                let problem = format!("must be between {} and {}", range.start(), range.end());
                wrong(origin, key, &problem)
            })
    }
}

fn one<T>(
    key: &str,
    origin: &Origin,
    value: &Value,
    parse: &impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, ConfigError> {
    let text = value.as_str().ok_or("must be a text in quotes");
    text.and_then(parse)
        .map_err(|problem| wrong(origin.clone(), key, problem))
}

pub(super) fn wrong(origin: Origin, key: &str, problem: &str) -> ConfigError {
    ConfigError::Value {
        origin,
        key: key.to_owned(),
        problem: problem.to_owned(),
    }
}
