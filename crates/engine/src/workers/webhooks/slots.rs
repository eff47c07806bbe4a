//! Limits how many webhooks may be under way over all endpoints, and says whose turn it is.
//!
//! Whoever hangs must not hold them all. An endpoint gets another slot only while four times as many are free as it has:
//! one alone may have a fifth of them, and those that hang leave four fifths of what they found to those to come. Those who
//! have none wait in turn. Endpoints that were slow the last time share half of the slots, and get a second one only while
//! nobody waits: however many they are, the others find slots that come back soon.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use till_core::scope::Scope;
use tokio::sync::watch;

/// However many there are, one receiver is not called by more at a time.
const PER_ENDPOINT_MAX: usize = 32;
/// An attempt that takes longer holds its slot for too long.
const SLOW_MS: i64 = 5_000;

pub struct SendSlots {
    /// For endpoints that are slow.
    slow_max: usize,
    state: Mutex<State>,
    /// Counts the slots that were given back, for those who lacked one.
    given_back: watch::Sender<u64>,
}

struct State {
    free: usize,
    /// Of those in use, how many slow endpoints have.
    held_by_slow: usize,
    /// Endpoints that have none and want one, who waits longest first.
    waiting: VecDeque<Scope>,
    slow: HashSet<Scope>,
}

/// An endpoint that wants slots. It waits no more when this is dropped.
pub(super) struct SlotWaiter {
    slots: Arc<SendSlots>,
    scope: Scope,
}

/// The right to have one webhook under way; given back when dropped.
pub(super) struct SendSlot {
    slots: Arc<SendSlots>,
    is_slow: bool,
}

