//! Who waits for what was committed: workers, live streams, and everybody for the server's end.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use till_core::scope::Scope;
use tokio::sync::{Notify, watch};

/// What was committed that somebody may be waiting for.
#[derive(Debug, Default)]
pub struct Effects(Mutex<EffectsInner>);

#[derive(Debug, Default)]
pub(super) struct EffectsInner {
    pub(super) streams: Vec<String>,
    pub(super) deliveries: Vec<Scope>,
    pub(super) mail: bool,
}

impl Effects {
    fn lock(&self) -> MutexGuard<'_, EffectsInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self) -> EffectsInner {
        std::mem::take(&mut *self.lock())
    }

    /// A unit of work that is tried again starts without the first try's effects.
    pub fn clear(&self) {
        *self.lock() = EffectsInner::default();
    }

    pub fn stream(&self, invoice: &str) {
        self.lock().streams.push(invoice.to_owned());
    }

    pub fn mail(&self) {
        self.lock().mail = true;
    }

    pub fn delivery(&self, scope: &Scope) {
        let mut inner = self.lock();
        if inner.deliveries.last() != Some(scope) {
            inner.deliveries.push(scope.clone());
        }
    }
}

/// The invoices somebody watches in this process.
#[derive(Debug, Default)]
pub struct Hub {
    watched: Mutex<HashMap<String, Watched>>,
    /// How many keys of any kind had stopped working when this was looked at last.
    keys: watch::Sender<(i64, i64, i64)>,
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
    /// How far the stream had come when it was joined.
    pub head: i64,
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
    fn watched(&self) -> MutexGuard<'_, HashMap<String, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `head` is how far the stream had come, at least, when the subscriber looked.
    pub fn subscribe(&self, scope: &Scope, invoice: &str, head: i64) -> Subscription {
        let mut watched = self.watched();
        let entry = watched
            .entry(invoice.to_owned())
            .or_insert_with(|| Watched {
                scope: scope.clone(),
                signal: watch::Sender::new(0),
                head,
            });
        Subscription {
            signal: entry.signal.subscribe(),
            head,
        }
    }

    /// Changes when some key may have stopped working.
    pub fn keys(&self) -> watch::Receiver<(i64, i64, i64)> {
        self.keys.subscribe()
    }

    pub(crate) fn note_keys(&self, ended: (i64, i64, i64)) {
        self.keys.send_if_modified(|known| {
            let is_news = *known != ended;
            *known = ended;
            is_news
        });
    }

    pub fn nudge(&self, invoice: &str) {
        if let Some(watched) = self.watched().get(invoice) {
            watched.signal.send_modify(|count| *count += 1);
        }
    }

    /// The invoices still watched; those nobody watches any more are forgotten.
    pub(crate) fn sweep(&self) -> Vec<(Scope, String)> {
        let mut watched = self.watched();
        watched.retain(|_, entry| entry.signal.receiver_count() > 0);
        watched
            .iter()
            .map(|(invoice, entry)| (entry.scope.clone(), invoice.clone()))
            .collect()
    }

    pub(crate) fn note_head(&self, invoice: &str, head: i64) {
        if let Some(entry) = self.watched().get_mut(invoice)
            && entry.head != head
        {
            entry.head = head;
            entry.signal.send_modify(|count| *count += 1);
        }
    }
}

/// Hints that there is work; losing one costs a period, never the work.
#[derive(Debug, Default)]
pub struct Nudges {
    endpoints: Mutex<HashSet<Scope>>,
    pub(crate) webhooks: Notify,
    pub(crate) mail: Notify,
}

impl Nudges {
    pub fn webhooks(&self, scope: Scope) {
        self.endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(scope);
        self.webhooks.notify_one();
    }

    pub fn mail(&self) {
        self.mail.notify_one();
    }

    pub(crate) fn take_endpoints(&self) -> HashSet<Scope> {
        std::mem::take(
            &mut *self
                .endpoints
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Tells every worker and stream that the server is stopping.
pub type Stopping = watch::Receiver<bool>;
