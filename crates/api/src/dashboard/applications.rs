//! The organisation's application for live mode.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::country::is_country;
use till_core::money;
use till_core::page_link::check_website;
use till_engine::team::applications::{self, ApplicationChange};
use till_engine::view::ApplicationView;
use till_http::fields::Patch;
use till_http::json::Json;
use till_http::read::{self, Read, invalid};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::{Settable, body, change};
use crate::handler::words::EmailAddress;
use crate::handler::{Answered, Api, IdempotencyKey, Refusals, shown, text};

const NAME_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Of US dollars.
const CENTS: u32 = 2;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve, edit))
        .routes(routes!(submit))
        .routes(routes!(withdraw))
}

/// Retrieve the application for live mode
#[utoipa::path(
    get, path = "/v1/dashboard/application", tag = "Dashboard", operation_id = "retrieveApplication",
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: SignedGot) -> Answered {
    shown(&applications::retrieve(&api.engine, got.caller.account()?).await?)
}

fn website(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    match check_website(&text) {
        Ok(()) => Ok(text),
        Err(why) => Err(invalid(at, format!("`{at}` is refused: {why}"))),
    }
}

fn country(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    match is_country(&text) {
        true => Ok(text),
        false => {
            let message = format!("`{at}` must be the two capital letters of a country.");
            Err(invalid(at, message))
        }
    }
}

fn volume(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    match money::parse(&text, CENTS) {
        Ok(_) => Ok(text),
        Err(why) => Err(invalid(at, format!("`{at}` {why}"))),
    }
}

body! {
    /// What is asked of whoever wants to take real payments. Fields that are left out stay as they are.
    pub struct UpdateApplication {
        #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
        business_name: Settable<String> = read::shown_text(1..=NAME_CHARS_MAX),
        /// An https address, or null for none.
        #[schema(value_type = Option<String>)]
        website: Patch<String> = website,
        /// Two letters, by ISO 3166-1.
        #[schema(value_type = Option<String>)]
        country: Settable<String> = country,
        #[schema(value_type = Option<String>, format = "email")]
        contact_email: Settable<EmailAddress> = EmailAddress::read,
        #[schema(value_type = Option<String>, min_length = 1, max_length = 2000)]
        business_description: Settable<String> = read::shown_text(1..=DESCRIPTION_CHARS_MAX),
        /// In US dollars.
        #[schema(value_type = Option<String>)]
        expected_monthly_volume: Settable<String> = volume,
    }
}

impl UpdateApplication {
    fn change(&self) -> ApplicationChange {
        ApplicationChange {
            business_name: self.business_name.clone().change(),
            website: change(self.website.clone()),
            country: self.country.clone().change(),
            contact_email: self.contact_email.clone().change().map(|email| email.0),
            business_description: self.business_description.clone().change(),
            expected_monthly_volume: self.expected_monthly_volume.clone().change(),
        }
    }
}

/// Fill in the application
///
/// One that was rejected becomes a draft again.
#[utoipa::path(
    post, path = "/v1/dashboard/application", tag = "Dashboard", operation_id = "updateApplication",
    params(IdempotencyKey), request_body = UpdateApplication,
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn edit(State(api): State<Arc<Api>>, posted: SignedPosted<UpdateApplication>) -> Answered {
    let change = &posted.body.change();
    let edit = posted.perform(&api, |tx, context| {
        async move { text(&applications::edit(tx, context, change).await?) }.scope_boxed()
    });
    edit.await
}

/// Hand the application in
#[utoipa::path(
    post, path = "/v1/dashboard/application/submit", tag = "Dashboard", operation_id = "submitApplication",
    params(IdempotencyKey),
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn submit(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let submit = posted.perform(&api, |tx, context| {
        async move { text(&applications::submit(tx, context).await?) }.scope_boxed()
    });
    submit.await
}

/// Take the application back
#[utoipa::path(
    post, path = "/v1/dashboard/application/withdraw", tag = "Dashboard", operation_id = "withdrawApplication",
    params(IdempotencyKey),
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn withdraw(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let withdraw = posted.perform(&api, |tx, context| {
        async move { text(&applications::withdraw(tx, context).await?) }.scope_boxed()
    });
    withdraw.await
}
