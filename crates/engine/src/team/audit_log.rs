//! Reading the audit log. Addresses of people are not in it: they are looked up here.

use std::collections::HashMap;

use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::time;
use till_store::Queries;
pub use till_store::audit::AuditFilter;
use till_store::audit::AuditRow;

use super::users;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{AuditActorView, AuditEventView, AuditTargetView};

/// The log of an organisation, the newest first.
pub async fn list(
    engine: &Engine,
    account: &str,
    filter: &AuditFilter,
    page: &Page,
) -> Result<Paged<AuditEventView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::audit::page(&mut reader, account, filter, &page.and_one()).await?;
    let Paged { items, next } = page.cut(rows, |row| &row.id);
    let items = views(engine, &mut reader, items).await?;
    Ok(Paged { items, next })
}

/// The user's own sign-ins and failures to, the newest first.
pub async fn sign_ins(
    engine: &Engine,
    user: &str,
    page: &Page,
) -> Result<Paged<AuditEventView>, Fail> {
    let mut reader = engine.db.read().await?;
    let (before, at_most) = (page.before.as_deref(), i64::from(page.and_one().limit));
    let rows = till_store::audit::sign_ins(&mut reader, user, before, at_most).await?;
    let Paged { items, next } = page.cut(rows, |row: &AuditRow| &row.id);
    let items = views(engine, &mut reader, items).await?;
    Ok(Paged { items, next })
}

async fn views(
    engine: &Engine,
    q: &mut impl Queries,
    rows: Vec<AuditRow>,
) -> Result<Vec<AuditEventView>, Fail> {
    let mut known: HashMap<String, AuditActorView> = HashMap::new();
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        let name = row.actor.show();
        let actor = match known.get(&name) {
            Some(actor) => actor.clone(),
            None => {
                let actor = actor(engine, q, &row.actor).await?;
                known.insert(name, actor.clone());
                actor
            }
        };
        shown.push(view(row, actor)?);
    }
    Ok(shown)
}

fn view(row: AuditRow, actor: AuditActorView) -> Result<AuditEventView, Fail> {
    Ok(AuditEventView {
        id: row.id,
        object: "audit_event",
        created_at: time::show(row.created_at),
        actor,
        action: row.action.as_str(),
        mode: row.mode.map(Mode::as_str),
        target: AuditTargetView {
            r#type: kind_of(&row.target),
            id: row.target,
        },
        ip: row.ip,
        user_agent: row.user_agent,
        session: row.session_id,
        request_id: row.request_id,
        details: serde_json::from_str(&row.details).map_err(Fail::broken)?,
    })
}

async fn actor(
    engine: &Engine,
    q: &mut impl Queries,
    actor: &Actor,
) -> Result<AuditActorView, Fail> {
    let (kind, id, label) = match actor {
        Actor::Member(user) => {
            let email = users::email_of(engine, q, user).await?;
            ("user", Some(user), email.unwrap_or_default())
        }
        Actor::Key(key) => {
            let label = till_store::keys::label(q, key).await?;
            ("api_key", Some(key), label.unwrap_or_default())
        }
        Actor::Operator => ("cli", None, "command line".to_owned()),
        Actor::Payer => ("system", None, "payer".to_owned()),
        Actor::System => ("system", None, "Till".to_owned()),
    };
    Ok(AuditActorView {
        r#type: kind,
        id: id.map(ToString::to_string),
        label,
    })
}

/// An actor as the log keeps it, from what people write: the id of a user or key, or a word.
pub fn actor_named(text: &str) -> String {
    if text.starts_with(IdKind::User.prefix()) {
        return Actor::member(text).show();
    }
    match text.starts_with(IdKind::ApiKey.prefix()) {
        true => Actor::key(text).show(),
        false => text.to_owned(),
    }
}

/// What an id is of.
fn kind_of(id: &str) -> &'static str {
    let kinds = [
        (IdKind::Account, "organization"),
        (IdKind::ApiKey, "api_key"),
        (IdKind::Application, "application"),
        (IdKind::Change, "change"),
        (IdKind::Invite, "invite"),
        (IdKind::Invoice, "invoice"),
        (IdKind::Passkey, "passkey"),
        (IdKind::Refund, "refund"),
        (IdKind::Session, "session"),
        (IdKind::UnattributedDeposit, "unattributed_deposit"),
        (IdKind::User, "user"),
    ];
    let mut found = kinds.into_iter();
    let found = found.find(|(kind, _)| id.starts_with(kind.prefix()));
    found.map_or("other", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_it_is_of() {
        assert_eq!(kind_of("acct_1"), "organization");
        assert_eq!(kind_of("udp_1"), "unattributed_deposit");
        assert_eq!(kind_of("x"), "other");
    }
}
