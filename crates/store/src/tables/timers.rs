//! Timers: what falls due, in the account's business time.

use till_core::asset::Mode;
use till_core::scope::Scope;
use till_core::timer::TimerKind;

use crate::sql::{Conflict, LookUp, PerKey, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct TimerRow in "timers" by subject {
        /// A text: a newer server may have set one of a kind that this one does not know.
        kind: String,
        subject: String,
        due_at: i64,
    }
}

const KEY: &[&str] = &["account", "mode", "kind", "subject", "due_at"];

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

/// A timer that fell due, as it stands there: one that makes no sense must not keep the others from being read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, sqlx::FromRow)]
pub struct Due {
    pub account: String,
    pub mode: String,
    pub kind: String,
    pub subject: String,
    pub due_at: i64,
    pub attempts: i64,
}

impl Due {
    pub fn scope(&self) -> Option<Scope> {
        Some(Scope::new(&self.account, Mode::parse(&self.mode)?))
    }

    fn key(&self) -> Vec<Val> {
        vals![
            &self.account,
            &self.mode,
            &self.kind,
            &self.subject,
            self.due_at
        ]
        .into()
    }
}

const COLUMNS: &str = "account, mode, kind, subject, due_at, attempts";

/// Sets timers; one that exists is moved, and has not failed yet.
pub async fn set(tx: &mut Tx, timers: &[TimerRow]) -> Result<(), StoreError> {
    tx.write(&rows(timers)).await.map(drop)
}

pub fn rows(timers: &[TimerRow]) -> Write {
    Write::records(timers).on_conflict(Conflict::Replace {
        key: "account, mode, kind, subject",
        columns: &["due_at", "attempts", "retry_at"],
    })
}

/// Sets timers where there are none, and says how many that were.
pub async fn set_missing(tx: &mut Tx, timers: &[TimerRow]) -> Result<u64, StoreError> {
    let missing = Write::records(timers).on_conflict(Conflict::Ignore);
    tx.write(&missing).await
}

/// Which of these are still there and nobody else's, kept from changing until the unit of work ends.
pub async fn lock_free(tx: &mut Tx, timers: &[Due]) -> Result<Vec<Due>, StoreError> {
    let free = LookUp {
        table: "timers",
        columns: &["account", "mode", "kind", "subject", "due_at", "attempts"],
        key: KEY,
        rows: PerKey::OneIfFree,
    };
    let keys: Vec<Vec<Val>> = timers.iter().map(Due::key).collect();
    tx.look_up(&free, &keys).await
}

/// Those of them that this took; whoever fires a timer takes it in the same unit of work.
pub async fn take(tx: &mut Tx, timers: &[Due]) -> Result<Vec<Due>, StoreError> {
    let keys = timers.iter().map(Due::key).collect();
    let taking = Write::delete("timers", KEY, keys);
    tx.write_returning(&taking, COLUMNS).await
}

/// One that failed: it is tried again at `retry_at`, and is in nobody's way until then.
pub async fn put_back(tx: &mut Tx, timer: &Due, retry_at: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE timers SET attempts = attempts + 1, retry_at = $6 \
         WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4 AND due_at = $5";
    let mut args = timer.key();
    args.push(retry_at.into());
    Ok(tx.run(sql, &args).await? == 1)
}

/// Looked at again at `retry_at`, and in nobody's way until then. Nothing failed.
pub async fn put_off(tx: &mut Tx, timers: &[Due], retry_at: i64) -> Result<(), StoreError> {
    let sql = "UPDATE timers SET retry_at = $6 \
         WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4 AND due_at = $5";
    for timer in timers {
        let mut args = timer.key();
        args.push(retry_at.into());
        tx.run(sql, &args).await?;
    }
    Ok(())
}

/// `'a', 'b'`: the kinds that this server knows.
fn known_kinds() -> String {
    let names: Vec<String> = TimerKind::ALL
        .into_iter()
        .map(|kind| format!("'{}'", kind.as_str()))
        .collect();
    names.join(", ")
}

/// What is due at this moment of real time, the earliest first, and a few of those that were put back until then. A
/// question for each kind: those that this server does not know are neither found nor passed over.
pub async fn due(q: &mut impl Queries, now: i64, at_most: i64) -> Result<Vec<Due>, StoreError> {
    const AGAIN_MAX: i64 = 20;
    let mut parts: Vec<String> = (0..)
        .zip(TimerKind::ALL)
        .map(|(at, kind)| {
            format!(
                "SELECT * FROM (SELECT {COLUMNS} FROM timers WHERE kind = '{}' AND retry_at IS NULL AND due_at <= $1 \
                 ORDER BY due_at LIMIT $2) AS kind{at}",
                kind.as_str()
            )
        })
        .collect();
    parts.push(format!(
        "SELECT * FROM (SELECT {COLUMNS} FROM timers WHERE retry_at <= $1 AND kind IN ({}) \
         ORDER BY retry_at LIMIT $3) AS again",
        known_kinds()
    ));
    let sql = format!(
        "SELECT {COLUMNS} FROM ({}) AS due ORDER BY due_at, account, mode, kind, subject LIMIT $2",
        parts.join(" UNION ALL ")
    );
    q.all(&sql, &vals![now, at_most, AGAIN_MAX]).await
}

