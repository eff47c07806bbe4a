//! Idempotency keys: rows that exist only together with the effect they stand for.

use till_core::scope::{Credential, Scope};

use crate::sql::{LookUp, PerKey};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

/// A key, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyOf<'k> {
    pub account: &'k str,
    pub mode: &'k str,
    pub credential: &'k str,
    pub key: &'k str,
}

impl<'k> KeyOf<'k> {
    pub fn new(scope: &'k Scope, credential: Credential, key: &'k str) -> KeyOf<'k> {
        KeyOf {
            account: &scope.account,
            mode: scope.mode.as_str(),
            credential: credential.as_str(),
            key,
        }
    }

    fn vals(&self) -> [Val; 4] {
        vals![self.account, self.mode, self.credential, self.key]
    }
}

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
    pub key: KeyOf<'a>,
    pub fingerprint: &'a [u8],
    pub status: u16,
    pub response: Vec<u8>,
    /// The event whose object is the answer, if `response` does not hold it.
    pub event: Option<&'a str>,
}

const KEY: &[&str] = &["account", "mode", "credential", "key"];

const COLUMNS: &[&str] = &[
    "account",
    "mode",
    "credential",
    "key",
    "fingerprint",
    "status",
    "response",
    "created_at",
    "event",
];

pub async fn kept_answer(
    q: &mut impl Queries,
    key: &KeyOf<'_>,
) -> Result<Option<KeptAnswer>, StoreError> {
    let sql = "SELECT fingerprint, status, response, created_at, \
         (SELECT body FROM events WHERE events.id = idempotency_keys.event) AS event_body \
         FROM idempotency_keys WHERE account = $1 AND mode = $2 AND credential = $3 AND key = $4";
    q.one(sql, &key.vals()).await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct BoundKey {
    account: String,
    mode: String,
    credential: String,
    key: String,
}

impl BoundKey {
    pub fn key(&self) -> KeyOf<'_> {
        KeyOf {
            account: &self.account,
            mode: &self.mode,
            credential: &self.credential,
            key: &self.key,
        }
    }
}

/// Which of these keys are bound already. Mostly none are: those that are, are looked at one by one.
pub async fn bound_keys(
    q: &mut impl Queries,
    keys: &[KeyOf<'_>],
) -> Result<Vec<BoundKey>, StoreError> {
    let rows: Vec<Vec<Val>> = keys.iter().map(|key| key.vals().into()).collect();
    let by_key = LookUp {
        table: "idempotency_keys",
        columns: KEY,
        key: KEY,
        rows: PerKey::One,
    };
    q.look_up(&by_key, &rows).await
}

/// Claims a key for this unit of work, which fulfils it before it commits. False when it is bound. While another
/// unit has it claimed, this waits for that one's end.
pub async fn claim(
    tx: &mut Tx,
    key: &KeyOf<'_>,
    fingerprint: &[u8],
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO idempotency_keys \
         (account, mode, credential, key, fingerprint, status, response, created_at) \
         VALUES ($1, $2, $3, $4, $5, 0, $6, $7) ON CONFLICT DO NOTHING";
    let mut args = key.vals().to_vec();
    args.extend(vals![fingerprint, Vec::new(), now]);
    Ok(tx.run(sql, &args).await? == 1)
}

/// Keeps the answer to the request that claimed the key.
pub async fn fulfil(
    tx: &mut Tx,
    key: &KeyOf<'_>,
    status: u16,
    response: Vec<u8>,
) -> Result<(), StoreError> {
    let sql = "UPDATE idempotency_keys SET status = $5, response = $6 \
         WHERE account = $1 AND mode = $2 AND credential = $3 AND key = $4";
    let mut args = key.vals().to_vec();
    args.extend(vals![i64::from(status), response]);
    crate::touched(tx.run(sql, &args).await?, 1, "idempotency_keys")
}

/// Rows that bind keys to their answers. A key bound meanwhile by another process fails the unit of work as a
/// taken key, after waiting for that process's commit.
pub fn rows(answers: Vec<NewAnswer<'_>>, now: i64) -> Write {
    let rows = answers
        .into_iter()
        .map(|answer| {
            let mut row: Vec<Val> = answer.key.vals().into();
            row.extend(vals![
                answer.fingerprint,
                i64::from(answer.status),
                answer.response,
                now,
                answer.event,
            ]);
            row
        })
        .collect();
    Write::insert("idempotency_keys", COLUMNS, rows)
}

/// Frees a key whose answer is past its retention.
pub async fn forget(tx: &mut Tx, key: &KeyOf<'_>) -> Result<(), StoreError> {
    let sql = "DELETE FROM idempotency_keys \
         WHERE account = $1 AND mode = $2 AND credential = $3 AND key = $4";
    tx.run(sql, &key.vals()).await.map(drop)
}

/// Forgets keys past their retention, a bounded number at a time.
pub async fn forget_before(tx: &mut Tx, before: i64, at_most: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM idempotency_keys WHERE created_at < $1 AND (account, mode, credential, key) IN \
         (SELECT account, mode, credential, key FROM idempotency_keys WHERE created_at < $1 LIMIT $2)";
    tx.run(sql, &vals![before, at_most]).await
}
