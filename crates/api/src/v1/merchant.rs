//! What merchants set, and their webhook secret.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_core::limits::{ASSETS_MAX, PAGE_LINK_CHARS_MAX};
use till_engine::base::Change;
use till_engine::merchants::accounts::Caller;
use till_engine::merchants::secrets;
use till_engine::merchants::settings::{self, SettingsChange, url_forbidden, url_policy};
use till_engine::view::{SettingsView, WebhookSecretView};
use till_http::fields::{JsonType, Member, Patch, Presence};
use till_http::json::Json;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{Body, body, change};
use crate::handler::{
    Answered, Api, Failure, Got, IdempotencyKey, Posted, Refusals, Secret, shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve, update))
        .routes(routes!(roll_secret))
}

/// Retrieve the merchant's settings in this mode
#[utoipa::path(
    get, path = "/v1/merchant/settings", tag = "Merchant", operation_id = "retrieveSettings",
    responses((status = 200, description = "The settings", body = SettingsView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    shown(&settings::retrieve(&api.engine, got.scope()).await?)
}

body! {
    pub struct UpdateSettingsRequest {
        #[schema(ignore)]
        registered_destinations: Immutable = Immutable::refuse,
        #[schema(value_type = Option<String>, max_length = 100)]
        display_name: Patch<String> = read::text,
        /// A public https URL; null stops deliveries. In live mode it is changed from the server's shell, not with a key.
        #[schema(value_type = Option<String>)]
        webhook_url: Patch<String> = read::text,
        #[schema(value_type = Option<Vec<String>>)]
        #[schema(max_items = 20)]
        default_assets: Patch<Vec<String>> = read::list(ASSETS_MAX, read::text),
        /// Basis points; 50 means 0.5 %. Applies to new invoices.
        #[schema(value_type = Option<i32>, minimum = 0, maximum = 10000)]
        underpay_tolerance_bps: Patch<i64> = read::integer(0..=i64::from(i32::MAX)),
        /// Decimal string, an amount of each invoice's own currency; null turns manual review by amount off.
        #[schema(value_type = Option<String>)]
        manual_review_amount: Patch<String> = read::text,
        /// Where payers ask for help: an https: or mailto: address.
        #[schema(value_type = Option<String>, max_length = 2048)]
        support_url: Patch<String> = read::text_max(PAGE_LINK_CHARS_MAX),
        /// Where payers go afterwards, an https: address; `{invoice}` stands for the id. The default of invoices and links.
        #[schema(value_type = Option<String>, max_length = 2048)]
        return_url: Patch<String> = read::text_max(PAGE_LINK_CHARS_MAX),
        /// The colour of payers' pages, as `#rrggbb`.
        #[schema(value_type = Option<String>, example = "#0a7d5a")]
        accent: Patch<String> = read::text,
    }
}

/// A field that is known only to be refused with a reason of its own.
#[derive(Debug)]
pub struct Immutable;

impl Member for Immutable {
    type Value = Immutable;
    const JSON: JsonType = JsonType::Any;
    const PRESENCE: Presence = Presence::Optional;

    fn read(
        at: &str,
        sent: Option<Json>,
        read: impl FnOnce(&str, Json) -> Read<Immutable>,
    ) -> Read<Immutable> {
        sent.map_or(Ok(Immutable), |value| read(at, value))
    }
}

impl Immutable {
    fn refuse(at: &str, _: Json) -> Read<Immutable> {
        Err(Refusal::of(Code::DestinationImmutable).param(at))
    }
}

impl Body for SettingsChange {
    fn read(bytes: Option<&[u8]>) -> Read<SettingsChange> {
        let request = UpdateSettingsRequest::read(bytes)?;
        let Immutable = request.registered_destinations;
        Ok(SettingsChange {
            display_name: change(request.display_name),
            webhook_url: change(request.webhook_url),
            default_assets: change(request.default_assets),
            underpay_tolerance_bps: change(request.underpay_tolerance_bps),
            manual_review_amount: change(request.manual_review_amount),
            support_url: change(request.support_url),
            return_url: change(request.return_url),
            accent: change(request.accent),
        })
    }

    /// As far as it can be judged without a unit of work, which must not wait for DNS.
    async fn check(&self, api: &Api, caller: &Caller) -> Result<(), Failure> {
        if caller.scope.mode.is_live() && self.webhook_url != Change::Keep {
            let refusal = Refusal::of(Code::LiveChangeRequiresDashboard);
            return Err(refusal.param("webhook_url").into());
        }
        settings::check(self, url_policy(api.engine.config.allow_private_webhooks))?;
        if let Change::Set(url) = &self.webhook_url {
            api.sender.check(url).await.map_err(url_forbidden)?;
        }
        Ok(())
    }
}

/// Change the merchant's settings in this mode
///
/// Omitted fields stay as they are; null clears.
#[utoipa::path(
    post, path = "/v1/merchant/settings", tag = "Merchant", operation_id = "updateSettings",
    params(IdempotencyKey), request_body = UpdateSettingsRequest,
    responses((status = 200, description = "The settings after the change", body = SettingsView), Refusals),
    security(("secret_key" = []))
)]
async fn update(State(api): State<Arc<Api>>, posted: Posted<Secret, SettingsChange>) -> Answered {
    let change = &posted.body;
    let update = posted.perform(&api, |tx, context| {
        async move { text(&settings::update(tx, context, change).await?) }.scope_boxed()
    });
    update.await
}

/// Replace the webhook secret
///
/// Both secrets sign for 24 hours, the new one first. The new one is readable only here.
#[utoipa::path(
    post, path = "/v1/merchant/webhook_secret/roll", tag = "Merchant", operation_id = "rollWebhookSecret",
    params(IdempotencyKey),
    responses((status = 200, description = "The new secret", body = WebhookSecretView), Refusals),
    security(("secret_key" = []))
)]
async fn roll_secret(State(api): State<Arc<Api>>, posted: Posted<Secret>) -> Answered {
    let roll = posted.perform(&api, |tx, context| {
        async move { text(&secrets::roll(tx, context).await?) }.scope_boxed()
    });
    roll.await
}
