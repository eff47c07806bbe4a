//! Getting in: links, passkeys, the second factor, signing up.

use std::sync::Arc;

use axum::extract::{FromRequest as _, Request, State};
use http::StatusCode;
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_engine::Engine;
use till_engine::team::emails::Email;
use till_engine::team::entry::{self, Arrival, Entered, SecondFactor};
use till_engine::team::links::{self, Asking};
use till_engine::team::tokens::Token;
use till_engine::view::{CeremonyView, SessionView};
use till_http::answer;
use till_http::read::{self, invalid};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::credential::{CredentialJson, credential};
use super::entering::Entering;
use super::invites::{TokenRequest, session_answer};
use super::signed::SignedPosted;
use crate::handler::cookies;
use crate::handler::request::body;
use crate::handler::{Answered, Api, IdempotencyKey, Refusals, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(ask_to_sign_in))
        .routes(routes!(confirm_sign_in))
        .routes(routes!(begin_passkey))
        .routes(routes!(sign_in_with_passkey))
        .routes(routes!(begin_second_factor))
        .routes(routes!(give_second_factor))
        .routes(routes!(ask_to_sign_up))
        .routes(routes!(confirm_sign_up))
        .routes(routes!(sign_in_to_demo))
}

body! {
    /// Where a link is mailed to.
    pub struct EmailRequest {
        email: String = read::text,
    }
}

/// That a link was asked for; not whether anybody has the address.
#[derive(Serialize, ToSchema)]
pub struct LinkRequest {
    #[schema(example = "link_request", pattern = "^link_request$")]
    object: &'static str,
    #[schema(example = "accepted", pattern = "^accepted$")]
    status: &'static str,
}

fn asked(engine: &Engine, browser: &Token) -> Answered {
    let accepted = LinkRequest {
        object: "link_request",
        status: "accepted",
    };
    let response = answer::json(StatusCode::OK, &accepted);
    Ok(cookies::with_browser(
        &engine.config.dashboard,
        response,
        browser,
    ))
}

/// Ask for a link to sign in with
///
/// It works once, for ten minutes, in this browser. The answer is the same whether anybody has the address.
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/link", tag = "Dashboard", operation_id = "requestSignInLink",
    params(IdempotencyKey), request_body = EmailRequest,
    responses((status = 200, description = "Accepted", body = LinkRequest), Refusals),
)]
async fn ask_to_sign_in(State(api): State<Arc<Api>>, posted: Entering<EmailRequest>) -> Answered {
    let engine = &api.engine;
    let email = Email::parse(&posted.body.email)?;
    // Always a new one: somebody else may have put the one there that the browser has.
    let browser = Token::new(engine);
    let asking = Asking {
        email: &email,
        browser: &browser.0,
        client: &posted.client_key(),
    };
    links::ask_to_sign_in(engine, asking).await?;
    asked(engine, &browser)
}

/// Ask for a link to sign up with
#[utoipa::path(
    post, path = "/v1/dashboard/sign_up", tag = "Dashboard", operation_id = "signUp",
    params(IdempotencyKey), request_body = EmailRequest,
    responses((status = 200, description = "Accepted", body = LinkRequest), Refusals),
)]
async fn ask_to_sign_up(State(api): State<Arc<Api>>, posted: Entering<EmailRequest>) -> Answered {
    let engine = &api.engine;
    let email = Email::parse(&posted.body.email)?;
    // Always a new one: somebody else may have put the one there that the browser has.
    let browser = Token::new(engine);
    let asking = Asking {
        email: &email,
        browser: &browser.0,
        client: &posted.client_key(),
    };
    links::ask_to_sign_up(engine, asking).await?;
    asked(engine, &browser)
}

fn arrival<B>(posted: &Entering<B>) -> Arrival {
    Arrival {
        origin: posted.origin.clone(),
        session: posted.session.clone(),
        browser: posted.browser.clone(),
    }
}

fn welcome(engine: &Engine, (signed, token): &Entered) -> Answered {
    session_answer(engine, signed, Some(token))
}

/// Sign in with a link
///
/// Whoever has a second factor must still give it.
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/link/confirm", tag = "Dashboard", operation_id = "confirmSignInLink",
    params(IdempotencyKey), request_body = TokenRequest,
    responses((status = 200, description = "The session", body = SessionView), Refusals),
)]
async fn confirm_sign_in(State(api): State<Arc<Api>>, posted: Entering<TokenRequest>) -> Answered {
    let entered = entry::by_link(&api.engine, &posted.body.token, &arrival(&posted)).await?;
    welcome(&api.engine, &entered)
}

