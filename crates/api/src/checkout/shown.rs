//! Invoices as they are shown to payers.

use till_core::scope::Scope;
use till_engine::base::{Merchant, not_configured};
use till_engine::{Answer, Context, Fail, checkout};
use till_store::Queries;
use till_store::invoices::InvoiceRow;

pub async fn merchant(q: &mut impl Queries, scope: &Scope) -> Result<Merchant, Fail> {
    let row = till_store::accounts::merchant(q, scope)
        .await?
        .ok_or_else(not_configured)?;
    Ok(Merchant { row })
}

pub async fn render(
    tx: &mut till_store::Tx,
    context: &Context<'_>,
    row: &InvoiceRow,
    status: u16,
) -> Result<Answer, Fail> {
    let view = checkout::view(tx, context.engine, &context.scope, row, &context.merchant).await?;
    Answer::json(status, &view)
}
