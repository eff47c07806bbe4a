//! A payment link, for its payers.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use till_engine::links;
use till_engine::view::{CheckoutInvoiceView, PayerLinkView};

use super::shown::{merchant, render};
use crate::face::answers::{Answered, answered};
use crate::face::callers::{Got, Id, Payer, Posted};
use crate::face::client::Client;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer;
use till_http::fields::{Field, Fields, Kind, may};
use till_http::read;

/// Retrieve a payment link as its payer
#[utoipa::path(
    get, path = "/v1/checkout/links/{slug}", tag = "Checkout", operation_id = "retrieveCheckoutLink",
    params(("slug" = String, Path, description = "The link's slug"), words::KeyParam),
    responses((status = 200, description = "The link, and whether it takes payments", body = PayerLinkView), words::Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
pub async fn retrieve(State(api): State<Arc<Api>>, got: Got<Payer>, Id(slug): Id) -> Answered {
    got.query(&[])?;
    let view = async {
        let mut reader = api.engine.db.read().await?;
        let row = links::find_by_slug(&mut reader, got.scope(), &slug).await?;
        let merchant = merchant(&mut reader, got.scope()).await?;
        let now = api.engine.clock.now_ms() + merchant.row.clock_offset_ms;
        Ok(PayerLinkView::of(
            &row,
            merchant.row.display_name.as_deref(),
            now,
        ))
    };
    Ok(answer::json(StatusCode::OK, &view.await.map_err(fail)?))
}

const FROM_LINK: &[Field] = &[may("amount", Kind::Text)];

/// Create an invoice from a payment link
#[utoipa::path(
    post, path = "/v1/checkout/links/{slug}/invoices", tag = "Checkout", operation_id = "createLinkInvoice",
    params(("slug" = String, Path, description = "The link's slug"), words::IdempotencyKey),
    request_body(content = Option<words::LinkInvoiceRequest>),
    responses((status = 201, description = "The payer's view", body = CheckoutInvoiceView), words::Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
pub async fn create_invoice(
    State(api): State<Arc<Api>>,
    Id(slug): Id,
    client: Client,
    posted: Posted<Payer>,
) -> Answered {
    api.limit("link_invoice", &posted.caller, client.0)?;
    let mut fields = Fields::of(posted.body.as_deref(), FROM_LINK)?;
    let amount = fields.optional("amount", read::text)?;
    let (slug, amount) = (slug.as_str(), amount.as_deref());
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = links::create_invoice(tx, context, slug, amount).await?;
                render(tx, context, &row, 201).await
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}