/// Sign up with a link
#[utoipa::path(
    post, path = "/v1/dashboard/sign_up/confirm", tag = "Dashboard", operation_id = "confirmSignUp",
    params(IdempotencyKey), request_body = TokenRequest,
    responses((status = 200, description = "The session", body = SessionView), Refusals),
)]
async fn confirm_sign_up(State(api): State<Arc<Api>>, posted: Entering<TokenRequest>) -> Answered {
    let entered = entry::by_sign_up(&api.engine, &posted.body.token, &arrival(&posted)).await?;
    welcome(&api.engine, &entered)
}

/// Begin to sign in with a passkey
///
/// Any passkey of this place will do; fit for conditional UI.
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/passkey/begin", tag = "Dashboard", operation_id = "beginPasskeySignIn",
    params(IdempotencyKey),
    responses((status = 200, description = "What the browser is asked", body = CeremonyView), Refusals),
)]
async fn begin_passkey(State(api): State<Arc<Api>>, _posted: Entering) -> Answered {
    shown(&entry::begin_passkey(&api.engine).await?)
}

body! {
    /// The passkey's answer to a ceremony.
    pub struct PasskeyAnswer {
        ceremony: String = read::text,
        #[schema(value_type = Object)]
        credential: CredentialJson = credential,
    }
}

/// Sign in with a passkey
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/passkey", tag = "Dashboard", operation_id = "signInWithPasskey",
    params(IdempotencyKey), request_body = PasskeyAnswer,
    responses((status = 200, description = "The session", body = SessionView), Refusals),
)]
async fn sign_in_with_passkey(
    State(api): State<Arc<Api>>,
    posted: Entering<PasskeyAnswer>,
) -> Answered {
    let PasskeyAnswer {
        ceremony,
        credential,
    } = &posted.body;
    let arrival = arrival(&posted);
    let entered = entry::by_passkey(&api.engine, ceremony, &credential.0, &arrival).await?;
    welcome(&api.engine, &entered)
}

/// Begin to give a passkey as the second factor
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/second_factor/begin", tag = "Dashboard", operation_id = "beginSecondFactor",
    params(IdempotencyKey),
    responses((status = 200, description = "What the browser is asked", body = CeremonyView), Refusals),
    security(("session" = []))
)]
async fn begin_second_factor(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let signed = &posted.caller.signed;
    shown(&entry::begin_second_factor(&api.engine, signed).await?)
}

body! {
    /// A passkey's answer to a ceremony, or a code.
    pub struct SecondFactorRequest {
        ceremony: Option<String> = read::text,
        #[schema(value_type = Option<Object>)]
        credential: Option<CredentialJson> = credential,
        code: Option<String> = read::text,
    }
}

fn factor(asked: &SecondFactorRequest) -> Result<SecondFactor<'_>, Refusal> {
    let missing = |name: &str| {
        let message = format!("`{name}` is missing.");
        Refusal::new(Code::ParameterMissing, message).param(name)
    };
    match (&asked.ceremony, &asked.credential, &asked.code) {
        (None, None, Some(code)) => Ok(SecondFactor::Code(code)),
        (Some(ceremony), Some(CredentialJson(answer)), None) => {
            Ok(SecondFactor::Passkey { ceremony, answer })
        }
        (_, _, Some(_)) => Err(invalid("code", "Give a code or a passkey, not both.")),
        (None, Some(_), None) => Err(missing("ceremony")),
        (Some(_), None, None) => Err(missing("credential")),
        (None, None, None) => Err(missing("code")),
    }
}

/// Give the second factor
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/second_factor", tag = "Dashboard", operation_id = "giveSecondFactor",
    params(IdempotencyKey), request_body = SecondFactorRequest,
    responses((status = 200, description = "The session, complete", body = SessionView), Refusals),
    security(("session" = []))
)]
async fn give_second_factor(
    State(api): State<Arc<Api>>,
    posted: SignedPosted<SecondFactorRequest>,
) -> Answered {
    let (signed, origin) = (&posted.caller.signed, &posted.caller.asked.origin);
    let factor = factor(&posted.body)?;
    let entered = entry::by_second_factor(&api.engine, signed, origin, factor).await?;
    welcome(&api.engine, &entered)
}

/// Sign in to the demo
///
/// Only `till demo` has it.
#[utoipa::path(
    post, path = "/v1/dashboard/sign_in/demo", tag = "Dashboard", operation_id = "signInToDemo",
    params(IdempotencyKey),
    responses((status = 200, description = "The session of the demo's owner", body = SessionView), Refusals),
)]
async fn sign_in_to_demo(State(api): State<Arc<Api>>, request: Request) -> Answered {
    if !api.engine.config.demo {
        return Err(Refusal::of(Code::RouteNotFound).into());
    }
    let posted = Entering::<crate::handler::request::NoBody>::from_request(request, &api).await?;
    let entered = entry::to_demo(&api.engine, &arrival(&posted)).await?;
    welcome(&api.engine, &entered)
}
