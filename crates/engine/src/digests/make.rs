//! Making digests. Which entries one has is settled in short units of work; then they are read and hashed without any; the last
//! unit writes the digest. Whoever dies half-way is followed by the next, and two that are at it at once come to the same.

use scoped_futures::ScopedFutureExt as _;
use till_core::digest::{Covered, NO_ROOT, SigningKey, Sum};
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_core::time::day_of;
use till_store::digests::{self, DigestRow, DraftRow, Span};
use till_store::{Queries, Tx};

use super::entries::Entries;
use super::entries::ROWS_AT_ONCE;
use super::key;
use crate::base::Engine;
use crate::base::fail::Fail;

/// A digest that is being made.
struct Draft {
    digest: String,
    day: i64,
    /// The digest before it.
    before: Option<DigestRow>,
}

impl Draft {
    fn span(&self) -> Span<'_> {
        Span {
            digest: &self.digest,
            after: self.before.as_ref().map(|before| before.day),
            day: self.day,
        }
    }

    fn previous(&self) -> &str {
        self.before.as_ref().map_or(NO_ROOT, |before| &before.root)
    }
}

/// Makes the next digest of an account and mode, if one is due: says whether there was one.
pub async fn make_next(engine: &Engine, scope: &Scope) -> Result<bool, Fail> {
    let Some(draft) = begin(engine, scope).await? else {
        return Ok(false);
    };
    // Where nobody can sign, nothing is read in vain.
    let signing_key = key::current(engine).await?;
    while take_some(engine, scope, &draft).await? {}
    let covered = add_up(engine, scope, &draft).await?;
    finish(engine, scope, &draft, covered, signing_key).await?;
    Ok(true)
}

/// The digest that somebody began, or else the one that is due.
async fn begin(engine: &Engine, scope: &Scope) -> Result<Option<Draft>, Fail> {
    let today = day_of(engine.clock.now_ms());
    let begun = engine.db.write(move |tx: &mut Tx| {
        async move {
            let mut row = digests::lock_draft(tx, scope).await?;
            let before = digests::last_before(tx, scope, i64::MAX).await?;
            if row.digest.is_none() {
                let last = before.as_ref().map(|before| before.day);
                let Some(day) = due(tx, scope, last, today).await? else {
                    return Ok(None);
                };
                row.digest = Some(engine.ids.make(IdKind::Digest));
                row.day = Some(day);
                row.closed = false;
                digests::set_draft(tx, &row).await?;
            }
            let draft = row.digest.zip(row.day);
            Ok::<_, Fail>(draft.map(|(digest, day)| Draft {
                digest,
                day,
                before,
            }))
        }
        .scope_boxed()
    });
    begun.await
}

/// The next day whose digest is due. What is late goes with the next day that has entries, or else with the last that is over.
async fn due(
    tx: &mut impl Queries,
    scope: &Scope,
    last: Option<i64>,
    today: i64,
) -> Result<Option<i64>, Fail> {
    let after = last.unwrap_or(i64::MIN);
    if let Some(day) = digests::undigested_day(tx, scope, after, today).await? {
        return Ok(Some(day));
    }
    let Some(last) = last.filter(|last| *last < today - 1) else {
        return Ok(None);
    };
    let late = digests::undigested_day(tx, scope, i64::MIN, last + 1).await?;
    Ok(late.map(|_| today - 1))
}

/// Takes some entries for it, and closes it with the last. Says whether there may be more.
async fn take_some(engine: &Engine, scope: &Scope, draft: &Draft) -> Result<bool, Fail> {
    let taken = engine.db.write(move |tx: &mut Tx| {
        async move {
            let mut row = digests::lock_draft(tx, scope).await?;
            if !is_it(&row, draft) || row.closed {
                return Ok(false);
            }
            let taken = digests::take(tx, scope, &draft.span(), ROWS_AT_ONCE).await?;
            if i64::try_from(taken).is_ok_and(|taken| taken >= ROWS_AT_ONCE) {
                return Ok(true);
            }
            row.closed = true;
            digests::set_draft(tx, &row).await?;
            Ok::<_, Fail>(false)
        }
        .scope_boxed()
    });
    taken.await
}

fn is_it(row: &DraftRow, draft: &Draft) -> bool {
    row.digest.as_deref() == Some(&*draft.digest)
}

async fn add_up(engine: &Engine, scope: &Scope, draft: &Draft) -> Result<Covered, Fail> {
    let unreadable = || Fail::broken("the root of the digest before is unreadable");
    let mut sum = Sum::after(draft.previous()).ok_or_else(unreadable)?;
    let mut entries = Entries::of_digest(engine, scope, &draft.span());
    while let Some(some) = entries.next().await? {
        for entry in &some {
            sum.add(&entry.entry, &entry.text);
        }
    }
    Ok(sum.end())
}

/// Signs and writes it, unless somebody else has.
async fn finish(
    engine: &Engine,
    scope: &Scope,
    draft: &Draft,
    covered: Covered,
    (signing_key, key_id): (SigningKey, String),
) -> Result<(), Fail> {
    let mode = scope.mode.as_str();
    let digest = &DigestRow {
        scope: scope.clone(),
        id: draft.digest.clone(),
        day: draft.day,
        entries: covered.entries,
        first_entry: covered.first_entry,
        last_entry: covered.last_entry,
        signature: signing_key.sign(&scope.account, mode, draft.day, &covered.root),
        root: covered.root,
        previous: draft.previous().to_owned(),
        key_id,
        created_at: engine.clock.now_ms(),
    };
    if digest.entries == 0 {
        tracing::error!(account = %scope.account, mode, "entries of the journal are gone before their digest was made; run till digest verify");
    }
    let written = engine.db.write(move |tx: &mut Tx| {
        async move {
            let mut row = digests::lock_draft(tx, scope).await?;
            if !is_it(&row, draft) {
                return Ok(());
            }
            if digest.entries > 0 {
                digests::insert(tx, digest).await?;
            }
            (row.digest, row.day, row.closed) = (None, None, false);
            digests::set_draft(tx, &row).await?;
            Ok::<_, Fail>(())
        }
        .scope_boxed()
    });
    written.await
}
