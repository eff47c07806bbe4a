//! Whether the journal still is what was signed, one digest after the other.

use till_core::digest::{self, Covered, Misfit, NO_ROOT, Presented, Sum};
use till_core::scope::Scope;
use till_store::digests::{self as store, DigestRow, Span};

use super::entries::Entries;
use super::key;
use crate::base::Engine;
use crate::base::fail::Fail;

/// What came of looking at a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub day: i64,
    /// How many entries its digest covers.
    pub entries: u64,
    /// Why it does not fit.
    pub misfit: Option<String>,
}

/// Walks through the digests of some days.
pub struct Checks<'e> {
    engine: &'e Engine,
    scope: &'e Scope,
    /// The next day to look at, and the last.
    days: (i64, i64),
    public_keys: Vec<String>,
    before: Option<DigestRow>,
}

impl<'e> Checks<'e> {
    pub async fn begin(
        engine: &'e Engine,
        scope: &'e Scope,
        days: (i64, i64),
    ) -> Result<Checks<'e>, Fail> {
        let public_keys = public_keys(engine).await?;
        let mut reader = engine.db.read().await?;
        Ok(Checks {
            engine,
            scope,
            days,
            public_keys,
            before: store::last_before(&mut reader, scope, days.0).await?,
        })
    }

    /// The next digest; none after the last.
    pub async fn next(&mut self) -> Result<Option<Checked>, Fail> {
        let mut reader = self.engine.db.read().await?;
        let found = store::of_days(&mut reader, self.scope, self.days, 1).await?;
        drop(reader);
        match found.into_iter().next() {
            None => Ok(None),
            Some(digest) => self.look_at(digest).await.map(Some),
        }
    }

    async fn look_at(&mut self, digest: DigestRow) -> Result<Checked, Fail> {
        let span = Span {
            digest: &digest.id,
            after: self.before.as_ref().map(|before| before.day),
            day: digest.day,
        };
        let root = self.before.as_ref().map_or(NO_ROOT, |before| &before.root);
        let covered = self.add_up(&digest, &span).await?;
        let fits = match covered {
            None => Err(Misfit::Chain),
            Some(covered) => {
                let presented = presented(&digest);
                match digest::check(&presented, Some(root), &covered, &self.public_keys) {
                    // It may have been renewed since this began.
                    Err(Misfit::Key) => {
                        let keys = public_keys(self.engine).await?;
                        digest::check(&presented, Some(root), &covered, &keys)
                    }
                    fits => fits,
                }
            }
        };
        let checked = Checked {
            day: digest.day,
            entries: digest.entries,
            misfit: fits.err().map(|misfit| misfit.to_string()),
        };
        self.days.0 = digest.day.saturating_add(1);
        self.before = Some(digest);
        Ok(checked)
    }

    /// None where the root before it is none.
    async fn add_up(&self, digest: &DigestRow, span: &Span<'_>) -> Result<Option<Covered>, Fail> {
        let Some(mut sum) = Sum::after(&digest.previous) else {
            return Ok(None);
        };
        let mut entries = Entries::of_digest(self.engine, self.scope, span);
        while let Some(some) = entries.next().await? {
            for entry in &some {
                sum.add(&entry.entry, &entry.text);
            }
        }
        Ok(Some(sum.end()))
    }
}

/// Whether what has no digest yet is what was posted: that is noted with each entry, and where the two disagree, somebody was at
/// the tables.
pub async fn check_open_days(
    engine: &Engine,
    scope: &Scope,
    (first, last): (i64, i64),
) -> Result<Option<Checked>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = store::first_unlisted(&mut reader, scope).await?;
    let of_these = found.filter(|day| (first..=last).contains(day));
    Ok(of_these.map(|day| Checked {
        day,
        entries: 0,
        misfit: Some("an entry was put in or removed by hand, or a digest was removed".into()),
    }))
}

async fn public_keys(engine: &Engine) -> Result<Vec<String>, Fail> {
    let keys = key::all(engine).await?.into_iter();
    Ok(keys.map(|key| key.public_key).collect())
}

fn presented(row: &DigestRow) -> Presented {
    Presented {
        account: row.scope.account.to_string(),
        mode: row.scope.mode.as_str().to_owned(),
        day: row.day,
        previous: row.previous.clone(),
        covered: Covered {
            entries: row.entries,
            first_entry: row.first_entry.clone(),
            last_entry: row.last_entry.clone(),
            root: row.root.clone(),
        },
        key_id: row.key_id.clone(),
        signature: row.signature.clone(),
    }
}
