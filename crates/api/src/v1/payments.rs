//! Payments: the transfers that invoices received.

use std::sync::Arc;

use axum::extract::State;
use till_core::payment::PaymentStatus;
use till_engine::view::PaymentView;
use till_store::payments::PaymentFilter;

use crate::face::answers::{Answered, List, list as listed};
use crate::face::callers::{Got, Secret};
use crate::face::cursor;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::query::one_of;

/// List payments, newest first
#[utoipa::path(
    get, path = "/v1/payments", tag = "Payments", operation_id = "listPayments",
    params(words::PageParams, words::PaymentFilter),
    responses((status = 200, description = "A page of payments", body = List<PaymentView>), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn list(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    let mut query = got.query(&["limit", "cursor", "invoice", "status", "asset", "tx_hash"])?;
    let asked = query.page()?;
    let status = query.optional("status", one_of(words::PAYMENT_STATUSES))?;
    let filter = PaymentFilter {
        invoice: query.text("invoice"),
        status: status.and_then(PaymentStatus::parse),
        asset: query.text("asset"),
        tx_hash: query.text("tx_hash"),
    };
    let page = cursor::page(&api.engine, got.scope(), "payments", &asked)?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let found = till_store::payments::list(&mut reader, got.scope(), filter, &page).await;
    let mut rows = found.map_err(|error| fail(error.into()))?;
    let next = cursor::next(
        &api.engine,
        got.scope(),
        "payments",
        &asked,
        &mut rows,
        |row| &row.id,
    );
    Ok(listed(rows.iter().map(PaymentView::of).collect(), next))
}
