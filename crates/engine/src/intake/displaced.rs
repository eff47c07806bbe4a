//! Run again in another block, a transaction may pay somebody else at the same place. Whoever was paid there before is told
//! that it is gone, before the other is told that it came.

use std::borrow::Cow;
use std::collections::HashMap;

use till_store::payments::PaymentRow;

use super::observation::{
    Identity, Observation, Sighting, TransferOrigin, is_rerouted, receipt_of,
};

/// What was seen, and what follows from it for those who were paid there before.
pub(super) struct ObservationBatch<'o> {
    pub(super) said: Vec<Cow<'o, Observation>>,
    /// Where what was seen stands in it, in its order.
    pub(super) seen: Vec<usize>,
}

impl ObservationBatch<'_> {
    pub(super) fn displaces_any(&self) -> bool {
        self.said.len() > self.seen.len()
    }
}

/// There is one transfer at a place: where it goes to another than a payment did, or comes from another who is known by that,
/// the payment is not there any more.
pub(super) fn with_displaced<'o>(
    observations: &'o [Observation],
    payments: &[PaymentRow],
) -> ObservationBatch<'o> {
    let mut standing: HashMap<Identity<'_>, Vec<&PaymentRow>> = HashMap::new();
    for row in payments.iter().filter(|row| row.gone_at.is_none()) {
        standing.entry(receipt_of(row).0).or_default().push(row);
    }
    let mut told = ObservationBatch {
        said: Vec::with_capacity(observations.len()),
        seen: Vec::with_capacity(observations.len()),
    };
    let mut last: HashMap<Identity<'_>, &Observation> = HashMap::with_capacity(observations.len());
    for observation in observations {
        let identity = observation.identity();
        // Who leaves displaces nobody.
        let comes = observation.sighting.level().is_some();
        let rows = standing.get(&identity).into_iter().flatten();
        let is_another = |row: &&&PaymentRow| {
            row.recipient != observation.recipient || is_rerouted(row, observation)
        };
        let rows = rows.filter(|row| comes && is_another(row));
        told.said.extend(rows.map(|row| Cow::Owned(gone(row))));
        let before = last.insert(identity, observation);
        let before = before.filter(|before| comes && before.recipient != observation.recipient);
        told.said.extend(before.map(|before| {
            Cow::Owned(Observation {
                sighting: Sighting::Removed,
                ..before.clone()
            })
        }));
        told.seen.push(told.said.len());
        told.said.push(Cow::Borrowed(observation));
    }
    told
}

fn gone(row: &PaymentRow) -> Observation {
    Observation {
        network: row.network.clone(),
        tx_hash: row.tx_hash.clone(),
        place: row.place,
        asset: row.asset.clone(),
        units: row.units,
        arrived: row.short.then_some(row.units),
        registers: row.registers.clone(),
        senders: row.senders.clone(),
        recipient: row.recipient.clone(),
        sighting: Sighting::Removed,
        source: match row.simulated {
            true => TransferOrigin::Simulation,
            false => TransferOrigin::Chain,
        },
    }
}
