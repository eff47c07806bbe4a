//! Wallet payments: a payer's own wallet sends straight to the merchant's destination, and is told apart from
//! others by who sends and exactly how much.

use std::collections::BTreeSet;

use serde::Serialize;
use till_core::asset::{Asset, Registry};
use till_core::binding::exact_amount;
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

/// Binds a wallet to the invoice; the same wallet again gets the same binding.
pub async fn bind(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    asset: &str,
    sender: &str,
) -> Result<BindingView, Fail> {
    let held = find_locked(tx, context, invoice).await?;
    let registry = Registry::builtin();
    let not_offered = || Refusal::of(Code::AssetNotOffered).param("asset");
    let asset = registry.asset(asset).ok_or_else(not_offered)?;
    let due = held.terms().due(&asset.code).ok_or_else(not_offered)?;
    let network = registry
        .network(&asset.network)
        .filter(|network| network.wallet_payments())
        .ok_or_else(|| Refusal::of(Code::WalletUnsupported).param("asset"))?;
    let sender = till_chains::parse_address(network, sender).map_err(|error| {
        Refusal::new(Code::SenderInvalid, format!("sender is {error}")).param("sender")
    })?;
    if held.assess(held.moment(context)).status != Status::AwaitingPayment {
        return Err(Refusal::of(Code::InvoiceNotAwaitingPayment).into());
    }
    let bindings = till_store::bindings::of_invoice(tx, &context.scope, invoice).await?;
    if let Some(known) = bindings
        .iter()
        .find(|known| known.sender == sender && known.asset == asset.code)
    {
        return Ok(BindingView::of(known, asset));
    }
    let wallets: BTreeSet<&str> = bindings
        .iter()
        .filter(|known| known.network == asset.network)
        .map(|known| known.sender.as_str())
        .collect();
    if !wallets.contains(sender.as_str()) && wallets.len() >= WALLET_BINDINGS_MAX as usize {
        return Err(Refusal::of(Code::WalletBindingLimit).into());
    }
    let destination = context
        .merchant
        .destination(asset.family)
        .ok_or_else(|| Refusal::of(Code::FeatureUnavailable))?
        .to_owned();
    let taken = till_store::bindings::open_amounts(tx, &destination, &sender, &asset.code).await?;
    let (units, suffix) = exact_amount(due, asset.decimals, &taken)
        .ok_or_else(|| Refusal::of(Code::UniqueAmountUnavailable))?;
    let row = BindingRow {
        scope: context.scope.clone(),
        invoice: invoice.to_owned(),
        asset: asset.code.clone(),
        network: asset.network.clone(),
        sender,
        destination,
        units,
        suffix,
        created_at: context.now,
        expires_at: held.terms().deadline(),
        open: true,
    };
    match till_store::bindings::insert(tx, &row).await {
        // Another invoice took the same amount between our look and our write: look again from the start.
        Err(error) if error.violates("wallet_bindings") => Err(Fail::Again),
        done => {
            done?;
            Ok(BindingView::of(&row, asset))
        }
    }
}
