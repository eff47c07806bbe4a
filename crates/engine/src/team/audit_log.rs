//! The audit log, as it is shown.

use std::collections::BTreeMap;

use till_core::actor::Actor;
use till_core::page::{Page, Paged};
use till_core::time;
use till_store::Queries;
use till_store::audit::AuditRow;

use super::emails;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{AuditActorView, AuditEventView, AuditTargetView};

/// The user's own sign-ins and failures to, the newest first.
pub async fn sign_ins(
    engine: &Engine,
    user: &str,
    page: &Page,
) -> Result<Paged<AuditEventView>, Fail> {
    let mut reader = engine.db.read().await?;
    let (before, at_most) = (page.before.as_deref(), i64::from(page.and_one().limit));
    let rows = till_store::audit::sign_ins(&mut reader, user, before, at_most).await?;
    let paged = page.cut(rows, |row: &AuditRow| &row.id);
    let items = views(engine, &mut reader, &paged.items).await?;
    Ok(Paged {
        items,
        next: paged.next,
    })
}

/// Entries with the labels of who made them. Addresses are looked up when they are read, never kept in the log.
pub async fn views(
    engine: &Engine,
    q: &mut impl Queries,
    rows: &[AuditRow],
) -> Result<Vec<AuditEventView>, Fail> {
    let mut labels = BTreeMap::new();
    for row in rows {
        if let Actor::Member(user) = &row.actor
            && !labels.contains_key(&**user)
            && let Some(found) = till_store::users::find(q, user).await?
        {
            let email = emails::open(engine, &found.id, &found.email)?;
            labels.insert(found.id, email);
        }
    }
    rows.iter().map(|row| view(row, &labels)).collect()
}

fn view(row: &AuditRow, labels: &BTreeMap<String, String>) -> Result<AuditEventView, Fail> {
    let (kind, id) = match &row.actor {
        Actor::Key(id) => ("api_key", Some(id.to_string())),
        Actor::Member(id) => ("user", Some(id.to_string())),
        Actor::Operator => ("cli", None),
        Actor::Payer | Actor::System => ("system", None),
    };
    let label = id.as_ref().and_then(|id| labels.get(id).cloned());
    Ok(AuditEventView {
        id: row.id.clone(),
        object: "audit_event",
        created_at: time::show(row.created_at),
        actor: AuditActorView { kind, id, label },
        action: row.action.as_str(),
        mode: row.mode.map(|mode| mode.as_str()),
        target: AuditTargetView {
            kind: target_kind(&row.target).to_owned(),
            id: row.target.clone(),
        },
        ip: row.ip.clone(),
        user_agent: row.user_agent.clone(),
        session: row.session_id.clone(),
        request_id: row.request_id.clone(),
        details: serde_json::from_str(&row.details).map_err(Fail::broken)?,
    })
}

/// What an id is of, by its prefix.
fn target_kind(id: &str) -> &'static str {
    match id.split_once('_').map_or("", |(prefix, _)| prefix) {
        "acct" => "organization",
        "app" => "application",
        "chg" => "change",
        "inv" => "invoice",
        "ivt" => "invite",
        "key" => "api_key",
        "psk" => "passkey",
        "rfd" => "refund",
        "ses" => "session",
        "udp" => "unattributed_deposit",
        "usr" => "user",
        _ => "object",
    }
}
