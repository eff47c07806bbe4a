//! Signed digests of the journal, and which entries each of them covers.
//!
//! Whoever posts notes that no digest has the entry yet. A digest is made in short units of work: its entries are taken from
//! that list some at a time, then it is closed, and what it covers is settled: the entries of its days that are neither on the
//! list nor late, and those that are late for it. Only then are they read.

use till_core::scope::Scope;
use till_core::time::{DAY_MS, day_of};

use super::journal::NewEntry;
use crate::sql::listing::newest_first;
use crate::sql::{Conflict, select, table};
use crate::{Page, Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct DigestRow in "ledger_digests" by id {
        id: String,
        /// Days since 1970.
        day: i64,
        entries: u64,
        first_entry: String,
        last_entry: String,
        root: String,
        previous: String,
        key_id: String,
        signature: String,
        /// Real time.
        created_at: i64,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct UndigestedRow in "undigested_entries" by entry {
        day: i64,
        entry: String,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct LateRow in "late_entries" by entry {
        entry: String,
        digest: String,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct DraftRow in "digest_drafts" by digest {
        /// None while none is being made.
        digest: Option<String>,
        day: Option<i64>,
        closed: bool,
    }
}

/// Which entries a digest covers: those of its days that came in time, and those that are late for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'d> {
    pub digest: &'d str,
    /// The day of the digest before it.
    pub after: Option<i64>,
    pub day: i64,
}

impl Span<'_> {
    /// From the first instant to just before the last.
    fn instants(self) -> (i64, i64) {
        let from = self.after.map_or(i64::MIN, |day| start(day + 1));
        (from, start(self.day + 1))
    }
}

fn start(day: i64) -> i64 {
    day.saturating_mul(DAY_MS)
}

/// That no digest has these entries yet.
pub(super) fn undigested(entries: &[NewEntry]) -> Write {
    let row = |entry: &NewEntry| UndigestedRow {
        scope: entry.scope.clone(),
        day: day_of(entry.created_at),
        entry: entry.id.clone(),
    };
    let rows: Vec<UndigestedRow> = entries.iter().map(row).collect();
    Write::records(&rows)
}

/// The next account and mode, in the order of days, with an entry of a day before this one that no digest has.
pub async fn next_due(
    q: &mut impl Queries,
    before: i64,
    after: Option<&UndigestedRow>,
) -> Result<Option<UndigestedRow>, StoreError> {
    let select = select::<UndigestedRow>();
    let Some(last) = after else {
        let sql = format!("{select} WHERE day < $1 ORDER BY day, account, mode LIMIT 1");
        return q.one(&sql, &vals![before]).await;
    };
    let sql = format!(
        "{select} WHERE day < $1 AND (day, account, mode) > ($2, $3, $4) ORDER BY day, account, mode LIMIT 1"
    );
    let (account, mode) = (&last.scope.account, last.scope.mode.as_str());
    q.one(&sql, &vals![before, last.day, account, mode]).await
}

/// The first day after one, and before another, with an entry that no digest has.
pub async fn undigested_day(
    q: &mut impl Queries,
    scope: &Scope,
    after: i64,
    before: i64,
) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT day FROM undigested_entries WHERE account = $1 AND mode = $2 AND day > $3 AND day < $4 \
         ORDER BY day LIMIT 1";
    let args = vals![&scope.account, scope.mode.as_str(), after, before];
    let found: Option<(i64,)> = q.one(sql, &args).await?;
    Ok(found.map(|(day,)| day))
}

/// The draft of an account and mode, kept from others until the unit of work ends.
pub async fn lock_draft(tx: &mut Tx, scope: &Scope) -> Result<DraftRow, StoreError> {
    let none = DraftRow {
        scope: scope.clone(),
        digest: None,
        day: None,
        closed: false,
    };
    let insert = Write::records([&none]).on_conflict(Conflict::Ignore);
    tx.write(&insert).await?;
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2{}",
        select::<DraftRow>(),
        tx.for_update()
    );
    let args = vals![&scope.account, scope.mode.as_str()];
    Ok(tx.one(&sql, &args).await?.unwrap_or(none))
}

