//! What a payer may see: where to pay and what arrived, and nothing of the merchant's own notes.

use serde::{Deserialize, Serialize};
use till_chains::Derivation;
use till_core::asset::Registry;
use till_core::money::show;
use till_store::StoreError;
use till_store::payments::PaymentRow;
use utoipa::ToSchema;

/// Who is being paid.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MerchantName {
    #[schema(required)]
    pub display_name: Option<String>,
}

/// One way to pay, with what the address was computed from.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CheckoutPaymentOption)]
pub struct PayerOptionView {
    pub asset: String,
    pub symbol: String,
    pub network: String,
    pub network_name: String,
    pub amount_due: String,
    pub address: String,
    /// Recompute the address from this and compare, before showing it to anyone.
    #[schema(value_type = Object)]
    pub address_derivation: Option<Derivation>,
}

/// A payment as the payer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CheckoutPayment)]
pub struct PayerPaymentView {
    pub asset: String,
    pub amount: String,
    pub tx_hash: String,
    pub finality: String,
    pub status: String,
}

pub fn payer_payments(rows: &[PaymentRow]) -> Result<Vec<PayerPaymentView>, StoreError> {
    let view = |row: &PaymentRow| {
        let decimals = Registry::builtin()
            .asset(&row.asset)
            .map_or(0, |asset| asset.decimals);
        Ok(PayerPaymentView {
            asset: row.asset.clone(),
            amount: show(row.units()?, decimals),
            tx_hash: row.tx_hash.clone(),
            finality: row.level.clone(),
            // Why a payment is looked at is the merchant's affair, not the payer's.
            status: if row.status == "held" {
                "confirming".to_owned()
            } else {
                row.status.clone()
            },
        })
    };
    rows.iter().map(view).collect()
}
