//! Invoices.

use till_core::asset::Mode;
use till_core::id::{IdKind, make};
use till_core::invoice::{PayOption, Purpose, Status, Summary, Terms};
use till_core::link::Unit;
use till_core::money::Currency;
use till_core::scope::Scope;
use till_core::time::DAY_MS;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, LookUp, PerKey, select, table};
use crate::{Metadata, Page, Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct InvoiceRow in "invoices" by id {
        id: String,
        status: Status,
        amount_minor: u64,
        currency: Currency,
        description: Option<String>,
        customer_ref: Option<String>,
        /// Where the payer goes afterwards.
        return_url: Option<String>,
        metadata: Metadata,
        options: Vec<PayOption>,
        tolerance_bps: u32,
        created_at: i64,
        expires_at: i64,
        select_by: Option<i64>,
        paid_at: Option<i64>,
        closed_at: Option<i64>,
        cancelled_at: Option<i64>,
        payment_link: Option<String>,
        customer: Option<String>,
        subscription: Option<String>,
        /// What the payments come to, kept beside the invoice so that showing it needs no second read.
        summary: Summary,
        /// How many events its live stream has.
        stream_seq: i64,
        link_unit: Option<Unit>,
        /// What is left to pay after prepaid credit, rounded up; none where all of the price is.
        due_minor: Option<u64>,
        /// What arrives later counts no more; none where what is paid in part takes the rest for good.
        takes_until: Option<i64>,
        /// What arrives later in an asset whose price moves counts no more; none where none is offered.
        volatile_until: Option<i64>,
    }
}

/// What can change about an invoice.
const CHANGING: &[&str] = &[
    "status",
    "options",
    "select_by",
    "paid_at",
    "closed_at",
    "cancelled_at",
    "summary",
    "stream_seq",
    "link_unit",
    "due_minor",
    "takes_until",
];

const KEY: &[&str] = &["account", "mode", "id"];

impl InvoiceRow {
    pub fn terms(&self) -> Terms {
        Terms {
            amount_minor: self.to_pay_minor(),
            price_minor: self.amount_minor,
            options: self.options.clone(),
            tolerance_bps: self.tolerance_bps,
            expires_at: self.expires_at,
            select_by: self.select_by,
            takes_until: self.takes_until,
            volatile_until: self.volatile_until,
            purpose: self.purpose(),
        }
    }

    /// What the payer is asked for, of the price.
    pub fn to_pay_minor(&self) -> u64 {
        self.due_minor.unwrap_or(self.amount_minor)
    }

    /// An invoice of a customer's own, for no subscription, buys credit.
    fn purpose(&self) -> Purpose {
        match (&self.customer, &self.subscription) {
            (Some(_), None) => Purpose::TopUp,
            _ => Purpose::Sale,
        }
    }
}

pub fn rows(invoices: &[InvoiceRow]) -> Write {
    Write::records(invoices)
}

pub async fn insert(tx: &mut Tx, invoices: &[InvoiceRow]) -> Result<(), StoreError> {
    tx.write_all(&[rows(invoices)]).await
}

fn key_of(scope: &Scope, id: &str) -> Vec<Val> {
    vals![&scope.account, scope.mode.as_str(), id].into()
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<InvoiceRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<InvoiceRow>()
    );
    q.one(&sql, &key_of(scope, id)).await
}

/// Whether the account has an invoice in this mode.
pub async fn any(q: &mut impl Queries, scope: &Scope) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM invoices WHERE account = $1 AND mode = $2 LIMIT 1";
    let found: Option<(String,)> = q
        .one(sql, &vals![&*scope.account, scope.mode.as_str()])
        .await?;
    Ok(found.is_some())
}

/// Those of these invoices that exist, in any order.
pub async fn find_many(
    q: &mut impl Queries,
    ids: &[(&Scope, &str)],
) -> Result<Vec<InvoiceRow>, StoreError> {
    let keys: Vec<Vec<Val>> = ids.iter().map(|(scope, id)| key_of(scope, id)).collect();
    let by_id = LookUp::records::<InvoiceRow>(KEY, PerKey::One);
    q.look_up(&by_id, &keys).await
}

/// Ids of the customer's top-ups, and of those invoices of its subscriptions that are not closed, or that credit may be returned from
/// because they are overpaid.
pub async fn unsettled_of(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT id FROM invoices WHERE customer = $3 AND subscription IS NULL AND account = $1 AND mode = $2 \
         UNION ALL SELECT i.id FROM subscriptions s JOIN subscription_charges c ON c.account = s.account AND c.mode = s.mode \
         AND c.subscription = s.id JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice \
         WHERE s.customer = $3 AND s.account = $1 AND s.mode = $2 \
         AND (i.closed_at IS NULL OR i.status = 'overpaid')";
    let args = vals![&scope.account, scope.mode.as_str(), customer];
    let found: Vec<(String,)> = q.all(sql, &args).await?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// The invoice, locked until the unit of work ends: whoever changes an invoice or its payments holds it.
pub async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<InvoiceRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<InvoiceRow>(),
        tx.for_update()
    );
    tx.one(&sql, &key_of(scope, id)).await
}

