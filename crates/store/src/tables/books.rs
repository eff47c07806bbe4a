//! What reconciliation reads: the rows of a period's invoices, each with what the journal and the chain have of it.

use till_core::invoice::{Status, Summary};
use till_core::ledger::Group;
use till_core::money::Units;
use till_core::payment::{Level, PaymentStatus};
use till_core::refund::{RefundStatus, ReviewReason};
use till_core::scope::Scope;

use crate::sql::packed::{Packed, RECORD, UNIT, text};
use crate::sql::{Record, table};
use crate::{Queries, StoreError, vals};

table! {
    /// An invoice of the period.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BookInvoice in "books" by invoice {
        invoice: String,
        summary: Summary,
        status: Status,
        /// It buys credit.
        is_top_up: bool,
    }
}

table! {
    /// A payment, and the transfer that it is.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BookPayment in "books" by payment {
        invoice: String,
        payment: String,
        asset: String,
        units: Units,
        status: PaymentStatus,
        credit_at: Level,
        network: String,
        simulated: bool,
        credited_at: Option<i64>,
        gone_at: Option<i64>,
        /// What was observed; none for what was taken in before transfers were kept, or went to somebody else since.
        seen_asset: Option<String>,
        seen_units: Option<Units>,
        seen_height: Option<i64>,
        seen_gone: Option<bool>,
    }
}

table! {
    /// What a line of the journal moves.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BookLine in "journal" by payment {
        payment: String,
        asset: String,
        debit: Group,
        credit: Group,
        amount: Units,
    }
}

table! {
    /// A refund that counts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BookRefund in "refunds" by id {
        id: String,
        invoice: String,
        asset: String,
        units: Units,
        status: RefundStatus,
        created_at: i64,
        payout_network: Option<String>,
        payout_address: Option<String>,
        tx_hash: Option<String>,
        cancelled_at: Option<i64>,
        sent_despite: Option<ReviewReason>,
        paid_otherwise: bool,
        /// Whether the price was paid beside it when it was made.
        was_covered: bool,
        /// The payments that it is drawn from, and how much of each.
        sources: Vec<(String, Units)>,
    }
}

table! {
    /// How far a watched network is settled.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct BookTips in "networks" by network {
        network: String,
        safe: Option<i64>,
        last_final: Option<i64>,
    }
}

/// Some invoices of a period, by their ids, and what there is about them, in no order. Payments, lines and refunds may be of others that
/// lie between them.
#[derive(Debug, Default)]
pub struct Books {
    pub invoices: Vec<BookInvoice>,
    pub payments: Vec<BookPayment>,
    pub lines: Vec<BookLine>,
    pub refunds: Vec<BookRefund>,
    pub tips: Vec<BookTips>,
}

/// The last of an account's next invoices, by their ids; none when there are no more.
pub async fn last_of_next(
    q: &mut impl Queries,
    scope: &Scope,
    after: &str,
    at_most: i64,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT MAX(id) FROM (SELECT id FROM invoices WHERE account = $1 AND mode = $2 AND id > $3 \
         ORDER BY id LIMIT $4) AS next";
    let args = vals![&scope.account, scope.mode.as_str(), after, at_most];
    let found: Option<(Option<String>,)> = q.one(sql, &args).await?;
    Ok(found.and_then(|(last,)| last))
}

