//! A payment link, for its payers.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::merchants::accounts::{Caller, KeyKind};
use till_engine::view::{CheckoutInvoiceView, PayerLinkView};
use till_engine::{checkout, links};
use till_http::client_addr::household_key;
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::body;
use crate::handler::{
    Answered, Api, Client, Counted, Got, Id, IdempotencyKey, KeyParam, Payer, Posted, Refusals,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve))
        .routes(routes!(create_invoice))
}

/// Retrieve a payment link as its payer
#[utoipa::path(
    get, path = "/v1/checkout/links/{slug}", tag = "Checkout", operation_id = "retrieveCheckoutLink",
    params(("slug" = String, Path, description = "The link's slug", min_length = 22, max_length = 22), KeyParam),
    responses((status = 200, description = "The link, and whether it takes payments", body = PayerLinkView), Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
async fn retrieve(
    State(api): State<Arc<Api>>,
    client: Client,
    got: Got<Payer>,
    Id(slug): Id,
) -> Answered {
    let client = payer(&got.caller, &client);
    shown(&links::retrieve_by_slug(&api.engine, got.scope(), &slug, client).await?)
}

/// Who asks as a payer, by address. A merchant who asks for its payers is no payer.
fn payer(caller: &Caller, client: &Client) -> Option<IpAddr> {
    (caller.kind == KeyKind::Publishable).then(|| household_key(client.0))
}

body! {
    pub struct LinkInvoiceRequest {
        /// Required for payer-chosen links, omitted for fixed ones.
        amount: Option<String> = read::text,
    }
}

/// Create an invoice from a payment link
#[utoipa::path(
    post, path = "/v1/checkout/links/{slug}/invoices", tag = "Checkout", operation_id = "createLinkInvoice",
    params(("slug" = String, Path, description = "The link's slug", min_length = 22, max_length = 22), IdempotencyKey),
    request_body(content = Option<LinkInvoiceRequest>),
    responses((status = 201, description = "The payer's view", body = CheckoutInvoiceView), Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
async fn create_invoice(
    State(api): State<Arc<Api>>,
    Id(slug): Id,
    client: Client,
    posted: Posted<Counted<Payer>, LinkInvoiceRequest>,
) -> Answered {
    let (slug, amount) = (slug.as_str(), posted.body.amount.as_deref());
    let client = payer(&posted.caller, &client);
    let create = posted.create(&api, |tx, context| {
        async move {
            let row = links::create_invoice(tx, context, slug, amount, client).await?;
            text(&checkout::shown(tx, context, &row).await?)
        }
        .scope_boxed()
    });
    create.await
}
