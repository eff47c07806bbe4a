//! Live streams: who waits for which invoice. A nudge shortens the wait; the database is what is believed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use till_core::scope::Scope;
use till_store::Queries;
use tokio::sync::watch;

use crate::context::Engine;
use crate::fail::Fail;
use crate::view::stream_event;

/// The invoices somebody watches in this process.
#[derive(Debug, Default)]
pub struct Hub {
    watched: Mutex<HashMap<String, Watched>>,
}

#[derive(Debug)]
struct Watched {
    scope: Scope,
    /// The highest number known to be committed, or a nudge to look.
    signal: watch::Sender<u64>,
    head: i64,
}

/// A place in the stream of one invoice; leaving it behind costs nothing.
pub struct Subscription {
    signal: watch::Receiver<u64>,
}

impl Subscription {
    /// Returns when there may be something new.
    pub async fn changed(&mut self) {
        // The sender lives as long as a subscriber does; an error can only mean shutting down.
        if self.signal.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Hub {
    fn watched(&self) -> std::sync::MutexGuard<'_, HashMap<String, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn subscribe(&self, scope: &Scope, invoice: &str) -> Subscription {
        let mut watched = self.watched();
        let entry = watched
            .entry(invoice.to_owned())
            .or_insert_with(|| Watched {
                scope: scope.clone(),
                signal: watch::Sender::new(0),
                head: 0,
            });
        Subscription {
            signal: entry.signal.subscribe(),
        }
    }

    pub fn nudge(&self, invoice: &str) {
        if let Some(watched) = self.watched().get(invoice) {
            watched.signal.send_modify(|count| *count += 1);
        }
    }

    /// The invoices still watched; those nobody watches any more are forgotten.
    fn sweep(&self) -> Vec<(Scope, String)> {
        let mut watched = self.watched();
        watched.retain(|_, entry| entry.signal.receiver_count() > 0);
        watched
            .iter()
            .map(|(invoice, entry)| (entry.scope.clone(), invoice.clone()))
            .collect()
    }

    fn note_head(&self, invoice: &str, head: i64) {
        if let Some(entry) = self.watched().get_mut(invoice)
            && entry.head != head
        {
            entry.head = head;
            entry.signal.send_modify(|count| *count += 1);
        }
    }
}

/// Looks whether another process moved a watched invoice on. Runs on a period.
pub async fn poll(engine: &Engine) -> Result<(), Fail> {
    let watched = engine.hub.sweep();
    if watched.is_empty() {
        return Ok(());
    }
    let mut reader = engine.db.read().await?;
    for (invoice, head) in till_store::invoices::stream_heads(&mut reader, &watched).await? {
        engine.hub.note_head(&invoice, head);
    }
    Ok(())
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
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
    after: i64,
) -> Result<Vec<StreamItem>, Fail> {
    const AT_MOST: i64 = 200;
    let events = till_store::events::stream(q, scope, invoice, after, AT_MOST).await?;
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let Some(row) = till_store::invoices::find(q, scope, invoice).await? else {
        return Ok(Vec::new());
    };
    let merchant = till_store::accounts::merchant(q, scope).await?;
    let display_name = merchant
        .as_ref()
        .and_then(|merchant| merchant.display_name.as_deref());
    let options = row.options()?;
    let item = |event: &till_store::events::StreamedEvent| {
        Ok(StreamItem {
            seq: event.stream_seq,
            event_type: event.event_type.clone(),
            data: stream_event(event, &scope.account, invoice, &options, display_name)?,
        })
    };
    events.iter().map(item).collect()
}
