//! A passkey's yes to one request, asked for and given before the request is sent.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use http::Method;
use http::request::Parts;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_engine::team::confirming::{self, Target};
use till_engine::team::sessions::Signed;
use till_engine::view::ConfirmationView;
use till_http::json::Json;
use till_http::read::{self, Read, invalid};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::credential::{CredentialJson, credential};
use super::signed::SignedPosted;
use crate::handler::access::{self, Access};
use crate::handler::cookies;
use crate::handler::request::body;
use crate::handler::session::{read_account, read_mode};
use crate::handler::{Answered, Api, Id, IdempotencyKey, Refusals, text};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(begin))
        .routes(routes!(answer))
}

body! {
    /// The request to come.
    pub struct BeginConfirmation {
        /// Its path, as it will be sent.
        path: String = read::text,
        /// The SHA-256 of the exact bytes of its body, in hex; of nothing where it has none.
        #[schema(min_length = 64, max_length = 64)]
        body_sha256: String = hash,
    }
}

fn hash(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    match parse_hash(&text) {
        Some(_) => Ok(text),
        None => Err(invalid(
            at,
            format!("`{at}` must be 64 hexadecimal digits."),
        )),
    }
}

fn parse_hash(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        let pair = text.get(2 * at..2 * at + 2)?;
        if pair.starts_with('+') {
            return None;
        }
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(hash)
}

/// The organisation and mode of the request to come, where its endpoint has them.
fn target(parts: &Parts, signed: &Signed, asked: &BeginConfirmation) -> Result<Target, Refusal> {
    let unknown = || {
        invalid(
            "path",
            "`path` is not one of a request that takes a session.",
        )
    };
    let access = access::of_path(&Method::POST, &asked.path).ok_or_else(unknown)?;
    let (has_account, has_mode) = match access {
        Access::Organization { has_mode, .. } => (true, has_mode),
        Access::Resource(_) => (true, true),
        Access::Own(_) | Access::Operator(_) => (false, false),
        Access::Public | Access::Pending | Access::AnySession => return Err(unknown()),
    };
    let mode = has_mode.then(|| read_mode(parts)).transpose()?;
    let account = has_account
        .then(|| read_account(parts, signed))
        .transpose()?;
    Ok(Target {
        path: asked.path.clone(),
        body_hash: parse_hash(&asked.body_sha256).unwrap_or_default(),
        account: account.map(|account| account.to_string()),
        mode,
    })
}

/// Ask for a passkey's yes to a request
///
/// With the `Till-Mode` and `Till-Account` of the request to come.
#[utoipa::path(
    post, path = "/v1/dashboard/confirmations", tag = "Dashboard", operation_id = "beginConfirmation",
    params(IdempotencyKey), request_body = BeginConfirmation,
    responses((status = 201, description = "What the passkey is asked", body = ConfirmationView), Refusals),
    security(("session" = []))
)]
async fn begin(
    State(api): State<Arc<Api>>,
    parts: Parts,
    posted: SignedPosted<BeginConfirmation>,
) -> Answered {
    let target = &target(&parts, &posted.caller.signed, &posted.body)?;
    let begin = posted.create(&api, |tx, context| {
        async move { text(&confirming::begin(tx, context, target).await?) }.scope_boxed()
    });
    begin.await
}

body! {
    /// The passkey's answer.
    pub struct AnswerConfirmation {
        #[schema(value_type = Object)]
        credential: CredentialJson = credential,
    }
}

/// Confirm a request with a passkey
///
/// The session's cookie changes with it.
#[utoipa::path(
    post, path = "/v1/dashboard/confirmations/{id}", tag = "Dashboard", operation_id = "answerConfirmation",
    params(("id" = String, Path, description = "Confirmation id"), IdempotencyKey), request_body = AnswerConfirmation,
    responses((status = 200, description = "The confirmation", body = ConfirmationView), Refusals),
    security(("session" = []))
)]
async fn answer(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<AnswerConfirmation>,
) -> Answered {
    let (id, credential) = (&*id, &posted.body.credential.0);
    let renewed = Mutex::default();
    let renewed = &renewed;
    let answered = posted.perform(&api, |tx, context| {
        async move { text(&confirming::answer(tx, context, id, credential, renewed).await?) }
            .scope_boxed()
    });
    let answered = answered.await;
    if let Err(failure) = &answered
        && failure.is(Code::PasskeyFailed)
    {
        let by = &posted.caller.asked;
        confirming::answer_failed(&api.engine, by, id, credential).await?;
    }
    let response = answered?;
    let token = renewed.lock().ok().and_then(|mut renewed| renewed.take());
    Ok(match token {
        Some(token) => cookies::with_session(&api.engine.config.dashboard, response, &token),
        None => response,
    })
}