/// The same for many, locked in the order of their ids, so that two who lock the same never wait for each other
/// in a circle.
pub async fn lock_many(tx: &mut Tx, ids: &[(&Scope, &str)]) -> Result<Vec<InvoiceRow>, StoreError> {
    locked(tx, ids, PerKey::OneLocked).await
}

/// The same, without those that somebody else holds: for whoever can come back for them.
pub async fn lock_free(tx: &mut Tx, ids: &[(&Scope, &str)]) -> Result<Vec<InvoiceRow>, StoreError> {
    locked(tx, ids, PerKey::OneIfFree).await
}

async fn locked(
    tx: &mut Tx,
    ids: &[(&Scope, &str)],
    rows: PerKey,
) -> Result<Vec<InvoiceRow>, StoreError> {
    let mut ids = ids.to_vec();
    ids.sort_by(|a, b| a.1.cmp(b.1));
    ids.dedup();
    let keys: Vec<Vec<Val>> = ids.iter().map(|(scope, id)| key_of(scope, id)).collect();
    tx.look_up(&LookUp::records::<InvoiceRow>(KEY, rows), &keys)
        .await
}

/// An invoice that waits for a payment.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct WaitingInvoice {
    pub account: String,
    pub mode: String,
    pub id: String,
    pub expires_at: i64,
}

const OVERDUE: &str =
    "SELECT account, mode, id, expires_at FROM invoices WHERE status = 'awaiting_payment'";
const NO_TIMER: &str = "(SELECT t.due_at FROM timers t WHERE t.account = invoices.account AND t.mode = invoices.mode \
     AND t.kind = 'expire_invoice' AND t.subject = invoices.id LIMIT 1) IS NULL";

/// Invoices of any account that still wait although their time was over before, and that no timer will look at.
pub async fn overdue(
    q: &mut impl Queries,
    before: i64,
    at_most: i64,
) -> Result<Vec<WaitingInvoice>, StoreError> {
    let sql = format!("{OVERDUE} AND expires_at < $1 AND {NO_TIMER} ORDER BY expires_at LIMIT $2");
    q.all(&sql, &vals![before, at_most]).await
}

/// The same of one account, whose clock is not the real one. The plus keeps both engines from going through the invoices
/// of all accounts by their time.
pub async fn overdue_of(
    q: &mut impl Queries,
    scope: &Scope,
    before: i64,
    at_most: i64,
) -> Result<Vec<WaitingInvoice>, StoreError> {
    let sql = format!(
        "{OVERDUE} AND account = $1 AND mode = $2 AND +expires_at < $3 AND {NO_TIMER} LIMIT $4"
    );
    let args = vals![&scope.account, scope.mode.as_str(), before, at_most];
    q.all(&sql, &args).await
}

/// What can change about these invoices.
pub fn updates<'r>(
    invoices: impl IntoIterator<Item = &'r InvoiceRow>,
) -> Result<Write, StoreError> {
    Write::update_records(KEY, CHANGING, invoices)
}

pub async fn update(tx: &mut Tx, invoice: &InvoiceRow) -> Result<(), StoreError> {
    tx.write(&updates([invoice])?).await.map(drop)
}

#[derive(Clone, Debug, Default)]
pub struct InvoiceFilter {
    pub status: Option<Status>,
    pub customer_ref: Option<String>,
    /// Made at this moment or later.
    pub from: Option<i64>,
    /// Made before this moment.
    pub to: Option<i64>,
}

/// Ids begin with when they were made, which with real money is when the invoice says, give or take what clocks differ:
/// a list of some days reads those days alone.
fn first_id(scope: &Scope, at: Option<i64>, slack_ms: i64) -> Option<String> {
    let at = at.filter(|_| scope.mode == Mode::Live)?;
    Some(make(IdKind::Invoice, at.saturating_add(slack_ms), 0, 0))
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: InvoiceFilter,
    page: &Page,
) -> Result<Vec<InvoiceRow>, StoreError> {
    let filters = [
        Filter::on("status", filter.status),
        Filter::on("customer_ref", filter.customer_ref),
        Filter::from("created_at", filter.from),
        Filter::to("created_at", filter.to),
        Filter::from("id", first_id(scope, filter.from, -DAY_MS)),
        Filter::to("id", first_id(scope, filter.to, DAY_MS)),
    ];
    newest_first(q, scope, filters, page).await
}

/// How far each of these invoices' streams has come.
pub async fn stream_heads(
    q: &mut impl Queries,
    ids: &[(Scope, String)],
) -> Result<Vec<(String, i64)>, StoreError> {
    let keys: Vec<Vec<Val>> = ids.iter().map(|(scope, id)| key_of(scope, id)).collect();
    let heads = LookUp {
        table: "invoices",
        columns: &["id", "stream_seq"],
        key: KEY,
        rows: PerKey::One,
    };
    q.look_up(&heads, &keys).await
}
