//! How far a network is settled: what as many endpoints as must agree say, of blocks that are ours.

use futures::FutureExt as _;
use till_chains::evm::blocks::Header;
use till_chains::evm::client::Which;
use till_chains::rpc::RpcError;
use till_core::asset::Depth;
use till_core::chain::Block;

use super::Trouble;
use super::ask::{Asking, shown};
use crate::intake::chain::Tip;
use till_watch::{Endpoint, Progress};

/// What an endpoint says of its chain.
#[derive(Clone)]
pub(super) struct Said<'s> {
    pub(super) source: &'s Endpoint,
    pub(super) latest: Header,
    pub(super) safe: Option<Header>,
    pub(super) last_final: Option<Header>,
}

/// Asks everybody who may be asked, at the same time.
pub(super) async fn ask_all(asking: Asking<'_>) -> Vec<Said<'_>> {
    let asked = asking.usable().into_iter().map(|source| {
        let asked = async move {
            match ask(asking, source).await {
                Ok(said) => Some(said),
                Err(error) => {
                    drop::<Trouble>(asking.failed(source, &error));
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
pub(super) fn going_on<'s>(asking: Asking<'_>, said: &[Said<'s>]) -> Option<(Vec<Said<'s>>, i64)> {
    let now_us = asking.engine.clock.monotonic_us();
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
    if still == 0 || going >= asking.net.quorum || still > going {
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
            let (network, endpoint) = (&*asking.network().id, &it.source.address);
            let height = it.latest.height;
            tracing::warn!(network, %endpoint, height, "an endpoint stands still; what the others have is seen, and nothing is taken in before it moves");
        }
    }
    Some((going, heights.into_iter().min()?))
}

async fn ask<'s>(asking: Asking<'_>, source: &'s Endpoint) -> Result<Said<'s>, RpcError> {
    let network = asking.network();
    let latest = Which::Tag("latest".to_owned());
    let (latest, safe, last_final) = tokio::try_join!(
        asking.try_header(source, &latest),
        tagged(asking, source, network.safe.as_ref()),
        tagged(asking, source, Some(&network.finalized)),
    )?;
    let latest = latest.ok_or_else(|| RpcError::NotAnAnswer("it has no blocks".to_owned()))?;
    let was = source.mark_answered(latest.height);
    if let Some(was) = was {
        let (network, was) = (&*network.id, was.why());
        tracing::info!(network, endpoint = %source.address, was, "an endpoint answers again");
    }
    Ok(Said {
        source,
        latest,
        safe,
        last_final,
    })
}

/// A chain that just began, or a node that just started, has no such block: that is said by null or by a refusal.
async fn tagged(
    asking: Asking<'_>,
    source: &Endpoint,
    depth: Option<&Depth>,
) -> Result<Option<Header>, RpcError> {
    let Some(Depth::Tag(tag)) = depth else {
        return Ok(None);
    };
    match asking.try_header(source, &Which::Tag(tag.clone())).await {
        Err(RpcError::Refused { .. }) => Ok(None),
        told => told,
    }
}

/// The blocks that are ours once a step is taken, by height.
pub(super) struct Chain<'b> {
    pub(super) window: &'b [Block],
    pub(super) new: &'b [Block],
}

impl Chain<'_> {
    pub(super) fn top(&self) -> Option<&Block> {
        self.new.last().or(self.window.last())
    }

    pub(super) fn at(&self, height: i64) -> Option<&Block> {
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
    asking: Asking<'_>,
    source: &Endpoint,
    told: Option<&Header>,
    chain: &Chain<'_>,
) -> Option<i64> {
    let told = told?;
    let top = chain.top()?;
    if told.height <= top.height {
        let block = chain.at(told.height)?;
        return (block.hash == shown(&told.hash)).then_some(told.height);
    }
    // It is further than we are: what does it have where we are?
    let there = asking.header(source, Which::At(top.height)).await.ok()??;
    (shown(&there.hash) == top.hash).then_some(top.height)
}

/// Safe and final, as far as enough endpoints agree.
pub(super) async fn agreed(
    asking: Asking<'_>,
    said: &[Said<'_>],
    chain: &Chain<'_>,
) -> (Option<Tip>, Option<Tip>) {
    let safe = said
        .iter()
        .map(|it| covered(asking, it.source, it.safe.as_ref(), chain).boxed());
    let last_final = said
        .iter()
        .map(|it| covered(asking, it.source, it.last_final.as_ref(), chain).boxed());
    let (safe, last_final) = tokio::join!(
        futures::future::join_all(safe),
        futures::future::join_all(last_final)
    );
    let tip = |covered: Vec<Option<i64>>| {
        let height = agreed_height(&covered, asking.net.quorum)?;
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
