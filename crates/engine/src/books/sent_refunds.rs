//! Refunds that were marked sent: whether they should have been, and what their transactions moved.

use till_core::money::Units;
use till_core::reconciliation::Severity;
use till_core::refund::{RefundStatus, paid_as};
use till_store::books::BookRefund;
use till_store::transfers::TransferRow;

use super::amounts::{shown, wide};
use super::views::DiscrepancyView;

/// The transaction that a refund was sent by, by its network and hash.
pub(super) fn transaction(refund: &BookRefund) -> Option<(&str, &str)> {
    refund
        .payout_network
        .as_deref()
        .zip(refund.tx_hash.as_deref())
}

/// What is wrong with a transaction that was observed, or that the chain showed when it was recorded: it must have paid the
/// refund's address at least the refund's amount of its token. One that nobody observed says nothing.
pub(super) fn unpaid(refund: &BookRefund, observed: &[TransferRow]) -> Option<DiscrepancyView> {
    let (network, tx_hash) = transaction(refund)?;
    let address = refund.payout_address.as_deref()?;
    let (asset, due) = paid_as(&refund.asset, refund.units, network)?;
    let is_its = |row: &&TransferRow| (&*row.network, &*row.tx_hash) == (network, tx_hash);
    let mut moved = observed.iter().filter(is_its).peekable();
    if !refund.paid_otherwise {
        moved.peek()?;
    }
    let pays =
        |row: &&TransferRow| !row.gone && row.recipient == address && row.asset == asset.code;
    let paid = moved
        .filter(pays)
        .fold(Units::ZERO, |sum, row| sum.plus(row.units));
    let missing = due.0.checked_sub(paid.0).filter(|missing| *missing > 0)?;
    Some(DiscrepancyView {
        asset: Some(asset.code.clone()),
        kind: "refund_not_paid",
        amount: shown(&asset.code, wide(Units(missing))),
        severity: Severity::Flagged.as_str(),
        invoice: Some(refund.invoice.clone()),
        network: Some(network.to_owned()),
        tx_hash: Some(tx_hash.to_owned()),
        index: None,
        detail: format!(
            "{} was marked sent by a transaction that did not pay it.",
            refund.id
        ),
    })
}

/// A payout that was recorded though nobody should have made it: while the refund was in review, or after it was cancelled.
pub(super) fn unexpected(refund: &BookRefund) -> Option<DiscrepancyView> {
    if refund.status != RefundStatus::Sent {
        return None;
    }
    let (kind, why) = match (refund.cancelled_at, refund.sent_despite) {
        (Some(_), _) => ("sent_after_cancel", "had been cancelled".to_owned()),
        (None, Some(reason)) => {
            let why = format!("was in review ({})", reason.as_str());
            ("sent_in_review", why)
        }
        (None, None) => return None,
    };
    Some(DiscrepancyView {
        asset: Some(refund.asset.clone()),
        kind,
        amount: shown(&refund.asset, wide(refund.units)),
        severity: Severity::Flagged.as_str(),
        invoice: Some(refund.invoice.clone()),
        network: refund.payout_network.clone(),
        tx_hash: refund.tx_hash.clone(),
        index: None,
        detail: format!("{} {why} when its payout was recorded.", refund.id),
    })
}

/// A refund that was sent on another network than its money came from: booked under the asset received, paid in another.
pub(super) fn elsewhere(refund: &BookRefund) -> Option<DiscrepancyView> {
    let (network, tx_hash) = transaction(refund)?;
    let (asset, _) = paid_as(&refund.asset, refund.units, network)?;
    (asset.code != refund.asset).then(|| DiscrepancyView {
        asset: Some(refund.asset.clone()),
        kind: "sent_in_another_asset",
        amount: shown(&refund.asset, wide(refund.units)),
        severity: Severity::Explained.as_str(),
        invoice: Some(refund.invoice.clone()),
        network: Some(network.to_owned()),
        tx_hash: Some(tx_hash.to_owned()),
        index: None,
        detail: format!(
            "{} is booked under {}, which was received, and was sent as {}.",
            refund.id, refund.asset, asset.code
        ),
    })
}
