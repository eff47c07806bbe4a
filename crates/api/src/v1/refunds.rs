//! Refunds, for their merchants.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::role::Permission;
use till_engine::refunds::{self, NewRefund, RefundFilter};
use till_engine::view::RefundView;
use till_http::json::Json;
use till_http::query;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{body, params};
use crate::handler::words::{RefundReason, RefundStatus, word, word_param};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(list))
        .routes(routes!(retrieve))
        .routes(routes!(cancel))
        .routes(routes!(mark_sent))
}

body! {
    pub struct CreateRefundRequest {
        /// Whole tokens. Default: what was paid too much.
        amount: Option<String> = read::text,
        /// An asset that the invoice received, a wrong one too. Default: the one it was paid in.
        asset: Option<String> = read::text,
        reason: Option<RefundReason> = word,
    }
}

/// Refund what an invoice received
///
/// Makes a link for the payer, who says where the money is to be sent. Without an amount: what was paid too much.
#[utoipa::path(
    post, path = "/v1/invoices/{id}/refunds", tag = "Refunds", operation_id = "createRefund",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body(content = Option<CreateRefundRequest>),
    responses((status = 201, description = "The refund with its link", body = RefundView), Refusals),
    security(("secret_key" = []))
)]
async fn create(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, CreateRefundRequest>,
) -> Answered {
    let request = &NewRefund {
        amount: posted.body.amount.clone(),
        asset: posted.body.asset.clone(),
        reason: posted.body.reason.map(|reason| reason.0),
    };
    let id = id.as_str();
    let create = posted.create(&api, |tx, context| {
        async move { text(&refunds::create(tx, context, id, request).await?) }.scope_boxed()
    });
    create.await
}

params! {
    pub struct RefundParams {
        /// Invoice id.
        invoice: Option<String> = query::text,
        /// Only those that stand there.
        #[param(inline)]
        status: Option<RefundStatus> = word_param,
    }
}

/// List refunds, newest first
#[utoipa::path(
    get, path = "/v1/refunds", tag = "Refunds", operation_id = "listRefunds",
    params(PageParams, RefundParams),
    responses((status = 200, description = "A page of refunds", body = List<RefundView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<RefundParams>>) -> Answered {
    let filter = RefundFilter {
        invoice: got.filter().invoice.clone(),
        status: got.filter().status.map(|status| status.0),
    };
    let pager = got.pager(&api, "refunds").await?;
    let (reads, page) = (&pager.reads, &pager.page);
    let found = refunds::list(&api.engine, reads, got.scope(), filter, page).await?;
    pager.shown(found.map(|refund| seen_by(&got, refund))).await
}

/// The payer's link only for those who could have made the refund.
fn seen_by<Q>(got: &Got<Secret, Q>, refund: RefundView) -> RefundView {
    match got.may(Permission::RefundsWrite) {
        true => refund,
        false => refund.without_link(),
    }
}

/// Retrieve a refund
#[utoipa::path(
    get, path = "/v1/refunds/{id}", tag = "Refunds", operation_id = "retrieveRefund",
    params(("id" = String, Path, description = "Refund id")),
    responses((status = 200, description = "The refund", body = RefundView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    let found = refunds::retrieve(&api.engine, got.scope(), &id).await?;
    shown(&seen_by(&got, found))
}

/// Cancel a refund that was not sent
#[utoipa::path(
    post, path = "/v1/refunds/{id}/cancel", tag = "Refunds", operation_id = "cancelRefund",
    params(("id" = String, Path, description = "Refund id"), IdempotencyKey),
    responses((status = 200, description = "The cancelled refund; its link works no more", body = RefundView), Refusals),
    security(("secret_key" = []))
)]
async fn cancel(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let cancel = posted.perform(&api, |tx, context| {
        async move { text(&refunds::cancel(tx, context, id).await?) }.scope_boxed()
    });
    cancel.await
}

fn tx_hash(at: &str, value: Json) -> Read<String> {
    let hash = read::text(at, value)?;
    match refunds::is_tx_hash(&hash) {
        true => Ok(hash),
        false => Err(read::invalid(
            at,
            format!("`{at}` must be the hash of a transaction."),
        )),
    }
}

body! {
    pub struct MarkSentRequest {
        /// `0x` and 64 hex digits; without `0x` on TRON and Bitcoin; a Solana signature.
        tx_hash: String = tx_hash,
    }
}

/// Say that a refund was sent, and by which transaction
///
/// Send it from your own wallet first, to `payout.address` on `payout.network`. The address is held against the
/// lists once more: should one name it now, the refund is `in_review`. A payout that was made while the refund was
/// `ready_to_send` can be recorded after it became `in_review` where the chain shows it or cannot be asked, and after it
/// was cancelled where the chain shows it; reconciliation flags it.
#[utoipa::path(
    post, path = "/v1/refunds/{id}/mark_sent", tag = "Refunds", operation_id = "markRefundSent",
    params(("id" = String, Path, description = "Refund id"), IdempotencyKey),
    request_body = MarkSentRequest,
    responses((status = 200, description = "The sent refund", body = RefundView), Refusals),
    security(("secret_key" = []))
)]
async fn mark_sent(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, MarkSentRequest>,
) -> Answered {
    let (id, tx_hash) = (id.as_str(), posted.body.tx_hash.as_str());
    posted.check_key(&api).await?;
    let seen = refunds::look_before_sent(&api.engine, posted.scope(), id, tx_hash).await?;
    let mark = posted.perform(&api, |tx, context| {
        async move { text(&refunds::mark_sent(tx, context, id, tx_hash, seen).await?) }
            .scope_boxed()
    });
    mark.await
}
