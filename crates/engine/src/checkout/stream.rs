//! Live streams of an invoice. A nudge shortens the wait; the database is what is believed.

use till_core::scope::Scope;

use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};
use crate::invoices;
use crate::view::{offered, stream_event};

pub use crate::base::wake::Subscription;

/// Looks whether another process moved a watched invoice on, or ended a key. Runs on a period.
pub async fn poll(engine: &Engine) -> Result<(), Fail> {
    let watched = engine.hub.sweep();
    if watched.is_empty() {
        return Ok(());
    }
    let mut reader = engine.db.read().await?;
    engine
        .hub
        .note_keys(till_store::keys::ended(&mut reader).await?);
    for (invoice, head) in till_store::invoices::stream_heads(&mut reader, &watched).await? {
        engine.hub.note_head(&invoice, head);
    }
    Ok(())
}

/// Begins to follow an invoice. Refused when there is none of that id.
pub async fn follow(engine: &Engine, scope: &Scope, invoice: &str) -> Result<Subscription, Fail> {
    let mut reader = engine.db.read().await?;
    let row = invoices::find(&mut reader, scope, invoice).await?;
    Ok(engine.hub.subscribe(scope, invoice, row.stream_seq))
}

/// One event of a stream, ready to be sent.
#[derive(Clone, Debug)]
pub struct StreamItem {
    pub seq: i64,
    pub event_type: String,
    pub data: String,
}

/// What the stream has after `after`, oldest first.
pub async fn events_after(
    engine: &Engine,
    scope: &Scope,
    invoice: &str,
    after: i64,
) -> Result<Vec<StreamItem>, Fail> {
    const AT_MOST: i64 = 200;
    let q = &mut engine.db.read().await?;
    let events = till_store::events::stream(q, scope, invoice, after, AT_MOST).await?;
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let Some(row) = till_store::invoices::find(q, scope, invoice).await? else {
        return Ok(Vec::new());
    };
    let merchant = Merchant::load(q, scope).await?;
    let options = offered(&row, merchant.now(engine.clock.now_ms()));
    let item = |event: &till_store::events::StreamedEvent| {
        Ok(StreamItem {
            seq: event.stream_seq,
            event_type: event.event_type.clone(),
            data: stream_event(event, &scope.account, invoice, &options, &merchant)?,
        })
    };
    events.iter().map(item).collect()
}
