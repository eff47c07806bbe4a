//! The log of events: what webhooks deliver, for those who missed some.

use serde_json::value::RawValue;
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::events::EventRow;
use till_store::{Queries, ReadSource, StoreError};

pub use till_store::events::EventFilter;

use super::event_addresses::take_out_lost;
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Engine, Merchant};

/// Events as a webhook would deliver them now, without the addresses that their invoices have lost since.
pub async fn list(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    filter: EventFilter,
    page: &Page,
) -> Result<Paged<Box<RawValue>>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::events::list(&mut reader, scope, filter, &page.and_one()).await?;
    let mut paged = page.cut(rows, |row| &row.id);
    update(engine, &mut reader, scope, &mut paged.items).await?;
    paged.try_map(body)
}

/// One of them.
pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<Box<RawValue>, Fail> {
    if !till_core::id::is(IdKind::Event, id) {
        return Err(missing("event", id).into());
    }
    let mut reader = engine.db.read().await?;
    let found = till_store::events::find(&mut reader, scope, id).await?;
    let Some(row) = found else {
        let other = till_store::events::find(&mut reader, &scope.in_other_mode(), id).await?;
        return Err(missing_or_in_mode("event", id, scope, other).into());
    };
    let mut rows = [row];
    update(engine, &mut reader, scope, &mut rows).await?;
    let [row] = rows;
    body(row)
}

/// Takes the addresses out that were lost since.
async fn update(
    engine: &Engine,
    q: &mut impl Queries,
    scope: &Scope,
    rows: &mut [EventRow],
) -> Result<(), Fail> {
    if rows.is_empty() {
        return Ok(());
    }
    let merchant = Merchant::load(q, scope).await?;
    let now = merchant.now(engine.clock.now_ms());
    let mut bodies: Vec<_> = rows.iter_mut().map(|row| &mut row.body).collect();
    take_out_lost(q, scope, now, &mut bodies).await
}

fn body(row: EventRow) -> Result<Box<RawValue>, Fail> {
    let corrupt = |error| StoreError::corrupt("events", "body", &row.id, error);
    Ok(RawValue::from_string(row.body).map_err(corrupt)?)
}
