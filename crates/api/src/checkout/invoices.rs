//! An invoice, for its payer.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_core::limits::EMAIL_CHARS_MAX;
use till_engine::checkout::lookup::{self, LookupView};
use till_engine::checkout::wallets::{self, BindingView};
use till_engine::checkout::{self, notify};
use till_engine::view::{CheckoutInvoiceView, NoticeView};
use till_engine::{Answer, invoices};

use super::shown::{merchant, render};
use crate::face::answers::{Answered, answered};
use crate::face::callers::{Got, Id, Payer, Posted};
use crate::face::client::Client;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer;
use till_http::fields::{Field, Fields, Kind, may, need};
use till_http::read;

/// Retrieve an invoice as its payer
#[utoipa::path(
    get, path = "/v1/checkout/invoices/{id}", tag = "Checkout", operation_id = "retrieveCheckoutInvoice",
    params(("id" = String, Path, description = "Invoice id"), words::KeyParam),
    responses((status = 200, description = "The payer's view", body = CheckoutInvoiceView), words::Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
pub async fn retrieve(State(api): State<Arc<Api>>, got: Got<Payer>, Id(id): Id) -> Answered {
    got.query(&[])?;
    let view = async {
        let mut reader = api.engine.db.read().await?;
        let row = invoices::find(&mut reader, got.scope(), &id).await?;
        let merchant = merchant(&mut reader, got.scope()).await?;
        checkout::view(&mut reader, &api.engine, got.scope(), &row, &merchant).await
    };
    Ok(answer::json(StatusCode::OK, &view.await.map_err(fail)?))
}

const PICK: &[Field] = &[need("asset", Kind::Text)];

/// Pick how to pay
///
/// Leases the network's address; one address covers every EVM network the invoice offers.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/payment_option", tag = "Checkout", operation_id = "pickPaymentOption",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    request_body = words::PickOptionRequest,
    responses((status = 200, description = "The payer's view", body = CheckoutInvoiceView), words::Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
pub async fn payment_option(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    client: Client,
    posted: Posted<Payer>,
) -> Answered {
    api.limit("payment_option", &posted.caller, client.0)?;
    let mut fields = Fields::of(posted.body.as_deref(), PICK)?;
    let asset = fields.required("asset", read::text)?;
    let (id, asset) = (id.as_str(), asset.as_str());
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = checkout::pick_option(tx, context, id, asset).await?;
                render(tx, context, &row, 200).await
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

const BIND: &[Field] = &[need("asset", Kind::Text), need("sender", Kind::Text)];

/// Bind the payer's wallet
///
/// Says exactly what the wallet must send, straight to the merchant's destination.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/wallet_binding", tag = "Checkout", operation_id = "bindWallet",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    request_body = words::BindWalletRequest,
    responses((status = 200, description = "What to send", body = BindingView), words::Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
pub async fn wallet_binding(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    client: Client,
    posted: Posted<Payer>,
) -> Answered {
    api.limit("wallet_binding", &posted.caller, client.0)?;
    let mut fields = Fields::of(posted.body.as_deref(), BIND)?;
    let asset = fields.required("asset", read::text)?;
    let sender = fields.required("sender", read::text)?;
    let (id, asset, sender) = (id.as_str(), asset.as_str(), sender.as_str());
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move { Answer::json(200, &wallets::bind(tx, context, id, asset, sender).await?) }
                .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

const NOTIFY: &[Field] = &[
    need("email", Kind::Text),
    may("locale", Kind::Text),
    need("session_token", Kind::Text),
];

/// Leave an address for the receipt
///
/// Nothing is sent before a payment arrived. At most 3 different addresses per invoice, from one session.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/notify", tag = "Checkout", operation_id = "notifyPayer",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    request_body = words::NotifyRequest,
    responses((status = 200, description = "What will be sent", body = NoticeView), words::Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
pub async fn notify(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    client: Client,
    posted: Posted<Payer>,
) -> Answered {
    api.limit("notify", &posted.caller, client.0)?;
    let mut fields = Fields::of(posted.body.as_deref(), NOTIFY)?;
    let email = fields.required("email", read::text)?;
    if email.len() > EMAIL_CHARS_MAX {
        return Err(Refusal::of(Code::EmailInvalid).param("email").into());
    }
    let locale = fields.optional("locale", read::text)?;
    let token = fields.required("session_token", read::text)?;
    let (id, email, locale, token) = (
        id.as_str(),
        email.as_str(),
        locale.as_deref(),
        token.as_str(),
    );
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let view = notify::leave_address(tx, context, id, email, locale, token).await?;
                Answer::json(200, &view)
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

/// Look a transaction up
///
/// Says where its transfers went and whether one is attributed to this invoice. For information only.
#[utoipa::path(
    get, path = "/v1/checkout/invoices/{id}/lookup", tag = "Checkout", operation_id = "lookupTransaction",
    params(("id" = String, Path, description = "Invoice id"), words::LookupParams),
    responses((status = 200, description = "What is known", body = LookupView), words::Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
pub async fn lookup(
    State(api): State<Arc<Api>>,
    got: Got<Payer>,
    Id(id): Id,
    client: Client,
) -> Answered {
    api.limit("lookup", &got.caller, client.0)?;
    let mut query = got.query(&["tx_hash"])?;
    let hash = query.required("tx_hash", |at, text: String| {
        till_chains::normalise_tx_hash(&text).ok_or_else(|| {
            let forms = "0x and 64 hex digits, 64 hex digits, or a Solana signature";
            read::invalid(at, format!("`{at}` must be a transaction hash: {forms}."))
        })
    })?;
    let view = lookup::lookup(&api.engine, got.scope(), &id, &hash).await;
    Ok(answer::json(StatusCode::OK, &view.map_err(fail)?))
}
