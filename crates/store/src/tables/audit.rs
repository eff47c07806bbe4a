//! The audit log: who changed what, written in the transaction of the change. Appended to, never changed.

use till_core::actor::{Action, Actor};
use till_core::asset::Mode;
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

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
