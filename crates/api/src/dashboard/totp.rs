//! The user's own authenticator codes.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::Code;
use till_engine::team::totp;
use till_engine::view::{TotpSetupView, UserView};
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::SignedPosted;
use crate::handler::request::body;
use crate::handler::{Answered, Api, IdempotencyKey, Refusals, text};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(set_up))
        .routes(routes!(confirm))
        .routes(routes!(disable))
}

/// Set authenticator codes up
///
/// The secret is shown once, and counts from its first code on.
#[utoipa::path(
    post, path = "/v1/dashboard/totp/setup", tag = "Dashboard", operation_id = "setUpTotp",
    params(IdempotencyKey),
    responses((status = 200, description = "The secret", body = TotpSetupView), Refusals),
    security(("session" = []))
)]
async fn set_up(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let set_up = posted.perform(&api, |tx, context| {
        async move { text(&totp::set_up(tx, context).await?) }.scope_boxed()
    });
    set_up.await
}

body! {
    /// A code of this moment.
    pub struct CodeRequest {
        code: String = read::text,
    }
}

/// Takes the count of a try back unless its code was wrong.
async fn settle(api: &Api, tried: &str, answered: Answered) -> Answered {
    let is_wrong = matches!(&answered, Err(failure) if failure.is(Code::ParameterInvalid));
    if !is_wrong {
        totp::forgive_try(&api.engine, tried).await?;
    }
    answered
}

/// Switch authenticator codes on
#[utoipa::path(
    post, path = "/v1/dashboard/totp/confirm", tag = "Dashboard", operation_id = "confirmTotp",
    params(IdempotencyKey), request_body = CodeRequest,
    responses((status = 200, description = "The user", body = UserView), Refusals),
    security(("session" = []))
)]
async fn confirm(State(api): State<Arc<Api>>, posted: SignedPosted<CodeRequest>) -> Answered {
    let (code, user) = (&*posted.body.code, &posted.caller.asked.user);
    let tried = totp::begin_try(&api.engine, user).await?;
    let confirm = posted.perform(&api, |tx, context| {
        async move { text(&totp::confirm(tx, context, code).await?) }.scope_boxed()
    });
    settle(&api, &tried, confirm.await).await
}

body! {
    /// A code of this moment, where the user has no passkey.
    pub struct DisableTotp {
        code: Option<String> = read::text,
    }
}

/// Switch authenticator codes off
#[utoipa::path(
    post, path = "/v1/dashboard/totp/disable", tag = "Dashboard", operation_id = "disableTotp",
    params(IdempotencyKey), request_body = DisableTotp,
    responses((status = 200, description = "The user", body = UserView), Refusals),
    security(("session" = []))
)]
async fn disable(State(api): State<Arc<Api>>, posted: SignedPosted<DisableTotp>) -> Answered {
    let (code, user) = (posted.body.code.as_deref(), &posted.caller.asked.user);
    let disable = || {
        posted.perform(&api, |tx, context| {
            async move { text(&totp::disable(tx, context, code).await?) }.scope_boxed()
        })
    };
    // A code may be looked at, also of somebody who had a passkey a moment ago.
    if code.is_none() {
        return disable().await;
    }
    let tried = totp::begin_try(&api.engine, user).await?;
    let disabled = disable().await;
    settle(&api, &tried, disabled).await
}
