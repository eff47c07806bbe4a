//! Two chains: the one we know, and the one that enough endpoints have now.

use futures::FutureExt as _;
use till_chains::observer::hash_text;
use till_core::chain::Block;

use crate::heads::{Head, held_at};
use crate::pool::Pool;
use crate::tips::Said;

/// How far below the first block that was ever read others may be replaced before anything is final.
const UNSEEN: i64 = 64;

/// The chain that we know.
#[derive(Clone, Copy)]
pub struct Ours<'w> {
    pub window: &'w [Block],
    pub last_final: Option<i64>,
}

impl<'w> Ours<'w> {
    fn at(&self, height: i64) -> Option<&'w Block> {
        self.window.iter().find(|block| block.height == height)
    }
}

/// Where two chains part.
pub struct Shared {
    /// The first block that is another.
    pub from: i64,
    /// The one below it, which both have; none where that is below all that is kept.
    pub parent: Option<String>,
    /// How many of ours are replaced.
    pub depth: i64,
}

/// Nothing while not enough endpoints say the same on the way down.
pub async fn last_shared(
    pool: Pool<'_>,
    ours: Ours<'_>,
    head: &Head<'_>,
    said: &[Said<'_>],
) -> Option<Shared> {
    let window = ours.window;
    let (lowest, highest) = (window.first()?.height, window.last()?.height);
    let mut at = highest.min(head.block.height);
    while at >= lowest {
        let held = held_at(pool, said, window, at, head.need).await?;
        if ours.at(at)?.hash == hash_text(&held.block.hash) {
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
    Some(Shared {
        from,
        parent: ours.at(at).map(|block| block.hash.clone()),
        depth: highest - at,
    })
}

/// Who has another block where ours is final, against all the others, is not believed.
pub async fn blame_dissenters(pool: Pool<'_>, ours: Ours<'_>, head: &Head<'_>, said: &[Said<'_>]) {
    let Some(ours) = ours.last_final.and_then(|tip| ours.at(tip)) else {
        return;
    };
    let is_holder = |it: &Said<'_>| head.holders.iter().any(|own| std::ptr::eq(*own, it.source));
    let others = said.iter().filter(|it| !is_holder(it));
    let ahead = others.filter(|it| it.latest.height >= head.block.height);
    let asked = ahead.map(|it| {
        async move {
            let there = pool.header(it.source, ours.height).await;
            let differs =
                there.is_ok_and(|it| it.is_some_and(|it| hash_text(&it.hash) != ours.hash));
            if differs {
                let what = "another block at a height that is final";
                pool.lied(it.source, what);
            }
        }
        .boxed()
    });
    futures::future::join_all(asked).await;
}
