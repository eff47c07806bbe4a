//! Subscriptions, and the attempts to charge their periods.

use till_core::scope::Scope;
use till_core::subscription::{Charge, ChargeState, Facts, Reason, Status};

use crate::sql::listing::newest_first;
use crate::sql::{Filter, LookUp, PerKey, select, table};
use crate::{Metadata, Page, Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct SubscriptionRow in "subscriptions" by id {
        id: String,
        customer: String,
        plan: String,
        status: Status,
        metadata: Metadata,
        created_at: i64,
        trial_end: Option<i64>,
        /// Where the period numbered `anchor_period` begins; all others are counted from there.
        anchor: i64,
        anchor_period: i64,
        current_period_start: i64,
        current_period_end: i64,
        /// Until when it is paid for, or free; none before anything was paid.
        paid_until: Option<i64>,
        /// Where the last period ends that is paid or free; one before it may be owed.
        served_until: Option<i64>,
        /// The first period that is not paid: to be charged next, or being charged, unless a later one is still being so.
        next_period: i64,
        /// The first period that was never paid, or was first paid during a pause that goes on. One before it whose payment is gone is
        /// owed, and keeps its place.
        reached: i64,
        /// The attempt that is open or was just closed; none while nothing is being charged.
        charge: Option<i64>,
        charge_invoice: Option<String>,
        /// How many attempts there have been in all.
        charges: i64,
        attempt: u32,
        /// From here on it is past due; none while nothing is charged that could be.
        grace_end: Option<i64>,
        charge_closed: bool,
        /// Until when the next attempt waits, where the merchant cancelled the one that was under way.
        retry_at: Option<i64>,
        latest_invoice: Option<String>,
        next_invoice_at: Option<i64>,
        past_due_since: Option<i64>,
        paused_at: Option<i64>,
        cancelled_at: Option<i64>,
        cancellation_reason: Option<Reason>,
        cancel_at_period_end: bool,
    }
}

/// What can change about a subscription.
const CHANGING: &[&str] = &[
    "status",
    "anchor",
    "anchor_period",
    "current_period_start",
    "current_period_end",
    "paid_until",
    "served_until",
    "next_period",
    "reached",
    "charge",
    "charge_invoice",
    "charges",
    "attempt",
    "grace_end",
    "charge_closed",
    "retry_at",
    "latest_invoice",
    "next_invoice_at",
    "past_due_since",
    "paused_at",
    "cancelled_at",
    "cancellation_reason",
    "cancel_at_period_end",
];

impl SubscriptionRow {
    pub fn facts(&self, max_attempts: u32) -> Facts {
        Facts {
            paid_until: self.paid_until,
            served_until: self.served_until,
            charge: self.charge.map(|_| Charge {
                attempt: self.attempt,
                is_closed: self.charge_closed,
                retry_at: self.retry_at,
            }),
            late_at: self.grace_end,
            max_attempts,
            is_paused: self.paused_at.is_some(),
            is_cancelled: self.cancelled_at.is_some(),
            cancel_at_period_end: self.cancel_at_period_end,
        }
    }

    /// The invoice that may still be paid.
    pub fn open_invoice(&self) -> Option<&str> {
        match self.charge_closed {
            true => None,
            false => self.charge_invoice.as_deref(),
        }
    }

    /// Nothing is being charged any more.
    pub fn end_charge(&mut self) {
        (self.charge, self.charge_invoice, self.grace_end) = (None, None, None);
        (self.attempt, self.charge_closed, self.retry_at) = (0, false, None);
    }
}

pub async fn insert(tx: &mut Tx, row: &SubscriptionRow) -> Result<(), StoreError> {
    tx.write(&Write::records([row])).await.map(drop)
}

pub fn updates<'r>(
    rows: impl IntoIterator<Item = &'r SubscriptionRow>,
) -> Result<Write, StoreError> {
    Write::update_records(&["account", "mode", "id"], CHANGING, rows)
}

pub async fn update(tx: &mut Tx, row: &SubscriptionRow) -> Result<(), StoreError> {
    tx.write(&updates([row])?).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<SubscriptionRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<SubscriptionRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// Those of these subscriptions that exist, in any order.
pub async fn find_many(
    q: &mut impl Queries,
    ids: &[(&Scope, &str)],
) -> Result<Vec<SubscriptionRow>, StoreError> {
    let key = |(scope, id): &(&Scope, &str)| -> Vec<Val> {
        vals![&scope.account, scope.mode.as_str(), *id].into()
    };
    let keys: Vec<Vec<Val>> = ids.iter().map(key).collect();
    let by_id = LookUp::records::<SubscriptionRow>(&["account", "mode", "id"], PerKey::One);
    q.look_up(&by_id, &keys).await
}

/// Locked until the unit of work ends. Whoever also changes its invoice holds that first.
pub async fn lock(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
) -> Result<Option<SubscriptionRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<SubscriptionRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// Locks all of a customer's subscriptions, in the order of their ids.
pub async fn lock_all_of(tx: &mut Tx, scope: &Scope, customer: &str) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT id FROM subscriptions WHERE customer = $3 AND account = $1 AND mode = $2 ORDER BY id{}",
        tx.for_update()
    );
    let args = vals![&scope.account, scope.mode.as_str(), customer];
    let _: Vec<(String,)> = tx.all(&sql, &args).await?;
    Ok(())
}

