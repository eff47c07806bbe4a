//! Refunds, and the history of each. What counts against an invoice stands beside its payments; whoever changes it
//! holds the invoice.

use till_core::actor::Actor;
use till_core::money::Units;
use till_core::page::Page;
use till_core::refund::{RefundReason, RefundStatus, ReviewReason};
use till_core::scope::Scope;
use till_core::screening::Screening;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, LookUp, PerKey, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct RefundRow in "refunds" by id {
        id: String,
        invoice: String,
        asset: String,
        units: Units,
        reason: Option<RefundReason>,
        status: RefundStatus,
        /// Why somebody has to look at it; only while it is in review.
        review_reason: Option<ReviewReason>,
        /// Which payments it comes from, and how much of each.
        sources: Vec<(String, Units)>,
        /// What of that counts towards the invoice's price no more.
        withdrawn: Vec<(String, Units)>,
        /// The invoice's last payment when that was taken out of what was beyond the price; none where the price was not paid.
        excess_until: Option<String>,
        /// The price was paid beside it when it was made.
        was_covered: bool,
        /// What the payer's token is found by.
        token_hash: Vec<u8>,
        /// The token itself, encrypted, for the merchant to see again.
        token_sealed: Vec<u8>,
        created_at: i64,
        expires_at: i64,
        claimed_at: Option<i64>,
        /// When it was ready to be sent for the first time.
        ready_at: Option<i64>,
        sent_at: Option<i64>,
        cancelled_at: Option<i64>,
        /// When its link expired unclaimed; it counts no more.
        lapsed_at: Option<i64>,
        payout_network: Option<String>,
        payout_address: Option<String>,
        screening: Option<Screening>,
        tx_hash: Option<String>,
        /// Why it was in review when the merchant recorded that it had been paid out before.
        sent_despite: Option<ReviewReason>,
        /// The chain showed that the transaction paid something else, or had none of it for days.
        paid_otherwise: bool,
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
        /// Who made it take this step.
        actor: Actor,
        payout_network: Option<String>,
        payout_address: Option<String>,
        tx_hash: Option<String>,
    }
}

/// What can change about a refund.
const CHANGING: &[&str] = &[
    "status",
    "review_reason",
    "withdrawn",
    "excess_until",
    "claimed_at",
    "ready_at",
    "sent_at",
    "cancelled_at",
    "lapsed_at",
    "payout_network",
    "payout_address",
    "screening",
    "tx_hash",
    "sent_despite",
    "paid_otherwise",
    "steps",
];

impl RefundRow {
    /// Whether it counts against what may be refunded. What was sent always does.
    pub fn counts(&self) -> bool {
        self.sent_at.is_some() || (self.cancelled_at.is_none() && self.lapsed_at.is_none())
    }

    /// When its link closes unless it is used. One that was noted as expired is closed, though a server whose clock
    /// is behind would not think so yet: what it had promised may have been promised to another.
    pub fn closes_at(&self) -> i64 {
        match self.lapsed_at {
            Some(_) => i64::MIN,
            None => self.expires_at,
        }
    }

    fn step(&self, at: i64, actor: &Actor) -> StepRow {
        StepRow {
            scope: self.scope.clone(),
            refund: self.id.clone(),
            step: self.steps,
            status: self.status,
            at,
            actor: actor.clone(),
            payout_network: self.payout_network.clone(),
            payout_address: self.payout_address.clone(),
            tx_hash: self.tx_hash.clone(),
        }
    }
}

const KEY: &[&str] = &["account", "mode", "id"];

/// New refunds, each with the first step of its history.
pub fn rows(refunds: &[RefundRow], at: i64, actor: &Actor) -> [Write; 2] {
    let steps: Vec<StepRow> = refunds
        .iter()
        .map(|refund| refund.step(at, actor))
        .collect();
    [Write::records(refunds), Write::records(&steps)]
}

/// What changed about refunds, and the step that each of them took. Two that change one at once take the same step,
/// which only one can.
pub fn updates(
    refunds: &mut [RefundRow],
    at: i64,
    actor: &Actor,
) -> Result<[Write; 2], StoreError> {
    for refund in &mut *refunds {
        refund.steps += 1;
    }
    let steps: Vec<StepRow> = refunds
        .iter()
        .map(|refund| refund.step(at, actor))
        .collect();
    let update = Write::update_records(KEY, CHANGING, &*refunds)?;
    Ok([update, Write::records(&steps)])
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

/// The refunds of these invoices, in the order in which they were made.
pub async fn of_invoices(
    q: &mut impl Queries,
    invoices: &[(&Scope, &str)],
) -> Result<Vec<RefundRow>, StoreError> {
    let keys: Vec<Vec<Val>> = invoices
        .iter()
        .map(|(scope, invoice)| vals![&scope.account, scope.mode.as_str(), *invoice].into())
        .collect();
    let by_invoice = LookUp::records::<RefundRow>(&["account", "mode", "invoice"], PerKey::Many);
    let mut found: Vec<RefundRow> = q.look_up(&by_invoice, &keys).await?;
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// The chain has shown that the transaction did not pay the refund. Whoever writes this holds the refund's invoice.
pub async fn set_paid_otherwise(tx: &mut Tx, scope: &Scope, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE refunds SET paid_otherwise = $4 WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![&scope.account, scope.mode.as_str(), id, true];
    tx.run(sql, &args).await.map(drop)
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

/// Those whose addresses could not be held against the lists when they were claimed: one of each account and mode, another one at
/// each `turn`. Not scoped: whoever asks the lists asks for all.
pub async fn unscreened(
    q: &mut impl Queries,
    turn: i64,
    at_most: i64,
) -> Result<Vec<RefundRow>, StoreError> {
    let sql = format!(
        "{} WHERE (account, mode, id) IN (SELECT account, mode, id FROM (SELECT account, mode, id, \
         (ROW_NUMBER() OVER (PARTITION BY account, mode ORDER BY id) + $1) % COUNT(*) OVER (PARTITION BY account, mode) AS place \
         FROM refunds WHERE status = 'in_review' AND review_reason = 'screening_unavailable') AS waiting WHERE place = 0) LIMIT $2",
        select::<RefundRow>()
    );
    q.all(&sql, &vals![turn, at_most]).await
}

/// Those that are ready to be sent, in the order of their accounts, after `after`. Not scoped: a new edition of a list is about all.
pub async fn ready(
    q: &mut impl Queries,
    after: Option<&RefundRow>,
    at_most: i64,
) -> Result<Vec<RefundRow>, StoreError> {
    let sql = format!(
        "{} WHERE status = 'ready_to_send' AND (account, mode, id) > ($1, $2, $3) ORDER BY account, mode, id LIMIT $4",
        select::<RefundRow>()
    );
    let (account, mode, id) = after.map_or(("", "", ""), |row| {
        (&*row.scope.account, row.scope.mode.as_str(), &*row.id)
    });
    q.all(&sql, &vals![account, mode, id, at_most]).await
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