/// The invoices of a period after one and up to another, by their ids, with everything about them, as of one moment. Each
/// table is read by itself, from one place of an index to another: looked up by invoice and payment, they cost three times as much.
pub async fn of_period(
    q: &mut impl Queries,
    scope: &Scope,
    (from, to): (i64, i64),
    (after, up_to): (&str, &str),
) -> Result<Books, StoreError> {
    let sql = "SELECT \
         (SELECT string_agg(concat_ws($7, i.id, COALESCE(i.summary, ''), i.status, \
         CASE WHEN i.customer IS NOT NULL AND i.subscription IS NULL THEN 1 ELSE 0 END), $8) FROM invoices AS i \
         WHERE i.account = $1 AND i.mode = $2 AND i.id > $3 AND i.id <= $4 AND i.created_at >= $5 AND i.created_at < $6), \
         (SELECT string_agg(concat_ws($7, p.invoice, p.id, p.asset, p.units, p.status, p.credit_at, p.network, p.simulated, \
         COALESCE(p.credited_at, -1), COALESCE(p.gone_at, -1), \
         COALESCE(CASE WHEN t.payment = p.id THEN t.asset END, ''), COALESCE(t.arrived, t.units, ''), \
         COALESCE(t.height, -1), COALESCE(t.gone, -1)), $8) FROM payments AS p \
         LEFT JOIN transfers AS t ON t.network = p.network AND t.tx_hash = p.tx_hash AND t.place = p.place AND t.recipient = p.recipient \
         WHERE p.account = $1 AND p.mode = $2 AND p.invoice > $3 AND p.invoice <= $4), \
         (SELECT string_agg(concat_ws($7, j.subject, j.asset, j.debit, j.credit, j.amount), $8) FROM journal AS j \
         WHERE j.account = $1 AND j.mode = $2 AND j.invoice > $3 AND j.invoice <= $4), \
         (SELECT string_agg(concat_ws($7, r.id, r.invoice, r.asset, r.units, r.status, r.created_at, \
         COALESCE(r.payout_network, ''), COALESCE(r.payout_address, ''), COALESCE(r.tx_hash, ''), \
         COALESCE(r.cancelled_at, -1), COALESCE(r.sent_despite, ''), r.paid_otherwise, r.was_covered, r.sources), $8) FROM refunds AS r \
         WHERE r.invoice > $3 AND r.invoice <= $4 AND r.account || '' = $1 AND r.mode || '' = $2 \
         AND r.status <> 'cancelled' AND r.lapsed_at IS NULL), \
         (SELECT string_agg(concat_ws($7, n.id, COALESCE(n.safe_height, -1), COALESCE(n.final_height, -1)), $8) FROM networks AS n) \
         WHERE EXISTS (SELECT 1 FROM invoices AS i \
         WHERE i.account = $1 AND i.mode = $2 AND i.id > $3 AND i.id <= $4 AND i.created_at >= $5 AND i.created_at < $6)";
    type Text = Option<String>;
    type Texts = (Text, Text, Text, Text, Text);
    let (account, mode) = (&scope.account, scope.mode.as_str());
    let (unit, record) = (text(UNIT), text(RECORD));
    let args = vals![account, mode, after, up_to, from, to, unit, record];
    let Some((invoices, payments, lines, refunds, tips)) = q.one::<Texts>(sql, &args).await? else {
        return Ok(Books::default());
    };
    let mut books = Books {
        invoices: unpacked(invoices)?,
        payments: unpacked(payments)?,
        lines: unpacked(lines)?,
        refunds: unpacked(refunds)?,
        tips: unpacked(tips)?,
    };
    books.invoices.sort_by(|a, b| a.invoice.cmp(&b.invoice));
    books
        .refunds
        .sort_by(|a, b| (&a.invoice, &a.id).cmp(&(&b.invoice, &b.id)));
    Ok(books)
}

fn unpacked<R: Record>(rows: Option<String>) -> Result<Vec<R>, StoreError> {
    let rows = rows.as_deref().map(|rows| rows.split(RECORD));
    let (rows, mut packed) = (rows.into_iter().flatten(), Packed::default());
    rows.map(|row| Ok(R::read(packed.of(row))?)).collect()
}

/// A line of the journal about a payment that there is not.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Orphan {
    pub entry: String,
    pub invoice: Option<String>,
    pub subject: String,
    pub asset: String,
    pub debit: String,
    pub credit: String,
    pub amount: String,
}

/// Lines posted in a period about payments that there are not.
pub async fn orphans(
    q: &mut impl Queries,
    scope: &Scope,
    (from, to): (i64, i64),
    at_most: i64,
) -> Result<Vec<Orphan>, StoreError> {
    let sql = "SELECT j.entry, j.invoice, j.subject, j.asset, j.debit, j.credit, j.amount FROM journal AS j \
         WHERE j.account = $1 AND j.mode = $2 AND j.created_at >= $3 AND j.created_at < $4 \
         AND j.subject LIKE 'pay%' AND NOT EXISTS (SELECT 1 FROM payments AS p \
         WHERE p.account = j.account AND p.mode = j.mode AND p.id = j.subject) ORDER BY j.created_at, j.entry, j.line LIMIT $5";
    let args = vals![&scope.account, scope.mode.as_str(), from, to, at_most];
    q.all(sql, &args).await
}
