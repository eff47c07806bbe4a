//! The operator's lists of addresses: where they come from, how they are read, and what of them holds now.

mod config;
mod loaded;
mod parsed;
mod plain;
mod read;
mod sdn;

pub use config::{Format, ListConfig, ListSource, ListsConfig};
pub use loaded::{LoadedList, LoadedLists, Moment};
pub use parsed::ListError;
pub use read::{Content, changed_at, read};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::outbound::{Fetcher, SenderError};

/// The lists of this process, and a copy in memory of what they hold: payments are judged without the database.
pub struct Lists {
    pub config: ListsConfig,
    pub fetcher: Fetcher,
    loaded: RwLock<Arc<LoadedLists>>,
    /// The editions that the addresses of all refunds that are ready were held against.
    held_against_payouts: Mutex<Vec<String>>,
}

impl Lists {
    pub fn new(config: ListsConfig) -> Result<Lists, SenderError> {
        let fetcher = Fetcher::new(&config.trusted_certificates_pem)?;
        Ok(Lists {
            config,
            fetcher,
            loaded: RwLock::default(),
            held_against_payouts: Mutex::default(),
        })
    }

    /// Whether there is any list to hold addresses against.
    pub fn has_some(&self) -> bool {
        !self.config.lists.is_empty()
    }

    /// Whether one of them was never read, or so long ago that it clears nobody.
    pub fn has_stale(&self, now: i64) -> bool {
        let loaded = self.loaded();
        let is_stale = |list: &ListConfig| {
            let read_at = loaded.list(list).map(|read| read.fetched_at);
            read_at.is_none_or(|at| now.saturating_sub(at) > self.config.max_age_ms)
        };
        self.config.lists.iter().any(is_stale)
    }

    pub fn loaded(&self) -> Arc<LoadedLists> {
        Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn replace(&self, loaded: LoadedLists) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
    }

    /// Whether the refunds that are ready were looked at by these editions already.
    pub fn were_held_against_payouts(&self, loaded: &LoadedLists) -> bool {
        *held(&self.held_against_payouts) == loaded.editions()
    }

    pub fn held_against_payouts(&self, loaded: &LoadedLists) {
        *held(&self.held_against_payouts) = loaded.editions();
    }
}

fn held(editions: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    editions.lock().unwrap_or_else(PoisonError::into_inner)
}
