//! What endpoints say waits, step by step.

use till_core::asset::Family;

use super::*;

fn block(byte: u8) -> BlockHash {
    BlockHash::from([byte; 32])
}

fn spend(byte: u8) -> Spend {
    Spend {
        transaction: [byte; 32],
        output: 0,
    }
}

fn text(hash: u8) -> String {
    tx_hash_of(Family::Bitcoin, &[hash; 32])
}

fn paying(hash: u8) -> SeenTransfer {
    SeenTransfer {
        tx_hash: text(hash),
        place: 1,
        asset: String::new(),
        units: Units(5),
        arrived: None,
        strayed: false,
        registers: None,
        senders: Vec::new(),
        recipient: "ours".to_owned(),
        height: None,
    }
}

impl Mempool {
    /// What the endpoints say: what waits with each of them, and its last block.
    fn hear(&mut self, said: &[(&[u8], u8)]) {
        let list = |(waiting, last): &(&[u8], u8)| MempoolList {
            waiting: waiting.iter().map(|it| [*it; 32]).collect(),
            last_block: block(*last),
        };
        self.lists = said.iter().map(list).collect();
        self.forget_gone();
    }

    fn see(&mut self, hash: u8, spends: &[u8], is_ours: bool) {
        let spends: Vec<Spend> = spends.iter().map(|it| spend(*it)).collect();
        let transfers = is_ours.then(|| paying(hash)).into_iter().collect();
        self.add([hash; 32], spends, transfers);
    }

    /// New and dropped hashes, written down.
    fn step(&mut self, read_up_to: u8) -> (Vec<String>, Vec<String>) {
        self.retain_ours(&HashSet::from(["ours".to_owned()]));
        let MempoolChanges { transfers, dropped } = self.changes(&block(read_up_to));
        self.are_written(&transfers, &dropped);
        (
            transfers.into_iter().map(|it| it.tx_hash).collect(),
            dropped.into_iter().map(|it| it.0).collect(),
        )
    }
}

/// Of a network with a quorum of one.
fn alone() -> Mempool {
    Mempool {
        quorum: 1,
        ..Mempool::default()
    }
}

fn of(hashes: &[u8]) -> Vec<String> {
    hashes.iter().map(|it| text(*it)).collect()
}

#[test]
fn the_old_one_goes_in_the_step_in_which_the_new_one_is_seen() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9)]);
    mempool.see(1, &[7], true);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
    assert_eq!(mempool.step(9), (of(&[]), of(&[])), "once");
    mempool.hear(&[(&[2], 9)]);
    mempool.see(2, &[7], true);
    assert_eq!(mempool.step(9), (of(&[2]), of(&[1])));
}

#[test]
fn a_rival_that_pays_somebody_else_takes_the_sighting_away() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9), (&[1], 9)]);
    mempool.see(1, &[7, 8], true);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
    assert!(mempool.is_rival(&[spend(8)]) && !mempool.is_rival(&[spend(6)]));
    // The other endpoint has not heard of it yet, and one is enough here: what was seen last stands.
    mempool.hear(&[(&[2], 9), (&[1], 9)]);
    mempool.see(2, &[8], false);
    assert_eq!(mempool.step(9), (of(&[]), of(&[1])));
    assert_eq!(mempool.step(9), (of(&[]), of(&[])), "it does not come back");
    // And it does, once nobody has the other any more.
    mempool.hear(&[(&[], 9), (&[1], 9)]);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
}

#[test]
fn one_endpoint_of_two_that_must_agree_replaces_nothing_alone() {
    let mut mempool = Mempool {
        quorum: 2,
        ..Mempool::default()
    };
    mempool.hear(&[(&[1], 9), (&[1], 9)]);
    mempool.see(1, &[7], true);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
    mempool.hear(&[(&[1], 9), (&[2], 9)]);
    mempool.see(2, &[7], true);
    assert_eq!(mempool.step(9), (of(&[]), of(&[])));
    // Both have it, or nobody has the other any more.
    mempool.hear(&[(&[2], 9), (&[2], 9)]);
    assert_eq!(mempool.step(9), (of(&[2]), of(&[1])));
    mempool.hear(&[(&[3], 9), (&[], 9)]);
    mempool.see(3, &[7], true);
    assert_eq!(mempool.step(9), (of(&[3]), of(&[2])));
}

