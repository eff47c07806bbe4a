//! What fewer endpoints tell of than must agree: it is on its way, and no more than that. Neither the blocks that they name, nor
//! what they say of them, are written down. So whoever is left alone can announce a payment, and can change nothing that is
//! known. Once enough answer, they are asked from where they last agreed.

use std::collections::BTreeMap;

use crate::update::SeenTransfer;

/// No more are shown: whoever is left alone can invent as many as it likes.
const WAITING_MAX: usize = 500;
/// So many are taken back at a time.
const DUE_MAX: usize = 100;
/// Nobody is further ahead of the others by right.
const AHEAD_MAX: i64 = 50;

/// The transfers that wait for as many endpoints as must agree.
#[derive(Debug)]
pub struct Unconfirmed {
    /// By transaction and place in it, the height at which each is said to be; none for those of an earlier leader.
    waiting: BTreeMap<(String, i64), Option<i64>>,
    /// Up to where it was looked.
    up_to: i64,
}

impl Unconfirmed {
    /// What an earlier leader has left.
    pub fn left(waiting: Vec<(String, i64)>) -> Unconfirmed {
        Unconfirmed {
            waiting: waiting.into_iter().map(|it| (it, None)).collect(),
            up_to: -1,
        }
    }

    /// Where to look on, behind what was read. Who named blocks beyond this head is not asked any more.
    pub fn next(&self, read: i64, head: i64) -> i64 {
        self.up_to.min(head).max(read) + 1
    }

    /// Those of these that are shown.
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

    /// Enough endpoints agree up to here: nothing is waited for much longer.
    pub fn enough_at(&mut self, agreed: i64) {
        for height in self.waiting.values_mut() {
            *height = Some(height.unwrap_or(agreed).min(agreed + AHEAD_MAX));
        }
    }

    /// Those that were said to be in blocks that enough have been asked about by now, some at a time.
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
        let mut unconfirmed = Unconfirmed::left(Vec::new());
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
        let mut unconfirmed = Unconfirmed::left(vec![left.clone()]);
        assert_eq!(unconfirmed.due(i64::MAX), []);
        unconfirmed.enough_at(12);
        assert_eq!(unconfirmed.due(11), []);
        assert_eq!(unconfirmed.due(12), [left]);
    }

    #[test]
    fn who_named_blocks_that_there_are_not_is_not_looked_behind() {
        let mut unconfirmed = Unconfirmed::left(Vec::new());
        unconfirmed.add(vec![seen("a", i64::MAX)], i64::MAX - 1);
        unconfirmed.enough_at(12);
        assert_eq!(unconfirmed.next(7, 12), 13);
        assert_eq!(unconfirmed.due(61), []);
        assert_eq!(unconfirmed.due(62).len(), 1);
    }

    #[test]
    fn so_many_are_shown_and_no_more_and_they_go_some_at_a_time() {
        let mut unconfirmed = Unconfirmed::left(Vec::new());
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
