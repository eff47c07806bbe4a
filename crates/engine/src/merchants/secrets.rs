//! Webhook secrets: encrypted at rest, readable once, several at a time while one takes over from those before.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::limits::SECRET_OVERLAP_H;
use till_core::scope::Scope;
use till_core::time::HOUR_MS;
use till_core::webhook::new_secret;
use till_store::{Queries, Tx};

use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::view::WebhookSecretView;

pub(crate) fn purpose(scope: &Scope) -> String {
    format!("webhook_secret/{}/{}", scope.account, scope.mode.as_str())
}

/// A secret as it is kept.
pub fn seal(engine: &Engine, scope: &Scope, secret: &str) -> Result<Vec<u8>, Fail> {
    let purpose = purpose(scope);
    Ok(engine
        .vault
        .seal(&engine.ids, &purpose, secret.as_bytes())?)
}

pub async fn add(tx: &mut Tx, engine: &Engine, scope: &Scope) -> Result<String, Fail> {
    let secret = new_secret(engine.ids.random());
    let sealed = seal(engine, scope, &secret)?;
    let now = engine.clock.now_ms();
    let overlap_until = now + i64::from(SECRET_OVERLAP_H) * HOUR_MS;
    till_store::accounts::add_webhook_secret(tx, scope, &sealed, now, overlap_until).await?;
    Ok(secret)
}

pub async fn roll(tx: &mut Tx, context: &Context<'_>) -> Result<WebhookSecretView, Fail> {
    if context.is_live() {
        return Err(Refusal::of(Code::LiveChangeRequiresDashboard).into());
    }
    // Two rolls at once must not both take over from the same secret.
    till_store::accounts::merchant_for_update(tx, &context.scope).await?;
    let (target, action) = (&context.scope.account, Action::WebhookSecretRolled);
    audit::record(tx, context, action, target, json!({})).await?;
    Ok(WebhookSecretView {
        object: "webhook_secret",
        secret: add(tx, context.engine, &context.scope).await?,
    })
}

/// The secrets that sign now, the newest first.
pub async fn current(
    q: &mut impl Queries,
    engine: &Engine,
    scope: &Scope,
) -> Result<Vec<String>, Fail> {
    let rows = till_store::accounts::webhook_secrets(q, scope, engine.clock.now_ms()).await?;
    let open = |sealed: &[u8]| {
        let plain = engine
            .vault
            .open(&purpose(scope), sealed)
            .map_err(Fail::broken)?;
        String::from_utf8(plain).map_err(Fail::broken)
    };
    rows.iter().map(|row| open(&row.secret)).collect()
}
