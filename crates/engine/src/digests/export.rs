//! The journal of some days as canonical lines, in the order in which digests cover them.

use till_core::scope::Scope;
use till_store::digests::{self as store, DigestRow, Span};

use super::entries::{Canonical, Entries};
use crate::base::Engine;
use crate::base::fail::Fail;

enum Stage<'e> {
    Digests,
    Entries(Entries<'e>),
    /// Days that no digest has got to.
    Open(Entries<'e>),
    Done,
}

/// Entries belong to the day of their digest. Those that are late and wait for the next digest are left out: which day they
/// will belong to is not known yet.
pub struct Export<'e> {
    engine: &'e Engine,
    scope: &'e Scope,
    /// The next day and the last.
    days: (i64, i64),
    /// The last day with a digest when this began.
    last: Option<i64>,
    before: Option<DigestRow>,
    stage: Stage<'e>,
    pub late: i64,
}

impl<'e> Export<'e> {
    pub async fn begin(
        engine: &'e Engine,
        scope: &'e Scope,
        days: (i64, i64),
    ) -> Result<Export<'e>, Fail> {
        let mut reader = engine.db.read().await?;
        let last = store::last_before(&mut reader, scope, i64::MAX).await?;
        let last = last.map(|digest| digest.day);
        let late = match last {
            Some(last) => store::waiting_late(&mut reader, scope, last).await?,
            None => 0,
        };
        Ok(Export {
            engine,
            scope,
            days,
            last,
            before: store::last_before(&mut reader, scope, days.0).await?,
            stage: Stage::Digests,
            late,
        })
    }

    /// The next of them; none after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<Canonical>>, Fail> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Digests => self.next_digest().await?,
                Stage::Entries(entries) => match entries.next().await? {
                    None => Stage::Digests,
                    some => return Ok(some),
                },
                Stage::Open(entries) => match entries.next().await? {
                    None => Stage::Done,
                    some => return Ok(some),
                },
                Stage::Done => return Ok(None),
            };
        }
    }

    async fn next_digest(&mut self) -> Result<Stage<'e>, Fail> {
        let (first, until) = self.days;
        let mut reader = self.engine.db.read().await?;
        let days = (first, until.min(self.last.unwrap_or(i64::MIN)));
        let found = store::of_days(&mut reader, self.scope, days, 1).await?;
        let Some(digest) = found.into_iter().next() else {
            let first = self.last.map_or(first, |last| first.max(last + 1));
            let open = Entries::of_open_days(self.engine, self.scope, (first, until));
            return Ok(Stage::Open(open));
        };
        let span = Span {
            digest: &digest.id,
            after: self.before.as_ref().map(|before| before.day),
            day: digest.day,
        };
        let entries = Entries::of_digest(self.engine, self.scope, &span);
        self.days.0 = digest.day + 1;
        self.before = Some(digest);
        Ok(Stage::Entries(entries))
    }
}
