//! Entries of the audit log that are a user's own: written for the user, and in every organisation they are in.

use serde_json::Value;
use till_core::actor::{Action, Actor, Origin};
use till_core::id::IdKind;
use till_store::Tx;
use till_store::audit::AuditRow;

use crate::base::Engine;
use crate::base::fail::Fail;

/// Whose entry it is, and where the request came from.
#[derive(Clone, Copy, Debug)]
pub struct LogOwner<'o> {
    pub user: &'o str,
    pub origin: &'o Origin,
}

pub async fn record(
    tx: &mut Tx,
    engine: &Engine,
    of: LogOwner<'_>,
    action: Action,
    target: &str,
    details: &Value,
) -> Result<(), Fail> {
    let organizations = till_store::members::of_user(tx, of.user).await?;
    let of_organizations = organizations.into_iter().map(|at| Some(at.account));
    let mut entries = Vec::new();
    for account in [None].into_iter().chain(of_organizations) {
        entries.push(AuditRow {
            id: engine.ids.make(IdKind::AuditEvent),
            user_id: account.is_none().then(|| of.user.to_owned()),
            account,
            mode: None,
            created_at: engine.clock.now_ms(),
            actor: Actor::member(of.user),
            action,
            target: target.to_owned(),
            ip: of.origin.ip.clone(),
            user_agent: of.origin.user_agent.clone(),
            session_id: of.origin.session.clone(),
            request_id: of.origin.request.clone(),
            details: details.to_string(),
        });
    }
    Ok(till_store::audit::insert(tx, &entries).await?)
}
