//! What the operator changes at the shell of the server's machine, for merchants without a dashboard: in live mode, too, where a
//! key may not.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor};
use till_core::change::ChangeKind;
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_core::webhook::vet_url;
use till_store::Tx;

use super::secrets;
use super::settings::{url_forbidden, url_policy};
use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};

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
            nothing_waits(tx, context, ChangeKind::WebhookUrl).await?;
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

/// A change that a member asked for and that waits would undo what the operator does now.
async fn nothing_waits(tx: &mut Tx, context: &Context<'_>, kind: ChangeKind) -> Result<(), Fail> {
    let waiting = till_store::changes::pending(tx, &context.scope).await?;
    match waiting.iter().find(|change| change.kind == kind) {
        None => Ok(()),
        Some(change) => {
            let message = format!(
                "The change {} waits and would undo this when it takes effect: stop it in the dashboard first.",
                change.id
            );
            Err(Refusal::new(Code::ChangePending, message).into())
        }
    }
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
            nothing_waits(tx, context, ChangeKind::WebhookSecret).await?;
            let (target, action) = (&context.scope.account, Action::WebhookSecretRolled);
            audit::record(tx, context, action, target, json!({})).await?;
            secrets::add(tx, context.engine, &context.scope).await
        }
        .scope_boxed()
    });
    rolled.await
}
