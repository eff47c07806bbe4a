//! Lists in memory, as they were last read to their end.

use std::collections::HashSet;
use std::sync::Arc;

use till_core::screening::{Checked, Finding};

use super::config::ListConfig;
use super::parsed::normalised;

/// One list with all of its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedList {
    pub name: String,
    pub digest: Vec<u8>,
    pub edition: String,
    pub version: Option<String>,
    /// When it was last read to its end, in real time.
    pub fetched_at: i64,
    pub addresses: Arc<HashSet<Box<str>>>,
}

#[derive(Clone, Debug, Default)]
pub struct LoadedLists {
    pub lists: Vec<LoadedList>,
}

/// Two times, because only real time makes a list older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub business: i64,
    pub real: i64,
}

impl LoadedLists {
    pub fn list(&self, config: &ListConfig) -> Option<&LoadedList> {
        let digest = config.digest();
        self.lists
            .iter()
            .find(|list| list.name == config.name && list.digest == digest)
    }

    pub fn editions(&self) -> Vec<String> {
        let editions = self.lists.iter().map(|list| list.edition.clone());
        editions.collect()
    }

    /// Whether any of them has this address.
    pub fn names(&self, address: &str) -> bool {
        let address = normalised(address);
        self.lists
            .iter()
            .any(|list| list.addresses.contains(&*address))
    }

    /// What a configured list says of an address. Too old to clear anybody is not too old to name somebody.
    pub fn check(
        &self,
        config: &ListConfig,
        address: &str,
        max_age_ms: i64,
        now: Moment,
    ) -> Checked {
        let list = self.list(config);
        let finding = match list {
            None => Finding::Unavailable,
            Some(list) if list.addresses.contains(&*normalised(address)) => Finding::Match,
            Some(list) if now.real.saturating_sub(list.fetched_at) > max_age_ms => {
                Finding::Unavailable
            }
            Some(_) => Finding::Clear,
        };
        Checked {
            list: config.name.clone(),
            version: list.and_then(|list| list.version.clone()),
            finding,
            checked_at: now.business,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Format, ListSource};
    use super::*;

    fn config() -> ListConfig {
        ListConfig {
            name: "own".to_owned(),
            source: ListSource::File("own.txt".into()),
            format: Format::Plain,
        }
    }

    fn finding(loaded: &LoadedLists, address: &str, now: i64) -> Finding {
        let now = Moment {
            business: 0,
            real: now,
        };
        loaded.check(&config(), address, 100, now).finding
    }

    #[test]
    fn a_list_names_clears_and_grows_old() {
        let list = LoadedList {
            name: "own".to_owned(),
            digest: config().digest().to_vec(),
            edition: "e".to_owned(),
            version: None,
            fetched_at: 1_000,
            addresses: Arc::new(["0xab".into()].into()),
        };
        let loaded = LoadedLists {
            lists: vec![list.clone()],
        };
        assert_eq!(finding(&loaded, "0xAB", 1_000), Finding::Match);
        assert_eq!(finding(&loaded, "0xac", 1_100), Finding::Clear);
        assert_eq!(finding(&loaded, "0xac", 1_101), Finding::Unavailable);
        assert_eq!(finding(&loaded, "0xAB", 1_101), Finding::Match);
        assert_eq!(
            finding(&LoadedLists::default(), "0xac", 1_000),
            Finding::Unavailable
        );
        let elsewhere = LoadedList {
            digest: vec![1],
            ..list
        };
        let loaded = LoadedLists {
            lists: vec![elsewhere],
        };
        assert_eq!(finding(&loaded, "0xac", 1_000), Finding::Unavailable);
    }
}
