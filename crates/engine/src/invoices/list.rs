//! Invoices and their payments, listed for their merchant.

use std::collections::HashMap;

use serde_json::value::{RawValue, to_raw_value};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::ReadSource;
use till_store::invoices::InvoiceRow;

use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};
use crate::settlement::facts::ended;
use crate::view::{InvoiceView, PaymentView};

pub use till_store::invoices::InvoiceFilter;
pub use till_store::payments::PaymentFilter;

/// `key` is the publishable key that the checkout's address carries.
pub async fn view<'r>(
    engine: &Engine,
    scope: &Scope,
    key: Option<&str>,
    row: &'r InvoiceRow,
) -> Result<InvoiceView<'r>, Fail> {
    let (rows, reads) = (std::slice::from_ref(row), engine.db.primary());
    let now = shown_at(engine, &reads, scope, rows).await?;
    let ended = ended_of_closed(&reads, rows).await?;
    let view = InvoiceView::of(row, &engine.config.checkout_url, key, now)?;
    Ok(as_ended(view, &ended))
}

/// The subscriptions of closed invoices among these that have ended.
async fn ended_of_closed(
    reads: &ReadSource,
    rows: &[InvoiceRow],
) -> Result<HashMap<String, i64>, Fail> {
    let is_closed = |row: &&InvoiceRow| row.closed_at.is_some() && row.subscription.is_some();
    let closed: Vec<InvoiceRow> = rows.iter().filter(is_closed).cloned().collect();
    match closed.is_empty() {
        true => Ok(HashMap::new()),
        false => ended(&mut reads.read(), &closed).await,
    }
}

fn as_ended<'r>(view: InvoiceView<'r>, ended: &HashMap<String, i64>) -> InvoiceView<'r> {
    match view.subscription.is_some_and(|id| ended.contains_key(id)) {
        true => view.of_ended(),
        false => view,
    }
}

/// The account's time now, which decides whether a closed invoice still holds its addresses, and what an open one takes. Only a
/// test clock has to be read.
async fn shown_at(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    rows: &[InvoiceRow],
) -> Result<i64, Fail> {
    let now = engine.clock.now_ms();
    let is_timeless = |row: &InvoiceRow| {
        row.closed_at.is_none() && row.volatile_until.is_none() && row.takes_until.is_none()
    };
    if scope.mode.is_live() || rows.iter().all(is_timeless) {
        return Ok(now);
    }
    let mut reader = reads.read();
    let merchant = Merchant::load(&mut reader, scope).await?;
    Ok(merchant.now(now))
}

/// Rendered already: a view borrows from its row.
pub async fn list(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    key: Option<&str>,
    filter: InvoiceFilter,
    page: &Page,
) -> Result<Paged<Box<RawValue>>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::invoices::list(&mut reader, scope, filter, &page.and_one()).await?;
    drop(reader);
    let now = shown_at(engine, reads, scope, &rows).await?;
    let ended = ended_of_closed(reads, &rows).await?;
    let url = &engine.config.checkout_url;
    page.cut(rows, |row| &row.id).try_map(|row| {
        let view = as_ended(InvoiceView::of(&row, url, key, now)?, &ended);
        to_raw_value(&view).map_err(Fail::broken)
    })
}

pub async fn list_payments(
    reads: &ReadSource,
    scope: &Scope,
    filter: PaymentFilter,
    page: &Page,
) -> Result<Paged<PaymentView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::payments::list(&mut reader, scope, filter, &page.and_one()).await?;
    Ok(page
        .cut(rows, |row| &row.id)
        .map(|row| PaymentView::of(&row)))
}