/// All of a customer's subscriptions, in the order of their ids.
pub async fn all_of(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
) -> Result<Vec<SubscriptionRow>, StoreError> {
    let sql = format!(
        "{} WHERE customer = $3 AND account = $1 AND mode = $2 ORDER BY id",
        select::<SubscriptionRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), customer];
    q.all(&sql, &args).await
}

#[derive(Clone, Debug, Default)]
pub struct SubscriptionFilter {
    pub status: Option<Status>,
    pub customer: Option<String>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: SubscriptionFilter,
    page: &Page,
) -> Result<Vec<SubscriptionRow>, StoreError> {
    let filters = [
        Filter::on("status", filter.status),
        Filter::on("customer", filter.customer),
    ];
    newest_first(q, scope, filters, page).await
}

table! {
    /// One attempt to charge one period. The database lets a subscription have one open, and a period one paid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct ChargeRow in "subscription_charges" by subscription {
        subscription: String,
        /// Numbers the attempts of their subscription.
        number: i64,
        /// None where prepaid credit paid for all of it.
        invoice: Option<String>,
        period: i64,
        attempt: u32,
        state: ChargeState,
        /// It has paid for its period once, whatever became of that.
        was_paid: bool,
        period_start: i64,
        period_end: i64,
        grace_end: i64,
        created_at: i64,
    }
}

pub async fn insert_charge(tx: &mut Tx, charge: &ChargeRow) -> Result<(), StoreError> {
    tx.write(&Write::records([charge])).await.map(drop)
}

pub fn charge_states<'r>(
    rows: impl IntoIterator<Item = &'r ChargeRow>,
) -> Result<Write, StoreError> {
    let key = ["account", "mode", "subscription", "number"];
    let changing = [
        "state",
        "was_paid",
        "period_start",
        "period_end",
        "grace_end",
    ];
    Write::update_records(&key, &changing, rows)
}

/// The attempts by which this period and later ones are paid or forgiven, by period.
pub async fn passed_from(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    period: i64,
) -> Result<Vec<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND state IN ('paid', 'forgiven') AND period >= $4 ORDER BY period",
        select::<ChargeRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, period];
    q.all(&sql, &args).await
}

/// The attempts at this period and later ones, the first first.
pub async fn charges_from(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    period: i64,
) -> Result<Vec<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND period >= $4 ORDER BY number",
        select::<ChargeRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, period];
    q.all(&sql, &args).await
}

/// The attempts at a period, the first first.
pub async fn charges_of_period(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    period: i64,
) -> Result<Vec<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND period = $4 ORDER BY number",
        select::<ChargeRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, period];
    q.all(&sql, &args).await
}

pub async fn charge_by_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Option<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND invoice = $3",
        select::<ChargeRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), invoice])
        .await
}

pub async fn charge(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    number: i64,
) -> Result<Option<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND number = $4",
        select::<ChargeRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, number];
    q.one(&sql, &args).await
}

/// Every attempt of a subscription, the first first.
pub async fn charges_of(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
) -> Result<Vec<ChargeRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 ORDER BY number",
        select::<ChargeRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription];
    q.all(&sql, &args).await
}

/// The numbers of the attempts that have paid for their periods, in order.
pub async fn paid_charges(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT number FROM subscription_charges WHERE account = $1 AND mode = $2 AND subscription = $3 \
         AND state = 'paid' ORDER BY number";
    let args = vals![&scope.account, scope.mode.as_str(), subscription];
    let found: Vec<(i64,)> = q.all(sql, &args).await?;
    Ok(found.into_iter().map(|(number,)| number).collect())
}

/// The numbers of a subscription's attempts whose invoices are not closed.
pub async fn open_charges(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT c.number FROM subscription_charges c JOIN invoices i ON i.account = c.account AND i.mode = c.mode \
         AND i.id = c.invoice WHERE c.account = $1 AND c.mode = $2 AND c.subscription = $3 AND i.closed_at IS NULL";
    let args = vals![&scope.account, scope.mode.as_str(), subscription];
    let found: Vec<(i64,)> = q.all(sql, &args).await?;
    Ok(found.into_iter().map(|(number,)| number).collect())
}
