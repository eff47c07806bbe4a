//! A payment link's unit follows the invoice that holds it: paid for, given back, or held again after a
//! reorganisation.

use std::collections::BTreeMap;

use till_core::invoice::{Assessment, Status};
use till_core::link::Unit;
use till_store::Write;
use till_store::invoices::InvoiceRow;
use till_store::links::UnitMove;

use super::follower::Follower;

/// The unit that the invoice's status calls for. One of a limited link is kept for as long as cancelling a refund, or its
/// claim link's expiry, would leave the invoice paid: nobody else may buy it meanwhile.
pub(in crate::settlement) fn apply(row: &mut InvoiceRow, after: &Assessment) {
    // What was given back stays so while somebody decides about what can buy nothing: anybody may send that.
    let is_given_back = row.link_unit == Some(Unit::Released);
    let is_nothing = row.status == Status::UnderReview && !after.held_may_count;
    if row.payment_link.is_some() && !(is_given_back && is_nothing) {
        let is_limited = row.takes_until.is_some();
        let is_paid_without_refunds = is_limited && after.is_covered_with_promised;
        let is_over = row.closed_at.is_some();
        row.link_unit = Some(Unit::of(row.status, is_over, is_paid_without_refunds));
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
