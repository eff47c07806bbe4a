//! The entries that a digest covers, in their order, as canonical lines: what is late for it first, in the order of ids, then
//! those of its own days in the order of time.

use till_core::digest::{Entry, EntryLine};
use till_core::scope::Scope;
use till_core::time;
use till_store::digests::{self, Span, WholeLine};

use crate::base::Engine;
use crate::base::fail::Fail;

/// How many rows are read at a time, and at most written in one unit of work.
pub(super) const ROWS_AT_ONCE: i64 = 1_000;

/// An entry as it is hashed and exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    pub entry: String,
    /// Without its end.
    pub text: String,
}

/// Which entries are read.
enum EntrySelection {
    Digest {
        id: String,
        after: Option<i64>,
        day: i64,
    },
    /// Days that no digest has got to, from the first to the last.
    OpenDays(i64, i64),
}

enum Stage {
    Late,
    Own,
    Done,
}

/// Reads entries some at a time.
pub struct Entries<'e> {
    engine: &'e Engine,
    scope: &'e Scope,
    selection: EntrySelection,
    stage: Stage,
    last: Option<WholeLine>,
    /// The entry that the last line belongs to: more of its lines may follow.
    unfinished: Option<Entry>,
}

impl<'e> Entries<'e> {
    /// Those of a digest, which may not be made yet, but has all its entries.
    pub fn of_digest(engine: &'e Engine, scope: &'e Scope, span: &Span<'_>) -> Entries<'e> {
        let selection = EntrySelection::Digest {
            id: span.digest.to_owned(),
            after: span.after,
            day: span.day,
        };
        Entries::begin(engine, scope, selection, Stage::Late)
    }

    /// Those of days that no digest has got to.
    pub fn of_open_days(engine: &'e Engine, scope: &'e Scope, days: (i64, i64)) -> Entries<'e> {
        Entries::begin(
            engine,
            scope,
            EntrySelection::OpenDays(days.0, days.1),
            Stage::Own,
        )
    }

    fn begin(
        engine: &'e Engine,
        scope: &'e Scope,
        selection: EntrySelection,
        stage: Stage,
    ) -> Entries<'e> {
        Entries {
            engine,
            scope,
            selection,
            stage,
            last: None,
            unfinished: None,
        }
    }

    /// The next of them; none after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<Canonical>>, Fail> {
        let lines = match self.stage {
            Stage::Done => return Ok(None),
            Stage::Late | Stage::Own => self.read().await?,
        };
        let is_end = lines.is_empty();
        let mut found = Vec::new();
        for line in lines {
            found.extend(self.add(&line)?);
            self.last = Some(line);
        }
        if is_end {
            found.extend(self.unfinished.take().map(canonical).transpose()?);
            self.last = None;
            self.stage = match self.stage {
                Stage::Late => Stage::Own,
                Stage::Own | Stage::Done => Stage::Done,
            };
        }
        Ok(Some(found))
    }

    async fn read(&self) -> Result<Vec<WholeLine>, Fail> {
        let mut reader = self.engine.db.read().await?;
        let (q, last, at_most) = (&mut reader, self.last.as_ref(), ROWS_AT_ONCE);
        let lines = match (&self.selection, &self.stage) {
            (EntrySelection::Digest { id, .. }, Stage::Late) => {
                digests::late_lines(q, self.scope, id, last, at_most).await
            }
            (EntrySelection::Digest { id, after, day }, _) => {
                let (digest, after, day) = (id.as_str(), *after, *day);
                let span = Span { digest, after, day };
                digests::own_lines(q, self.scope, &span, last, at_most).await
            }
            (EntrySelection::OpenDays(first, until), _) => {
                digests::open_lines(q, self.scope, (*first, *until), last, at_most).await
            }
        };
        Ok(lines?)
    }

    /// Adds a line to its entry, and gives the entry before if this is another. A line that says something else of its entry
    /// than the one before it counts as another, so that nothing in it goes unnoticed.
    fn add(&mut self, row: &WholeLine) -> Result<Option<Canonical>, Fail> {
        let line = EntryLine {
            line: row.line,
            debit: row.debit.clone(),
            credit: row.credit.clone(),
            amount: row.amount.clone(),
        };
        let head = head(row);
        if let Some(entry) = &mut self.unfinished {
            let lines = std::mem::take(&mut entry.lines);
            let is_same = *entry == head;
            entry.lines = lines;
            if is_same {
                entry.lines.push(line);
                return Ok(None);
            }
        }
        let lines = vec![line];
        let before = self.unfinished.replace(Entry { lines, ..head });
        before.map(canonical).transpose()
    }
}

/// An entry without its lines.
fn head(row: &WholeLine) -> Entry {
    Entry {
        entry: row.entry.clone(),
        created_at: time::show(row.created_at),
        kind: row.kind.clone(),
        invoice: row.invoice.clone(),
        subject: row.subject.clone(),
        step: row.step,
        reverses: row.reverses.clone(),
        asset: row.asset.clone(),
        lines: Vec::new(),
    }
}

fn canonical(entry: Entry) -> Result<Canonical, Fail> {
    Ok(Canonical {
        text: entry.canonical().map_err(Fail::broken)?,
        entry: entry.entry,
    })
}
