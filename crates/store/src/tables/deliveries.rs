//! Webhook deliveries: one row per attempt, claimed by workers for a while and recorded with a fence.

use std::collections::HashMap;

use till_core::scope::Scope;
use till_core::webhook::DeliveryStatus;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, select, table};
use crate::{Page, Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct DeliveryRow in "deliveries" by id {
        id: String,
        event: String,
        event_type: String,
        /// What the event is about.
        subject: Option<String>,
        url: String,
        status: DeliveryStatus,
        attempt: i64,
        status_code: Option<i64>,
        latency_ms: Option<i64>,
        error: Option<String>,
        response_body: Option<String>,
        created_at: i64,
        attempted_at: Option<i64>,
        next_attempt_at: Option<i64>,
        /// When a worker must look at it again; a claim pushes it into the future, a result clears it.
        due_at: Option<i64>,
        fence: i64,
    }
}

const KEY: &[&str] = &["account", "mode", "id"];

/// What a delivery that was not attempted yet has. The others are null, and need not be sent.
const NEW: &[&str] = &[
    "account",
    "mode",
    "id",
    "event",
    "event_type",
    "subject",
    "url",
    "status",
    "attempt",
    "created_at",
    "due_at",
    "fence",
];

/// The event that is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub event: String,
    pub event_type: String,
    pub subject: Option<String>,
}

impl DeliveryRow {
    /// An attempt to come.
    pub fn pending(
        scope: &Scope,
        id: String,
        message: Message,
        url: String,
        attempt: i64,
        (created_at, due_at): (i64, i64),
    ) -> DeliveryRow {
        DeliveryRow {
            scope: scope.clone(),
            id,
            event: message.event,
            event_type: message.event_type,
            subject: message.subject,
            url,
            status: DeliveryStatus::Pending,
            attempt,
            status_code: None,
            latency_ms: None,
            error: None,
            response_body: None,
            created_at,
            attempted_at: None,
            next_attempt_at: None,
            due_at: Some(due_at),
            fence: 0,
        }
    }
}

pub async fn insert(tx: &mut Tx, deliveries: &[DeliveryRow]) -> Result<(), StoreError> {
    tx.write_all(&[rows(deliveries)?]).await
}

/// Deliveries that were not attempted yet.
pub fn rows(deliveries: &[DeliveryRow]) -> Result<Write, StoreError> {
    Write::some_columns(NEW, deliveries)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<DeliveryRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<DeliveryRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub status: Option<DeliveryStatus>,
    pub event_type: Option<String>,
    pub event: Option<String>,
    pub subject: Option<String>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: DeliveryFilter,
    page: &Page,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let filters = [
        Filter::on("status", filter.status),
        Filter::on("event_type", filter.event_type),
        Filter::on("event", filter.event),
        Filter::on("subject", filter.subject),
    ];
    newest_first(q, scope, filters, page).await
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, sqlx::FromRow)]
pub struct Endpoint {
    pub account: String,
    pub mode: String,
}

/// The endpoints that have something due, found by skipping from one to the next through the index: a
/// hundred thousand rows waiting for a dead endpoint cost one step.
pub async fn due_endpoints(q: &mut impl Queries, now: i64) -> Result<Vec<Endpoint>, StoreError> {
    let first = "SELECT account, mode FROM deliveries WHERE due_at IS NOT NULL ORDER BY account, mode LIMIT 1";
    let next = "SELECT account, mode FROM deliveries WHERE due_at IS NOT NULL AND (account, mode) > ($1, $2) \
         ORDER BY account, mode LIMIT 1";
    let is_due = "SELECT account, mode FROM deliveries WHERE account = $1 AND mode = $2 AND due_at <= $3 LIMIT 1";
    let mut found = Vec::new();
    let mut at: Option<Endpoint> = q.one(first, &[]).await?;
    while let Some(endpoint) = at {
        found.extend(
            q.one::<Endpoint>(is_due, &vals![&endpoint.account, &endpoint.mode, now])
                .await?,
        );
        at = q
            .one(next, &vals![&endpoint.account, &endpoint.mode])
            .await?;
    }
    Ok(found)
}

