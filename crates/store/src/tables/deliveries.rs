//! Webhook deliveries: one row per attempt, claimed by workers for a while and recorded with a fence.

use till_core::scope::Scope;

use crate::{Insert, Page, Queries, StoreError, Tx, Val, vals};

#[derive(Clone, Debug)]
pub struct NewDelivery {
    pub id: String,
    pub scope: Scope,
    pub event: String,
    pub event_type: String,
    pub invoice: Option<String>,
    pub url: String,
    pub attempt: i64,
    pub created_at: i64,
    pub due_at: i64,
    pub fence: i64,
}

pub async fn insert(tx: &mut Tx, deliveries: &[NewDelivery]) -> Result<(), StoreError> {
    tx.insert_all(&[rows(deliveries)]).await
}

pub fn rows(deliveries: &[NewDelivery]) -> Insert {
    let rows = deliveries
        .iter()
        .map(|delivery| {
            vals![
                &delivery.scope.account,
                delivery.scope.mode.as_str(),
                &delivery.id,
                &delivery.event,
                &delivery.event_type,
                delivery.invoice.as_ref(),
                &delivery.url,
                "pending",
                delivery.attempt,
                delivery.created_at,
                delivery.due_at,
                delivery.fence,
            ]
            .into()
        })
        .collect();
    Insert {
        head: "INSERT INTO deliveries (account, mode, id, event, event_type, invoice, url, status, attempt, created_at, \
         due_at, fence) VALUES"
            .into(),
        tail: "",
        rows,
    }
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct DeliveryRow {
    pub id: String,
    pub event: String,
    pub event_type: String,
    pub invoice: Option<String>,
    pub url: String,
    pub status: String,
    pub attempt: i64,
    pub status_code: Option<i64>,
    pub latency_ms: Option<i64>,
    pub error: Option<String>,
    pub response_body: Option<String>,
    pub created_at: i64,
    pub attempted_at: Option<i64>,
    pub next_attempt_at: Option<i64>,
}

const COLUMNS: &str = "id, event, event_type, invoice, url, status, attempt, status_code, latency_ms, error, response_body, \
     created_at, attempted_at, next_attempt_at";

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<DeliveryRow>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM deliveries WHERE account = $1 AND mode = $2 AND id = $3");
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

#[derive(Clone, Debug, Default)]
pub struct Filter<'a> {
    pub status: Option<&'a str>,
    pub event_type: Option<&'a str>,
    pub event: Option<&'a str>,
    pub invoice: Option<&'a str>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: &Filter<'_>,
    page: &Page,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let select = format!("SELECT {COLUMNS} FROM deliveries");
    let filters = [
        ("status", filter.status),
        ("event_type", filter.event_type),
        ("event", filter.event),
        ("invoice", filter.invoice),
    ];
    crate::sql::listing::newest_first(q, &select, scope, &filters, page).await
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

/// A claimed attempt, or a failed one whose retry is due.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Claimed {
    pub id: String,
    pub event: String,
    pub event_type: String,
    pub invoice: Option<String>,
    pub status: String,
    pub attempt: i64,
    pub fence: i64,
    pub body: String,
}

/// Claims what is due for one endpoint until `claim_until`; a worker that dies lets the claim run out. Found
/// first and claimed by key then: as one statement, PostgreSQL goes on looking at every row there is when it
/// was planned while there were few.
pub async fn claim(
    tx: &mut Tx,
    scope: &Scope,
    now: i64,
    claim_until: i64,
    at_most: i64,
) -> Result<Vec<Claimed>, StoreError> {
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let due = format!(
        "SELECT id FROM deliveries WHERE account = $1 AND mode = $2 AND due_at <= $3 ORDER BY due_at LIMIT $4{}",
        tx.skip_locked()
    );
    let due: Vec<(String,)> = tx.all(&due, &vals![account, mode, now, at_most]).await?;
    let rows: Vec<Vec<Val>> = due
        .iter()
        .map(|(id,)| vals![account, mode, id, claim_until].into())
        .collect();
    let head = "UPDATE deliveries SET due_at = v.column4, fence = fence + 1 FROM (VALUES";
    let tail = ") AS v WHERE deliveries.account = v.column1 AND deliveries.mode = v.column2 AND deliveries.id = v.column3 \
         RETURNING id, event, event_type, invoice, status, attempt, fence, \
         (SELECT body FROM events WHERE events.id = deliveries.event) AS body";
    tx.all_rows(head, tail, &rows).await
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
    let status = |attempt: &Attempted<'_>| match attempt.succeeded {
        true => "succeeded",
        false => "failed",
    };
    let rows: Vec<Vec<Val>> = attempts
        .iter()
        .map(|attempt| {
            vals![
                &*scope.account,
                scope.mode.as_str(),
                attempt.id,
                attempt.fence,
                status(attempt),
                attempt.url,
                attempt.status_code,
                attempt.latency_ms,
                attempt.error,
                attempt.response_body,
                attempt.attempted_at,
                attempt.next_attempt_at,
            ]
            .into()
        })
        .collect();
    let head = "UPDATE deliveries SET status = v.column5, url = v.column6, status_code = v.column7, \
         latency_ms = v.column8, error = v.column9, response_body = v.column10, attempted_at = v.column11, \
         next_attempt_at = v.column12, due_at = v.column12 FROM (VALUES";
    let tail = ") AS v WHERE deliveries.account = v.column1 AND deliveries.mode = v.column2 \
         AND deliveries.id = v.column3 AND deliveries.fence = v.column4 AND deliveries.status = 'pending'";
    tx.run_rows(head, tail, &rows).await
}