pub async fn set_draft(tx: &mut Tx, draft: &DraftRow) -> Result<(), StoreError> {
    let columns = &["digest", "day", "closed"];
    let update = Write::update_records(&["account", "mode"], columns, [draft])?;
    tx.write(&update).await.map(drop)
}

/// Takes some entries from the list for a digest, and says how many there were. Those of days that have a digest are late.
pub async fn take(
    tx: &mut Tx,
    scope: &Scope,
    span: &Span<'_>,
    at_most: i64,
) -> Result<usize, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND day <= $3 ORDER BY day, entry LIMIT $4",
        select::<UndigestedRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), span.day, at_most];
    let found: Vec<UndigestedRow> = tx.all(&sql, &args).await?;
    let is_late = |row: &&UndigestedRow| span.after.is_some_and(|after| row.day <= after);
    let late = |row: &UndigestedRow| LateRow {
        scope: scope.clone(),
        entry: row.entry.clone(),
        digest: span.digest.to_owned(),
    };
    let late: Vec<LateRow> = found.iter().filter(is_late).map(late).collect();
    tx.write(&Write::records(&late)).await?;
    let key = |row: &UndigestedRow| -> Vec<Val> {
        vals![
            &scope.account,
            scope.mode.as_str(),
            row.day,
            row.entry.as_str()
        ]
        .into()
    };
    let keys = found.iter().map(key).collect();
    let taken = Write::delete(
        "undigested_entries",
        &["account", "mode", "day", "entry"],
        keys,
    );
    let taken = tx.write(&taken).await?;
    let expected = u64::try_from(found.len()).unwrap_or(u64::MAX);
    touched(taken, expected, "undigested_entries")?;
    Ok(found.len())
}

pub async fn insert(tx: &mut Tx, digest: &DigestRow) -> Result<(), StoreError> {
    tx.write(&Write::records([digest])).await.map(drop)
}

/// The newest digest before a day.
pub async fn last_before(
    q: &mut impl Queries,
    scope: &Scope,
    day: i64,
) -> Result<Option<DigestRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND day < $3 ORDER BY day DESC LIMIT 1",
        select::<DigestRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), day])
        .await
}

/// The digests of some days, the first of them first.
pub async fn of_days(
    q: &mut impl Queries,
    scope: &Scope,
    (first, last): (i64, i64),
    at_most: i64,
) -> Result<Vec<DigestRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND day >= $3 AND day <= $4 ORDER BY day LIMIT $5",
        select::<DigestRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), first, last, at_most];
    q.all(&sql, &args).await
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    page: &Page,
) -> Result<Vec<DigestRow>, StoreError> {
    newest_first(q, scope, [], page).await
}

/// A line of the journal with all that it says.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct WholeLine {
    pub entry: String,
    pub line: i64,
    pub kind: String,
    pub invoice: Option<String>,
    pub subject: String,
    pub step: i64,
    pub reverses: Option<String>,
    pub asset: String,
    pub debit: String,
    pub credit: String,
    pub amount: String,
    pub created_at: i64,
}

const WHOLE_LINE: &str = "j.entry, j.line, j.kind, j.invoice, j.subject, j.step, j.reverses, j.asset, j.debit, j.credit, \
     j.amount, j.created_at";

/// Of the journal, called `j`: entries that a digest has, or is about to have, since they came in time for one.
const IN_TIME: &str = "NOT EXISTS (SELECT 1 FROM undigested_entries u WHERE u.account = j.account AND u.mode = j.mode \
     AND u.day = j.created_at / 86400000 AND u.entry = j.entry) \
     AND NOT EXISTS (SELECT 1 FROM late_entries l WHERE l.account = j.account AND l.mode = j.mode AND l.entry = j.entry)";

/// What is late for a digest, in the order of ids, after the line that was read last.
pub async fn late_lines(
    q: &mut impl Queries,
    scope: &Scope,
    digest: &str,
    after: Option<&WholeLine>,
    at_most: i64,
) -> Result<Vec<WholeLine>, StoreError> {
    let (entry, line) = after.map_or(("", 0), |last| (&*last.entry, last.line));
    let sql = format!(
        "SELECT {WHOLE_LINE} FROM late_entries t JOIN journal j ON j.entry = t.entry AND j.account = t.account AND j.mode = t.mode \
         WHERE t.account = $1 AND t.mode = $2 AND t.digest = $3 AND t.entry >= $4 AND (j.entry, j.line) > ($4, $5) \
         ORDER BY t.entry, j.line LIMIT $6"
    );
    let args = vals![
        &scope.account,
        scope.mode.as_str(),
        digest,
        entry,
        line,
        at_most
    ];
    q.all(&sql, &args).await
}

