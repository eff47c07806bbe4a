//! `payments.position`

use serde::{Deserialize, Serialize};
use till_core::ledger::Position;
use till_core::money::Units;

use super::json_column::stored;

#[derive(Serialize, Deserialize)]
struct StoredPosition {
    held: Units,
    settled: Units,
    overpaid: Units,
    refundable: Units,
    /// Most payments are neither credit nor refunded.
    #[serde(default, skip_serializing_if = "is_zero")]
    prepaid_credit: Units,
    #[serde(default, skip_serializing_if = "is_zero")]
    refunds_due: Units,
    #[serde(default, skip_serializing_if = "is_zero")]
    refunds_sent: Units,
}

fn is_zero(units: &Units) -> bool {
    units.is_zero()
}

impl From<StoredPosition> for Position {
    fn from(stored: StoredPosition) -> Position {
        Position {
            held: stored.held,
            settled: stored.settled,
            overpaid: stored.overpaid,
            refundable: stored.refundable,
            prepaid_credit: stored.prepaid_credit,
            refunds_due: stored.refunds_due,
            refunds_sent: stored.refunds_sent,
        }
    }
}

impl From<&Position> for StoredPosition {
    fn from(position: &Position) -> StoredPosition {
        StoredPosition {
            held: position.held,
            settled: position.settled,
            overpaid: position.overpaid,
            refundable: position.refundable,
            prepaid_credit: position.prepaid_credit,
            refunds_due: position.refunds_due,
            refunds_sent: position.refunds_sent,
        }
    }
}

stored!(Position as StoredPosition);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::golden;

    #[test]
    fn every_form_ever_written_is_read() {
        let position = Position {
            settled: Units(20),
            overpaid: Units(5),
            ..Position::default()
        };
        golden::check::<StoredPosition, _>(
            include_str!("../../golden/payments.position.jsonl"),
            &position,
        );
        let refunded = Position {
            prepaid_credit: Units(7),
            refunds_due: Units(3),
            refunds_sent: Units(2),
            ..position
        };
        golden::check::<StoredPosition, _>(
            include_str!("../../golden/payments.position.refunded.jsonl"),
            &refunded,
        );
    }
}
