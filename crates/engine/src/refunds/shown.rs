//! What the chain shows of a refund's payout.

use till_chains::lookup::can_look_up;
use till_core::asset::{Network, Registry};
use till_core::money::Units;
use till_core::refund::paid_as;
use till_store::refunds::RefundRow;

use crate::base::Engine;
use crate::base::fail::Fail;

/// What is known of a payout that a merchant says was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayoutSeen {
    /// The transaction paid the refund's address at least the refund's amount of its token.
    Shown,
    /// The chain has the transaction, and it paid something else.
    Otherwise,
    /// No block has it, as far as it can be looked for.
    NotShown,
    /// Too few nodes answered or said the same, or they keep no index of transactions.
    Unknown,
    /// The network is not observed here.
    Unobserved,
}

/// Whether the chain shows the payout: by what was observed, or by what as many nodes of the network say as must agree.
pub(super) async fn ask_chain(
    engine: &Engine,
    row: &RefundRow,
    tx_hash: &str,
) -> Result<PayoutSeen, Fail> {
    let (network, address) = payout(row)?;
    let form = till_chains::normalise_tx_hash(tx_hash);
    let hash = form.and_then(|form| form.on(network.family));
    let form = hash.as_deref().and_then(till_chains::normalise_tx_hash);
    let due = paid_as(&row.asset, row.units, &network.id);
    let (Some(hash), Some(form), Some((asset, due))) = (hash, form, due) else {
        return Ok(PayoutSeen::NotShown);
    };
    let mut reader = engine.db.read().await?;
    let transaction = [(&*network.id, &*hash)];
    let observed = till_store::transfers::of_transactions(&mut reader, &transaction).await?;
    drop(reader);
    let pays = |to: &str, code: &str| to == address && code == asset.code;
    let paid = observed
        .iter()
        .filter(|moved| !moved.gone && pays(&moved.recipient, &moved.asset))
        .fold(Units::ZERO, |sum, moved| sum.plus(moved.units));
    if paid >= due {
        return Ok(PayoutSeen::Shown);
    }
    let nodes = engine.nodes.as_ref().filter(|nodes| nodes.know(network));
    let Some(nodes) = nodes else {
        return Ok(match observed.is_empty() {
            true => PayoutSeen::Unobserved,
            false => PayoutSeen::NotShown,
        });
    };
    if !can_look_up(network, &form) {
        return Ok(PayoutSeen::Unknown);
    }
    let moved = match nodes.agree_on(network, &form).await {
        Some(Some(moved)) => moved,
        Some(None) => return Ok(PayoutSeen::NotShown),
        None => return Ok(PayoutSeen::Unknown),
    };
    let paid = moved
        .iter()
        .filter(|moved| pays(&moved.recipient, &moved.asset.code))
        .fold(Units::ZERO, |sum, moved| sum.plus(moved.units));
    Ok(match paid >= due {
        true => PayoutSeen::Shown,
        false => PayoutSeen::Otherwise,
    })
}

pub(super) fn payout(row: &RefundRow) -> Result<(&'static Network, String), Fail> {
    let network = row.payout_network.as_deref();
    let network = network.and_then(|id| Registry::builtin().network(id));
    let payout = network.zip(row.payout_address.clone());
    payout.ok_or_else(|| Fail::broken("a refund is ready without an address"))
}
