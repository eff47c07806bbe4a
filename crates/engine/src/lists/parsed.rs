//! What the parsers of lists return: the addresses, or why there are none.

use std::collections::HashSet;
use std::io;

/// Many times what any published list has.
const ADDRESSES_MAX: usize = 1_000_000;
const ADDRESS_CHARS_MAX: usize = 128;

#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it cannot be fetched: {0}")]
    Fetch(String),
    #[error("it is not in its form: {0}")]
    Malformed(String),
    #[error("it holds no address")]
    Empty,
    #[error("it holds more than {ADDRESSES_MAX} addresses")]
    TooMany,
}

impl ListError {
    pub(super) fn at(self, line: u64) -> ListError {
        match self {
            ListError::Malformed(_) => ListError::Malformed(format!("line {line} is no address")),
            other => other,
        }
    }
}

/// The addresses of a list, and the version that it names.
#[derive(Debug, Default)]
pub(super) struct ParsedList {
    pub(super) addresses: HashSet<Box<str>>,
    pub(super) version: Option<String>,
}

impl ParsedList {
    pub(super) fn add(&mut self, text: &str) -> Result<(), ListError> {
        let is_address = text.len() <= ADDRESS_CHARS_MAX
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_address {
            return Err(ListError::Malformed("a value is no address".to_owned()));
        }
        self.addresses.insert(normalised(text).into());
        match self.addresses.len() > ADDRESSES_MAX {
            true => Err(ListError::TooMany),
            false => Ok(()),
        }
    }
}

/// One text for one address, whichever list or network it comes from: hex and bech32 do not care for case, base58
/// does.
pub fn normalised(address: &str) -> String {
    const CASELESS: [&str; 4] = ["0x", "bc1", "tb1", "ltc1"];
    let lower = address.to_ascii_lowercase();
    match CASELESS.iter().any(|prefix| lower.starts_with(prefix)) {
        true => lower,
        false => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_kept_where_it_says_something() {
        assert_eq!(normalised("0xAbC"), "0xabc");
        assert_eq!(normalised("BC1QW508"), "bc1qw508");
        assert_eq!(normalised("TJRabPrwbZy45"), "TJRabPrwbZy45");
        assert_eq!(normalised("1BoatSLRHtKN"), "1BoatSLRHtKN");
    }
}
