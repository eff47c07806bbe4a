//! Finds where the known chain parts from the one that enough endpoints have now.

use futures::FutureExt as _;
use till_core::chain::Block;

use crate::endpoint_tips::EndpointTips;
use crate::heads::{Head, held_at};
use crate::latecomers::{GRACE, answers_in_time};
use crate::pool::Pool;

/// How many blocks below the first one ever read a reorg may replace while nothing is final.
const UNSEEN: i64 = 64;

/// The known chain: its latest blocks, and its last final height.
#[derive(Clone, Copy)]
pub struct KnownChain<'w> {
    pub window: &'w [Block],
    pub last_final: Option<i64>,
}

impl<'w> KnownChain<'w> {
    fn at(&self, height: i64) -> Option<&'w Block> {
        self.window.iter().find(|block| block.height == height)
    }
}

/// The point at which a reorg leaves the known chain.
pub struct ForkPoint {
    /// The height of the first block that is replaced, or new.
    pub from: i64,
    /// The hash of the block below, which both chains have. None if it is not kept any more.
    pub parent: Option<String>,
    /// How many known blocks are replaced.
    pub depth: i64,
}

/// Walks down from the head to the last block that both chains have. None if too few endpoints agree on a block on the
/// way.
pub async fn last_shared(
    pool: Pool<'_>,
    ours: KnownChain<'_>,
    head: &Head<'_>,
    said: &[EndpointTips<'_>],
) -> Option<ForkPoint> {
    let window = ours.window;
    let (lowest, highest) = (window.first()?.height, window.last()?.height);
    let mut at = highest.min(head.block.height);
    while at >= lowest {
        let held = held_at(pool, said, window, at, head.need).await?;
        if ours.at(at)?.hash == held.block.hash.text() {
            break;
        }
        at -= 1;
    }
    // Nothing that is kept is shared. What is below it was either final, and stays, or never looked at: who was paid since
    // may be paid there now.
    let from = match ours.last_final {
        _ if at >= lowest => at + 1,
        Some(tip) => at.min(tip) + 1,
        None => (lowest - UNSEEN).max(0),
    };
    Some(ForkPoint {
        from,
        parent: ours.at(at).map(|block| block.hash.clone()),
        depth: highest - at,
    })
}

/// Excludes endpoints that have another block than ours at our last final height.
pub async fn blame_dissenters(
    pool: Pool<'_>,
    ours: KnownChain<'_>,
    head: &Head<'_>,
    said: &[EndpointTips<'_>],
) {
    let Some(ours) = ours.last_final.and_then(|tip| ours.at(tip)) else {
        return;
    };
    let is_holder =
        |it: &EndpointTips<'_>| head.holders.iter().any(|own| std::ptr::eq(*own, it.source));
    let others = said.iter().filter(|it| !is_holder(it));
    let ahead = others.filter(|it| it.latest.height >= head.block.height);
    let asked = ahead.map(|it| {
        async move {
            let there = pool.header(it.source, ours.height).await;
            let differs = there.is_ok_and(|it| it.is_some_and(|it| it.hash.text() != ours.hash));
            if differs {
                let what = "another block at a height that is final";
                pool.lied(it.source, what);
            }
        }
        .boxed()
    });
    answers_in_time(asked.collect(), || GRACE, |_| true).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::agreed_head;
    use crate::rounds::ask_all;
    use crate::scripted::{Scripted, window};

    #[tokio::test]
    async fn two_chains_part_above_the_last_block_that_both_have() {
        // What we know and what is final of it; what the endpoints have; the first block that is another, and how many
        // of ours are replaced.
        let rows = [
            ("abcd", None, "abcdef", (4, 0)),
            ("abcd", None, "abcxy", (3, 1)),
            ("abcd", Some(1), "abxyz", (2, 2)),
            // Shorter than ours for now.
            ("abcde", None, "abx", (2, 3)),
            // Below what is final.
            ("abcd", Some(2), "axyz", (1, 3)),
            ("abcd", Some(2), "wxyz", (0, 4)),
            ("abcd", None, "wxyz", (0, 4)),
        ];
        for (known, last_final, chain, expected) in rows {
            let scripted = Scripted::of(&[chain, chain, "ab"]).await;
            let pool = scripted.pool();
            let said = ask_all(pool).await;
            let window = &window(known)[..];
            let head = agreed_head(pool, &said, window).await.unwrap();
            let ours = KnownChain { window, last_final };
            let shared = last_shared(pool, ours, &head, &said).await.unwrap();
            assert_eq!((shared.from, shared.depth), expected, "{known} {chain}");
            let parent = usize::try_from(expected.0 - 1).ok();
            let parent = parent.and_then(|at| window.get(at));
            let parent = parent.map(|it| it.hash.clone());
            assert_eq!(shared.parent, parent, "{known} {chain}");
        }
    }

    #[tokio::test]
    async fn who_has_another_block_where_ours_is_final_is_set_aside() {
        let scripted = Scripted::of(&["abcd", "abcd", "axyzuv"]).await;
        let pool = scripted.pool();
        let said = ask_all(pool).await;
        let window = &window("abcd")[..];
        let head = agreed_head(pool, &said, window).await.unwrap();
        for (last_final, is_asked) in [(0, true), (1, false)] {
            let last_final = Some(last_final);
            blame_dissenters(pool, KnownChain { window, last_final }, &head, &said).await;
            assert_eq!(scripted.endpoints()[2].may_be_asked(7), is_asked);
        }
    }
}
