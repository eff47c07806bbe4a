//! The audit log: written in the unit of work of the change it tells of.

use serde_json::Value;
use till_core::actor::{Action, Actor};
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::audit::{AuditRow, insert};

use crate::base::fail::Fail;
use crate::base::{Context, Engine};

/// Writes down what the actor of this unit of work changed.
pub async fn record(
    tx: &mut Tx,
    context: &Context<'_>,
    action: Action,
    target: &str,
    details: Value,
) -> Result<(), Fail> {
    let (engine, by) = (context.engine, (&context.scope, context.actor()));
    let mut event = event_by(engine, by, action, target, &details);
    let origin = &context.asker.origin;
    event.ip.clone_from(&origin.ip);
    event.user_agent.clone_from(&origin.user_agent);
    event.session_id.clone_from(&origin.session);
    event.request_id.clone_from(&origin.request);
    Ok(insert(tx, &[event]).await?)
}

/// The same for changes that are made without a context, at the command line.
pub async fn record_by(
    tx: &mut Tx,
    engine: &Engine,
    by: (&Scope, &Actor),
    action: Action,
    target: &str,
    details: Value,
) -> Result<(), Fail> {
    let event = event_by(engine, by, action, target, &details);
    Ok(insert(tx, &[event]).await?)
}

fn event_by(
    engine: &Engine,
    (scope, actor): (&Scope, &Actor),
    action: Action,
    target: &str,
    details: &Value,
) -> AuditRow {
    AuditRow {
        id: engine.ids.make(IdKind::AuditEvent),
        account: Some(scope.account.to_string()),
        mode: Some(scope.mode),
        user_id: None,
        created_at: engine.clock.now_ms(),
        actor: actor.clone(),
        action,
        target: target.to_owned(),
        ip: None,
        user_agent: None,
        session_id: None,
        request_id: None,
        details: details.to_string(),
    }
}
