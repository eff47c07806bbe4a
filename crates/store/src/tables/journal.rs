//! The journal: appended to, never changed.

use till_core::ledger::{EntryKind, Line};
use till_core::scope::Scope;

use crate::{Queries, StoreError, Val, Write, vals};

#[derive(Clone, Debug)]
pub struct NewEntry {
    pub id: String,
    pub scope: Scope,
    pub kind: EntryKind,
    /// The invoice whose money it moves, if it is one's.
    pub invoice: Option<String>,
    /// What was moved: a payment, and others to come. Its entries are numbered by `step`, so that one cannot be
    /// posted twice.
    pub subject: String,
    pub step: i64,
    pub reverses: Option<String>,
    pub asset: String,
    pub lines: Vec<Line>,
    pub created_at: i64,
}

const COLUMNS: &[&str] = &[
    "entry",
    "line",
    "account",
    "mode",
    "kind",
    "invoice",
    "subject",
    "step",
    "reverses",
    "asset",
    "debit",
    "credit",
    "amount",
    "created_at",
];

pub(super) fn rows(entries: &[NewEntry]) -> Write {
    let mut rows: Vec<Vec<Val>> = Vec::new();
    for entry in entries {
        for (number, line) in (0i64..).zip(&entry.lines) {
            rows.push(
                vals![
                    &entry.id,
                    number,
                    &entry.scope.account,
                    entry.scope.mode.as_str(),
                    entry.kind.as_str(),
                    entry.invoice.as_ref(),
                    &entry.subject,
                    entry.step,
                    entry.reverses.as_ref(),
                    &entry.asset,
                    line.debit.as_str(),
                    line.credit.as_str(),
                    line.amount.0.to_string(),
                    entry.created_at,
                ]
                .into(),
            );
        }
    }
    Write::insert("journal", COLUMNS, rows)
}

/// The entry that last moved a subject.
pub async fn last_entry(
    q: &mut impl Queries,
    scope: &Scope,
    subject: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT entry FROM journal WHERE account = $1 AND mode = $2 AND subject = $3 ORDER BY step DESC LIMIT 1";
    let found: Option<(String,)> = q
        .one(sql, &vals![&scope.account, scope.mode.as_str(), subject])
        .await?;
    Ok(found.map(|(entry,)| entry))
}

/// How often a payment of the customer left the chain after it was received, or came back to it.
pub async fn moves(q: &mut impl Queries, scope: &Scope, customer: &str) -> Result<i64, StoreError> {
    let sql = "SELECT CAST(count(*) AS BIGINT) FROM journal WHERE account = $1 AND mode = $2 \
         AND (kind = 'reversal' OR (kind = 'receipt' AND step > 1)) AND invoice IN ( \
         SELECT id FROM invoices WHERE customer = $3 AND subscription IS NULL AND account = $1 AND mode = $2 UNION \
         SELECT c.invoice FROM subscription_charges c JOIN subscriptions s ON s.account = c.account AND s.mode = c.mode \
         AND s.id = c.subscription WHERE s.customer = $3 AND s.account = $1 AND s.mode = $2 AND c.invoice IS NOT NULL)";
    let args = vals![&scope.account, scope.mode.as_str(), customer];
    let found: Option<(i64,)> = q.one(sql, &args).await?;
    Ok(found.map_or(0, |(count,)| count))
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct JournalRow {
    pub entry: String,
    pub kind: String,
    pub invoice: Option<String>,
    pub subject: String,
    pub step: i64,
    pub reverses: Option<String>,
    pub asset: String,
    pub debit: String,
    pub credit: String,
    pub amount: String,
}

/// Everything in one account's books, in the order it was written.
pub async fn all(q: &mut impl Queries, scope: &Scope) -> Result<Vec<JournalRow>, StoreError> {
    let sql = "SELECT entry, kind, invoice, subject, step, reverses, asset, debit, credit, amount FROM journal \
         WHERE account = $1 AND mode = $2 ORDER BY entry, line";
    q.all(sql, &vals![&scope.account, scope.mode.as_str()])
        .await
}

/// A line of the journal, as balances need it.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PostedLine {
    pub entry: String,
    pub line: i64,
    pub asset: String,
    pub debit: String,
    pub credit: String,
    pub amount: String,
    pub created_at: i64,
}

/// What was posted from one moment until before another, in the order of time, after the line that was read last.
pub async fn posted_between(
    q: &mut impl Queries,
    scope: &Scope,
    (from, before): (i64, i64),
    after: Option<&PostedLine>,
    at_most: i64,
) -> Result<Vec<PostedLine>, StoreError> {
    let (at, entry, line) = after.map_or((from, "", 0), |last| {
        (last.created_at, last.entry.as_str(), last.line)
    });
    let sql = "SELECT entry, line, asset, debit, credit, amount, created_at FROM journal \
         WHERE account = $1 AND mode = $2 AND created_at < $3 AND created_at >= $4 \
         AND (created_at, entry, line) > ($4, $5, $6) ORDER BY created_at, entry, line LIMIT $7";
    let args = vals![
        &scope.account,
        scope.mode.as_str(),
        before,
        at,
        entry,
        line,
        at_most
    ];
    q.all(sql, &args).await
}
