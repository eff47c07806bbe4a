//! What a report reads, ahead of what is added up.

use std::collections::VecDeque;

use till_core::scope::Scope;
use till_store::ReadSource;
use till_store::books::{Books, Orphan};
use till_store::transfers::TransferRow;
use tokio::task::JoinHandle;

use super::sent_refunds;
use crate::base::fail::Fail;

const INVOICES_AT_ONCE: i64 = 4_000;
/// Read by so many connections beside each other: a year is read in half the time, and others have the rest.
const PARTS_AT_ONCE: usize = 2;
const ORPHANS_MAX: i64 = 1_000;

/// Some invoices with everything about them.
pub struct BooksPart {
    pub books: Books,
    /// What the transactions of refunds that were sent moved.
    pub observed: Vec<TransferRow>,
}

/// Something that is read meanwhile. Nobody waits for it any more when it is dropped.
pub struct Reading<T>(JoinHandle<Result<T, Fail>>);

impl<T: Send + 'static> Reading<T> {
    pub fn begin(read: impl Future<Output = Result<T, Fail>> + Send + 'static) -> Reading<T> {
        Reading(tokio::spawn(read))
    }

    pub async fn end(&mut self) -> Result<T, Fail> {
        (&mut self.0).await.map_err(Fail::broken)?
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The next parts, which are read while the one before them is added up.
pub struct Prefetch {
    reads: ReadSource,
    scope: Scope,
    between: (i64, i64),
    /// Where the last of them ends; none when there are no more.
    after: Option<String>,
    parts: VecDeque<Reading<BooksPart>>,
    /// Lines about payments that there are not.
    pub orphans: Reading<Vec<Orphan>>,
}

impl Prefetch {
    pub fn begin(reads: &ReadSource, scope: &Scope, between: (i64, i64)) -> Prefetch {
        let orphans = orphans(reads.clone(), scope.clone(), between);
        Prefetch {
            reads: reads.clone(),
            scope: scope.clone(),
            between,
            after: Some(String::new()),
            parts: VecDeque::new(),
            orphans: Reading::begin(orphans),
        }
    }

    /// Begins to read what may be read now.
    async fn fill(&mut self) -> Result<(), Fail> {
        while self.parts.len() < PARTS_AT_ONCE
            && let Some(after) = self.after.take()
        {
            let (reads, scope) = (self.reads.clone(), self.scope.clone());
            let mut reader = reads.read();
            let last =
                till_store::books::last_of_next(&mut reader, &scope, &after, INVOICES_AT_ONCE);
            let Some(up_to) = last.await? else {
                break;
            };
            drop(reader);
            self.after = Some(up_to.clone());
            let between = self.between;
            self.parts.push_back(Reading::begin(async move {
                read(&reads, &scope, between, (&after, &up_to)).await
            }));
        }
        Ok(())
    }

    pub async fn next(&mut self) -> Result<Option<BooksPart>, Fail> {
        self.fill().await?;
        let Some(part) = self.parts.front_mut() else {
            return Ok(None);
        };
        let part = part.end().await?;
        self.parts.pop_front();
        self.fill().await?;
        Ok(Some(part))
    }
}

async fn read(
    reads: &ReadSource,
    scope: &Scope,
    between: (i64, i64),
    ids: (&str, &str),
) -> Result<BooksPart, Fail> {
    let mut reader = reads.read();
    let books = till_store::books::of_period(&mut reader, scope, between, ids).await?;
    let sent = books.refunds.iter().filter_map(sent_refunds::transaction);
    let sent: Vec<_> = sent.collect();
    let observed = till_store::transfers::of_transactions(&mut reader, &sent).await?;
    Ok(BooksPart { books, observed })
}

async fn orphans(
    reads: ReadSource,
    scope: Scope,
    between: (i64, i64),
) -> Result<Vec<Orphan>, Fail> {
    let mut reader = reads.read();
    Ok(till_store::books::orphans(&mut reader, &scope, between, ORPHANS_MAX).await?)
}
