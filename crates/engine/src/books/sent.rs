//! Refunds that were marked sent, held against what their transactions moved.

use till_core::asset::{Asset, Registry};
use till_core::money::Units;
use till_core::reconciliation::Severity;
use till_store::books::BookRefund;
use till_store::transfers::TransferRow;

use super::views::DiscrepancyView;
use super::{shown, wide};

/// The transaction that a refund was sent by, by its network and hash.
pub(super) fn transaction(refund: &BookRefund) -> Option<(&str, &str)> {
    refund
        .payout_network
        .as_deref()
        .zip(refund.tx_hash.as_deref())
}

/// What is wrong with a transaction that was observed: it must have paid the refund's address at least the refund's
/// amount of its token. One that nobody observed says nothing.
pub(super) fn unpaid(refund: &BookRefund, observed: &[TransferRow]) -> Option<DiscrepancyView> {
    let (network, tx_hash) = transaction(refund)?;
    let address = refund.payout_address.as_deref()?;
    let (asset, due) = due(refund, network)?;
    let is_its = |row: &&TransferRow| (&*row.network, &*row.tx_hash) == (network, tx_hash);
    let mut moved = observed.iter().filter(is_its).peekable();
    moved.peek()?;
    let pays =
        |row: &&TransferRow| !row.gone && row.recipient == address && row.asset == asset.code;
    let paid = moved
        .filter(pays)
        .fold(Units::ZERO, |sum, row| sum.plus(row.units));
    let missing = due.0.checked_sub(paid.0).filter(|missing| *missing > 0)?;
    Some(DiscrepancyView {
        asset: asset.code.clone(),
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

/// The token that the payer gets on the network that was chosen, and how much of it.
fn due(refund: &BookRefund, network: &str) -> Option<(&'static Asset, Units)> {
    let registry = Registry::builtin();
    let own = registry.asset(&refund.asset)?;
    let asset = registry.asset_on(&own.symbol, network)?;
    let units = match asset.decimals >= own.decimals {
        true => refund
            .units
            .0
            .checked_mul(10u128.checked_pow(asset.decimals - own.decimals)?)?,
        false => refund.units.0 / 10u128.checked_pow(own.decimals - asset.decimals)?,
    };
    Some((asset, Units(units)))
}
