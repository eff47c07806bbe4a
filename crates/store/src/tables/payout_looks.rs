//! Payouts that were recorded as sent and that the chain is still asked about, in real time.

use till_core::refund::FollowedPayout;
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct PayoutLookRow in "payout_looks" by refund {
        refund: String,
        recorded_at: i64,
        /// Since when every answer has shown it.
        shown_at: Option<i64>,
        look_at: i64,
    }
}

impl PayoutLookRow {
    pub fn known(&self) -> FollowedPayout {
        FollowedPayout {
            recorded_at: self.recorded_at,
            shown_at: self.shown_at,
        }
    }
}

pub async fn insert(tx: &mut Tx, row: &PayoutLookRow) -> Result<(), StoreError> {
    tx.write(&Write::records([row])).await.map(drop)
}

/// Takes the first few that are due, and nobody else does until then. Not scoped: whoever asks the chain asks for all.
pub async fn claim(
    tx: &mut Tx,
    now: i64,
    until: i64,
    at_most: i64,
) -> Result<Vec<PayoutLookRow>, StoreError> {
    let sql = format!(
        "{} WHERE look_at <= $1 ORDER BY look_at LIMIT $2{}",
        select::<PayoutLookRow>(),
        tx.skip_locked()
    );
    let due: Vec<PayoutLookRow> = tx.all(&sql, &vals![now, at_most]).await?;
    for row in &due {
        look_again(tx, &row.scope, &row.refund, until, row.shown_at).await?;
    }
    Ok(due)
}

pub async fn look_again(
    tx: &mut Tx,
    scope: &Scope,
    refund: &str,
    at: i64,
    shown_at: Option<i64>,
) -> Result<(), StoreError> {
    let sql = "UPDATE payout_looks SET look_at = $4, shown_at = $5 WHERE account = $1 AND mode = $2 AND refund = $3";
    let args = vals![&*scope.account, scope.mode.as_str(), refund, at, shown_at];
    tx.run(sql, &args).await.map(drop)
}

/// Nobody asks about it any more.
pub async fn end(tx: &mut Tx, scope: &Scope, refund: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM payout_looks WHERE account = $1 AND mode = $2 AND refund = $3";
    let args = vals![&*scope.account, scope.mode.as_str(), refund];
    tx.run(sql, &args).await.map(drop)
}
