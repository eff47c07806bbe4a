//! `refunds.screening`: what the lists said of a payout address.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use till_core::screening::{Checked, Finding, Screening};

use super::json_column::stored;

#[derive(Serialize, Deserialize)]
struct StoredScreening {
    lists: Vec<StoredChecked>,
}

#[derive(Serialize, Deserialize)]
struct StoredChecked {
    list: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(serialize_with = "write_finding", deserialize_with = "read_finding")]
    result: Finding,
    checked_at: i64,
}

fn write_finding<S: Serializer>(finding: &Finding, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(finding.as_str())
}

fn read_finding<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Finding, D::Error> {
    let text = String::deserialize(deserializer)?;
    Finding::parse(&text).ok_or_else(|| D::Error::custom(text))
}

impl From<StoredScreening> for Screening {
    fn from(stored: StoredScreening) -> Screening {
        let checked = |stored: StoredChecked| Checked {
            list: stored.list,
            version: stored.version,
            finding: stored.result,
            checked_at: stored.checked_at,
        };
        Screening {
            lists: stored.lists.into_iter().map(checked).collect(),
        }
    }
}

impl From<&Screening> for StoredScreening {
    fn from(screening: &Screening) -> StoredScreening {
        let stored = |checked: &Checked| StoredChecked {
            list: checked.list.clone(),
            version: checked.version.clone(),
            result: checked.finding,
            checked_at: checked.checked_at,
        };
        StoredScreening {
            lists: screening.lists.iter().map(stored).collect(),
        }
    }
}

stored!(Screening as StoredScreening);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::golden;

    #[test]
    fn every_form_ever_written_is_read() {
        let screening = Screening {
            lists: vec![Checked {
                list: "sanctions".to_owned(),
                version: Some("2026-11-15".to_owned()),
                finding: Finding::Match,
                checked_at: 1_794_712_419_123,
            }],
        };
        golden::check::<StoredScreening, _>(
            include_str!("../../golden/refunds.screening.jsonl"),
            &screening,
        );
    }
}
