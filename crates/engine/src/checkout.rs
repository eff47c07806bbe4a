//! What payers' pages ask for: the payer's view, picking a network, and what became of a transaction.

use serde::Serialize;
use till_chains::TxHashForm;
use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::invoice::Status;
use till_core::money::show;
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::leases::NewLease;
use till_store::payments::{Filter, PaymentRow};
use till_store::{Page, Queries, Tx};
use utoipa::ToSchema;

use crate::context::{Context, Engine, Merchant};
use crate::create::{EXPIRE_TIMER, exhausted};
use crate::fail::Fail;
use crate::invoices::{self, find_locked};
use crate::view::{Capabilities, CheckoutInvoiceView, payer_payments};

/// The payer's view, with a session of its own.
pub async fn view(
    q: &mut impl Queries,
    engine: &Engine,
    scope: &Scope,
    row: &InvoiceRow,
    merchant: &Merchant,
) -> Result<CheckoutInvoiceView, Fail> {
    let payments = till_store::payments::of_invoice(q, scope, &row.id).await?;
    let capabilities = Capabilities {
        wallet_payments: row
            .options()?
            .iter()
            .filter_map(|option| Registry::builtin().asset(&option.asset))
            .filter_map(|asset| Registry::builtin().network(&asset.network))
            .any(till_core::asset::Network::wallet_payments),
        notify: engine.mailer.is_some(),
        lookup: true,
        exchanges: true,
    };
    let session_token = crate::session::issue(engine, scope, &row.id);
    let display_name = merchant.row.display_name.clone();
    let key = merchant.row.publishable_key.as_deref();
    let (url, payments) = (&engine.config.checkout_url, payer_payments(&payments)?);
    Ok(CheckoutInvoiceView::of(
        row,
        url,
        key,
        payments,
        display_name,
        session_token,
        capabilities,
    )?)
}

/// Gives the invoice an address on the picked option's chain, one for all networks of its family. Picking
/// what has its address changes nothing.
pub async fn pick_option(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    asset: &str,
) -> Result<InvoiceRow, Fail> {
    let mut held = find_locked(tx, context, invoice).await?;
    let registry = Registry::builtin();
    let not_offered = || Refusal::of(Code::AssetNotOffered).param("asset");
    let asset = registry.asset(asset).ok_or_else(not_offered)?;
    let picked = held
        .terms
        .options
        .iter()
        .find(|option| option.asset == asset.code)
        .ok_or_else(not_offered)?;
    let status = held.assess(context.now).status;
    if status.is_closed() || status == Status::UnderReview {
        return Err(Refusal::of(Code::InvoiceNotAwaitingPayment).into());
    }
    if picked.deposit.is_some() {
        return Ok(held.row);
    }
    let network = registry.network(&asset.network).ok_or_else(not_offered)?;
    let deposit = crate::addresses::allocate(tx, context, network, 1)
        .await?
        .pop();
    let deposit = deposit.ok_or_else(|| exhausted(&network.name))?;
    let lease = NewLease {
        scope: &context.scope,
        family: asset.family,
        number: i64::try_from(deposit.number).map_err(Fail::broken)?,
        address: &deposit.address,
        invoice,
        leased_at: context.now,
    };
    till_store::leases::insert(tx, std::slice::from_ref(&lease)).await?;
    for option in &mut held.terms.options {
        let same_chain = registry
            .asset(&option.asset)
            .is_some_and(|known| known.family == asset.family);
        if same_chain {
            option.deposit = Some(deposit.clone());
        }
    }
    held.row.options = serde_json::to_string(&held.terms.options).map_err(Fail::broken)?;
    till_store::invoices::update(tx, &held.row).await?;
    let timer = (&context.scope, EXPIRE_TIMER, invoice, held.row.expires_at);
    till_store::timers::set(tx, &[timer]).await?;
    Ok(held.row)
}

/// A transfer inside a transaction that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LookedUpTransfer {
    pub asset: String,
    pub amount: String,
    pub to: String,
    pub attributed: bool,
    /// Why it is not attributed to this invoice; null when it is.
    #[schema(required)]
    pub reason: Option<&'static str>,
}

/// What is known of a transaction. For information: looking never credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TxLookup)]
pub struct LookupView {
    #[schema(example = "tx_lookup", pattern = "^tx_lookup$")]
    pub object: &'static str,
    pub tx_hash: String,
    pub found: bool,
    #[schema(required)]
    pub network: Option<String>,
    pub transfers: Vec<LookedUpTransfer>,
    pub attributed: bool,
}

/// Answers from our own observations.
pub async fn lookup(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
    hash: &TxHashForm,
) -> Result<LookupView, Fail> {
    invoices::find(q, scope, invoice).await?;
    let filter = Filter {
        tx_hash: Some(hash.as_str()),
        ..Filter::default()
    };
    let page = Page {
        limit: 100,
        before: None,
    };
    let rows = till_store::payments::list(q, scope, &filter, &page).await?;
    Ok(lookup_view(hash.as_str(), invoice, &rows)?)
}

fn lookup_view(
    hash: &str,
    invoice: &str,
    rows: &[PaymentRow],
) -> Result<LookupView, till_store::StoreError> {
    let transfer = |row: &PaymentRow| {
        let decimals = Registry::builtin()
            .asset(&row.asset)
            .map_or(0, |asset| asset.decimals);
        let ours = row.invoice == invoice;
        Ok(LookedUpTransfer {
            asset: row.asset.clone(),
            amount: show(row.units()?, decimals),
            to: row.recipient.clone(),
            attributed: ours && row.reversed == 0,
            reason: match (ours, row.reversed != 0) {
                (true, false) => None,
                (true, true) => Some("not_in_the_chain_any_more"),
                (false, _) => Some("not_for_this_invoice"),
            },
        })
    };
    let transfers = rows
        .iter()
        .map(transfer)
        .collect::<Result<Vec<_>, till_store::StoreError>>()?;
    Ok(LookupView {
        object: "tx_lookup",
        tx_hash: hash.to_owned(),
        found: !rows.is_empty(),
        network: rows.first().map(|row| row.network.clone()),
        attributed: transfers.iter().any(|transfer| transfer.attributed),
        transfers,
    })
}
