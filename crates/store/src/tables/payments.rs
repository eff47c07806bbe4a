//! Payments: the facts about transfers that belong to invoices, and what follows from them.

use till_core::ledger::{Position, TakenFromPayment};
use till_core::money::Units;
use till_core::payment::{AttributedBy, Level, Payment, PaymentStatus, Verdict};
use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, LookUp, PerKey, select, table};
use crate::{Page, Queries, StoreError, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct PaymentRow in "payments" by id {
        id: String,
        invoice: String,
        status: PaymentStatus,
        level: Level,
        first_level: Level,
        credit_at: Level,
        verdict: Option<Verdict>,
        asset: String,
        network: String,
        units: Units,
        tx_hash: String,
        place: i64,
        block_number: Option<i64>,
        block_hash: Option<String>,
        block_time: Option<i64>,
        /// Whose it was before; empty where nobody is known.
        senders: Vec<String>,
        recipient: String,
        attributed_by: AttributedBy,
        simulated: bool,
        first_seen_at: i64,
        /// Its account's test clock was moved when it was first seen: what a block's clock says tells nothing then.
        by_sight: bool,
        credited_at: Option<i64>,
        /// When it left the chain; none while it is there.
        gone_at: Option<i64>,
        /// Numbers the credited payments of its invoice in the order in which they were credited.
        credit_turn: Option<u32>,
        /// Where its units stand in the journal.
        position: Position,
        /// How many entries of the journal brought them there.
        entries: i64,
        suffix: Units,
        /// What refunds promised of it, and what they sent.
        refunds_due: Units,
        refunds_sent: Units,
        /// What of these counts towards the price no more.
        withdrawn: Units,
        /// What of that was sent.
        withdrawn_sent: Units,
        /// What of its prepaid credit was set aside or used.
        credit_used: Units,
        /// Less arrived than its log says: a person must look.
        short: bool,
        /// Its block was final and was replaced, and no operator has looked yet.
        disputed: bool,
        /// What registers on the chain said of its senders when it was seen.
        registers: Option<String>,
    }
}

/// What can change: the facts on the chain, the verdict, and what follows from them.
const CHANGING: &[&str] = &[
    "first_seen_at",
    "status",
    "level",
    "verdict",
    "asset",
    "units",
    "short",
    "disputed",
    "registers",
    "senders",
    "block_number",
    "block_hash",
    "block_time",
    "credited_at",
    "gone_at",
    "credit_turn",
    "position",
    "entries",
    "refunds_due",
    "refunds_sent",
    "withdrawn",
    "withdrawn_sent",
    "credit_used",
];

const KEY: &[&str] = &["account", "mode", "id"];

impl PaymentRow {
    /// The facts, without what was worked out from them, and without those that stand with refunds.
    pub fn fact(&self) -> Payment {
        Payment {
            id: self.id.clone(),
            asset: self.asset.clone(),
            units: self.units,
            suffix: self.suffix,
            level: self.level,
            first_level: self.first_level,
            credit_at: self.credit_at,
            first_seen_at: self.first_seen_at,
            block_time: self.block_time.filter(|_| !self.by_sight),
            verdict: self.verdict,
            gone_at: self.gone_at,
            credited: self.credit_turn,
            taken: TakenFromPayment {
                refunds_due: self.refunds_due,
                refunds_sent: self.refunds_sent,
                credit_used: self.credit_used,
                withdrawn: self.withdrawn,
                withdrawn_sent: self.withdrawn_sent,
            },
            excess_taken: Vec::new(),
        }
    }
}

pub fn rows<'r>(payments: impl IntoIterator<Item = &'r PaymentRow>) -> Write {
    Write::records(payments)
}

pub fn updates<'r>(
    payments: impl IntoIterator<Item = &'r PaymentRow>,
) -> Result<Write, StoreError> {
    Write::update_records(KEY, CHANGING, payments)
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<PaymentRow>, StoreError> {
    of_invoices(q, &[(scope, invoice)]).await
}

/// The payments of these invoices, in the order in which they were first seen.
pub async fn of_invoices(
    q: &mut impl Queries,
    invoices: &[(&Scope, &str)],
) -> Result<Vec<PaymentRow>, StoreError> {
    let keys: Vec<Vec<Val>> = invoices
        .iter()
        .map(|(scope, invoice)| vals![&scope.account, scope.mode.as_str(), *invoice].into())
        .collect();
    let by_invoice = LookUp::records::<PaymentRow>(&["account", "mode", "invoice"], PerKey::Many);
    let mut found: Vec<PaymentRow> = q.look_up(&by_invoice, &keys).await?;
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<PaymentRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<PaymentRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// The payments that transfers already are or were, whoever's they are: what attribution found first is not asked again.
/// A transfer is named by its network, transaction and place in it. Where it went to several, one after the other, each of
/// them has a payment, of which one at most is there.
pub async fn by_identity(
    q: &mut impl Queries,
    transfers: &[(&str, &str, i64)],
) -> Result<Vec<PaymentRow>, StoreError> {
    let keys: Vec<Vec<Val>> = transfers
        .iter()
        .map(|(network, tx_hash, place)| vals![*network, *tx_hash, *place].into())
        .collect();
    let by_identity = LookUp::records::<PaymentRow>(&["network", "tx_hash", "place"], PerKey::Many);
    q.look_up(&by_identity, &keys).await
}

/// Whether this transaction paid any invoice of the account.
pub async fn is_paid_by(
    q: &mut impl Queries,
    scope: &Scope,
    network: &str,
    tx_hash: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM payments WHERE network = $3 AND tx_hash = $4 AND account = $1 AND mode = $2 LIMIT 1";
    let args = vals![&scope.account, scope.mode.as_str(), network, tx_hash];
    let found: Option<(String,)> = q.one(sql, &args).await?;
    Ok(found.is_some())
}

/// The payments of a customer's top-ups of which credit may be left, the first first. Found by their invoices:
/// `|| ''` keeps both engines from going through all payments of the account.
pub async fn of_top_ups(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
) -> Result<Vec<PaymentRow>, StoreError> {
    let sql = format!(
        "{} WHERE account || '' = $1 AND mode || '' = $2 AND status || '' = 'credited' AND credit_used <> units AND invoice IN \
         (SELECT id FROM invoices WHERE customer = $3 AND subscription IS NULL AND account = $1 AND mode = $2) \
         ORDER BY credited_at, id",
        select::<PaymentRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), customer])
        .await
}

#[derive(Clone, Debug, Default)]
pub struct PaymentFilter {
    pub invoice: Option<String>,
    pub status: Option<PaymentStatus>,
    pub asset: Option<String>,
    pub tx_hash: Option<String>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: PaymentFilter,
    page: &Page,
) -> Result<Vec<PaymentRow>, StoreError> {
    let filters = [
        Filter::on("invoice", filter.invoice),
        Filter::on("status", filter.status),
        Filter::on("asset", filter.asset),
        Filter::on("tx_hash", filter.tx_hash),
    ];
    newest_first(q, scope, filters, page).await
}
