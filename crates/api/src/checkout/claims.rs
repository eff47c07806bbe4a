//! A refund's claim, for its payer. The token in the path is the credential, and is told to nobody.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts as _, Request, State};
use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::scope::Credential;
use till_engine::Answer;
use till_engine::once::{Once, in_use, reused};
use till_engine::refunds::{self, Claim, ClaimRequest};
use till_engine::view::ClaimView;
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency::{self, InFlightGuard};
use till_http::query::Query;
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::answers::answered;
use crate::handler::request::{Body as _, body};
use crate::handler::{Answered, Api, Failure, HeldKey, Id, IdempotencyKey, Refusals, shown, text};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(retrieve, claim))
}

/// Retrieve a refund as its payer
#[utoipa::path(
    get, path = "/v1/refund_claims/{token}", tag = "Refund claims", operation_id = "retrieveRefundClaim",
    params(("token" = String, Path, description = "The token of the refund's link")),
    responses((status = 200, description = "The refund, as its payer sees it", body = ClaimView), Refusals)
)]
async fn retrieve(State(api): State<Arc<Api>>, Id(token): Id, request: Request) -> Answered {
    let claim = refunds::find_claim(&api.engine, &token).await?;
    Query::of(request.uri().query(), &[])?;
    shown(&refunds::show_claim(&api.engine, &claim).await?)
}

body! {
    pub struct ClaimRefundRequest {
        /// One of `networks[].network`.
        network: String = read::text,
        /// Where to send it on that network.
        address: String = read::text,
    }
}

/// A payer's POST: the claim that the token opens, and an idempotency key among those of that token alone.
struct PostedClaim {
    claim: Claim,
    once: Once,
    request: ClaimRequest,
    _held: InFlightGuard<HeldKey>,
}

impl FromRequest<Arc<Api>> for PostedClaim {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<PostedClaim, Failure> {
        let (mut parts, content) = request.into_parts();
        let Ok(Id(token)) = Id::from_request_parts(&mut parts, api).await;
        let claim = refunds::find_claim(&api.engine, &token).await?;
        let key = idempotency::key(&parts.headers)?;
        let key = format!("{} {key}", claim.digest);
        let held = (claim.scope.clone(), Credential::Claim, key.clone());
        let held = api.in_flight.enter(held).ok_or_else(in_use)?;
        let query = Query::of(parts.uri.query(), &[]);
        let bytes = body::read(&parts.headers, content, READ_TIME_LIMIT).await;
        let raw = bytes.as_ref().ok().and_then(Option::as_deref);
        let raw = raw.unwrap_or_default();
        let (method, path) = (parts.method.as_str(), parts.uri.path());
        let once = Once::new(Actor::Payer, Credential::Claim, key, method, path, raw);
        let read = query.and(bytes);
        let request = match read.and_then(|it| ClaimRefundRequest::read(it.as_deref())) {
            Ok(request) => request,
            Err(wrong) => {
                let reused = reused(&api.engine, &claim.scope, &once).await?;
                return Err(reused.unwrap_or(wrong).into());
            }
        };
        Ok(PostedClaim {
            claim,
            once,
            request: ClaimRequest {
                network: request.network,
                address: request.address,
            },
            _held: held,
        })
    }
}

/// Say where a refund is to be sent
///
/// The first claim is kept: a different address cannot replace it.
#[utoipa::path(
    post, path = "/v1/refund_claims/{token}", tag = "Refund claims", operation_id = "claimRefund",
    params(("token" = String, Path, description = "The token of the refund's link"), IdempotencyKey),
    request_body = ClaimRefundRequest,
    responses((status = 200, description = "The claim, recorded", body = ClaimView), Refusals)
)]
async fn claim(State(api): State<Arc<Api>>, posted: PostedClaim) -> Answered {
    let (claim, request) = (&posted.claim, &posted.request);
    let answers = &refunds::ask(&api.engine, claim, request).await?;
    let done = api.engine.once(&claim.scope, &posted.once, |tx, context| {
        async move {
            let claimed = refunds::claim(tx, context, claim, request, answers).await?;
            Ok(Answer::new(200, text(&claimed)?))
        }
        .scope_boxed()
    });
    Ok(answered(done.await?))
}
