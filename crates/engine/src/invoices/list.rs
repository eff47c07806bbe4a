//! Invoices and their payments, listed for their merchant.

use serde_json::value::{RawValue, to_raw_value};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{InvoiceView, PaymentView};

pub use till_store::invoices::InvoiceFilter;
pub use till_store::payments::PaymentFilter;

/// `key` is the publishable key that the checkout's address carries.
pub fn view<'r>(
    engine: &Engine,
    key: Option<&str>,
    row: &'r InvoiceRow,
) -> Result<InvoiceView<'r>, Fail> {
    Ok(InvoiceView::of(row, &engine.config.checkout_url, key)?)
}

/// Rendered already: a view borrows from its row.
pub async fn list(
    engine: &Engine,
    scope: &Scope,
    key: Option<&str>,
    filter: InvoiceFilter,
    page: &Page,
) -> Result<Paged<Box<RawValue>>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::invoices::list(&mut reader, scope, filter, &page.and_one()).await?;
    page.cut(rows, |row| &row.id)
        .try_map(|row| to_raw_value(&view(engine, key, &row)?).map_err(Fail::broken))
}

pub async fn list_payments(
    engine: &Engine,
    scope: &Scope,
    filter: PaymentFilter,
    page: &Page,
) -> Result<Paged<PaymentView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::payments::list(&mut reader, scope, filter, &page.and_one()).await?;
    Ok(page
        .cut(rows, |row| &row.id)
        .map(|row| PaymentView::of(&row)))
}
