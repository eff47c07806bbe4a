//! What merchants set, and their webhook secret.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_core::limits::ASSETS_MAX;
use till_engine::base::Change;
use till_engine::base::Merchant;
use till_engine::merchants::secrets;
use till_engine::merchants::settings::{self, SettingsChange, url_forbidden, url_policy};
use till_engine::view::{SettingsView, WebhookSecretView};
use till_engine::{Answer, Fail};

use crate::face::answers::{Answered, answered, change, no_body};
use crate::face::callers::{Got, Posted, Secret};
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer::{self, Failure};
use till_http::fields::{Field, Fields, Kind, may};
use till_http::read;

/// Retrieve the merchant's settings in this mode
#[utoipa::path(
    get, path = "/v1/merchant/settings", tag = "Merchant", operation_id = "retrieveSettings",
    responses((status = 200, description = "The settings", body = SettingsView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    got.query(&[])?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let row = till_store::accounts::merchant(&mut reader, got.scope()).await;
    let row = row
        .map_err(|error| fail(error.into()))?
        .ok_or_else(|| Refusal::of(Code::ModeNotConfigured))?;
    let merchant = Merchant { row };
    Ok(answer::json(StatusCode::OK, &SettingsView::of(&merchant)))
}

const UPDATE: &[Field] = &[
    may("display_name", Kind::Text),
    may("webhook_url", Kind::Text),
    may("default_assets", Kind::List(&Kind::Text)),
    may("underpay_tolerance_bps", Kind::Integer),
    may("manual_review_amount", Kind::Text),
    // Known only to be refused with a reason of its own.
    may("registered_destinations", Kind::Any),
];

/// Change the merchant's settings in this mode
///
/// Omitted fields stay as they are; null clears.
#[utoipa::path(
    post, path = "/v1/merchant/settings", tag = "Merchant", operation_id = "updateSettings",
    params(words::IdempotencyKey), request_body = words::UpdateSettingsRequest,
    responses((status = 200, description = "The settings after the change", body = SettingsView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn update(State(api): State<Arc<Api>>, posted: Posted<Secret>) -> Answered {
    let read = read_checked(&api, &posted).await;
    let change = &posted.read(&api, read).await?;
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let merchant = settings::update(tx, context, change).await?;
                Answer::json(200, &SettingsView::of(&merchant))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

/// The change, judged as far as that goes without the database, where DNS must not be waited for.
async fn read_checked(api: &Api, posted: &Posted<Secret>) -> Result<SettingsChange, Failure> {
    let change = read_update(posted.body.as_deref())?;
    if posted.scope().mode.is_live() && change.webhook_url != Change::Keep {
        return Err(Refusal::of(Code::LiveChangeRequiresDashboard)
            .param("webhook_url")
            .into());
    }
    let policy = url_policy(api.engine.config.allow_private_webhooks);
    settings::check(&change, policy)?;
    if let Change::Set(url) = &change.webhook_url {
        api.sender.check(url).await.map_err(url_forbidden)?;
    }
    Ok(change)
}

fn read_update(body: Option<&[u8]>) -> Result<SettingsChange, Failure> {
    let mut fields = Fields::of(body, UPDATE)?;
    if fields.has("registered_destinations") {
        return Err(Refusal::of(Code::DestinationImmutable)
            .param("registered_destinations")
            .into());
    }
    let bps = fields.patch(
        "underpay_tolerance_bps",
        read::integer(0..=i64::from(i32::MAX)),
    )?;
    Ok(SettingsChange {
        display_name: change(fields.patch("display_name", read::text)?),
        webhook_url: change(fields.patch("webhook_url", read::text)?),
        default_assets: change(fields.patch("default_assets", read::list(ASSETS_MAX, read::text))?),
        underpay_tolerance_bps: change(bps),
        manual_review_amount: change(fields.patch("manual_review_amount", read::text)?),
    })
}

/// Replace the webhook secret
///
/// Both secrets sign for 24 hours, the new one first. The new one is readable only here.
#[utoipa::path(
    post, path = "/v1/merchant/webhook_secret/roll", tag = "Merchant", operation_id = "rollWebhookSecret",
    params(words::IdempotencyKey),
    responses((status = 200, description = "The new secret", body = WebhookSecretView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn roll_secret(State(api): State<Arc<Api>>, posted: Posted<Secret>) -> Answered {
    posted.read(&api, no_body(posted.body.as_deref())).await?;
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let secret = secrets::roll(tx, context).await?;
                Answer::json(
                    200,
                    &WebhookSecretView {
                        object: "webhook_secret",
                        secret,
                    },
                )
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(|error: Fail| fail(error))
}
