//! Invoices.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::{
    ASSETS_MAX, CUSTOMER_REF_CHARS_MAX, DESCRIPTION_CHARS_MAX, PAGE_LINK_CHARS_MAX,
    REVIEW_REASON_CHARS_MAX, REVIEW_REASON_CHARS_MIN,
};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::invoices::{self, Resolve};
use till_engine::settlement;
use till_engine::view::InvoiceView;
use till_http::query;
use till_http::read::{self, Read, list as list_of};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::answers::answered;
use crate::handler::request::{Body, body, params};
use crate::handler::words::{Decision, InvoiceStatus, Moment, word, word_param};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve))
        .routes(routes!(cancel))
        .routes(routes!(resolve_review))
}

body! {
    pub struct CreateInvoiceRequest {
        /// Price in major units of the currency, as a decimal string.
        #[schema(example = "25.00")]
        amount: String = read::text,
        /// ISO 4217 code. Stablecoins are priced only in their own currency.
        #[schema(example = "USD")]
        currency: String = read::text,
        /// Asset codes to offer. Default: the merchant's `default_assets`.
        #[schema(max_items = 20)]
        assets: Option<Vec<String>> = list_of(ASSETS_MAX, read::text),
        /// Shown to the payer.
        #[schema(max_length = 500)]
        description: Option<String> = read::shown_text(0..=DESCRIPTION_CHARS_MAX),
        /// Your own reference, never shown to the payer.
        #[schema(max_length = 200)]
        customer_ref: Option<String> = read::text_max(CUSTOMER_REF_CHARS_MAX),
        /// Where the payer goes afterwards, an https: address (in test mode also http: of the payer's own computer);
        /// `{invoice}` stands for the id. Default: the merchant's.
        #[schema(max_length = 2048)]
        return_url: Option<String> = read::text_max(PAGE_LINK_CHARS_MAX),
        /// Up to 20 pairs, keys of at most 40 and values of at most 500 characters. Never shown to the payer.
        metadata: Option<BTreeMap<String, String>> = read::metadata,
    }
}

impl Body for NewInvoice {
    fn read(bytes: Option<&[u8]>) -> Read<NewInvoice> {
        let request = CreateInvoiceRequest::read(bytes)?;
        Ok(NewInvoice {
            amount: request.amount,
            currency: request.currency,
            assets: request.assets,
            description: request.description,
            customer_ref: request.customer_ref,
            return_url: request.return_url,
            metadata: request.metadata.unwrap_or_default(),
        })
    }
}

/// Create an invoice
///
/// Priced in fiat; each asset gets its exact amount due and an address of this invoice's own.
#[utoipa::path(
    post, path = "/v1/invoices", tag = "Invoices", operation_id = "createInvoice",
    params(IdempotencyKey), request_body = CreateInvoiceRequest,
    responses((status = 201, description = "The invoice", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret, NewInvoice>) -> Answered {
    let create = CreateInvoice {
        scope: posted.scope().clone(),
        once: posted.once.clone(),
        request: posted.body,
        wanted: PendingRequest::default(),
    };
    Ok(answered(api.gatherer.create(create).await?))
}

/// Retrieve an invoice
#[utoipa::path(
    get, path = "/v1/invoices/{id}", tag = "Invoices", operation_id = "retrieveInvoice",
    params(("id" = String, Path, description = "Invoice id")),
    responses((status = 200, description = "The invoice", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    let row = api.retrievals.find(got.scope(), &id).await?;
    shown(&invoices::view(&api.engine, got.scope(), got.publishable_key(), &row).await?)
}

params! {
    pub struct InvoiceFilter {
        /// Only those that stand there.
        #[param(inline)]
        status: Option<InvoiceStatus> = word_param,
        /// As the invoice has it, in full.
        customer_ref: Option<String> = query::text,
        /// Made at this moment or later: an RFC 3339 date-time, or a date (midnight UTC).
        #[param(value_type = Option<String>)]
        from: Option<Moment> = Moment::param,
        /// Made before this moment.
        #[param(value_type = Option<String>)]
        to: Option<Moment> = Moment::param,
    }
}

/// List invoices, newest first
#[utoipa::path(
    get, path = "/v1/invoices", tag = "Invoices", operation_id = "listInvoices",
    params(PageParams, InvoiceFilter),
    responses((status = 200, description = "A page of invoices", body = List<InvoiceView<'static>>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<InvoiceFilter>>) -> Answered {
    let filter = invoices::InvoiceFilter {
        status: got.filter().status.map(|status| status.0),
        customer_ref: got.filter().customer_ref.clone(),
        from: got.filter().from.map(|moment| moment.0),
        to: got.filter().to.map(|moment| moment.0),
    };
    let pager = got.pager(&api, "invoices").await?;
    let (reads, key, page) = (&pager.reads, got.publishable_key(), &pager.page);
    let found = invoices::list(&api.engine, reads, got.scope(), key, filter, page);
    pager.shown(found.await?).await
}

/// Cancel an invoice nothing was paid to
#[utoipa::path(
    post, path = "/v1/invoices/{id}/cancel", tag = "Invoices", operation_id = "cancelInvoice",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    responses((status = 200, description = "The cancelled invoice", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn cancel(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let cancel = posted.perform(&api, |tx, context| {
        async move {
            let row = invoices::cancel(tx, context, id).await?;
            settlement::render(context, &row)
        }
        .scope_boxed()
    });
    cancel.await
}

body! {
    pub struct ResolveReviewRequest {
        decision: Decision = word,
        /// Why, for your own records.
        #[schema(min_length = 1, max_length = 500)]
        reason: String = read::text_len(REVIEW_REASON_CHARS_MIN..=REVIEW_REASON_CHARS_MAX),
    }
}

/// Decide about a held payment
#[utoipa::path(
    post, path = "/v1/invoices/{id}/resolve_review", tag = "Invoices", operation_id = "resolveReview",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body = ResolveReviewRequest,
    responses((status = 200, description = "The invoice after the decision", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn resolve_review(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, ResolveReviewRequest>,
) -> Answered {
    let held = invoices::held_payments(&api.engine, posted.scope(), &id).await?;
    let asked = &Resolve {
        decision: posted.body.decision.0,
        reason: &posted.body.reason,
        via: posted.via(),
        payments: &held,
    };
    let id = &id;
    let resolve = posted.perform(&api, |tx, context| {
        async move {
            let row = invoices::resolve_review(tx, context, id, asked).await?;
            settlement::render(context, &row)
        }
        .scope_boxed()
    });
    resolve.await
}
