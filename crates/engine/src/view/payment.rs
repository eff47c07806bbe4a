//! The merchant's view of a payment.

use serde::Serialize;
use till_core::asset::Registry;
use till_core::money::show;
use till_core::time;
use till_store::payments::PaymentRow;
use utoipa::ToSchema;

/// An on-chain transfer attributed to an invoice.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Payment)]
pub struct PaymentView {
    pub id: String,
    #[schema(example = "payment", pattern = "^payment$")]
    pub object: &'static str,
    pub livemode: bool,
    pub invoice: String,
    /// `pending`, `confirming`, `credited`, `held`, `refundable` or `reversed`.
    #[schema(example = "credited")]
    pub status: String,
    /// `pending`, `included`, `safe` or `final`.
    #[schema(example = "final")]
    pub finality: String,
    pub asset: String,
    pub symbol: String,
    pub network: String,
    /// Whole tokens.
    pub amount: String,
    pub tx_hash: String,
    /// Log index, output number or instruction index.
    pub index: i64,
    #[schema(required)]
    pub block_number: Option<i64>,
    #[schema(required)]
    pub block_hash: Option<String>,
    #[schema(required, format = DateTime)]
    pub block_time: Option<String>,
    /// The sender, where the network tells one; the first of them where a transaction spends what several had.
    #[schema(required)]
    pub from: Option<String>,
    pub to: String,
    /// `deposit_address` or `wallet_binding`.
    pub attributed_by: String,
    #[schema(format = DateTime)]
    pub first_seen_at: String,
    #[schema(required, format = DateTime)]
    pub credited_at: Option<String>,
}

impl PaymentView {
    pub fn of(row: &PaymentRow) -> PaymentView {
        let asset = Registry::builtin().asset(&row.asset);
        let network = Registry::builtin().network(&row.network);
        let shown_hash = |kept: &str| match network {
            Some(network) => till_chains::shown_block_hash(network.family, kept).to_owned(),
            None => kept.to_owned(),
        };
        PaymentView {
            id: row.id.clone(),
            object: "payment",
            livemode: row.scope.mode.is_live(),
            invoice: row.invoice.clone(),
            status: row.status.as_str().to_owned(),
            finality: row.level.as_str().to_owned(),
            asset: row.asset.clone(),
            symbol: asset.map_or_else(|| row.asset.clone(), |asset| asset.symbol.clone()),
            network: row.network.clone(),
            amount: show(row.units, asset.map_or(0, |asset| asset.decimals)),
            tx_hash: row.tx_hash.clone(),
            index: row.place,
            block_number: row.block_number,
            block_hash: row.block_hash.as_deref().map(shown_hash),
            block_time: row.block_time.map(time::show),
            from: row.senders.first().cloned(),
            to: row.recipient.clone(),
            attributed_by: row.attributed_by.as_str().to_owned(),
            first_seen_at: time::show(row.first_seen_at),
            credited_at: row.credited_at.map(time::show),
        }
    }
}
