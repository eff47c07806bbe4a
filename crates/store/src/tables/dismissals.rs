//! Deposits that are nobody's payment and that a member has dismissed.

use till_core::scope::Scope;

use crate::sql::{Conflict, select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct DismissalRow in "deposit_dismissals" by id {
        id: String,
        note: String,
        dismissed_by: String,
        /// Real time.
        dismissed_at: i64,
    }
}

/// Writes it down; a later note takes the place of an earlier one.
pub async fn put(tx: &mut Tx, dismissal: &DismissalRow) -> Result<(), StoreError> {
    let write = Write::records([dismissal]).on_conflict(Conflict::Replace {
        key: "account, mode, id",
        columns: &["note", "dismissed_by", "dismissed_at"],
    });
    tx.write(&write).await.map(drop)
}

pub async fn all(q: &mut impl Queries, scope: &Scope) -> Result<Vec<DismissalRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 ORDER BY id",
        select::<DismissalRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str()])
        .await
}
