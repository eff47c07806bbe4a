//! Mails to payers: who left which address for an invoice, and what was sent to it.

use till_core::scope::Scope;

use crate::{Queries, StoreError, Tx, touched, vals};

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct NoticeRow {
    pub id: String,
    pub account: String,
    pub mode: String,
    pub invoice: String,
    pub kind: String,
    pub email: Vec<u8>,
    pub email_tag: Vec<u8>,
    pub locale: String,
    pub session: Vec<u8>,
    pub is_current: i64,
    pub detail: Option<String>,
    pub status: String,
    pub created_at: i64,
    pub sent_at: Option<i64>,
    pub due_at: Option<i64>,
    pub fence: i64,
    pub attempts: i64,
}

const COLUMNS: &str = "id, account, mode, invoice, kind, email, email_tag, locale, session, is_current, detail, status, \
     created_at, sent_at, due_at, fence, attempts";

impl NoticeRow {
    pub fn scope(&self) -> Result<Scope, StoreError> {
        Ok(Scope::new(
            &self.account,
            crate::accounts::mode("notices", &self.id, &self.mode)?,
        ))
    }

    pub fn corrupt(&self, column: &str, detail: impl ToString) -> StoreError {
        StoreError::corrupt("notices", column, &self.id, detail)
    }
}

pub async fn insert(tx: &mut Tx, notice: &NoticeRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO notices ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17)"
    );
    let args = vals![
        &notice.id,
        &notice.account,
        &notice.mode,
        &notice.invoice,
        &notice.kind,
        &*notice.email,
        &*notice.email_tag,
        &notice.locale,
        &*notice.session,
        notice.is_current,
        notice.detail.as_ref(),
        &notice.status,
        notice.created_at,
        notice.sent_at,
        notice.due_at,
        notice.fence,
        notice.attempts,
    ];
    touched(tx.run(&sql, &args).await?, 1, "notices")
}

/// The receipts of an invoice, one per address that was ever left for it, the first first. Whoever decides
/// by them holds the invoice's lock.
pub async fn receipts(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<NoticeRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM notices WHERE account = $1 AND mode = $2 AND invoice = $3 AND kind = 'receipt' ORDER BY id"
    );
    q.all(&sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<NoticeRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM notices WHERE account = $1 AND mode = $2 AND id = $3");
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

/// The receipt of an invoice that is paid now becomes due. One that is due or claimed already stays as it is:
/// its worker looks at the invoice before it sends.
pub async fn make_due(
    tx: &mut Tx,
    scope: &Scope,
    invoice: &str,
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notices SET due_at = $4 WHERE account = $1 AND mode = $2 AND invoice = $3 \
         AND kind = 'receipt' AND is_current = 1 AND status = 'scheduled' AND due_at IS NULL";
    let args = vals![&*scope.account, scope.mode.as_str(), invoice, now];
    Ok(tx.run(sql, &args).await? > 0)
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
         (SELECT id FROM notices WHERE due_at <= $1 ORDER BY due_at LIMIT $3{}) RETURNING {COLUMNS}",
        tx.skip_locked()
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
