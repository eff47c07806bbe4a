//! Changes of destinations, webhook URLs and secrets, which may wait before they take effect.

use till_core::change::{ChangeKind, ChangeStatus};
use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{select, table};
use crate::{Filter, Page, Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct ChangeRow in "changes" by id {
        id: String,
        kind: ChangeKind,
        /// Empty but for destinations.
        family: String,
        from_value: Option<String>,
        to_value: Option<String>,
        /// Encrypted; the new webhook secret until it takes effect.
        secret: Option<Vec<u8>>,
        status: ChangeStatus,
        requested_by: String,
        requested_at: i64,
        effective_at: i64,
        cancelled_by: Option<String>,
        cancelled_at: Option<i64>,
    }
}

pub async fn insert(tx: &mut Tx, change: &ChangeRow) -> Result<(), StoreError> {
    tx.write(&Write::records([change])).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<ChangeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<ChangeRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// The same, held until the unit of work ends.
pub async fn find_for_update(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
) -> Result<Option<ChangeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<ChangeRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    (status, kind): (Option<ChangeStatus>, Option<ChangeKind>),
    page: &Page,
) -> Result<Vec<ChangeRow>, StoreError> {
    let filters = [Filter::on("status", status), Filter::on("kind", kind)];
    newest_first(q, scope, filters, page).await
}

/// The changes of an account and mode that wait.
pub async fn pending(q: &mut impl Queries, scope: &Scope) -> Result<Vec<ChangeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND status = 'pending' ORDER BY id",
        select::<ChangeRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str()])
        .await
}

/// Whether the time of one that waits has come, by the account's own clock.
pub async fn is_due(
    q: &mut impl Queries,
    scope: &Scope,
    real_now: i64,
) -> Result<bool, StoreError> {
    let sql = "SELECT c.id FROM changes c JOIN merchants m ON m.account = c.account AND m.mode = c.mode \
         WHERE c.account = $1 AND c.mode = $2 AND c.status = 'pending' AND c.effective_at <= $3 + m.clock_offset_ms LIMIT 1";
    let args = vals![&scope.account, scope.mode.as_str(), real_now];
    let found: Option<(String,)> = q.one(sql, &args).await?;
    Ok(found.is_some())
}

/// When the destinations of an account and mode took effect that were changed: family and time, the newest first.
pub async fn destinations_since(
    q: &mut impl Queries,
    scope: &Scope,
) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT family, effective_at FROM changes WHERE account = $1 AND mode = $2 AND kind = 'destination' \
         AND status = 'effective' ORDER BY id DESC";
    q.all(sql, &vals![&scope.account, scope.mode.as_str()])
        .await
}

/// Writes down what became of a change; a secret that waited is forgotten with it.
pub async fn set_status(tx: &mut Tx, change: &ChangeRow) -> Result<(), StoreError> {
    let columns = &["status", "cancelled_by", "cancelled_at", "secret"];
    let update = Write::update_records(&["account", "mode", "id"], columns, [change])?;
    tx.write(&update).await.map(drop)
}
