//! How many webhooks may be under way, over all endpoints.
//!
//! Whoever hangs must not hold them all. An endpoint gets another place only while four times as many are free as it has:
//! one alone may have a fifth of them, and those that hang leave four fifths of what they found to those to come.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// However many there are, one receiver is not called by more at a time.
const PER_ENDPOINT_MAX: usize = 32;

pub struct Places {
    free: Mutex<usize>,
    /// Counts the places that were given back, for those who lacked one.
    given_back: watch::Sender<u64>,
}

/// Given back when dropped.
pub(super) struct Place(Arc<Places>);

impl Places {
    pub fn new(total: usize) -> Arc<Places> {
        Arc::new(Places {
            free: Mutex::new(total.max(1)),
            given_back: watch::Sender::new(0),
        })
    }

    /// A place for an endpoint that has `held` already, if it may have another.
    pub(super) fn take(self: &Arc<Places>, held: usize) -> Option<Place> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let is_too_much = held >= PER_ENDPOINT_MAX || (held > 0 && *free <= 4 * held);
        if *free == 0 || is_too_much {
            return None;
        }
        *free -= 1;
        metrics::gauge!("till_webhook_places_free").set(u32::try_from(*free).unwrap_or(u32::MAX));
        Some(Place(Arc::clone(self)))
    }

    /// Tells of places that are given back from now on.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.given_back.subscribe()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let places = &self.0;
        *places.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        places.given_back.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(places: &Arc<Places>) -> Vec<Place> {
        let mut held = Vec::new();
        while let Some(place) = places.take(held.len()) {
            held.push(place);
        }
        held
    }

    #[test]
    fn those_that_hang_leave_some_to_those_that_come() {
        let places = Places::new(128);
        let mut hanging = Vec::new();
        for _ in 0..15 {
            let held = take_all(&places);
            assert!(!held.is_empty(), "the {}th got none", hanging.len() + 1);
            assert!(held.len() <= PER_ENDPOINT_MAX);
            hanging.push(held);
        }
        let under_way: usize = hanging.iter().map(Vec::len).sum();
        assert!(under_way <= 128, "{under_way}");
    }

    #[test]
    fn one_alone_may_have_a_fifth_of_them() {
        assert_eq!(take_all(&Places::new(40)).len(), 8);
        assert_eq!(take_all(&Places::new(128)).len(), 26);
        assert_eq!(take_all(&Places::new(1)).len(), 1);
        assert_eq!(take_all(&Places::new(1_000)).len(), PER_ENDPOINT_MAX);
    }

    #[tokio::test]
    async fn whoever_lacks_one_is_told_when_one_is_given_back() {
        let places = Places::new(1);
        let held = places.take(0).unwrap();
        let mut told = places.watch();
        assert!(places.take(0).is_none());
        drop(held);
        told.changed().await.unwrap();
        assert!(places.take(0).is_some());
    }
}
