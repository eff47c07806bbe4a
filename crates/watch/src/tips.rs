//! How far a network is settled: what as many endpoints as must agree say, of blocks that are ours.

use futures::FutureExt as _;
use till_chains::observer::{Header, hash_text};
use till_chains::rpc::RpcError;
use till_core::chain::Block;

use crate::endpoint::{Endpoint, Progress};
use crate::pool::Pool;
use crate::update::Tip;

/// What an endpoint says of its chain.
#[derive(Clone)]
pub struct Said<'s> {
    pub source: &'s Endpoint,
    pub latest: Header,
    pub safe: Option<Header>,
    pub last_final: Option<Header>,
}

/// Asks everybody who may be asked, at the same time.
pub async fn ask_all(pool: Pool<'_>) -> Vec<Said<'_>> {
    let asked = pool.usable().into_iter().map(|source| {
        let asked = async move {
            match ask(pool, source).await {
                Ok(said) => Some(said),
                Err(error) => {
                    pool.failed(source, &error);
                    None
                }
            }
        };
        asked.boxed()
    });
    let said = futures::future::join_all(asked).await;
    said.into_iter().flatten().collect()
}

/// Those who go on, and where the others stand still: fewer go on than must agree. None where enough do, and where more stand
/// still: then it is not sure who is wrong.
pub fn going_on<'s>(pool: Pool<'_>, said: &[Said<'s>]) -> Option<(Vec<Said<'s>>, i64)> {
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
            tracing::warn!(network, %endpoint, height, "an endpoint stands still; what the others have is seen, and nothing is taken in before it moves");
        }
    }
    Some((going, heights.into_iter().min()?))
}

async fn ask<'s>(pool: Pool<'_>, source: &'s Endpoint) -> Result<Said<'s>, RpcError> {
    let tips = pool.observer().tips(pool.rpc, &source.address).await?;
    let was = source.mark_answered(tips.head.height);
    if let Some(was) = was {
        let (network, was) = (&*pool.network().id, was.why());
        tracing::info!(network, endpoint = %source.address, was, "an endpoint answers again");
    }
    Ok(Said {
        source,
        latest: tips.head,
        safe: tips.safe,
        last_final: tips.last_final,
    })
}

/// The blocks that are ours once a step is taken, by height.
pub struct Chain<'b> {
    pub window: &'b [Block],
    pub new: &'b [Block],
}

impl Chain<'_> {
    pub fn top(&self) -> Option<&Block> {
        self.new.last().or(self.window.last())
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

/// Up to where an endpoint's tip covers our chain; none where it is of another.
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
        return (block.hash == hash_text(&told.hash)).then_some(told.height);
    }
    // It is further than we are: what does it have where we are?
    let there = pool.header(source, top.height).await.ok()??;
    (hash_text(&there.hash) == top.hash).then_some(top.height)
}

/// Safe and final, as far as enough endpoints agree.
pub async fn agreed_tips(
    pool: Pool<'_>,
    said: &[Said<'_>],
    chain: &Chain<'_>,
) -> (Option<Tip>, Option<Tip>) {
    let safe = said
        .iter()
        .map(|it| covered(pool, it.source, it.safe.as_ref(), chain).boxed());
    let last_final = said
        .iter()
        .map(|it| covered(pool, it.source, it.last_final.as_ref(), chain).boxed());
    let (safe, last_final) = tokio::join!(
        futures::future::join_all(safe),
        futures::future::join_all(last_final)
    );
    let tip = |covered: Vec<Option<i64>>| {
        let height = agreed_height(&covered, pool.net.quorum)?;
        let hash = chain.at(height)?.hash.clone();
        Some(Tip { height, hash })
    };
    (tip(safe), tip(last_final))
}

/// The highest that so many reach.
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
    }
}
