//! Accepting invitations.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use till_core::error::{Code, Refusal};
use till_engine::team::sessions::{self, Signed};
use till_engine::team::tokens::Token;
use till_engine::team::{attempts, invites};
use till_engine::view::{InviteOfferView, SessionView};
use till_engine::{Engine, Fail};
use till_http::{answer, read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::entering::Entering;
use super::signed::check_csrf;
use crate::handler::request::body;
use crate::handler::{Answered, Api, Failure, IdempotencyKey, Refusals, cookies, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(open))
        .routes(routes!(accept))
}

body! {
    /// The token of a link.
    pub struct TokenRequest {
        token: String = read::text,
    }
}

/// See what an invitation offers
#[utoipa::path(
    post, path = "/v1/dashboard/invites/open", tag = "Dashboard", operation_id = "openInvite",
    params(IdempotencyKey), request_body = TokenRequest,
    responses((status = 200, description = "The offer", body = InviteOfferView), Refusals),
)]
async fn open(State(api): State<Arc<Api>>, posted: Entering<TokenRequest>) -> Answered {
    let (engine, client) = (&api.engine, &posted.client_key());
    attempts::check_client(engine, client).await?;
    let opened = invites::open(engine, &posted.body.token).await;
    shown(&attempts::count_wrong(engine, client, opened).await?)
}

/// Accept an invitation
///
/// An address that nobody has becomes a user, who is signed in by it.
#[utoipa::path(
    post, path = "/v1/dashboard/invites/accept", tag = "Dashboard", operation_id = "acceptInvite",
    params(IdempotencyKey), request_body = TokenRequest,
    responses((status = 200, description = "The session", body = SessionView), Refusals),
)]
async fn accept(State(api): State<Arc<Api>>, posted: Entering<TokenRequest>) -> Answered {
    let engine = &api.engine;
    let signed = match &posted.session {
        Some(token) => signed_in(engine, token).await?,
        None => None,
    };
    if let Some(signed) = &signed {
        check_csrf(signed, posted.csrf.as_deref())?;
        if signed.is_pending() {
            return Err(Refusal::of(Code::SecondFactorRequired).into());
        }
    }
    let client = &posted.client_key();
    attempts::check_client(engine, client).await?;
    let accepted = invites::accept(engine, &posted.body.token, signed, &posted.origin).await;
    let (signed, token) = attempts::count_wrong(engine, client, accepted).await?;
    session_answer(engine, &signed, token.as_ref())
}

/// Whose session it is. One that is over counts as none: its cookie stays in the browser until somebody signs in.
async fn signed_in(engine: &Engine, token: &str) -> Result<Option<Signed>, Failure> {
    match sessions::signed_in(engine, token).await {
        Ok(signed) => Ok(Some(signed)),
        Err(Fail::Refused(refusal)) if refusal.code == Code::SessionExpired => Ok(None),
        Err(fail) => Err(fail.into()),
    }
}

/// Answers with the session of whoever is signed in now, and its cookie where the token is new.
pub fn session_answer(engine: &Engine, signed: &Signed, token: Option<&Token>) -> Answered {
    let view = sessions::view(engine, signed, true)?;
    let response = answer::json(StatusCode::OK, &view);
    Ok(match token {
        Some(token) => cookies::with_session(&engine.config.dashboard, response, token),
        None => response,
    })
}
