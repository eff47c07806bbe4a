//! The safe and final tips of a network: the highest blocks of the known chain that a quorum calls safe, or final.

use futures::FutureExt as _;
use till_chains::observer::Header;
use till_core::chain::Block;

use crate::endpoint::{Endpoint, Progress};
use crate::endpoint_tips::EndpointTips;
use crate::latecomers::{GRACE, answers_in_time};
use crate::pool::Pool;
use crate::update::Tip;

/// If endpoints have stalled and too few advance for a quorum: those that advance, and the lowest height of the
/// stalled. None if enough advance, and if more have stalled than advance, for then it is unclear who is wrong.
pub fn going_on<'s>(
    pool: Pool<'_>,
    said: &[EndpointTips<'s>],
) -> Option<(Vec<EndpointTips<'s>>, i64)> {
    let now_us = pool.clock.monotonic_us();
    let furthest = said.iter().map(|it| it.latest.height).max().unwrap_or(0);
    let paces: Vec<Progress> = said
        .iter()
        .map(|it| it.source.progress(now_us, furthest))
        .collect();
    let still = paces
        .iter()
        .filter(|pace| **pace != Progress::Moving)
        .count();
    let going = said.len() - still;
    if still == 0 || going >= pool.net.quorum || still > going {
        return None;
    }
    let (mut going, mut heights) = (Vec::new(), Vec::new());
    for (it, pace) in said.iter().zip(paces) {
        let Progress::Stalled { is_news } = pace else {
            going.push(it.clone());
            continue;
        };
        heights.push(it.latest.height);
        if is_news {
            let (network, endpoint) = (&*pool.network().id, &it.source.address);
            let height = it.latest.height;
            tracing::warn!(network, %endpoint, height, "an endpoint stands still; what the others have is seen, and nothing is taken in before it moves: check or replace it");
        }
    }
    Some((going, heights.into_iter().min()?))
}

/// The known chain, once `new` has replaced the blocks of `window` from its first height on.
pub struct Chain<'b> {
    pub window: &'b [Block],
    pub new: &'b [Block],
}

impl Chain<'_> {
    pub fn top(&self) -> Option<&Block> {
        self.new.last().or(self.window.last())
    }

    /// Whether `new` replaces a known block.
    pub fn replaces(&self) -> bool {
        let first = self.new.first().map(|block| block.height);
        let last = self.window.last().map(|block| block.height);
        first.zip(last).is_some_and(|(first, last)| first <= last)
    }

    pub fn at(&self, height: i64) -> Option<&Block> {
        let replaced_from = self.new.first().map(|first| first.height);
        let kept = |block: &&Block| replaced_from.is_none_or(|from| block.height < from);
        let found = |block: &&Block| block.height == height;
        self.new
            .iter()
            .find(found)
            .or_else(|| self.window.iter().filter(kept).find(found))
    }
}

/// The height up to which an endpoint's tip covers our chain. None if the tip is on another chain.
async fn covered(
    pool: Pool<'_>,
    source: &Endpoint,
    told: Option<&Header>,
    chain: &Chain<'_>,
) -> Option<i64> {
    let told = told?;
    let top = chain.top()?;
    if told.height <= top.height {
        let block = chain.at(told.height)?;
        return (block.hash == told.hash.text()).then_some(told.height);
    }
    // The tip is above our chain: compare the endpoint's block at our top.
    let there = pool.header(source, top.height).await.ok()??;
    (there.hash.text() == top.hash).then_some(top.height)
}

/// The safe and the final tip, each as high as a quorum agrees.
pub async fn agreed_tips(
    pool: Pool<'_>,
    said: &[EndpointTips<'_>],
    chain: &Chain<'_>,
) -> (Option<Tip>, Option<Tip>) {
    let safe = said
        .iter()
        .map(|it| covered(pool, it.source, it.safe.as_ref(), chain).boxed());
    let last_final = said
        .iter()
        .map(|it| covered(pool, it.source, it.last_final.as_ref(), chain).boxed());
    let quorum = pool.net.quorum;
    let enough =
        |covered: &[Option<Option<i64>>]| covered.iter().flatten().flatten().count() >= quorum;
    let (safe, last_final) = tokio::join!(
        answers_in_time(safe.collect(), || GRACE, enough),
        answers_in_time(last_final.collect(), || GRACE, enough)
    );
    let tip = |covered: Vec<Option<Option<i64>>>| {
        let covered: Vec<Option<i64>> = covered.into_iter().flatten().collect();
        let height = agreed_height(&covered, quorum)?;
        let hash = chain.at(height)?.hash.clone();
        Some(Tip { height, hash })
    };
    (tip(safe), tip(last_final))
}

/// The greatest height that `quorum` endpoints reach.
fn agreed_height(covered: &[Option<i64>], quorum: usize) -> Option<i64> {
    let mut heights: Vec<i64> = covered.iter().flatten().copied().collect();
    heights.sort_unstable_by(|a, b| b.cmp(a));
    heights.get(quorum.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tip_is_as_high_as_enough_endpoints_say() {
        let covered = [Some(7), None, Some(12), Some(9)];
        assert_eq!(agreed_height(&covered, 1), Some(12));
        assert_eq!(agreed_height(&covered, 2), Some(9));
        assert_eq!(agreed_height(&covered, 3), Some(7));
        assert_eq!(agreed_height(&covered, 4), None, "one is of another chain");
        assert_eq!(agreed_height(&[], 1), None);
    }

    #[test]
    fn new_blocks_stand_in_place_of_those_they_replace() {
        let block = |height: i64, hash: &str| Block {
            height,
            hash: hash.to_owned(),
            parent: String::new(),
            time: 0,
        };
        let window = [block(5, "a"), block(6, "b"), block(7, "c")];
        let new = [block(6, "b2")];
        let chain = Chain {
            window: &window,
            new: &new,
        };
        let hash = |height| chain.at(height).map(|block| block.hash.as_str());
        assert_eq!([5, 6, 7].map(hash), [Some("a"), Some("b2"), None]);
        assert_eq!(chain.top().map(|block| block.height), Some(6));
        assert!(chain.replaces());
        let (window, new) = (&window[..1], &new[..]);
        assert!(!Chain { window, new }.replaces());
    }
}
