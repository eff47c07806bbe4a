//! What a chain says, and how much of it can be relied on. Facts only: nothing here knows an invoice.

use crate::payment::Level;

/// A block of the window that is kept, from a little below the last final one to the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub height: i64,
    pub hash: String,
    pub parent: String,
    /// In milliseconds; chains count whole seconds.
    pub time: i64,
}

/// How far a chain is settled. Heights only rise, unless an operator says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tips {
    pub safe: Option<i64>,
    pub last_final: Option<i64>,
}

impl Tips {
    /// The level of what is in a block at this height.
    pub fn level_at(self, height: i64) -> Level {
        let covers = |tip: Option<i64>| tip.is_some_and(|tip| height <= tip);
        if covers(self.last_final) {
            Level::Final
        } else if covers(self.safe) {
            Level::Safe
        } else {
            Level::Included
        }
    }

    /// What is left of the tips when the blocks from a height on are replaced.
    #[must_use]
    pub fn below(self, height: i64) -> Tips {
        let below = |tip: Option<i64>| tip.map(|tip| tip.min(height - 1));
        Tips {
            safe: below(self.safe),
            last_final: below(self.last_final),
        }
    }

    /// What a source says now, over what was known: a tip never goes back, and what is final is safe.
    #[must_use]
    pub fn risen_to(self, safe: Option<i64>, last_final: Option<i64>) -> Tips {
        let last_final = self.last_final.max(last_final);
        Tips {
            safe: self.safe.max(safe).max(last_final),
            last_final,
        }
    }
}

/// How new blocks join those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// On top of the head.
    Extends,
    /// In place of the blocks from this height on, none of which was final.
    Replaces { from: i64 },
    /// In place of a final block: nobody can be relied on until an operator has looked.
    ReplacesFinal { from: i64 },
    /// Not at all: a block between is missing, or the blocks do not follow one another.
    Loose,
}

/// What of `new` is not known yet: a source that begins anew tells again what it has told.
pub fn unknown<'b>(known: &[Block], new: &'b [Block]) -> &'b [Block] {
    let is_known = |block: &Block| {
        let same = |other: &Block| (other.height, &other.hash) == (block.height, &block.hash);
        known.iter().any(same)
    };
    let begin = new.iter().rposition(is_known).map_or(0, |last| last + 1);
    &new[begin..]
}

