//! Timers: what falls due, in the account's business time.

use till_core::scope::Scope;

use crate::{Insert, Queries, StoreError, Tx, vals};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct TimerRow {
    pub account: String,
    pub mode: String,
    pub kind: String,
    pub subject: String,
    pub due_at: i64,
}

impl TimerRow {
    pub fn scope(&self) -> Result<Scope, StoreError> {
        Ok(Scope::new(
            &self.account,
            crate::accounts::mode("timers", &self.subject, &self.mode)?,
        ))
    }
}

/// Sets timers; one that exists is moved.
pub async fn set(tx: &mut Tx, timers: &[(&Scope, &str, &str, i64)]) -> Result<(), StoreError> {
    tx.insert_all(&[rows(timers)]).await
}

pub fn rows(timers: &[(&Scope, &str, &str, i64)]) -> Insert {
    let rows = timers
        .iter()
        .map(|(scope, kind, subject, due_at)| {
            vals![
                &scope.account,
                scope.mode.as_str(),
                *kind,
                *subject,
                *due_at
            ]
            .into()
        })
        .collect();
    Insert {
        head: "INSERT INTO timers (account, mode, kind, subject, due_at) VALUES".into(),
        tail: "ON CONFLICT (account, mode, kind, subject) DO UPDATE SET due_at = excluded.due_at",
        rows,
    }
}

/// True for the one that took it; whoever fires a timer takes it in the same unit of work.
pub async fn take(tx: &mut Tx, timer: &TimerRow) -> Result<bool, StoreError> {
    let sql = "DELETE FROM timers WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4 AND due_at = $5";
    let args = vals![
        &timer.account,
        &timer.mode,
        &timer.kind,
        &timer.subject,
        timer.due_at
    ];
    Ok(tx.run(sql, &args).await? == 1)
}

pub async fn cancel(
    tx: &mut Tx,
    scope: &Scope,
    kind: &str,
    subject: &str,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM timers WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4";
    tx.run(
        sql,
        &vals![&*scope.account, scope.mode.as_str(), kind, subject],
    )
    .await
    .map(drop)
}

pub async fn due(
    q: &mut impl Queries,
    now: i64,
    at_most: i64,
) -> Result<Vec<TimerRow>, StoreError> {
    let sql = "SELECT account, mode, kind, subject, due_at FROM timers WHERE due_at <= $1 ORDER BY due_at LIMIT $2";
    q.all(sql, &vals![now, at_most]).await
}

/// What is due for one account whose clock is not the real one.
pub async fn due_for(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
    at_most: i64,
) -> Result<Vec<TimerRow>, StoreError> {
    let sql = "SELECT account, mode, kind, subject, due_at FROM timers \
         WHERE account = $1 AND mode = $2 AND due_at <= $3 ORDER BY due_at, kind, subject LIMIT $4";
    q.all(
        sql,
        &vals![&*scope.account, scope.mode.as_str(), now, at_most],
    )
    .await
}
