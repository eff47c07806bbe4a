//! Timers: what falls due, in the account's business time.

use till_core::scope::Scope;
use till_core::timer::TimerKind;

use crate::sql::{Conflict, select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct TimerRow in "timers" by subject {
        /// A text: a newer server may have set one of a kind that this one does not know.
        kind: String,
        subject: String,
        due_at: i64,
    }
}

impl TimerRow {
    pub fn new(scope: &Scope, kind: TimerKind, subject: &str, due_at: i64) -> TimerRow {
        TimerRow {
            scope: scope.clone(),
            kind: kind.as_str().to_owned(),
            subject: subject.to_owned(),
            due_at,
        }
    }
}

/// Sets timers; one that exists is moved.
pub async fn set(tx: &mut Tx, timers: &[TimerRow]) -> Result<(), StoreError> {
    tx.write(&rows(timers)).await.map(drop)
}

pub fn rows(timers: &[TimerRow]) -> Write {
    Write::records(timers).on_conflict(Conflict::Replace {
        key: "account, mode, kind, subject",
        columns: &["due_at"],
    })
}

/// True for the one that took it; whoever fires a timer takes it in the same unit of work.
pub async fn take(tx: &mut Tx, timer: &TimerRow) -> Result<bool, StoreError> {
    let sql = "DELETE FROM timers WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4 AND due_at = $5";
    let args = vals![
        &timer.scope.account,
        timer.scope.mode.as_str(),
        &timer.kind,
        &timer.subject,
        timer.due_at
    ];
    Ok(tx.run(sql, &args).await? == 1)
}

pub async fn due(
    q: &mut impl Queries,
    now: i64,
    at_most: i64,
) -> Result<Vec<TimerRow>, StoreError> {
    let sql = format!(
        "{} WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
        select::<TimerRow>()
    );
    q.all(&sql, &vals![now, at_most]).await
}

/// What is due for one account whose clock is not the real one.
pub async fn due_for(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
    at_most: i64,
) -> Result<Vec<TimerRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND due_at <= $3 ORDER BY due_at, kind, subject LIMIT $4",
        select::<TimerRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), now, at_most];
    q.all(&sql, &args).await
}