/// `known` is the window and `new` what comes on top of one of its blocks, both by height. Without a window, anything
/// that hangs together is a beginning.
pub fn join(known: &[Block], new: &[Block], tips: Tips) -> Joint {
    let follows =
        |pair: &[Block]| pair[1].height == pair[0].height + 1 && pair[1].parent == pair[0].hash;
    if !new.windows(2).all(follows) {
        return Joint::Loose;
    }
    let (Some(first), Some(head)) = (new.first(), known.last()) else {
        return Joint::Extends;
    };
    let parent = known.iter().find(|block| block.height == first.height - 1);
    let is_child = parent.is_some_and(|parent| parent.hash == first.parent);
    // The whole window was replaced: what it stood on cannot be seen from here.
    let below_window = known
        .first()
        .is_some_and(|lowest| first.height <= lowest.height);
    let is_final = tips.last_final.is_some_and(|tip| first.height <= tip);
    let lowest = known.first().map_or(i64::MAX, |block| block.height);
    let is_window_final = tips.last_final.is_some_and(|tip| lowest <= tip);
    match (is_child, first.height > head.height) {
        (true, true) => Joint::Extends,
        (true, false) if is_final => Joint::ReplacesFinal { from: first.height },
        (true, false) => Joint::Replaces { from: first.height },
        // Where nothing of it was final yet, that is an ordinary reorganisation.
        (false, _) if below_window && !is_final && !is_window_final => {
            Joint::Replaces { from: first.height }
        }
        (false, _) if below_window => Joint::ReplacesFinal { from: first.height },
        (false, _) => Joint::Loose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"a b c"` from a height on, each the child of the one before, the first of `parent`.
    fn blocks(from: i64, parent: &str, hashes: &str) -> Vec<Block> {
        let mut parent = parent.to_owned();
        (from..)
            .zip(hashes.split_whitespace())
            .map(|(height, hash)| Block {
                height,
                hash: hash.to_owned(),
                parent: std::mem::replace(&mut parent, hash.to_owned()),
                time: height * 12_000,
            })
            .collect()
    }

    fn joined(new: &[Block], last_final: i64) -> Joint {
        //  7 ── a10 ── b11 ── c12 ── d13
        let known = blocks(10, "z", "a b c d");
        let tips = Tips::default().risen_to(None, Some(last_final));
        join(&known, new, tips)
    }

    #[test]
    fn blocks_extend_or_replace_what_is_not_final() {
        assert_eq!(joined(&blocks(14, "d", "e f"), 11), Joint::Extends);
        assert_eq!(
            joined(&blocks(13, "c", "d2 e2"), 11),
            Joint::Replaces { from: 13 }
        );
        assert_eq!(
            joined(&blocks(12, "b", "c2"), 11),
            Joint::Replaces { from: 12 }
        );
        assert_eq!(
            joined(&blocks(12, "b", "c2 d2"), 12),
            Joint::ReplacesFinal { from: 12 }
        );
        assert_eq!(
            joined(&blocks(11, "a", "b2"), 11),
            Joint::ReplacesFinal { from: 11 }
        );
        assert_eq!(
            joined(&blocks(10, "y", "a2 b2"), 10),
            Joint::ReplacesFinal { from: 10 }
        );
    }

    #[test]
    fn a_window_of_which_nothing_was_final_yet_is_replaced_like_any_block() {
        let known = blocks(10, "z", "a b");
        let new = blocks(10, "y", "a2 b2 c2");
        let replaced = Joint::Replaces { from: 10 };
        assert_eq!(join(&known, &new, Tips::default()), replaced);
        let tips = |last_final| Tips::default().risen_to(None, Some(last_final));
        assert_eq!(
            join(&known, &blocks(9, "x", "z2 a2"), tips(8)),
            Joint::Replaces { from: 9 }
        );
        assert_eq!(
            join(&known, &new, tips(10)),
            Joint::ReplacesFinal { from: 10 }
        );
        assert_eq!(
            join(&known, &blocks(9, "x", "z2"), tips(9)),
            Joint::ReplacesFinal { from: 9 }
        );
    }

    #[test]
    fn what_does_not_hang_together_is_loose() {
        assert_eq!(
            joined(&blocks(15, "e", "f"), 11),
            Joint::Loose,
            "14 is missing"
        );
        assert_eq!(
            joined(&blocks(14, "x", "e"), 11),
            Joint::Loose,
            "another parent"
        );
        let mut torn = blocks(14, "d", "e f");
        torn[1].parent = "x".to_owned();
        assert_eq!(joined(&torn, 11), Joint::Loose);
        let mut gap = blocks(14, "d", "e f");
        gap[1].height += 1;
        assert_eq!(joined(&gap, 11), Joint::Loose);
    }

    #[test]
    fn what_is_told_again_is_not_new() {
        let known = blocks(10, "z", "a b c d");
        assert_eq!(unknown(&known, &blocks(10, "z", "a b c d")), []);
        assert_eq!(unknown(&known, &blocks(11, "a", "b c")), []);
        assert_eq!(unknown(&known, &blocks(9, "y", "z a b")), []);
        let more = blocks(12, "b", "c d e");
        assert_eq!(unknown(&known, &more), &more[2..]);
        let others = blocks(12, "b", "c2 d2");
        assert_eq!(unknown(&known, &others), others);
    }

    #[test]
    fn anything_is_a_beginning_and_nothing_changes_nothing() {
        assert_eq!(
            join(&[], &blocks(5, "x", "a"), Tips::default()),
            Joint::Extends
        );
        assert_eq!(joined(&[], 11), Joint::Extends);
    }

    #[test]
    fn a_level_is_where_a_block_stands_against_the_tips() {
        let tips = Tips::default().risen_to(Some(7), Some(5));
        let levels = [5, 6, 7, 8].map(|height| tips.level_at(height));
        assert_eq!(
            levels,
            [Level::Final, Level::Safe, Level::Safe, Level::Included]
        );
        assert_eq!(Tips::default().level_at(0), Level::Included);
    }

    #[test]
    fn what_stood_on_replaced_blocks_is_taken_off_the_tips() {
        let tips = Tips::default().risen_to(Some(7), Some(5));
        let cut = tips.below(7);
        assert_eq!((cut.safe, cut.last_final), (Some(6), Some(5)));
        assert_eq!(tips.below(8), tips);
        assert_eq!(cut.level_at(7), Level::Included, "a sibling begins anew");
    }

    #[test]
    fn tips_never_go_back_and_what_is_final_is_safe() {
        let tips = Tips::default().risen_to(Some(7), Some(5));
        assert_eq!(tips.risen_to(Some(6), Some(4)), tips);
        assert_eq!(tips.risen_to(None, Some(9)).safe, Some(9));
    }
}
