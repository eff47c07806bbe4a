//! What the operator changes at the shell of the server's machine, for merchants without a dashboard: in live mode, too, where a
//! key may not.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor};
use till_core::scope::Scope;
use till_core::webhook::vet_url;

use super::secrets;
use super::settings::{url_forbidden, url_policy};
use crate::audit;
use crate::base::Engine;
use crate::base::fail::Fail;

/// Where webhooks go from now on.
pub async fn set_webhook(engine: &Engine, scope: &Scope, url: &str) -> Result<(), Fail> {
    let policy = url_policy(engine.config.allow_private_webhooks);
    vet_url(url, policy).map_err(url_forbidden)?;
    let by = Actor::Operator.into();
    let set = engine.unit_by(&by, scope, move |tx, context| {
        async move {
            let mut row = till_store::accounts::merchant_for_update(tx, &context.scope)
                .await?
                .ok_or_else(crate::base::not_configured)?;
            row.webhook_url = Some(url.to_owned());
            till_store::accounts::update_settings(tx, &row).await?;
            let details = json!({"settings": ["webhook_url"]});
            let target = &context.scope.account;
            audit::record(tx, context, Action::SettingsUpdated, target, details).await
        }
        .scope_boxed()
    });
    set.await
}

/// The new secret; those before go on signing beside it for a while.
pub async fn roll_webhook_secret(engine: &Engine, scope: &Scope) -> Result<String, Fail> {
    let by = Actor::Operator.into();
    let rolled = engine.unit_by(&by, scope, move |tx, context| {
        async move {
            // Two rolls at once must not both take over from the same secret.
            till_store::accounts::merchant_for_update(tx, &context.scope)
                .await?
                .ok_or_else(crate::base::not_configured)?;
            let (target, action) = (&context.scope.account, Action::WebhookSecretRolled);
            audit::record(tx, context, action, target, json!({})).await?;
            secrets::add(tx, context.engine, &context.scope).await
        }
        .scope_boxed()
    });
    rolled.await
}