/// Since when the oldest that nobody has taken yet is due.
pub async fn oldest_due(q: &mut impl Queries, now: i64) -> Result<Option<i64>, StoreError> {
    let mut oldest = None;
    let sql = "SELECT MIN(due_at) FROM deliveries WHERE account = $1 AND mode = $2 AND due_at IS NOT NULL";
    for Endpoint { account, mode } in due_endpoints(q, now).await? {
        let found: Option<(Option<i64>,)> = q.one(sql, &vals![&account, &mode]).await?;
        let due = found.and_then(|(due,)| due);
        oldest = [oldest, due].into_iter().flatten().min();
    }
    Ok(oldest)
}

/// A claimed attempt, or a failed one whose retry is due.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Claimed {
    pub id: String,
    pub event: String,
    pub event_type: String,
    pub subject: Option<String>,
    pub status: String,
    pub attempt: i64,
    pub fence: i64,
    /// Rises within a subject in the order in which things happened.
    pub seq: i64,
    pub body: String,
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Candidate {
    id: String,
    subject: Option<String>,
    /// How many of its subject must be tried first; none where the order does not matter.
    before: Option<i64>,
}

/// Claims what is due for one endpoint; a worker that dies lets the claim run out. What is told of one subject is
/// first tried in its order: a first attempt is claimed when the earlier ones of its subject have ended, or are
/// claimed with it for the first time. What a dead worker had begun is claimed again before what follows it.
///
/// Found first and claimed by key then: as one statement, PostgreSQL goes on looking at every row there is when it
/// was planned while there were few.
pub async fn claim(
    tx: &mut Tx,
    scope: &Scope,
    (now, until): (i64, i64),
    at_most: i64,
) -> Result<Vec<Claimed>, StoreError> {
    let lock = tx.skip_locked();
    let due = candidates(tx, scope, now, at_most, lock).await?;
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let rows: Vec<Vec<Val>> = in_turn(due)
        .iter()
        .map(|id| vals![account, mode, id, until].into())
        .collect();
    let claims = Write::update("deliveries", KEY, &["due_at"], rows).also("fence = fence + 1");
    let returning = "id, event, event_type, subject, status, attempt, fence, seq, \
         (SELECT body FROM events WHERE events.id = deliveries.event) AS body";
    tx.write_returning(&claims, returning).await
}

/// What is due and that no unit of another worker has, without what follows a first attempt that somebody began and
/// has not ended.
///
/// With `p.status = 'pending'` on its own both engines find the index that lists by status good enough, and read an account's
/// whole queue for every row of it.
pub(crate) async fn candidates(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
    at_most: i64,
    lock: &str,
) -> Result<Vec<Candidate>, StoreError> {
    const FIRST: &str = "d.attempt = 1 AND d.status = 'pending' AND d.subject IS NOT NULL";
    const EARLIER: &str = "FROM deliveries p WHERE p.subject = d.subject AND p.account = d.account AND p.mode = d.mode \
         AND p.seq < d.seq AND p.attempt = 1 AND p.status || '' = 'pending'";
    let sql = format!(
        "SELECT d.id, d.subject, CASE WHEN {FIRST} THEN (SELECT count(*) {EARLIER}) END AS before \
         FROM deliveries d WHERE d.account = $1 AND d.mode = $2 AND d.due_at <= $3 \
         AND NOT ({FIRST} AND (SELECT p.seq {EARLIER} AND p.fence > 0 LIMIT 1) IS NOT NULL) \
         ORDER BY d.due_at, d.seq LIMIT $4{lock}"
    );
    let args = vals![&*scope.account, scope.mode.as_str(), now, at_most];
    q.all(&sql, &args).await
}

