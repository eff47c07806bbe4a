//! Decisions about reviews: appended with what they changed, for whoever asks later who let a payment through.

use till_core::actor::Actor;
use till_core::invoice::{Decision, Via};
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct ReviewDecisionRow in "review_decisions" by id {
        id: String,
        /// The invoice that was under review.
        subject: String,
        decision: Decision,
        reason: String,
        via: Via,
        decided_by: Actor,
        decided_at: i64,
        /// The ids of the payments it was about.
        payments: Vec<String>,
    }
}

pub async fn insert(tx: &mut Tx, decision: &ReviewDecisionRow) -> Result<(), StoreError> {
    tx.write(&Write::records([decision])).await.map(drop)
}

/// Everything that was ever decided about an invoice, the first first.
pub async fn of_subject(
    q: &mut impl Queries,
    scope: &Scope,
    subject: &str,
) -> Result<Vec<ReviewDecisionRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subject = $3 ORDER BY id",
        select::<ReviewDecisionRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), subject])
        .await
}
