//! Forgetting what nobody needs any more, a little at a time: each step touches few rows, finds them through an index, and
//! says how far it came.

use till_core::scope::Scope;

use crate::{Queries, StoreError, Tx, vals};

/// Every account and mode.
pub async fn scopes(q: &mut impl Queries) -> Result<Vec<(String, String)>, StoreError> {
    q.all(
        "SELECT account, mode FROM merchants ORDER BY account, mode",
        &[],
    )
    .await
}

/// Attempts older than the id `before` that nothing follows any more.
pub async fn deliveries(
    tx: &mut Tx,
    scope: &Scope,
    before: &str,
    at_most: i64,
) -> Result<u64, StoreError> {
    let sql = "DELETE FROM deliveries WHERE account = $1 AND mode = $2 AND id IN \
         (SELECT id FROM deliveries WHERE account = $1 AND mode = $2 AND id < $3 AND due_at IS NULL ORDER BY id LIMIT $4)";
    let args = vals![&*scope.account, scope.mode.as_str(), before, at_most];
    tx.run(sql, &args).await
}

/// How far one deletion went, and how many rows it deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionStep<T> {
    /// None when there is nothing further on.
    pub reached: Option<T>,
    pub deleted: u64,
}

/// Events between two ids, without those that a delivery still carries or whose invoice is open: its stream begins with
/// the first of them.
pub async fn events(
    tx: &mut Tx,
    after: &str,
    before: &str,
    at_most: i64,
) -> Result<DeletionStep<String>, StoreError> {
    let sql = "SELECT id FROM events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3";
    let looked: Vec<(String,)> = tx.all(sql, &vals![after, before, at_most]).await?;
    let Some((reached,)) = looked.into_iter().last() else {
        return Ok(DeletionStep {
            reached: None,
            deleted: 0,
        });
    };
    let sql = "DELETE FROM events WHERE id > $1 AND id <= $2 \
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event = events.id) \
         AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.account = events.account AND i.mode = events.mode \
         AND i.id = events.subject AND i.closed_at IS NULL)";
    let deleted = tx.run(sql, &vals![after, &reached]).await?;
    Ok(DeletionStep {
        reached: Some(reached),
        deleted,
    })
}

/// Leases of addresses that have been another's since: a transfer that comes late belongs to whoever had the address last.
pub async fn leases(
    tx: &mut Tx,
    after: i64,
    before: i64,
    at_most: i64,
) -> Result<DeletionStep<i64>, StoreError> {
    let sql = "SELECT free_at FROM leases WHERE freed = 1 AND free_at > $1 AND free_at < $2 ORDER BY free_at LIMIT $3";
    let looked: Vec<(i64,)> = tx.all(sql, &vals![after, before, at_most]).await?;
    let Some((reached,)) = looked.into_iter().last() else {
        return Ok(DeletionStep {
            reached: None,
            deleted: 0,
        });
    };
    let sql = "DELETE FROM leases WHERE freed = 1 AND free_at > $1 AND free_at <= $2 \
         AND EXISTS (SELECT 1 FROM leases l WHERE l.address = leases.address AND l.leased_at > leases.leased_at)";
    let deleted = tx.run(sql, &vals![after, reached]).await?;
    Ok(DeletionStep {
        reached: Some(reached),
        deleted,
    })
}

/// What payers left to be written to about invoices that closed before then, unless something is still to be sent.
pub async fn payer_contacts(tx: &mut Tx, before: i64, at_most: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM notices WHERE id IN (SELECT n.id FROM notices n \
         JOIN invoices i ON i.account = n.account AND i.mode = n.mode AND i.id = n.invoice \
         WHERE n.due_at IS NULL AND i.closed_at < $1 LIMIT $2)";
    tx.run(sql, &vals![before, at_most]).await
}

/// Secrets that have not signed anything since then.
pub async fn secrets(tx: &mut Tx, before: i64, at_most: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM webhook_secrets WHERE (account, mode, serial) IN (SELECT account, mode, serial \
         FROM webhook_secrets WHERE expires_at IS NOT NULL AND expires_at < $1 LIMIT $2)";
    tx.run(sql, &vals![before, at_most]).await
}

/// Who opened invoices of payment links that hold neither a unit nor a Bitcoin address any more.
pub async fn link_openings(tx: &mut Tx, at_most: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM link_openings WHERE (account, mode, link, client, invoice) IN \
         (SELECT o.account, o.mode, o.link, o.client, o.invoice FROM link_openings o \
         JOIN invoices i ON i.account = o.account AND i.mode = o.mode AND i.id = o.invoice \
         WHERE i.link_unit <> 'reserved' AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.account = o.account \
         AND l.mode = o.mode AND l.family = 'bip122' AND l.invoice = o.invoice AND l.freed = 0) LIMIT $1)";
    tx.run(sql, &vals![at_most]).await
}

/// What signing in leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryTable {
    Links,
    Ceremonies,
    Confirmations,
    Attempts,
    AttemptSubjects,
    LinkMails,
    Sessions,
}

impl EntryTable {
    pub const ALL: [EntryTable; 7] = [
        EntryTable::Links,
        EntryTable::Ceremonies,
        EntryTable::Confirmations,
        EntryTable::Attempts,
        EntryTable::AttemptSubjects,
        EntryTable::LinkMails,
        EntryTable::Sessions,
    ];

    pub fn name(self) -> &'static str {
        match self {
            EntryTable::Links => "sign_in_links",
            EntryTable::Ceremonies => "ceremonies",
            EntryTable::Confirmations => "confirmations",
            EntryTable::Attempts => "attempts",
            EntryTable::AttemptSubjects => "attempt_subjects",
            EntryTable::LinkMails => "link_mails",
            EntryTable::Sessions => "sessions",
        }
    }
}

/// Rows of signing in that were over before then.
pub async fn entry(
    tx: &mut Tx,
    table: EntryTable,
    before: i64,
    at_most: i64,
) -> Result<u64, StoreError> {
    let (key, over) = match table {
        EntryTable::Links => ("token_hash", "expires_at"),
        EntryTable::Attempts => ("id", "at"),
        EntryTable::AttemptSubjects => ("subject", "locked_at"),
        EntryTable::Sessions => ("id", "COALESCE(ended_at, expires_at)"),
        _ => ("id", "expires_at"),
    };
    let name = table.name();
    let sql = format!(
        "DELETE FROM {name} WHERE {key} IN (SELECT {key} FROM {name} WHERE {over} < $1 LIMIT $2)"
    );
    tx.run(&sql, &vals![before, at_most]).await
}
