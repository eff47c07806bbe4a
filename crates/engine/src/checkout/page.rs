//! The payer's view of an invoice.

use till_core::asset::Registry;
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::{Queries, Tx};

use super::session;
use crate::base::fail::Fail;
use crate::base::{Context, Engine, Merchant};
use crate::invoices;
use crate::view::{
    Capabilities, CheckoutInvoiceView, MerchantName, PageConfig, PayerPage, payer_payments,
};

/// The invoice as its payer sees it.
pub async fn retrieve(
    engine: &Engine,
    scope: &Scope,
    id: &str,
) -> Result<CheckoutInvoiceView, Fail> {
    let mut reader = engine.db.read().await?;
    let row = invoices::find(&mut reader, scope, id).await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    let now = merchant.now(engine.clock.now_ms());
    view(&mut reader, engine, &row, &merchant, now).await
}

/// The same inside a unit of work, of the row as it has just become.
pub async fn shown(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &InvoiceRow,
) -> Result<CheckoutInvoiceView, Fail> {
    view(tx, context.engine, row, &context.merchant, context.now).await
}

/// What the page that this server serves pins for a merchant.
pub async fn hosted_config(engine: &Engine, scope: &Scope) -> Result<PageConfig, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    Ok(PageConfig::hosted(Some(&merchant), engine.config.demo))
}

/// With a session of its own.
async fn view(
    q: &mut impl Queries,
    engine: &Engine,
    row: &InvoiceRow,
    merchant: &Merchant,
    now: i64,
) -> Result<CheckoutInvoiceView, Fail> {
    let scope = &row.scope;
    let payments = till_store::payments::of_invoice(q, scope, &row.id).await?;
    let capabilities = Capabilities {
        wallet_payments: row
            .options
            .iter()
            .filter_map(|option| Registry::builtin().asset(&option.asset))
            .filter_map(|asset| Registry::builtin().network(&asset.network))
            .any(till_core::asset::Network::wallet_payments),
        notify: engine.mailer.is_some(),
        lookup: true,
        exchanges: true,
    };
    let page = PayerPage {
        payments: payer_payments(&payments.iter().collect::<Vec<_>>()),
        merchant: MerchantName::of(merchant),
        capabilities,
        session_token: session::issue(engine, scope, &row.id),
        now,
    };
    let key = merchant.row.publishable_key.as_deref();
    let url = &engine.config.checkout_url;
    let now = merchant.now(engine.clock.now_ms());
    Ok(CheckoutInvoiceView::of(row, url, key, now, page)?)
}
