//! Sums of the journal by day. Whoever posts adds a row of its own, so that nobody waits for anybody; folding makes one
//! of many. They are written with the entries that they are sums of, and come to the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_core::ledger::Group;
use till_core::money::Units;
use till_core::scope::Scope;
use till_core::time::day_of;

use super::digests;
use super::journal::{self, NewEntry};
use crate::sql::{Conflict, LookUp, PerKey, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct SumRow in "journal_sums" by entry {
        /// Days since 1970.
        day: i64,
        asset: String,
        debit: Group,
        credit: Group,
        /// The entry that it began with; empty for what was folded.
        entry: String,
        amount: Units,
    }
}

const KEY: &[&str] = &[
    "account", "mode", "day", "asset", "debit", "credit", "entry",
];
const KEY_TEXT: &str = "account, mode, day, asset, debit, credit, entry";

/// Account, mode, day, asset and the groups that are debited and credited.
type Kind = (
    Arc<str>,
    &'static str,
    i64,
    String,
    &'static str,
    &'static str,
);

fn kind(row: &SumRow) -> Kind {
    (
        row.scope.account.clone(),
        row.scope.mode.as_str(),
        row.day,
        row.asset.clone(),
        row.debit.as_str(),
        row.credit.as_str(),
    )
}

/// Adds a row to the one of its key, and says whether that fits.
fn add<K: Ord>(sums: &mut BTreeMap<K, SumRow>, key: K, row: SumRow) -> bool {
    let Some(sum) = sums.get_mut(&key) else {
        sums.insert(key, row);
        return true;
    };
    let total = sum.amount.0.checked_add(row.amount.0);
    sum.amount = total.map_or(sum.amount, Units);
    total.is_some()
}

/// Entries of the journal, what they add to the sums, and that no digest has them yet: none is written without the others.
pub fn posted(entries: &[NewEntry]) -> Result<[Write; 3], StoreError> {
    Ok([
        journal::rows(entries),
        rows(entries)?,
        digests::undigested(entries),
    ])
}

fn rows(entries: &[NewEntry]) -> Result<Write, StoreError> {
    let mut sums: BTreeMap<Kind, SumRow> = BTreeMap::new();
    for entry in entries {
        for line in &entry.lines {
            let row = SumRow {
                scope: entry.scope.clone(),
                day: day_of(entry.created_at),
                asset: entry.asset.clone(),
                debit: line.debit,
                credit: line.credit,
                entry: entry.id.clone(),
                amount: line.amount,
            };
            if !add(&mut sums, kind(&row), row) {
                let beyond = "a sum of what is posted at once is beyond all bounds";
                return Err(StoreError::Other(beyond.into()));
            }
        }
    }
    Ok(Write::records(sums.values()))
}

/// The sums of the days before one, some at a time, after the one that was read last.
pub async fn before(
    q: &mut impl Queries,
    scope: &Scope,
    day: i64,
    after: Option<&SumRow>,
    at_most: i64,
) -> Result<Vec<SumRow>, StoreError> {
    let (account, mode) = (&scope.account, scope.mode.as_str());
    let Some(last) = after else {
        let sql = format!(
            "{} WHERE account = $1 AND mode = $2 AND day < $3 ORDER BY {KEY_TEXT} LIMIT $4",
            select::<SumRow>()
        );
        return q.all(&sql, &vals![account, mode, day, at_most]).await;
    };
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND day < $3 AND (day, asset, debit, credit, entry) > ($4, $5, $6, $7, $8) \
         ORDER BY {KEY_TEXT} LIMIT $9",
        select::<SumRow>()
    );
    let args = vals![
        account,
        mode,
        day,
        last.day,
        &last.asset,
        last.debit.as_str(),
        last.credit.as_str(),
        &last.entry,
        at_most
    ];
    q.all(&sql, &args).await
}

/// Folds some rows of all accounts into the sums of their days, and says how many there were.
pub async fn fold(tx: &mut Tx, at_most: i64) -> Result<usize, StoreError> {
    // One at a time: two that fold the same day would each miss what the other adds.
    let sql = format!("SELECT id FROM journal_folding{}", tx.for_update());
    let _: Vec<(i64,)> = tx.all(&sql, &[]).await?;
    let sql = format!(
        "{} WHERE entry <> '' ORDER BY account, mode, day LIMIT $1",
        select::<SumRow>()
    );
    let mut found: Vec<SumRow> = tx.all(&sql, &vals![at_most]).await?;
    if found.is_empty() {
        return Ok(0);
    }
    found.sort_by_cached_key(kind);
    let mut sums: BTreeMap<(Kind, String), SumRow> = BTreeMap::new();
    let mut add_as = |row: &SumRow, entry: &str, amount| {
        let row = SumRow {
            entry: entry.to_owned(),
            amount,
            ..row.clone()
        };
        add(&mut sums, (kind(&row), row.entry.clone()), row)
    };
    let mut keys: Vec<Vec<Val>> = Vec::new();
    for of_kind in found.chunk_by(|a, b| kind(a) == kind(b)) {
        keys.extend(of_kind.first().map(|row| key(&of_day(row))));
    }
    let by_key = LookUp::records::<SumRow>(KEY, PerKey::One);
    let known: Vec<SumRow> = tx.look_up(&by_key, &keys).await?;
    for row in &known {
        add_as(row, "", row.amount);
    }
    for of_kind in found.chunk_by(|a, b| kind(a) == kind(b)) {
        // What does not fit into its day's sum makes rows beside it, so that nobody stumbles over it for ever.
        let mut beside = "";
        for row in of_kind {
            let fits = add_as(row, "", row.amount);
            if !fits && (beside.is_empty() || !add_as(row, beside, row.amount)) {
                beside = &row.entry;
                add_as(row, beside, row.amount);
            }
        }
    }
    let folded = Write::delete("journal_sums", KEY, found.iter().map(key).collect());
    let columns = &["amount"];
    let sums = Write::records(sums.values()).on_conflict(Conflict::Replace {
        key: KEY_TEXT,
        columns,
    });
    tx.write(&folded).await?;
    tx.write(&sums).await?;
    Ok(found.len())
}

fn of_day(row: &SumRow) -> SumRow {
    SumRow {
        entry: String::new(),
        ..row.clone()
    }
}

fn key(row: &SumRow) -> Vec<Val> {
    vals![
        &row.scope.account,
        row.scope.mode.as_str(),
        row.day,
        &row.asset,
        row.debit.as_str(),
        row.credit.as_str(),
        &row.entry
    ]
    .into()
}