/// Those whose turn it is: all that must be tried before them are among them. One that is missing is in another
/// worker's hands at this moment, or not due yet.
fn in_turn(due: Vec<Candidate>) -> Vec<String> {
    let mut taken: HashMap<String, i64> = HashMap::new();
    let mut ids = Vec::with_capacity(due.len());
    let (mut ordered, free): (Vec<_>, Vec<_>) = due
        .into_iter()
        .partition(|candidate| candidate.before.is_some());
    // Of one subject, fewer before it means earlier.
    ordered.sort_by_key(|candidate| candidate.before);
    for candidate in ordered {
        let before = taken
            .entry(candidate.subject.unwrap_or_default())
            .or_default();
        if candidate.before == Some(*before) {
            *before += 1;
            ids.push(candidate.id);
        }
    }
    ids.extend(free.into_iter().map(|candidate| candidate.id));
    ids
}

/// Claims these, by id and fence, until then; those that somebody else has claimed meanwhile are not among the answer.
pub async fn renew(
    tx: &mut Tx,
    scope: &Scope,
    held: &[(String, i64)],
    until: i64,
) -> Result<Vec<String>, StoreError> {
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let rows: Vec<Vec<Val>> = held
        .iter()
        .map(|(id, fence)| vals![account, mode, id, *fence, until].into())
        .collect();
    let key = ["account", "mode", "id", "fence"];
    let renewal =
        Write::update("deliveries", &key, &["due_at"], rows).only("deliveries.status = 'pending'");
    let renewed: Vec<(String,)> = tx.write_returning(&renewal, "id").await?;
    Ok(renewed.into_iter().map(|(id,)| id).collect())
}

/// A failed attempt whose retry began: the retry is a row of its own, so this one is done with.
pub async fn retire(tx: &mut Tx, scope: &Scope, id: &str, fence: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE deliveries SET due_at = NULL, next_attempt_at = NULL \
         WHERE account = $1 AND mode = $2 AND id = $3 AND fence = $4";
    Ok(tx
        .run(sql, &vals![&*scope.account, scope.mode.as_str(), id, fence])
        .await?
        == 1)
}

pub struct Attempted<'a> {
    pub id: &'a str,
    pub fence: i64,
    pub url: &'a str,
    pub succeeded: bool,
    pub status_code: Option<i64>,
    pub latency_ms: Option<i64>,
    pub error: Option<&'a str>,
    pub response_body: Option<&'a str>,
    pub attempted_at: Option<i64>,
    pub next_attempt_at: Option<i64>,
}

/// Records attempts, and answers how many. One whose claim was lost meanwhile is left alone: whoever took it
/// over records it instead.
pub async fn record(
    tx: &mut Tx,
    scope: &Scope,
    attempts: &[Attempted<'_>],
) -> Result<u64, StoreError> {
    let rows: Vec<Vec<Val>> = attempts
        .iter()
        .map(|attempt| {
            let status = match attempt.succeeded {
                true => DeliveryStatus::Succeeded,
                false => DeliveryStatus::Failed,
            };
            vals![
                &scope.account,
                scope.mode.as_str(),
                attempt.id,
                attempt.fence,
                status.as_str(),
                attempt.url,
                attempt.status_code,
                attempt.latency_ms,
                attempt.error,
                attempt.response_body,
                attempt.attempted_at,
                attempt.next_attempt_at,
                attempt.next_attempt_at,
            ]
            .into()
        })
        .collect();
    let key = ["account", "mode", "id", "fence"];
    let results = [
        "status",
        "url",
        "status_code",
        "latency_ms",
        "error",
        "response_body",
        "attempted_at",
        "next_attempt_at",
        "due_at",
    ];
    let records =
        Write::update("deliveries", &key, &results, rows).only("deliveries.status = 'pending'");
    tx.write(&records).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, before: i64) -> Candidate {
        Candidate {
            id: id.to_owned(),
            subject: Some("inv_1".to_owned()),
            before: Some(before),
        }
    }

    #[test]
    fn what_is_due_together_is_taken_in_its_order() {
        let due = vec![candidate("paid", 1), candidate("created", 0)];
        assert_eq!(in_turn(due), ["created", "paid"]);
    }

    #[test]
    fn one_that_is_missing_holds_up_those_behind_it() {
        let due = vec![candidate("paid", 1), candidate("refunded", 2)];
        assert!(in_turn(due).is_empty());
    }
}