#[test]
fn what_is_gone_may_be_in_a_block_that_was_not_read_yet() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9)]);
    mempool.see(1, &[7], true);
    mempool.step(9);
    mempool.hear(&[(&[], 10)]);
    assert_eq!(mempool.step(9), (of(&[]), of(&[])));
    let mined = SeenTransfer {
        height: Some(10),
        ..paying(1)
    };
    mempool.are_written(&[mined], &[]);
    assert_eq!(mempool.step(10), (of(&[]), of(&[])), "it is in a block");
    // The block is replaced, and it waits again.
    mempool.hear(&[(&[1], 11)]);
    mempool.see(1, &[7], true);
    assert_eq!(mempool.step(11), (of(&[1]), of(&[])));
    mempool.hear(&[(&[], 11)]);
    assert_eq!(mempool.step(11), (of(&[]), of(&[1])), "in no block");
}

#[test]
fn a_replacement_is_seen_as_one_though_a_block_was_not_read_yet() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9)]);
    mempool.see(1, &[7], true);
    mempool.step(9);
    mempool.hear(&[(&[2], 10)]);
    mempool.see(2, &[7], true);
    assert_eq!(mempool.step(9), (of(&[2]), of(&[1])));

    let mut mempool = Mempool {
        quorum: 2,
        ..Mempool::default()
    };
    mempool.hear(&[(&[1], 9), (&[1], 9)]);
    mempool.see(1, &[7], true);
    mempool.step(9);
    mempool.hear(&[(&[2], 10), (&[], 10)]);
    mempool.see(2, &[7], true);
    let nothing = (of(&[]), of(&[]));
    assert_eq!(mempool.step(9), nothing, "the first may be in block 10");
    assert_eq!(mempool.step(10), (of(&[2]), of(&[1])), "it is not");
}

#[test]
fn what_an_earlier_leader_has_left_stays_while_somebody_has_it() {
    let mut mempool = Mempool::inherited(vec![(text(1), 1), (text(2), 1)]);
    assert_eq!(mempool.step(9), (of(&[]), of(&[])), "nobody was asked");
    mempool.hear(&[(&[1], 9)]);
    assert_eq!(mempool.step(9), (of(&[]), of(&[2])), "not fetched yet");
    mempool.see(1, &[7], true);
    assert_eq!(mempool.step(9), (of(&[]), of(&[])), "nothing is told twice");
    assert!(mempool.holds(&(text(1), 1)));
}

#[test]
fn an_address_that_only_looks_like_ours_is_not_shown() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9)]);
    mempool.see(1, &[7], true);
    assert_eq!(mempool.unchecked(), HashSet::from(["ours".to_owned()]));
    assert!(mempool.changes(&block(9)).transfers.is_empty());
    mempool.retain_ours(&HashSet::new());
    assert!(mempool.changes(&block(9)).transfers.is_empty());
    assert!(mempool.unchecked().is_empty());
}

// An endpoint that has taken a block back is ahead of what was read: the payment in it waits there, and was told of too early.
#[test]
fn what_waits_is_told_again_once_blocks_were_replaced() {
    let mut mempool = alone();
    mempool.hear(&[(&[1], 9)]);
    mempool.see(1, &[7], true);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
    assert_eq!(mempool.step(9), (of(&[]), of(&[])));
    mempool.blocks_were_replaced();
    // What a look begins with.
    mempool.tells_again = std::mem::take(&mut mempool.were_replaced);
    assert_eq!(mempool.step(9), (of(&[1]), of(&[])));
    mempool.tells_again = std::mem::take(&mut mempool.were_replaced);
    assert_eq!(mempool.step(9), (of(&[]), of(&[])));
}
