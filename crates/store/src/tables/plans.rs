//! Plans. What a plan charges never changes; it can only be archived.

use till_core::calendar::{Unit, Zone};
use till_core::money::Currency;
use till_core::plan::PlanStatus;
use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{select, table};
use crate::{Page, Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct PlanRow in "plans" by id {
        id: String,
        status: PlanStatus,
        name: String,
        amount_minor: u64,
        currency: Currency,
        interval_unit: Unit,
        interval_count: u32,
        trial_days: u32,
        grace_days: u32,
        max_attempts: u32,
        /// None: the merchant's defaults when each invoice is made.
        assets: Option<Vec<String>>,
        billing_timezone: Zone,
        created_at: i64,
    }
}

pub async fn insert(tx: &mut Tx, plan: &PlanRow) -> Result<(), StoreError> {
    tx.write(&Write::records([plan])).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<PlanRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<PlanRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// The plan, kept from being archived until the unit of work ends.
pub async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<PlanRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<PlanRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn set_status(tx: &mut Tx, plan: &PlanRow) -> Result<(), StoreError> {
    let update = Write::update_records(&["account", "mode", "id"], &["status"], [plan])?;
    tx.write(&update).await.map(drop)
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    page: &Page,
) -> Result<Vec<PlanRow>, StoreError> {
    newest_first(q, scope, [], page).await
}
