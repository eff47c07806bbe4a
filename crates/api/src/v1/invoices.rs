//! Invoices.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use till_core::invoice::Status;
use till_core::limits::{
    ASSETS_MAX, CUSTOMER_REF_CHARS_MAX, DESCRIPTION_CHARS_MAX, REVIEW_REASON_CHARS_MAX,
    REVIEW_REASON_CHARS_MIN,
};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::quote::NewInvoice;
use till_engine::invoices::{self, Decision, Via};
use till_engine::merchants::accounts::Caller;
use till_engine::view::InvoiceView;
use till_engine::{Answer, settlement};
use till_store::invoices::{InvoiceFilter, InvoiceRow};

use crate::face::answers::{Answered, List, answered, list as listed, no_body};
use crate::face::callers::{Got, Id, Posted, Secret};
use crate::face::cursor;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer::{self, Failure};
use till_http::fields::{Field, Fields, Kind, may, need};
use till_http::read;

const CREATE: &[Field] = &[
    need("amount", Kind::Text),
    need("currency", Kind::Text),
    may("assets", Kind::List(&Kind::Text)),
    may("description", Kind::Text),
    may("customer_ref", Kind::Text),
    may("metadata", Kind::Map),
];

/// Create an invoice
///
/// Priced in fiat; each asset gets its exact amount due and an address of this invoice's own.
#[utoipa::path(
    post, path = "/v1/invoices", tag = "Invoices", operation_id = "createInvoice",
    params(words::IdempotencyKey), request_body = words::CreateInvoiceRequest,
    responses((status = 201, description = "The invoice", body = InvoiceView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret>) -> Answered {
    let request = posted
        .read(&api, read_create(posted.body.as_deref()))
        .await?;
    let create = CreateInvoice {
        scope: posted.scope().clone(),
        once: posted.once.clone(),
        request,
    };
    api.gatherer
        .create(create)
        .await
        .map(answered)
        .map_err(fail)
}

fn read_create(body: Option<&[u8]>) -> Result<NewInvoice, Failure> {
    let mut fields = Fields::of(body, CREATE)?;
    Ok(NewInvoice {
        amount: fields.required("amount", read::text)?,
        currency: fields.required("currency", read::text)?,
        assets: fields.optional("assets", read::list(ASSETS_MAX, read::text))?,
        description: fields.optional("description", read::text_max(DESCRIPTION_CHARS_MAX))?,
        customer_ref: fields.optional("customer_ref", read::text_max(CUSTOMER_REF_CHARS_MAX))?,
        metadata: fields
            .optional("metadata", read::metadata)?
            .unwrap_or_default(),
    })
}

fn view<'r>(api: &Api, caller: &Caller, row: &'r InvoiceRow) -> Result<InvoiceView<'r>, Failure> {
    let key = caller.publishable_key.as_deref();
    InvoiceView::of(row, &api.engine.config.checkout_url, key).map_err(|error| fail(error.into()))
}

/// Retrieve an invoice
#[utoipa::path(
    get, path = "/v1/invoices/{id}", tag = "Invoices", operation_id = "retrieveInvoice",
    params(("id" = String, Path, description = "Invoice id")),
    responses((status = 200, description = "The invoice", body = InvoiceView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    got.query(&[])?;
    let row = api.retrievals.find(got.scope(), &id).await.map_err(fail)?;
    Ok(answer::json(
        StatusCode::OK,
        &view(&api, &got.caller, &row)?,
    ))
}

/// List invoices, newest first
#[utoipa::path(
    get, path = "/v1/invoices", tag = "Invoices", operation_id = "listInvoices",
    params(words::PageParams, words::InvoiceFilter),
    responses((status = 200, description = "A page of invoices", body = List<InvoiceView<'static>>), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn list(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    let mut query = got.query(&["limit", "cursor", "status", "customer_ref"])?;
    let asked = query.page()?;
    let status = query.optional("status", till_http::query::one_of(words::INVOICE_STATUSES))?;
    let customer_ref = query.text("customer_ref");
    let page = cursor::page(&api.engine, got.scope(), "invoices", &asked)?;
    let filter = InvoiceFilter {
        status: status.and_then(Status::parse),
        customer_ref,
    };
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let found = till_store::invoices::list(&mut reader, got.scope(), filter, &page).await;
    let mut rows = found.map_err(|error| fail(error.into()))?;
    let next = cursor::next(
        &api.engine,
        got.scope(),
        "invoices",
        &asked,
        &mut rows,
        |row| &row.id,
    );
    let views: Result<Vec<_>, _> = rows
        .iter()
        .map(|row| view(&api, &got.caller, row))
        .collect();
    Ok(listed(views?, next))
}

/// Cancel an invoice nothing was paid to
#[utoipa::path(
    post, path = "/v1/invoices/{id}/cancel", tag = "Invoices", operation_id = "cancelInvoice",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    responses((status = 200, description = "The cancelled invoice", body = InvoiceView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn cancel(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    posted.read(&api, no_body(posted.body.as_deref())).await?;
    let id = id.as_str();
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = invoices::cancel(tx, context, id).await?;
                Ok(Answer::new(200, settlement::render(context, &row)?))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

const RESOLVE: &[Field] = &[need("decision", Kind::Text), need("reason", Kind::Text)];

/// Decide about a held payment
#[utoipa::path(
    post, path = "/v1/invoices/{id}/resolve_review", tag = "Invoices", operation_id = "resolveReview",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    request_body = words::ResolveReviewRequest,
    responses((status = 200, description = "The invoice after the decision", body = InvoiceView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn resolve_review(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret>,
) -> Answered {
    let read = read_resolve(posted.body.as_deref());
    let (decision, reason) = posted.read(&api, read).await?;
    let (id, reason) = (id.as_str(), reason.as_str());
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row =
                    invoices::resolve_review(tx, context, id, decision, reason, Via::Api).await?;
                Ok(Answer::new(200, settlement::render(context, &row)?))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

fn read_resolve(body: Option<&[u8]>) -> Result<(Decision, String), Failure> {
    let mut fields = Fields::of(body, RESOLVE)?;
    let decision = match fields.required("decision", read::one_of(&["accept", "reject"]))? {
        "accept" => Decision::Accept,
        _ => Decision::Reject,
    };
    let reason = fields.required(
        "reason",
        read::text_len(REVIEW_REASON_CHARS_MIN..=REVIEW_REASON_CHARS_MAX),
    )?;
    Ok((decision, reason))
}

#[cfg(test)]
mod tests {
    use till_core::invoice::Status;

    use super::*;

    #[test]
    fn the_filter_knows_every_status() {
        let names: Vec<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
        assert_eq!(names, words::INVOICE_STATUSES);
    }
}
