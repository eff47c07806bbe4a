//! What an endpoint's task has claimed and not sent yet.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use till_store::deliveries::Claimed;

use super::claim::{CLAIM_MS, Endpoint, RENEW_MS};

/// In the order in which things happened.
#[derive(Default)]
pub(super) struct Ready {
    waiting: VecDeque<WaitingDelivery>,
    /// The subjects of which something is under way, and since when.
    told_of: HashMap<String, i64>,
}

struct WaitingDelivery {
    endpoint: Arc<Endpoint>,
    delivery: Claimed,
    claimed_at: i64,
}

impl Ready {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn add(&mut self, endpoint: Endpoint, mut claimed: Vec<Claimed>, claimed_at: i64) {
        let endpoint = Arc::new(endpoint);
        claimed.sort_unstable_by_key(|delivery| delivery.seq);
        let claimed = claimed.into_iter().map(|delivery| WaitingDelivery {
            endpoint: Arc::clone(&endpoint),
            delivery,
            claimed_at,
        });
        self.waiting.extend(claimed);
    }

    /// Whether there is one whose turn it is.
    pub(super) fn has_next(&self, now: i64) -> bool {
        self.next_at(now).is_some()
    }

    /// The next whose turn it is.
    pub(super) fn next(&mut self, now: i64) -> Option<(Arc<Endpoint>, Claimed)> {
        let next = self.waiting.remove(self.next_at(now)?)?;
        if let Some(subject) = &next.delivery.subject {
            self.told_of.insert(subject.clone(), now);
        }
        Some((next.endpoint, next.delivery))
    }

    fn next_at(&self, now: i64) -> Option<usize> {
        self.waiting.iter().position(|waiting| {
            let subject = waiting.delivery.subject.as_ref();
            let since = subject.and_then(|subject| self.told_of.get(subject));
            // An attempt ends in time; one that did not is somebody else's by now.
            since.is_none_or(|since| now - since >= CLAIM_MS)
        })
    }

    pub(super) fn finish(&mut self, delivery: &Claimed) {
        if let Some(subject) = &delivery.subject {
            self.told_of.remove(subject);
        }
    }

    /// Those whose claim would run out if nobody renewed it, with their fences.
    pub(super) fn to_renew(&self, now: i64) -> Vec<(String, i64)> {
        let is_old = self
            .waiting
            .iter()
            .any(|one| now - one.claimed_at >= RENEW_MS);
        if !is_old {
            return Vec::new();
        }
        // All of them at once: the rest would be next.
        let all = self.waiting.iter().map(|one| &one.delivery);
        all.map(|delivery| (delivery.id.clone(), delivery.fence))
            .collect()
    }

    /// Everything that is not begun, with the fences: it is not ours any more.
    pub(super) fn let_go(&mut self) -> Vec<(String, i64)> {
        let all = self.waiting.drain(..).map(|one| one.delivery);
        all.map(|delivery| (delivery.id, delivery.fence)).collect()
    }

    /// Of those asked about, the ones that are not ours any more are somebody else's to send.
    pub(super) fn renewed(&mut self, asked: &HashSet<String>, ours: &HashSet<String>, now: i64) {
        self.waiting.retain_mut(|one| {
            let is_asked = asked.contains(&one.delivery.id);
            let is_ours = ours.contains(&one.delivery.id);
            if is_ours {
                one.claimed_at = now;
            }
            is_ours || !is_asked
        });
    }
}
