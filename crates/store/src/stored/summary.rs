//! `invoices.summary`. A null is a summary of nothing.

use serde::{Deserialize, Serialize};
use sqlx::error::BoxDynError;
use till_core::invoice::{Review, Summary};
use till_core::money::Units;
use till_core::payment::Hold;

use crate::Val;
use crate::sql::{Cells, Field};

#[derive(Default, Serialize, Deserialize)]
struct StoredSummary {
    received: Vec<(String, Units)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remaining: Option<(String, Units)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overpaid: Option<(String, Units)>,
    /// The hold and since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    review: Option<(String, i64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked: Vec<(String, Units)>,
}

impl TryFrom<StoredSummary> for Summary {
    type Error = String;

    fn try_from(stored: StoredSummary) -> Result<Summary, String> {
        let review = match stored.review {
            None => None,
            Some((hold, opened_at)) => Some(Review {
                hold: Hold::parse(&hold).ok_or(hold)?,
                opened_at,
            }),
        };
        Ok(Summary {
            received: stored.received,
            remaining: stored.remaining,
            overpaid: stored.overpaid,
            review,
            asked: stored.asked,
        })
    }
}

impl From<&Summary> for StoredSummary {
    fn from(summary: &Summary) -> StoredSummary {
        let review = summary.review.as_ref();
        StoredSummary {
            received: summary.received.clone(),
            remaining: summary.remaining.clone(),
            overpaid: summary.overpaid.clone(),
            review: review.map(|review| (review.hold.as_str().to_owned(), review.opened_at)),
            asked: summary.asked.clone(),
        }
    }
}

impl Field for Summary {
    const NULL: Val = Val::NullText;

    fn read(cells: &impl Cells, at: usize) -> Result<Summary, BoxDynError> {
        if cells.is_null(at)? {
            return Ok(Summary::default());
        }
        let stored: StoredSummary = serde_json::from_str(cells.text(at)?)?;
        Ok(stored.try_into()?)
    }

    fn write(&self) -> Val {
        if *self == Summary::default() {
            return Val::NullText;
        }
        // Texts and numbers always have a JSON form.
        Val::from(serde_json::to_string(&StoredSummary::from(self)).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_ever_written_is_read() {
        let amount = |units| ("USDC@eip155:84532".to_owned(), Units(units));
        let full = Summary {
            received: vec![amount(7)],
            remaining: Some(amount(3)),
            overpaid: Some(amount(1)),
            review: Some(Review {
                hold: Hold::Sanctions,
                opened_at: 1_794_712_419_123,
            }),
            asked: Vec::new(),
        };
        let bare = Summary {
            received: vec![amount(7)],
            ..Summary::default()
        };
        let owes = Summary {
            asked: vec![amount(20)],
            ..Summary::default()
        };
        let golden = include_str!("../../golden/invoices.summary.jsonl");
        for (form, value) in golden.lines().zip([full, bare, owes]) {
            let read: StoredSummary = serde_json::from_str(form).unwrap();
            assert_eq!(Summary::try_from(read).as_ref(), Ok(&value), "{form}");
            let written = serde_json::to_string(&StoredSummary::from(&value)).unwrap();
            assert_eq!(written, form);
        }
    }
}
