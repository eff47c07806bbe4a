//! What lists hold, in memory.

use std::collections::HashSet;
use std::sync::Arc;

use till_core::screening::{Checked, Finding};

use super::ListConfig;
use super::found::normalised;

/// An edition of a list, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldList {
    pub name: String,
    pub digest: Vec<u8>,
    pub edition: String,
    pub version: Option<String>,
    /// When it was last read to its end, in real time.
    pub fetched_at: i64,
    pub addresses: Arc<HashSet<Box<str>>>,
}

#[derive(Clone, Debug, Default)]
pub struct Held {
    pub lists: Vec<HeldList>,
}

/// Two times, because only real time makes a list older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub business: i64,
    pub real: i64,
}

impl Held {
    pub fn list(&self, config: &ListConfig) -> Option<&HeldList> {
        let digest = config.digest();
        self.lists
            .iter()
            .find(|list| list.name == config.name && list.digest == digest)
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
    use super::super::{Format, Source};
    use super::*;

    fn config() -> ListConfig {
        ListConfig {
            name: "own".to_owned(),
            source: Source::File("own.txt".into()),
            format: Format::Plain,
        }
    }

    fn finding(held: &Held, address: &str, now: i64) -> Finding {
        let now = Moment {
            business: 0,
            real: now,
        };
        held.check(&config(), address, 100, now).finding
    }

    #[test]
    fn a_list_names_clears_and_grows_old() {
        let list = HeldList {
            name: "own".to_owned(),
            digest: config().digest().to_vec(),
            edition: "e".to_owned(),
            version: None,
            fetched_at: 1_000,
            addresses: Arc::new(["0xab".into()].into()),
        };
        let held = Held {
            lists: vec![list.clone()],
        };
        assert_eq!(finding(&held, "0xAB", 1_000), Finding::Match);
        assert_eq!(finding(&held, "0xac", 1_100), Finding::Clear);
        assert_eq!(finding(&held, "0xac", 1_101), Finding::Unavailable);
        assert_eq!(finding(&held, "0xAB", 1_101), Finding::Match);
        assert_eq!(
            finding(&Held::default(), "0xac", 1_000),
            Finding::Unavailable
        );
        let elsewhere = HeldList {
            digest: vec![1],
            ..list
        };
        let held = Held {
            lists: vec![elsewhere],
        };
        assert_eq!(finding(&held, "0xac", 1_000), Finding::Unavailable);
    }
}
