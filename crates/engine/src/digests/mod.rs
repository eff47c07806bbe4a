//! Signed books: a digest of each day's journal for each account and mode, made once the day is over, and signed with the
//! installation's key. Whoever has the entries, the digests and the public key can tell that nothing was changed.

mod check;
mod entries;
mod export;
pub mod key;
mod make;

pub use check::{Checked, Checks, check_open_days};
pub use entries::{Canonical, Entries};
pub use export::Export;
pub use make::make_next;

use entries::ROWS_AT_ONCE;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::digests::DigestRow;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::DigestView;

pub async fn list(engine: &Engine, scope: &Scope, page: &Page) -> Result<Paged<DigestView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::digests::list(&mut reader, scope, &page.and_one()).await?;
    let page = page.cut(rows, |row| &row.id);
    Ok(page.map(|row| DigestView::of(&row)))
}

/// The digests of some days, the first of them first, some at a time.
pub async fn of_days(
    engine: &Engine,
    scope: &Scope,
    days: (i64, i64),
) -> Result<Vec<DigestRow>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::digests::of_days(&mut reader, scope, days, ROWS_AT_ONCE);
    Ok(found.await?)
}
