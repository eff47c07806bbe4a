//! What the dashboard's home page counts.

use till_core::scope::Scope;

use crate::{Queries, StoreError, vals};

/// How many there are, and since when the oldest.
pub type Counted = (i64, Option<i64>);

/// What waits for a person in an account and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    Reviews,
    RefundsToSend,
    RefundsInReview,
    /// Webhooks that were refused and wait for another try, or are being tried again.
    Webhooks,
    Changes,
    ExposedKeys,
}

impl Waiting {
    fn sql(self) -> &'static str {
        match self {
            Waiting::Reviews => {
                "SELECT COUNT(*), MIN(created_at) FROM invoices WHERE status = 'under_review' AND account = $1 AND mode = $2"
            }
            Waiting::RefundsToSend => {
                "SELECT COUNT(*), MIN(ready_at) FROM refunds WHERE status = 'ready_to_send' AND account = $1 AND mode = $2"
            }
            Waiting::RefundsInReview => {
                "SELECT COUNT(*), MIN(claimed_at) FROM refunds WHERE status = 'in_review' AND account = $1 AND mode = $2"
            }
            Waiting::Webhooks => {
                "SELECT COUNT(*), MIN(created_at) FROM deliveries WHERE account = $1 AND mode = $2 AND due_at IS NOT NULL \
                 AND (status = 'failed' OR attempt > 1)"
            }
            Waiting::Changes => {
                "SELECT COUNT(*), MIN(requested_at) FROM changes WHERE status = 'pending' AND account = $1 AND mode = $2"
            }
            Waiting::ExposedKeys => {
                "SELECT COUNT(*), MIN(exposed_at) FROM api_keys WHERE account = $1 AND mode = $2 AND exposed_at IS NOT NULL \
                 AND rolled_at IS NULL"
            }
        }
    }
}

pub async fn count(
    q: &mut impl Queries,
    scope: &Scope,
    what: Waiting,
) -> Result<Counted, StoreError> {
    let args = vals![&*scope.account, scope.mode.as_str()];
    let found: Option<Counted> = q.one(what.sql(), &args).await?;
    Ok(found.unwrap_or_default())
}

/// Payments with ids after `after` that were credited from `from` on.
pub async fn credited(
    q: &mut impl Queries,
    scope: &Scope,
    from: i64,
    after: &str,
    at_most: i64,
) -> Result<Vec<(String, String, i64, String)>, StoreError> {
    let sql = "SELECT id, asset, credited_at, units FROM payments WHERE account = $1 AND mode = $2 AND id > $4 \
         AND credited_at >= $3 AND gone_at IS NULL ORDER BY id LIMIT $5";
    let args = vals![&*scope.account, scope.mode.as_str(), from, after, at_most];
    q.all(sql, &args).await
}

/// Whether the account was ever paid in this mode.
pub async fn has_payment(q: &mut impl Queries, scope: &Scope) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM payments WHERE account = $1 AND mode = $2 LIMIT 1";
    let found: Option<(String,)> = q
        .one(sql, &vals![&*scope.account, scope.mode.as_str()])
        .await?;
    Ok(found.is_some())
}

/// Whether a secret key of the account was ever used in this mode.
pub async fn has_used_key(q: &mut impl Queries, scope: &Scope) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM api_keys WHERE account = $1 AND mode = $2 AND kind = 'secret' AND last_used_at IS NOT NULL LIMIT 1";
    let found: Option<(String,)> = q
        .one(sql, &vals![&*scope.account, scope.mode.as_str()])
        .await?;
    Ok(found.is_some())
}
