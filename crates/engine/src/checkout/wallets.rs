//! Wallet payments: a payer's own wallet sends straight to the merchant's destination, and is told apart from
//! others by who sends and exactly how much.

mod new_binding;
mod payer;

use std::collections::BTreeSet;

use serde::Serialize;
use till_core::asset::{Asset, Registry};
use till_core::error::{Code, Refusal};
use till_core::invoice::Status;
use till_core::limits::WALLET_BINDINGS_MAX;
use till_core::money::show;
use till_core::time;
use till_store::Tx;
use till_store::bindings::BindingRow;
use utoipa::ToSchema;

use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::find_locked;
use crate::settlement::wallets;

pub use new_binding::NewBinding;

/// What a connected wallet must send.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WalletBinding)]
pub struct BindingView {
    #[schema(example = "wallet_binding", pattern = "^wallet_binding$")]
    pub object: &'static str,
    pub asset: String,
    pub symbol: String,
    pub network: String,
    pub sender: String,
    /// The merchant's registered destination; compare it with the one pinned in the checkout.
    pub destination: String,
    /// Null for a native coin.
    #[schema(required)]
    pub token_contract: Option<String>,
    pub decimals: u32,
    /// Whole tokens, to be sent exactly.
    pub amount: String,
    pub amount_base_units: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

impl BindingView {
    fn of(row: &BindingRow, asset: &Asset) -> BindingView {
        BindingView {
            object: "wallet_binding",
            asset: row.asset.clone(),
            symbol: asset.symbol.clone(),
            network: row.network.clone(),
            sender: row.sender.clone(),
            destination: row.destination.clone(),
            token_contract: asset.contract.clone(),
            decimals: asset.decimals,
            amount: show(row.units, asset.decimals),
            amount_base_units: row.units.0.to_string(),
            expires_at: time::show(row.expires_at),
        }
    }
}

/// Binds a wallet to the invoice; the same wallet again gets the same binding for as long as the same is asked for.
pub async fn bind(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewBinding<'_>,
) -> Result<BindingView, Fail> {
    let held = find_locked(tx, context, request.invoice).await?;
    let registry = Registry::builtin();
    let not_offered = || Refusal::of(Code::AssetNotOffered).param("asset");
    let asset = registry.asset(request.asset).ok_or_else(not_offered)?;
    held.terms().due(&asset.code).ok_or_else(not_offered)?;
    let network = registry
        .network(&asset.network)
        .filter(|network| network.wallet_payments())
        .ok_or_else(|| Refusal::of(Code::WalletUnsupported).param("asset"))?;
    let sender = payer::own_wallet(tx, context, network, request).await?;
    if held.assess(held.moment(context)).status != Status::AwaitingPayment {
        return Err(Refusal::of(Code::InvoiceNotAwaitingPayment).into());
    }
    let known = till_store::bindings::of_invoice(tx, &context.scope, request.invoice).await?;
    let told = |known: &&BindingRow| known.sender == sender && known.asset == asset.code;
    let asked = wallets::asked(context, &held, asset)?;
    let is_right = |known: &&BindingRow| known.open && wallets::was_told(known, asked);
    if let Some(open) = known.iter().filter(told).find(is_right) {
        return Ok(BindingView::of(open, asset));
    }
    let wallets: BTreeSet<&str> = known
        .iter()
        .filter(|known| known.network == asset.network)
        .map(|known| known.sender.as_str())
        .collect();
    if !wallets.contains(sender.as_str()) && wallets.len() >= WALLET_BINDINGS_MAX as usize {
        return Err(Refusal::of(Code::WalletBindingLimit).into());
    }
    let last = known.iter().rfind(told);
    let row = wallets::tell(tx, context, &held, asset, &sender, last)
        .await?
        .ok_or_else(|| Refusal::of(Code::UniqueAmountUnavailable))?;
    Ok(BindingView::of(&row, asset))
}
