//! The log of events: what webhooks deliver, for those who missed some.

use serde_json::value::RawValue;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::StoreError;

pub use till_store::events::EventFilter;

use super::event_addresses::take_out_lost;
use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};

/// Events as a webhook would deliver them now, without the addresses that their invoices have lost since.
pub async fn list(
    engine: &Engine,
    scope: &Scope,
    filter: EventFilter,
    page: &Page,
) -> Result<Paged<Box<RawValue>>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::events::list(&mut reader, scope, filter, &page.and_one()).await?;
    let mut paged = page.cut(rows, |row| &row.id);
    if !paged.items.is_empty() {
        let merchant = Merchant::load(&mut reader, scope).await?;
        let now = merchant.now(engine.clock.now_ms());
        let mut bodies: Vec<_> = paged.items.iter_mut().map(|row| &mut row.body).collect();
        take_out_lost(&mut reader, scope, now, &mut bodies).await?;
    }
    paged.try_map(|row| {
        let corrupt = |error| StoreError::corrupt("events", "body", &row.id, error);
        Ok(RawValue::from_string(row.body).map_err(corrupt)?)
    })
}
