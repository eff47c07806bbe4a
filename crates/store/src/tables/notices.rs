//! Mails to payers: who left which address for an invoice, and what was sent to it.

use till_core::scope::Scope;

use crate::sql::{columns, select, table};
use crate::{Queries, RefundDetail, StoreError, Tx, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct NoticeRow in "notices" by id {
        id: String,
        invoice: String,
        kind: String,
        email: Vec<u8>,
        email_tag: Vec<u8>,
        locale: String,
        session: Vec<u8>,
        is_current: bool,
        detail: Option<RefundDetail>,
        status: String,
        created_at: i64,
        sent_at: Option<i64>,
        due_at: Option<i64>,
        fence: i64,
        attempts: i64,
    }
}

pub async fn insert(tx: &mut Tx, notice: &NoticeRow) -> Result<(), StoreError> {
    tx.write(&Write::records([notice])).await.map(drop)
}

/// The receipts of an invoice, one per address that was ever left for it, the first first. Whoever decides
/// by them holds the invoice's lock.
pub async fn receipts(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<NoticeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND invoice = $3 AND kind = 'receipt' ORDER BY id",
        select::<NoticeRow>()
    );
    q.all(&sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<NoticeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<NoticeRow>()
    );
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

/// The address left before no longer holds. A worker may be about to send to it: it looks once more first.
pub async fn retire_receipts(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<(), StoreError> {
    let sql = "UPDATE notices SET is_current = 0 \
         WHERE account = $1 AND mode = $2 AND invoice = $3 AND kind = 'receipt' AND is_current = 1";
    tx.run(sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
        .map(drop)
}

/// An address that was left before holds again, in the language chosen now; says how far its receipt is. One
/// under way keeps its claim, and what was sent is not sent again.
pub async fn restore_receipt(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    locale: &str,
    due_at: Option<i64>,
) -> Result<String, StoreError> {
    let sql = "UPDATE notices SET is_current = 1, locale = $4, \
         due_at = CASE WHEN status = 'sent' THEN NULL ELSE COALESCE(due_at, $5) END \
         WHERE account = $1 AND mode = $2 AND id = $3 RETURNING status";
    let args = vals![&*scope.account, scope.mode.as_str(), id, locale, due_at];
    let restored: Option<(String,)> = tx.one(sql, &args).await?;
    touched(u64::from(restored.is_some()), 1, "notices")?;
    Ok(restored.map(|(status,)| status).unwrap_or_default())
}

/// The receipts of invoices that are paid now become due. One that is due or claimed already stays as it is: its
/// worker looks at the invoice before it sends.
pub fn falling_due(invoices: &[(&Scope, &str, i64)]) -> Write {
    let rows = invoices
        .iter()
        .map(|(scope, invoice, now)| {
            vals![&scope.account, scope.mode.as_str(), *invoice, *now].into()
        })
        .collect();
    Write::update(
        "notices",
        &["account", "mode", "invoice"],
        &["due_at"],
        rows,
    )
    .only(
        "notices.kind = 'receipt' AND notices.is_current = 1 AND notices.status = 'scheduled' \
         AND notices.due_at IS NULL",
    )
}

/// Claims what is due, of all accounts, until `claim_until`; a worker that dies lets the claim run out.
pub async fn claim(
    tx: &mut Tx,
    now: i64,
    claim_until: i64,
    at_most: i64,
) -> Result<Vec<NoticeRow>, StoreError> {
    let sql = format!(
        "UPDATE notices SET due_at = $2, fence = fence + 1 WHERE id IN \
         (SELECT id FROM notices WHERE due_at <= $1 ORDER BY due_at LIMIT $3{}) RETURNING {}",
        tx.skip_locked(),
        columns::<NoticeRow>()
    );
    tx.all(&sql, &vals![now, claim_until, at_most]).await
}

/// There is nothing to tell any more, or not yet. False when the claim was lost meanwhile.
pub async fn release(tx: &mut Tx, scope: &Scope, id: &str, fence: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE notices SET due_at = NULL WHERE account = $1 AND mode = $2 AND id = $3 AND fence = $4";
    let args = vals![&*scope.account, scope.mode.as_str(), id, fence];
    Ok(tx.run(sql, &args).await? == 1)
}

/// The server took the mail. False when the claim was lost meanwhile.
pub async fn record_sent(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    fence: i64,
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notices SET status = 'sent', sent_at = $5, due_at = NULL, attempts = attempts + 1 \
         WHERE account = $1 AND mode = $2 AND id = $3 AND fence = $4 AND status = 'scheduled'";
    let args = vals![&*scope.account, scope.mode.as_str(), id, fence, now];
    Ok(tx.run(sql, &args).await? == 1)
}

/// The mail was not taken; tried again at `next_at`, or never. An address replaced meanwhile is left alone.
pub async fn record_failure(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    fence: i64,
    next_at: Option<i64>,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notices SET attempts = attempts + 1, \
         due_at = CASE WHEN kind = 'receipt' AND is_current = 0 THEN NULL ELSE $5 END \
         WHERE account = $1 AND mode = $2 AND id = $3 AND fence = $4 AND status = 'scheduled'";
    let args = vals![&*scope.account, scope.mode.as_str(), id, fence, next_at];
    Ok(tx.run(sql, &args).await? == 1)
}

/// When the first of them is due.
pub async fn oldest_due(q: &mut impl Queries) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT MIN(due_at) FROM notices WHERE due_at IS NOT NULL";
    let found: Option<(Option<i64>,)> = q.one(sql, &[]).await?;
    Ok(found.and_then(|(due,)| due))
}
