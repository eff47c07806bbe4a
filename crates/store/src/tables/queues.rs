//! How much work waits, for operators: counted over the tables that workers take it from.

use crate::{Queries, StoreError, Val, vals};

/// What one queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueRow {
    pub waiting: i64,
    pub oldest_due_at: Option<i64>,
    /// What was given up, or failed and waits for another try.
    pub failed: i64,
}

async fn counted(
    q: &mut impl Queries,
    (waiting, args): (&str, &[Val]),
    failed: &str,
    since: i64,
) -> Result<QueueRow, StoreError> {
    let found: Option<(i64, Option<i64>)> = q.one(waiting, args).await?;
    let (waiting, oldest_due_at) = found.unwrap_or_default();
    let failed: Option<(i64,)> = q.one(failed, &vals![since]).await?;
    Ok(QueueRow {
        waiting,
        oldest_due_at,
        failed: failed.map_or(0, |(count,)| count),
    })
}

/// Deliveries that are still to be attempted, and attempts that failed since then.
pub async fn webhooks(q: &mut impl Queries, since: i64) -> Result<QueueRow, StoreError> {
    let waiting = "SELECT COUNT(*), MIN(due_at) FROM deliveries WHERE due_at IS NOT NULL";
    let failed = "SELECT COUNT(*) FROM deliveries WHERE status = 'failed' AND attempted_at >= $1";
    counted(q, (waiting, &[]), failed, since).await
}

/// Mails to payers and members that are still to be sent, and those that were given up.
pub async fn mail(q: &mut impl Queries, since: i64) -> Result<QueueRow, StoreError> {
    let waiting = "SELECT COUNT(*), MIN(due_at) FROM (\
         SELECT due_at FROM notices WHERE due_at IS NOT NULL UNION ALL \
         SELECT due_at FROM member_notices WHERE due_at IS NOT NULL UNION ALL \
         SELECT due_at FROM link_mails) AS mails";
    let failed = "SELECT COUNT(*) FROM (\
         SELECT created_at FROM notices WHERE status = 'scheduled' AND attempts > 0 AND due_at IS NULL UNION ALL \
         SELECT created_at FROM member_notices WHERE mail = 'failed') AS mails WHERE created_at >= $1";
    counted(q, (waiting, &[]), failed, since).await
}

/// Timers that fell due, and those that failed and were put back.
pub async fn timers(q: &mut impl Queries, now: i64, since: i64) -> Result<QueueRow, StoreError> {
    let waiting = "SELECT COUNT(*), MIN(due_at) FROM timers WHERE due_at <= $1";
    let failed = "SELECT COUNT(*) FROM timers WHERE retry_at >= $1";
    counted(q, (waiting, &vals![now]), failed, since).await
}
