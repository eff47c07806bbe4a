//! Idempotency keys: rows that exist only together with the effect they stand for.

use till_core::scope::Scope;

use crate::sql::{LookUp, PerKey};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeptAnswer {
    pub fingerprint: Vec<u8>,
    pub status: i64,
    pub response: Vec<u8>,
    pub created_at: i64,
    /// The body of the event whose object is the answer; `response` is empty then.
    pub event_body: Option<String>,
}

pub struct NewAnswer<'a> {
    pub scope: &'a Scope,
    pub key: &'a str,
    pub fingerprint: &'a [u8],
    pub status: u16,
    pub response: Vec<u8>,
    /// The event whose object is the answer, if `response` does not hold it.
    pub event: Option<&'a str>,
}

const COLUMNS: &[&str] = &[
    "account",
    "mode",
    "key",
    "fingerprint",
    "status",
    "response",
    "created_at",
    "event",
];

pub async fn kept_answer(
    q: &mut impl Queries,
    scope: &Scope,
    key: &str,
) -> Result<Option<KeptAnswer>, StoreError> {
    let sql = "SELECT fingerprint, status, response, created_at, \
         (SELECT body FROM events WHERE events.id = idempotency_keys.event) AS event_body \
         FROM idempotency_keys WHERE account = $1 AND mode = $2 AND key = $3";
    q.one(sql, &vals![&*scope.account, scope.mode.as_str(), key])
        .await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeyInUse {
    pub account: String,
    pub mode: String,
    pub key: String,
}

/// Which of these keys are bound already. Mostly none are: those that are, are looked at one by one.
pub async fn bound_keys(
    q: &mut impl Queries,
    keys: &[(&Scope, &str)],
) -> Result<Vec<KeyInUse>, StoreError> {
    let rows: Vec<Vec<Val>> = keys
        .iter()
        .map(|(scope, key)| vals![&scope.account, scope.mode.as_str(), *key].into())
        .collect();
    let by_key = LookUp {
        table: "idempotency_keys",
        columns: &["account", "mode", "key"],
        key: &["account", "mode", "key"],
        rows: PerKey::One,
    };
    q.look_up(&by_key, &rows).await
}

/// Rows that bind keys to their answers. A key bound meanwhile by another process fails the unit of work as a
/// taken key, after waiting for that process's commit.
pub fn rows(answers: Vec<NewAnswer<'_>>, now: i64) -> Write {
    let rows = answers
        .into_iter()
        .map(|answer| {
            vals![
                &answer.scope.account,
                answer.scope.mode.as_str(),
                answer.key,
                answer.fingerprint,
                i64::from(answer.status),
                answer.response,
                now,
                answer.event,
            ]
            .into()
        })
        .collect();
    Write::insert("idempotency_keys", COLUMNS, rows)
}

/// Frees a key whose answer is past its retention.
pub async fn forget(tx: &mut Tx, scope: &Scope, key: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM idempotency_keys WHERE account = $1 AND mode = $2 AND key = $3";
    tx.run(sql, &vals![&*scope.account, scope.mode.as_str(), key])
        .await
        .map(drop)
}

/// Forgets keys past their retention, a bounded number at a time.
pub async fn forget_before(tx: &mut Tx, before: i64, at_most: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM idempotency_keys WHERE created_at < $1 AND (account, mode, key) IN \
         (SELECT account, mode, key FROM idempotency_keys WHERE created_at < $1 LIMIT $2)";
    tx.run(sql, &vals![before, at_most]).await
}
