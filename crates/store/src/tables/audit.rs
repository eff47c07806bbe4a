//! The audit log: who changed what, written in the transaction of the change. Appended to, never changed.

use till_core::actor::{Action, Actor};
use till_core::asset::Mode;
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Page, Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct AuditRow in "audit_events" by id {
        id: String,
        /// Whose log it is in; none for what is a user's own.
        account: Option<String>,
        mode: Option<Mode>,
        /// Whose own it is: signing in, passkeys, codes.
        user_id: Option<String>,
        /// Real time, on test clocks too.
        created_at: i64,
        actor: Actor,
        action: Action,
        /// The id of what was changed; of settings and secrets the account's.
        target: String,
        ip: Option<String>,
        user_agent: Option<String>,
        session_id: Option<String>,
        request_id: Option<String>,
        /// A JSON object that says more. It holds no secret, token or whole key.
        details: String,
    }
}

pub async fn insert(tx: &mut Tx, events: &[AuditRow]) -> Result<(), StoreError> {
    tx.write_all(&[Write::records(events)]).await
}

/// Whether somebody ever left an organisation or was removed from it.
pub async fn was_member(
    q: &mut impl Queries,
    account: &str,
    user: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM audit_events WHERE account = $1 AND target = $2 \
         AND action IN ('member.left', 'member.removed') LIMIT 1";
    let found: Option<(String,)> = q.one(sql, &vals![account, user]).await?;
    Ok(found.is_some())
}

/// Which entries are wanted.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub action: Option<String>,
    /// As the log keeps it.
    pub actor: Option<String>,
    pub target: Option<String>,
    /// The first moment, and the moment after the last.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// The log of an account, both modes and what has none, the newest first.
pub async fn page(
    q: &mut impl Queries,
    account: &str,
    filter: &AuditFilter,
    page: &Page,
) -> Result<Vec<AuditRow>, StoreError> {
    let mut sql = format!("{} WHERE account = $1", select::<AuditRow>());
    let mut args = vec![Val::from(account)];
    let texts = [
        ("action =", &filter.action),
        ("actor =", &filter.actor),
        ("target =", &filter.target),
        ("id <", &page.before),
    ];
    for (compared, value) in texts {
        if let Some(value) = value {
            args.push(Val::from(value));
            sql.push_str(&format!(" AND {compared} ${}", args.len()));
        }
    }
    for (compared, at) in [("created_at >=", filter.from), ("created_at <", filter.to)] {
        if let Some(at) = at {
            args.push(Val::from(at));
            sql.push_str(&format!(" AND {compared} ${}", args.len()));
        }
    }
    args.push(Val::from(i64::from(page.limit)));
    sql.push_str(&format!(" ORDER BY id DESC LIMIT ${}", args.len()));
    q.all(&sql, &args).await
}

/// Everything in the log of an account and mode, the newest first.
pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    limit: i64,
) -> Result<Vec<AuditRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 ORDER BY id DESC LIMIT $3",
        select::<AuditRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), limit])
        .await
}

/// A user's own sign-ins and failures to, the newest first, beginning after the id `before` if there is one.
pub async fn sign_ins(
    q: &mut impl Queries,
    user: &str,
    before: Option<&str>,
    at_most: i64,
) -> Result<Vec<AuditRow>, StoreError> {
    let sql = format!(
        "{} WHERE user_id = $1 AND account IS NULL AND id < $2 AND action LIKE 'sign_in.%' \
         ORDER BY id DESC LIMIT $3",
        select::<AuditRow>()
    );
    q.all(&sql, &vals![user, before.unwrap_or("~"), at_most])
        .await
}
