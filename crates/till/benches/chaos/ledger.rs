//! What was acknowledged and what was told, kept outside of everything that breaks.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Ledger(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// By the name that an order goes by: its Idempotency-Key and its `customer_ref`.
    orders: HashMap<String, Order>,
    told: HashMap<String, Vec<Told>>,
    events: HashSet<String>,
    counts: Counts,
    wrong: Vec<String>,
    watch: Option<Watch>,
}

#[derive(Clone)]
pub struct Order {
    pub invoice: String,
    pub is_paid: bool,
}

/// An event that a webhook told of, in the order of coming.
#[derive(Clone)]
pub struct Told {
    pub event: String,
    pub kind: String,
}

#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub created: u64,
    pub paid: u64,
    /// Whose first answer was lost.
    pub asked_again: u64,
    pub webhooks: u64,
    /// Webhooks that came once more, as they may: the same event with the same id.
    pub webhooks_again: u64,
}

/// How long nothing was acknowledged.
pub struct StoodStill {
    /// By any server.
    pub all: Duration,
    pub each: Vec<Duration>,
}

struct Watch {
    /// The last acknowledgement, and the longest time without one: of all, then of each.
    gaps: Vec<(Instant, Duration)>,
}

impl Watch {
    fn acknowledged(&mut self, place: usize, now: Instant) {
        if let Some((last, longest)) = self.gaps.get_mut(place) {
            *longest = (*longest).max(now.duration_since(*last));
            *last = now;
        }
    }
}

impl Ledger {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn created(&self, name: &str, invoice: &str, server: usize) {
        let mut inner = self.inner();
        let now = Instant::now();
        if let Some(watch) = &mut inner.watch {
            watch.acknowledged(0, now);
            watch.acknowledged(server + 1, now);
        }
        inner.counts.created += 1;
        let order = Order {
            invoice: invoice.to_owned(),
            is_paid: false,
        };
        inner.orders.insert(name.to_owned(), order);
    }

    pub fn paid(&self, name: &str) {
        let mut inner = self.inner();
        inner.counts.paid += 1;
        if let Some(order) = inner.orders.get_mut(name) {
            order.is_paid = true;
        }
    }

    pub fn asked_again(&self) {
        self.inner().counts.asked_again += 1;
    }

    pub fn wrong(&self, what: String) {
        eprintln!("  WRONG: {what}");
        self.inner().wrong.push(what);
    }

    pub fn take_wrong(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().wrong)
    }

    pub fn told(&self, invoice: &str, told: Told) {
        let mut inner = self.inner();
        if !inner.events.insert(told.event.clone()) {
            inner.counts.webhooks_again += 1;
            return;
        }
        inner.counts.webhooks += 1;
        inner.told.entry(invoice.to_owned()).or_default().push(told);
    }

    pub fn told_of(&self, invoice: &str) -> Vec<Told> {
        self.inner().told.get(invoice).cloned().unwrap_or_default()
    }

    /// Those whose names begin so.
    pub fn orders(&self, prefix: &str) -> HashMap<String, Order> {
        let inner = self.inner();
        let of = inner.orders.iter();
        of.filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, order)| (name.clone(), order.clone()))
            .collect()
    }

    pub fn counts(&self) -> Counts {
        self.inner().counts
    }

    pub fn begin_watching(&self, now: Instant, servers: usize) {
        let gaps = vec![(now, Duration::ZERO); servers + 1];
        self.inner().watch = Some(Watch { gaps });
    }

    pub fn end_watching(&self, now: Instant) -> StoodStill {
        let watch = self.inner().watch.take();
        let longest = watch.map(|watch| watch.gaps).unwrap_or_default();
        let longest = longest
            .into_iter()
            .map(|(last, longest)| longest.max(now.duration_since(last)));
        let mut longest = longest.collect::<Vec<_>>().into_iter();
        StoodStill {
            all: longest.next().unwrap_or_default(),
            each: longest.collect(),
        }
    }
}
