//! An invoice, for its payer.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_chains::TxHashForm;
use till_core::error::{Code, Refusal};
use till_core::limits::EMAIL_CHARS_MAX;
use till_engine::checkout::lookup::{self, LookupView};
use till_engine::checkout::wallets::{self, BindingView, NewBinding};
use till_engine::checkout::{self, notify};
use till_engine::view::{CheckoutInvoiceView, NoticeView};
use till_http::fields::{JsonType, Typed};
use till_http::json::Json;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{body, params};
use crate::handler::{
    Answered, Api, Counted, Got, Id, IdempotencyKey, KeyParam, Payer, Posted, Refusals, shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve))
        .routes(routes!(lookup))
        .routes(routes!(notify))
        .routes(routes!(payment_option))
        .routes(routes!(wallet_binding))
}

/// Retrieve an invoice as its payer
#[utoipa::path(
    get, path = "/v1/checkout/invoices/{id}", tag = "Checkout", operation_id = "retrieveCheckoutInvoice",
    params(("id" = String, Path, description = "Invoice id"), KeyParam),
    responses((status = 200, description = "The payer's view", body = CheckoutInvoiceView), Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Payer>, Id(id): Id) -> Answered {
    shown(&checkout::retrieve(&api.engine, got.scope(), &id).await?)
}

body! {
    pub struct PickOptionRequest {
        /// One of `pending_options[].asset` or `payment_options[].asset`.
        asset: String = read::text,
    }
}

/// Pick how to pay
///
/// Leases the network's address; one address covers every EVM network the invoice offers.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/payment_option", tag = "Checkout", operation_id = "pickPaymentOption",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body = PickOptionRequest,
    responses((status = 200, description = "The payer's view", body = CheckoutInvoiceView), Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
async fn payment_option(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Counted<Payer>, PickOptionRequest>,
) -> Answered {
    let (id, asset) = (id.as_str(), posted.body.asset.as_str());
    let pick = posted.perform(&api, |tx, context| {
        async move {
            let row = checkout::pick_option(tx, context, id, asset).await?;
            text(&checkout::shown(tx, context, &row).await?)
        }
        .scope_boxed()
    });
    pick.await
}

body! {
    pub struct BindWalletRequest {
        /// One of the invoice's options, on an EVM or TRON network.
        asset: String = read::text,
        /// The connected wallet's address, as it shows it. Not a deposit address, a merchant's destination, or
        /// the contract of a token or factory.
        sender: String = read::text,
        /// The wallet's signature (EIP-191, on TRON TIP-191; 65 bytes in hexadecimal) over four lines:
        /// `Till wallet binding`, the invoice's id, and `asset` and `sender` as they are sent here. Must be right if it is
        /// there; a server with `wallets.require_proof` binds no wallet without it.
        proof: Option<String> = read::text,
    }
}

/// Bind the payer's wallet
///
/// Says exactly what the wallet must send, straight to the merchant's destination.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/wallet_binding", tag = "Checkout", operation_id = "bindWallet",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body = BindWalletRequest,
    responses((status = 200, description = "What to send", body = BindingView), Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
async fn wallet_binding(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Counted<Payer>, BindWalletRequest>,
) -> Answered {
    let request = &NewBinding {
        invoice: &id,
        asset: &posted.body.asset,
        sender: &posted.body.sender,
        proof: posted.body.proof.as_deref(),
    };
    let bind = posted.perform(&api, |tx, context| {
        async move { text(&wallets::bind(tx, context, request).await?) }.scope_boxed()
    });
    bind.await
}

fn email(at: &str, value: Json) -> Read<String> {
    let email = read::text(at, value)?;
    match email.len() > EMAIL_CHARS_MAX {
        true => Err(Refusal::of(Code::EmailInvalid).param(at)),
        false => Ok(email),
    }
}

body! {
    pub struct NotifyRequest {
        email: String = email,
        /// A language tag; default `en`.
        locale: Option<String> = read::text,
        /// From the payer's view of this invoice.
        session_token: String = read::text,
    }
}

/// Leave an address for the receipt
///
/// Nothing is sent before a payment arrived. At most 3 different addresses per invoice, from one session.
#[utoipa::path(
    post, path = "/v1/checkout/invoices/{id}/notify", tag = "Checkout", operation_id = "notifyPayer",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body = NotifyRequest,
    responses((status = 200, description = "What will be sent", body = NoticeView), Refusals),
    security(("publishable_key" = []), ("secret_key" = []))
)]
async fn notify(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Counted<Payer>, NotifyRequest>,
) -> Answered {
    let (id, asked) = (id.as_str(), &posted.body);
    let leave = posted.perform(&api, |tx, context| {
        async move {
            let (locale, token) = (asked.locale.as_deref(), &asked.session_token);
            let left = notify::leave_address(tx, context, id, &asked.email, locale, token);
            text(&left.await?)
        }
        .scope_boxed()
    });
    leave.await
}

/// A transaction's hash, in one of the forms there are.
#[derive(Clone, Debug)]
pub struct TxHash(TxHashForm);

impl Typed for TxHash {
    const JSON: JsonType = JsonType::Text;
}

impl TxHash {
    fn param(at: &str, text: String) -> Read<TxHash> {
        let hash = till_chains::normalise_tx_hash(&text).map(TxHash);
        hash.ok_or_else(|| {
            let forms = "0x and 64 hex digits, 64 hex digits, or a Solana signature";
            read::invalid(at, format!("`{at}` must be a transaction hash: {forms}."))
        })
    }
}

params! {
    pub struct LookupParams {
        /// `0x` and 64 hex digits, 64 hex digits (TRON, Bitcoin), or a Solana signature.
        #[param(value_type = String)]
        tx_hash: TxHash = TxHash::param,
    }
}

/// Look a transaction up
///
/// Says where its transfers went and whether one is attributed to this invoice. For information only.
#[utoipa::path(
    get, path = "/v1/checkout/invoices/{id}/lookup", tag = "Checkout", operation_id = "lookupTransaction",
    params(("id" = String, Path, description = "Invoice id"), LookupParams, KeyParam),
    responses((status = 200, description = "What is known", body = LookupView), Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
async fn lookup(
    State(api): State<Arc<Api>>,
    got: Got<Counted<Payer>, LookupParams>,
    Id(id): Id,
) -> Answered {
    let hash = &got.query.tx_hash.0;
    shown(&lookup::lookup(&api.engine, got.scope(), &id, hash).await?)
}