/// What is due for one account whose clock is not the real one, without what was put back. The earliest first; those
/// that are due at the same moment come as the index has them, because to sort them is to read them all.
pub async fn due_for(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
    at_most: i64,
) -> Result<Vec<Due>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM timers WHERE account = $1 AND mode = $2 AND due_at <= $3 AND retry_at IS NULL \
         AND kind IN ({}) ORDER BY due_at LIMIT $4",
        known_kinds()
    );
    let args = vals![&scope.account, scope.mode.as_str(), now, at_most];
    q.all(&sql, &args).await
}

/// Which timers are about a customer's (`$3`) credit, charges and subscriptions.
const SHARES: &str = "(kind = 'share_credit' AND subject = $3)";
const RESOLVES: &str = "(kind = 'resolve_charge' AND EXISTS (SELECT 1 FROM invoices i WHERE i.account = timers.account \
     AND i.mode = timers.mode AND i.id = timers.subject AND i.customer = $3))";
const STEPS: &str = "(kind = 'step_subscription' AND subject IN (SELECT id FROM subscriptions WHERE customer = $3 AND account = $1 AND mode = $2))";
const IS_DUE: &str = "due_at <= $4 AND retry_at IS NULL";

/// Whether something is due to be looked at that may change what this customer is charged for, or what credit it has.
pub async fn has_looks_due(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
    now: i64,
) -> Result<bool, StoreError> {
    let looks = format!("{IS_DUE} AND ({SHARES} OR {RESOLVES})");
    has_any(q, &looks, scope, customer, now).await
}

/// The same for invoices alone.
pub async fn has_resolves_due(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
    now: i64,
) -> Result<bool, StoreError> {
    let resolves = format!("{IS_DUE} AND {RESOLVES}");
    has_any(q, &resolves, scope, customer, now).await
}

/// Whether no timer about a customer's subscriptions and credit is left to run now. Looks that another server has set by a later
/// clock are left, and so is what failed and is tried again.
pub async fn is_at_rest(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
    now: i64,
) -> Result<bool, StoreError> {
    let left = format!("({SHARES} OR {RESOLVES} OR (due_at <= $4 AND {STEPS}))");
    Ok(!has_any(q, &left, scope, customer, now).await?)
}

async fn has_any(
    q: &mut impl Queries,
    which: &str,
    scope: &Scope,
    customer: &str,
    now: i64,
) -> Result<bool, StoreError> {
    let sql =
        format!("SELECT subject FROM timers WHERE account = $1 AND mode = $2 AND {which} LIMIT 1");
    let args = vals![&scope.account, scope.mode.as_str(), customer, now];
    let found: Option<(String,)> = q.one(&sql, &args).await?;
    Ok(found.is_some())
}

/// What is due to be looked at about a customer's subscriptions and credit, the first first; without what was put back.
pub async fn due_of_customer(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
    now: i64,
) -> Result<Vec<Due>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM timers WHERE account = $1 AND mode = $2 AND {IS_DUE} AND ({SHARES} OR {RESOLVES} OR {STEPS}) \
         ORDER BY due_at, kind, subject"
    );
    let args = vals![&scope.account, scope.mode.as_str(), customer, now];
    q.all(&sql, &args).await
}

/// When this timer is due; none where it is not set.
pub async fn due_at(
    q: &mut impl Queries,
    scope: &Scope,
    kind: TimerKind,
    subject: &str,
) -> Result<Option<i64>, StoreError> {
    let sql =
        "SELECT due_at FROM timers WHERE account = $1 AND mode = $2 AND kind = $3 AND subject = $4";
    let args = vals![&scope.account, scope.mode.as_str(), kind.as_str(), subject];
    let found: Option<(i64,)> = q.one(sql, &args).await?;
    Ok(found.map(|(due_at,)| due_at))
}

/// The kinds there are, known or not, found by skipping from one to the next through the index.
pub async fn kinds(q: &mut impl Queries) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT kind FROM timers WHERE retry_at IS NULL AND kind > $1 ORDER BY kind LIMIT 1";
    let mut kinds: Vec<String> = Vec::new();
    loop {
        let last = kinds.last().map_or("", String::as_str);
        let next: Option<(String,)> = q.one(sql, &vals![last]).await?;
        match next {
            Some((kind,)) => kinds.push(kind),
            None => return Ok(kinds),
        }
    }
}

/// When the first of them is due.
pub async fn oldest_due(q: &mut impl Queries) -> Result<Option<i64>, StoreError> {
    let mut oldest = None;
    let sql =
        "SELECT due_at FROM timers WHERE kind = $1 AND retry_at IS NULL ORDER BY due_at LIMIT 1";
    for kind in TimerKind::ALL {
        let found: Option<(i64,)> = q.one(sql, &vals![kind.as_str()]).await?;
        oldest = [oldest, found.map(|(due,)| due)]
            .into_iter()
            .flatten()
            .min();
    }
    Ok(oldest)
}
