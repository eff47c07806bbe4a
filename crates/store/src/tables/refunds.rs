//! Refunds, and the history of each. What counts against an invoice stands beside its payments; whoever changes it
//! holds the invoice.

use till_core::money::Units;
use till_core::page::Page;
use till_core::refund::{RefundReason, RefundStatus};
use till_core::scope::Scope;
use till_core::screening::Screening;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct RefundRow in "refunds" by id {
        id: String,
        invoice: String,
        asset: String,
        units: Units,
        reason: Option<RefundReason>,
        status: RefundStatus,
        /// Which payments it comes from, and how much of each.
        sources: Vec<(String, Units)>,
        /// What of that counts towards the invoice's price no more.
        withdrawn: Vec<(String, Units)>,
        /// What the payer's token is found by.
        token_hash: Vec<u8>,
        /// The token itself, encrypted, for the merchant to see again.
        token_sealed: Vec<u8>,
        created_at: i64,
        expires_at: i64,
        claimed_at: Option<i64>,
        sent_at: Option<i64>,
        cancelled_at: Option<i64>,
        /// When its link expired unclaimed; it counts no more.
        lapsed_at: Option<i64>,
        payout_network: Option<String>,
        payout_address: Option<String>,
        screening: Option<Screening>,
        tx_hash: Option<String>,
        /// How many steps its history has.
        steps: i64,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct StepRow in "refund_steps" by refund {
        refund: String,
        step: i64,
        status: RefundStatus,
        at: i64,
        payout_network: Option<String>,
        payout_address: Option<String>,
        tx_hash: Option<String>,
    }
}

/// What can change about a refund.
const CHANGING: &[&str] = &[
    "status",
    "claimed_at",
    "sent_at",
    "cancelled_at",
    "lapsed_at",
    "payout_network",
    "payout_address",
    "screening",
    "tx_hash",
    "steps",
];

impl RefundRow {
    /// Whether it counts against what may be refunded.
    pub fn counts(&self) -> bool {
        self.status != RefundStatus::Cancelled && self.lapsed_at.is_none()
    }

    /// When its link closes unless it is used. One that was noted as expired is closed, though a server whose clock
    /// is behind would not think so yet: what it had promised may have been promised to another.
    pub fn closes_at(&self) -> i64 {
        match self.lapsed_at {
            Some(_) => i64::MIN,
            None => self.expires_at,
        }
    }

    fn step(&self, at: i64) -> StepRow {
        StepRow {
            scope: self.scope.clone(),
            refund: self.id.clone(),
            step: self.steps,
            status: self.status,
            at,
            payout_network: self.payout_network.clone(),
            payout_address: self.payout_address.clone(),
            tx_hash: self.tx_hash.clone(),
        }
    }
}

/// A new refund and the first step of its history.
pub async fn insert(tx: &mut Tx, refund: &RefundRow, at: i64) -> Result<(), StoreError> {
    let step = refund.step(at);
    tx.write_all(&[Write::records([refund]), Write::records([&step])])
        .await
}

/// What changed about a refund, and the step that it was. Two that change it at once take the same step, which
/// only one can.
pub async fn update(tx: &mut Tx, refund: &mut RefundRow, at: i64) -> Result<(), StoreError> {
    refund.steps += 1;
    let key = ["account", "mode", "id"];
    let update = Write::update_records(&key, CHANGING, [&*refund])?;
    let step = refund.step(at);
    tx.write_all(&[update, Write::records([&step])]).await
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<RefundRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<RefundRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// Not scoped: the token is all that a payer has, and says whose it is.
pub async fn by_token(
    q: &mut impl Queries,
    token_hash: &[u8],
) -> Result<Option<RefundRow>, StoreError> {
    let sql = format!("{} WHERE token_hash = $1", select::<RefundRow>());
    q.one(&sql, &vals![token_hash]).await
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<RefundRow>, StoreError> {
    let sql = format!(
        "{} WHERE invoice = $3 AND account = $1 AND mode = $2 ORDER BY id",
        select::<RefundRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), invoice])
        .await
}

/// Whether another refund names this transaction on this network.
pub async fn is_sent_by(
    q: &mut impl Queries,
    scope: &Scope,
    network: &str,
    tx_hash: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM refunds WHERE account = $1 AND mode = $2 AND payout_network = $3 AND tx_hash = $4";
    let args = vals![&scope.account, scope.mode.as_str(), network, tx_hash];
    let found: Option<(String,)> = q.one(sql, &args).await?;
    Ok(found.is_some())
}

#[derive(Clone, Debug, Default)]
pub struct RefundFilter {
    pub invoice: Option<String>,
    pub status: Option<RefundStatus>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: RefundFilter,
    page: &Page,
) -> Result<Vec<RefundRow>, StoreError> {
    let filters = [
        Filter::on("invoice", filter.invoice),
        Filter::on("status", filter.status),
    ];
    newest_first(q, scope, filters, page).await
}

/// A refund's history, oldest first.
pub async fn history(
    q: &mut impl Queries,
    scope: &Scope,
    refund: &str,
) -> Result<Vec<StepRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND refund = $3 ORDER BY step",
        select::<StepRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), refund])
        .await
}
