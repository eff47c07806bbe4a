//! A payment link's unit follows the invoice that holds it: paid for, given back, or held again after a
//! reorganisation.

use std::collections::BTreeMap;

use till_core::link::Unit;
use till_store::Write;
use till_store::invoices::InvoiceRow;
use till_store::links::UnitMove;

use super::follower::Follower;

/// The unit that the invoice's status calls for.
pub(in crate::settlement) fn apply(row: &mut InvoiceRow) {
    if row.payment_link.is_some() {
        row.link_unit = Some(Unit::of(row.status, row.closed_at.is_some()));
    }
}

/// The links' counts, moved by all of their invoices together.
pub(super) fn writes(settled: &[Follower<'_>]) -> Vec<Write> {
    let mut moves: BTreeMap<&str, UnitMove> = BTreeMap::new();
    for done in settled {
        let invoice = &done.held.invoice;
        let (Some(link), Some(now)) = (&invoice.is.payment_link, invoice.is.link_unit) else {
            continue;
        };
        let was = invoice.stored().and_then(|stored| stored.link_unit);
        let (used, reserved) = Unit::moves(was.unwrap_or(Unit::Reserved), now);
        let sum = moves.entry(link).or_insert_with(|| UnitMove {
            scope: invoice.is.scope.clone(),
            link: link.clone(),
            used: 0,
            reserved: 0,
        });
        sum.used += used;
        sum.reserved += reserved;
    }
    let moves: Vec<UnitMove> = moves
        .into_values()
        .filter(|sum| (sum.used, sum.reserved) != (0, 0))
        .collect();
    till_store::links::unit_moves(&moves)
}
