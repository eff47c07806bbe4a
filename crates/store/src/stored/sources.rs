//! `refunds.sources`: which payments a refund comes from, and how much of each.

use serde::{Deserialize, Serialize};
use till_core::money::Units;

use super::json_column::stored;

/// A payment's id and what a refund takes of it.
pub type Sources = Vec<(String, Units)>;

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct StoredSources(Vec<StoredSource>);

#[derive(Serialize, Deserialize)]
struct StoredSource {
    payment: String,
    units: Units,
}

impl From<StoredSources> for Sources {
    fn from(stored: StoredSources) -> Sources {
        let sources = stored.0.into_iter();
        sources
            .map(|source| (source.payment, source.units))
            .collect()
    }
}

impl From<&Sources> for StoredSources {
    fn from(sources: &Sources) -> StoredSources {
        let stored = |(payment, units): &(String, Units)| StoredSource {
            payment: payment.clone(),
            units: *units,
        };
        StoredSources(sources.iter().map(stored).collect())
    }
}

stored!(Sources as StoredSources);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::golden;

    #[test]
    fn every_form_ever_written_is_read() {
        let sources: Sources = vec![("pay_1".to_owned(), Units(3))];
        golden::check::<StoredSources, _>(
            include_str!("../../golden/refunds.sources.jsonl"),
            &sources,
        );
    }
}
