//! Transfers that endpoints report while fewer of them answer than the quorum. They are shown as on their way, and
//! nothing else is written: neither the blocks that they are said to be in, nor what is said of known transfers. So a
//! single endpoint can announce a payment, and change nothing that is known. Once a quorum answers, reading goes on
//! from where it last agreed.

use std::collections::BTreeMap;

use crate::update::SeenTransfer;

/// The most that are shown: a single endpoint could invent any number.
const WAITING_MAX: usize = 500;
/// How many are settled at a time.
const DUE_MAX: usize = 100;
/// How far an honest endpoint can be ahead of the others. A transfer that is said to be in a later block falls due at
/// this distance.
const AHEAD_MAX: i64 = 50;

/// The transfers that are shown and that no quorum has confirmed yet.
#[derive(Debug)]
pub struct Unconfirmed {
    /// The height of the block that each is said to be in, by transaction and place in it. None for those of an earlier
    /// leader.
    waiting: BTreeMap<(String, i64), Option<i64>>,
    /// The height up to which blocks were searched.
    up_to: i64,
}

impl Unconfirmed {
    /// Takes over the transfers that an earlier leader left unconfirmed.
    pub fn inherited(waiting: Vec<(String, i64)>) -> Unconfirmed {
        Unconfirmed {
            waiting: waiting.into_iter().map(|it| (it, None)).collect(),
            up_to: -1,
        }
    }

    /// The next height to search, above what was read and searched. What was searched above `head` does not count: the
    /// endpoint that had those blocks is gone.
    pub fn next(&self, read: i64, head: i64) -> i64 {
        self.up_to.min(head).max(read) + 1
    }

    /// Adds transfers that were found in blocks up to a height. Returns those that are to be shown: for the others
    /// there is no room.
    pub fn add(&mut self, seen: Vec<SeenTransfer>, up_to: i64) -> Vec<SeenTransfer> {
        self.up_to = up_to;
        let mut shown = Vec::new();
        for it in seen {
            let identity = (it.tx_hash.clone(), it.place);
            if self.waiting.len() < WAITING_MAX || self.waiting.contains_key(&identity) {
                self.waiting.insert(identity, it.height);
                shown.push(it);
            }
        }
        shown
    }

    /// Records that a quorum agrees up to this height, so that every transfer falls due soon above it.
    pub fn enough_at(&mut self, agreed: i64) {
        for height in self.waiting.values_mut() {
            *height = Some(height.unwrap_or(agreed).min(agreed + AHEAD_MAX));
        }
    }

    /// The next transfers to settle: those whose blocks have been read from a quorum by now.
    pub fn due(&self, read: i64) -> Vec<(String, i64)> {
        let is_due = |height: &Option<i64>| height.is_some_and(|height| height <= read);
        let due = self.waiting.iter().filter(|(_, height)| is_due(height));
        let due = due.map(|(identity, _)| identity.clone());
        due.take(DUE_MAX).collect()
    }

    pub fn are_settled(&mut self, due: &[(String, i64)]) {
        for identity in due {
            self.waiting.remove(identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use till_core::money::Units;

    use super::*;

    fn seen(tx_hash: &str, height: i64) -> SeenTransfer {
        SeenTransfer {
            tx_hash: tx_hash.to_owned(),
            place: 0,
            asset: String::new(),
            units: Units(1),
            arrived: None,
            strayed: false,
            registers: None,
            senders: Vec::new(),
            recipient: String::new(),
            height: Some(height),
        }
    }

    #[test]
    fn a_transfer_is_waited_for_until_enough_were_asked_about_its_block() {
        let mut unconfirmed = Unconfirmed::inherited(Vec::new());
        assert_eq!(unconfirmed.next(7, 20), 8);
        unconfirmed.add(vec![seen("a", 9), seen("b", 10)], 12);
        unconfirmed.enough_at(8);
        assert_eq!(unconfirmed.next(7, 20), 13, "nothing is looked at again");
        assert_eq!(unconfirmed.next(20, 20), 21);
        let of = |tx_hash: &str| (tx_hash.to_owned(), 0);
        assert_eq!(unconfirmed.due(8), []);
        assert_eq!(unconfirmed.due(9), [of("a")]);
        assert_eq!(unconfirmed.due(10), [of("a"), of("b")]);
        unconfirmed.are_settled(&[of("a")]);
        assert_eq!(unconfirmed.due(10), [of("b")]);
    }

    #[test]
    fn what_an_earlier_leader_has_left_is_waited_for_up_to_where_enough_agree() {
        let left = ("a".to_owned(), 3);
        let mut unconfirmed = Unconfirmed::inherited(vec![left.clone()]);
        assert_eq!(unconfirmed.due(i64::MAX), []);
        unconfirmed.enough_at(12);
        assert_eq!(unconfirmed.due(11), []);
        assert_eq!(unconfirmed.due(12), [left]);
    }

    #[test]
    fn who_named_blocks_that_there_are_not_is_not_looked_behind() {
        let mut unconfirmed = Unconfirmed::inherited(Vec::new());
        unconfirmed.add(vec![seen("a", i64::MAX)], i64::MAX - 1);
        unconfirmed.enough_at(12);
        assert_eq!(unconfirmed.next(7, 12), 13);
        assert_eq!(unconfirmed.due(61), []);
        assert_eq!(unconfirmed.due(62).len(), 1);
    }

    #[test]
    fn so_many_are_shown_and_no_more_and_they_go_some_at_a_time() {
        let mut unconfirmed = Unconfirmed::inherited(Vec::new());
        let many = |from: usize| (from..from + 400).map(|at| seen(&format!("{at:04}"), 9));
        assert_eq!(unconfirmed.add(many(0).collect(), 9).len(), 400);
        assert_eq!(unconfirmed.add(many(300).collect(), 10).len(), 200);
        let mut gone = 0;
        loop {
            let due = unconfirmed.due(10);
            gone += due.len();
            unconfirmed.are_settled(&due);
            if due.is_empty() {
                break;
            }
            assert_eq!(due.len(), DUE_MAX);
        }
        assert_eq!(gone, WAITING_MAX);
    }
}