impl SendSlots {
    pub fn new(total: usize) -> Arc<SendSlots> {
        let total = total.max(1);
        Arc::new(SendSlots {
            slow_max: (total / 2).max(1),
            state: Mutex::new(State {
                free: total,
                held_by_slow: 0,
                waiting: VecDeque::new(),
                slow: HashSet::new(),
            }),
            given_back: watch::Sender::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn waiter(self: &Arc<SendSlots>, scope: &Scope) -> SlotWaiter {
        SlotWaiter {
            slots: Arc::clone(self),
            scope: scope.clone(),
        }
    }

    /// Tells of slots that are given back from now on.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.given_back.subscribe()
    }

    fn tell(&self) {
        self.given_back.send_modify(|count| *count += 1);
    }
}

impl State {
    /// How many wait in front of the endpoint: those that are not slow, and those that are. All who wait are in front of one
    /// that does not.
    fn waiting_before(&self, scope: &Scope) -> (usize, usize) {
        let before = self.waiting.iter().take_while(|waiting| *waiting != scope);
        let (slow, others): (Vec<&Scope>, Vec<&Scope>) =
            before.partition(|waiting| self.slow.contains(*waiting));
        (others.len(), slow.len())
    }

    fn stop_waiting(&mut self, scope: &Scope) -> bool {
        let found = self.waiting.iter().position(|waiting| waiting == scope);
        found.is_some_and(|at| self.waiting.remove(at).is_some())
    }
}

impl SlotWaiter {
    /// A slot for the endpoint, which has `held` already, if it may have another. With none, it waits in turn.
    pub(super) fn take(&self, held: usize) -> Option<SendSlot> {
        let state = &mut *self.slots.state();
        let is_slow = state.slow.contains(&self.scope);
        let (others_before, slow_before) = state.waiting_before(&self.scope);
        let for_slow = self.slots.slow_max - state.held_by_slow;
        let wanted_before = others_before + slow_before.min(for_slow);
        let is_too_much = held >= PER_ENDPOINT_MAX
            || state.free <= 4 * held + wanted_before
            || (is_slow && slow_before >= for_slow)
            || (is_slow && held > 0 && !state.waiting.is_empty());
        if is_too_much {
            if held == 0 && !state.waiting.contains(&self.scope) {
                state.waiting.push_back(self.scope.clone());
            }
            return None;
        }
        state.stop_waiting(&self.scope);
        state.free -= 1;
        state.held_by_slow += usize::from(is_slow);
        let free = u32::try_from(state.free).unwrap_or(u32::MAX);
        metrics::gauge!("till_webhook_places_free").set(free);
        Some(SendSlot {
            slots: Arc::clone(&self.slots),
            is_slow,
        })
    }

    /// It has nothing to send now.
    pub(super) fn leave(&self) {
        let has_waited = self.slots.state().stop_waiting(&self.scope);
        if has_waited {
            self.slots.tell();
        }
    }

    /// How long its last attempt took.
    pub(super) fn took(&self, latency_ms: i64) {
        let mut state = self.slots.state();
        if latency_ms >= SLOW_MS {
            state.slow.insert(self.scope.clone());
        } else {
            state.slow.remove(&self.scope);
        }
    }
}

impl Drop for SlotWaiter {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Drop for SendSlot {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.free += 1;
        state.held_by_slow -= usize::from(self.is_slow);
        drop(state);
        self.slots.tell();
    }
}

#[cfg(test)]
mod tests {
    use till_core::asset::Mode;

    use super::*;

    fn waiter(slots: &Arc<SendSlots>, account: usize) -> SlotWaiter {
        slots.waiter(&Scope::new(&format!("acct_{account}"), Mode::Test))
    }

    fn take_all(waiter: &SlotWaiter) -> Vec<SendSlot> {
        let mut held = Vec::new();
        while let Some(slot) = waiter.take(held.len()) {
            held.push(slot);
        }
        held
    }

    #[test]
    fn those_that_hang_leave_some_to_those_that_come() {
        let slots = SendSlots::new(128);
        let mut hanging = Vec::new();
        for number in 0..15 {
            let held = take_all(&waiter(&slots, number));
            assert!(!held.is_empty(), "the {}th got none", hanging.len() + 1);
            assert!(held.len() <= PER_ENDPOINT_MAX);
            hanging.push(held);
        }
        let under_way: usize = hanging.iter().map(Vec::len).sum();
        assert!(under_way <= 128, "{under_way}");
    }

    #[test]
    fn one_alone_may_have_a_fifth_of_them() {
        let alone = |total| take_all(&waiter(&SendSlots::new(total), 1)).len();
        assert_eq!(alone(40), 8);
        assert_eq!(alone(128), 26);
        assert_eq!(alone(1), 1);
        assert_eq!(alone(1_000), PER_ENDPOINT_MAX);
    }

    #[tokio::test]
    async fn whoever_lacks_one_is_told_when_one_is_given_back() {
        let slots = SendSlots::new(1);
        let held = waiter(&slots, 1).take(0).unwrap();
        let mut told = slots.watch();
        let second = waiter(&slots, 2);
        assert!(second.take(0).is_none());
        drop(held);
        told.changed().await.unwrap();
        assert!(second.take(0).is_some());
    }

    #[test]
    fn a_place_given_back_goes_to_whoever_waits_longest() {
        let slots = SendSlots::new(1);
        let waiters: Vec<SlotWaiter> = (0..3).map(|number| waiter(&slots, number)).collect();
        let (mut holder, mut held) = (0, waiters[0].take(0));
        assert!(waiters[1].take(0).is_none() && waiters[2].take(0).is_none());
        for next in [1, 2, 0, 1] {
            drop(held);
            assert!(waiters[holder].take(0).is_none(), "{holder} had its turn");
            held = waiters[next].take(0);
            assert!(held.is_some(), "{next}");
            holder = next;
        }
        // Whoever goes away holds nobody up.
        drop(waiters);
        drop(held);
        assert!(waiter(&slots, 9).take(0).is_some());
    }

    #[test]
    fn endpoints_that_are_slow_share_half_of_the_places() {
        let slots = SendSlots::new(8);
        let slow: Vec<SlotWaiter> = (0..10).map(|number| waiter(&slots, number)).collect();
        slow.iter().for_each(|waiter| waiter.took(15_000));
        let held: Vec<SendSlot> = slow.iter().filter_map(|waiter| waiter.take(0)).collect();
        assert_eq!(held.len(), 4);
        let healthy = waiter(&slots, 10);
        for _ in 0..3 {
            let slot = healthy.take(0);
            assert!(
                slot.is_some(),
                "those who wait are slow, and have their share"
            );
            healthy.took(20);
        }
        assert!(slow[0].take(1).is_none(), "others wait");
        drop(held);
        assert!(slow[0].take(0).is_none() && slow[4].take(0).is_some());
        // One that answers again is like any other.
        slow[0].took(20);
        assert!(slow[0].take(0).is_some());
    }
}