/// What a digest has of its own days, in the order of time, after the line that was read last.
pub async fn own_lines(
    q: &mut impl Queries,
    scope: &Scope,
    span: &Span<'_>,
    after: Option<&WholeLine>,
    at_most: i64,
) -> Result<Vec<WholeLine>, StoreError> {
    lines_between(q, scope, span.instants(), IN_TIME, after, at_most).await
}

/// The same of days that no digest has got to: all there is.
pub async fn open_lines(
    q: &mut impl Queries,
    scope: &Scope,
    (first, last): (i64, i64),
    after: Option<&WholeLine>,
    at_most: i64,
) -> Result<Vec<WholeLine>, StoreError> {
    let instants = (start(first), start(last.saturating_add(1)));
    lines_between(q, scope, instants, "j.line >= 0", after, at_most).await
}

async fn lines_between(
    q: &mut impl Queries,
    scope: &Scope,
    (from, before): (i64, i64),
    condition: &str,
    after: Option<&WholeLine>,
    at_most: i64,
) -> Result<Vec<WholeLine>, StoreError> {
    let (at, entry, line) = after.map_or((from, "", -1), |last| {
        (last.created_at, &*last.entry, last.line)
    });
    let sql = format!(
        "SELECT {WHOLE_LINE} FROM journal j WHERE j.account = $1 AND j.mode = $2 AND j.created_at < $3 AND j.created_at >= $4 \
         AND (j.created_at, j.entry, j.line) > ($4, $5, $6) AND {condition} ORDER BY j.created_at, j.entry, j.line LIMIT $7"
    );
    let args = vals![
        &scope.account,
        scope.mode.as_str(),
        before,
        at,
        entry,
        line,
        at_most
    ];
    q.all(&sql, &args).await
}

/// How many entries are late for a digest that is not made yet.
pub async fn waiting_late(
    q: &mut impl Queries,
    scope: &Scope,
    last_day: i64,
) -> Result<i64, StoreError> {
    let sql =
        "SELECT COUNT(*) FROM undigested_entries WHERE account = $1 AND mode = $2 AND day <= $3";
    let args = vals![&scope.account, scope.mode.as_str(), last_day];
    let found: Option<(i64,)> = q.one(sql, &args).await?;
    Ok(found.map_or(0, |(count,)| count))
}

/// The first day after the last digest on which the journal and the list of entries without a digest disagree: an entry was put
/// in or removed, or a digest was. Nothing while a digest is being made.
pub async fn first_unlisted(
    q: &mut impl Queries,
    scope: &Scope,
) -> Result<Option<i64>, StoreError> {
    let args = vals![&scope.account, scope.mode.as_str()];
    let none_is_made = "NOT EXISTS (SELECT 1 FROM digest_drafts d WHERE d.account = $1 AND d.mode = $2 AND d.digest IS NOT NULL)";
    let sql = format!(
        "SELECT j.created_at FROM journal j WHERE j.account = $1 AND j.mode = $2 AND j.created_at >= \
         86400000 * (SELECT COALESCE(MAX(g.day), -1) + 1 FROM ledger_digests g WHERE g.account = $1 AND g.mode = $2) \
         AND {IN_TIME} AND {none_is_made} ORDER BY j.created_at LIMIT 1"
    );
    let put_in: Option<(i64,)> = q.one(&sql, &args).await?;
    let sql = format!(
        "SELECT u.day FROM undigested_entries u WHERE u.account = $1 AND u.mode = $2 AND NOT EXISTS \
         (SELECT 1 FROM journal j WHERE j.entry = u.entry AND j.account = u.account AND j.mode = u.mode) \
         AND {none_is_made} ORDER BY u.day LIMIT 1"
    );
    let removed: Option<(i64,)> = q.one(&sql, &args).await?;
    let put_in = put_in.map(|(at,)| day_of(at));
    let removed = removed.map(|(day,)| day);
    Ok(put_in.into_iter().chain(removed).min())
}
