//! One leader's way along its network: read on, from where both sides agree, and take it to the door.

use futures::FutureExt as _;
use till_chains::evm::client::Which;
use till_core::chain::Block;
use till_store::networks::NetworkRow;

use super::ask::{Asking, shown};
use super::begin::first_height;
use super::confirm::{are_believed, confirmed};
use super::gather::{Gathered, Read, Upon, gather};
use super::logs::Span;
use super::tips::{Chain, Said, agreed, ask_all};
use super::{Trouble, measure};
use crate::base::fail::Fail;
use crate::intake::chain::{Advanced, Step, advance};

/// What a leader does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There is more to read.
    Now,
    Later,
    /// Somebody else leads.
    Leave,
}

pub(super) struct Follower<'e> {
    pub(super) asking: Asking<'e>,
    pub(super) epoch: i64,
    /// As the database has them.
    pub(super) row: NetworkRow,
    pub(super) window: Vec<Block>,
    span: Span,
}

impl<'e> Follower<'e> {
    pub(super) async fn new(asking: Asking<'e>, epoch: i64) -> Result<Follower<'e>, Fail> {
        let (row, window) = known(asking).await?;
        Ok(Follower {
            asking,
            epoch,
            row,
            window,
            span: Span::default(),
        })
    }

    async fn reload(&mut self) -> Result<(), Fail> {
        (self.row, self.window) = known(self.asking).await?;
        Ok(())
    }

    /// One round: who says what, the next blocks, and how far they are settled.
    pub(super) async fn round(&mut self) -> Result<Next, Fail> {
        if self.row.frozen_at.is_some() {
            self.reload().await?;
            measure::standing(self.asking, &self.row, &self.window, None);
            return Ok(Next::Later);
        }
        let said = ask_all(self.asking).await;
        let Some(best) = self.best(&said) else {
            measure::standing(self.asking, &self.row, &self.window, None);
            return Ok(Next::Later);
        };
        let read = match self.read_on(best, &said).await {
            Ok(read) => read,
            Err(Trouble::Source) => return Ok(Next::Later),
            Err(Trouble::Ours(fail)) => return Err(fail),
        };
        let head = best.latest.height;
        self.take(read, &said, head).await
    }

    async fn take(&mut self, read: Read, said: &[Said<'_>], head: i64) -> Result<Next, Fail> {
        let chain = Chain {
            window: &self.window,
            new: &read.blocks,
        };
        if !are_believed(self.asking, &chain, &read).await {
            return Ok(Next::Later);
        }
        let (safe, last_final) = agreed(self.asking, said, &chain).await;
        let before = self.row.final_height;
        let last_final = confirmed(self.asking, before, last_final, (&chain, &read)).await?;
        let safe = safe.filter(|tip| self.row.safe_height.is_none_or(|it| it < tip.height));
        let is_news = !read.blocks.is_empty() || safe.is_some() || last_final.is_some();
        if is_news {
            let step = Step {
                network: self.asking.network().id.clone(),
                epoch: self.epoch,
                blocks: read.blocks,
                transfers: read.transfers,
                dropped: Vec::new(),
                safe,
                last_final,
            };
            measure::took(self.asking, &step);
            let advanced = advance(self.asking.engine, &step).await?;
            if advanced == Advanced::Fenced {
                return Ok(Next::Leave);
            }
            self.reload().await?;
            if advanced == Advanced::Loose {
                tracing::warn!(network = %step.network, "what was read does not hang together with what is known; it is read again");
                return Ok(Next::Later);
            }
        }
        measure::standing(self.asking, &self.row, &self.window, Some(head));
        let cursor = self.window.last().map_or(-1, |block| block.height);
        Ok(match is_news && cursor < head {
            true => Next::Now,
            false => Next::Later,
        })
    }

    /// Whom to read from: who is furthest; or, when enough of them name another block where ours was final, one of those.
    fn best<'s, 'a>(&self, said: &'s [Said<'a>]) -> Option<&'s Said<'a>> {
        let contradicts = |it: &&Said<'_>| {
            let told = it.last_final.as_ref();
            told.is_some_and(|told| {
                let is_final = self.row.final_height.is_some_and(|tip| told.height <= tip);
                let ours = self.at(told.height);
                is_final && ours.is_some_and(|ours| ours.hash != shown(&told.hash))
            })
        };
        let others: Vec<&Said<'_>> = said.iter().filter(contradicts).collect();
        if others.len() >= self.asking.net.quorum {
            return others.first().copied();
        }
        // Among equals the first: that is the operator's order.
        said.iter().rev().max_by_key(|it| it.latest.height)
    }

    fn at(&self, height: i64) -> Option<&Block> {
        self.window.iter().find(|block| block.height == height)
    }

    async fn read_on(&mut self, best: &Said<'_>, said: &[Said<'_>]) -> Result<Read, Trouble> {
        let head = best.latest.height;
        let Some(cursor) = self.window.last().cloned() else {
            let from = first_height(self.asking, &self.row, best).await?;
            return self.read_from(best, from, Upon::Nothing).await;
        };
        if head <= cursor.height {
            let ours = self.at(head);
            let is_ours = ours.is_some_and(|ours| ours.hash == shown(&best.latest.hash));
            // One who is behind, or has another block at the same height, must win first.
            if is_ours || !self.is_left(&cursor, said) {
                return Ok(Read::default());
            }
            return self.read_from_fork(best).await;
        }
        let upon = Upon::Parent(&cursor.hash);
        let range = (cursor.height + 1, head);
        match gather(self.asking, best.source, &mut self.span, range, upon).await? {
            Gathered::Read(read) => Ok(read),
            Gathered::Elsewhere => self.read_from_fork(best).await,
        }
    }

    /// Whether nobody has our last block as its head any more, and enough are asked to say so.
    fn is_left(&self, cursor: &Block, said: &[Said<'_>]) -> bool {
        let stays = |it: &Said<'_>| shown(&it.latest.hash) == cursor.hash;
        said.len() >= self.asking.net.quorum && !said.iter().any(stays)
    }

    async fn read_from(
        &mut self,
        best: &Said<'_>,
        from: i64,
        upon: Upon<'_>,
    ) -> Result<Read, Trouble> {
        let range = (from, best.latest.height);
        match gather(self.asking, best.source, &mut self.span, range, upon).await? {
            Gathered::Read(read) => Ok(read),
            Gathered::Elsewhere => Err(self.asking.unsettled(best.source)),
        }
    }

    /// Back to the last block that both sides have, and on from there.
    async fn read_from_fork(&mut self, best: &Said<'_>) -> Result<Read, Trouble> {
        let lowest = self.window.first().map_or(0, |block| block.height);
        let highest = self.window.last().map_or(0, |block| block.height);
        let mut at = highest.min(best.latest.height);
        while at >= lowest && !self.is_shared(best, at).await? {
            at -= 1;
        }
        let from = at + 1;
        let network = &*self.asking.network().id;
        let depth = highest - at;
        let is_final = self.row.final_height.is_some_and(|tip| from <= tip) || from <= lowest;
        if is_final && !self.is_agreed(best, from).await? {
            let what = "another block at a height that is final";
            return Err(self.asking.lied(best.source, what));
        }
        tracing::info!(network, from, depth, "the chain was reorganised");
        metrics::counter!("till_network_reorganisations_total", "network" => network).increment(1);
        let parent = self.at(at).map(|block| block.hash.clone());
        let upon = parent.as_deref().map_or(Upon::Nothing, Upon::Parent);
        self.read_from(best, from, upon).await
    }

    async fn is_shared(&self, best: &Said<'_>, height: i64) -> Result<bool, Trouble> {
        let header = self.asking.header(best.source, Which::At(height)).await?;
        let Some(header) = header else {
            return Err(self.asking.unsettled(best.source));
        };
        let ours = self.at(height);
        Ok(ours.is_some_and(|ours| ours.hash == shown(&header.hash)))
    }

    /// Whether as many endpoints as must agree have the same block there as this one.
    async fn is_agreed(&self, best: &Said<'_>, height: i64) -> Result<bool, Trouble> {
        let there = self.asking.header(best.source, Which::At(height)).await?;
        let there = there.ok_or_else(|| self.asking.unsettled(best.source))?;
        let others = self.asking.usable().into_iter();
        let others = others.filter(|other| !std::ptr::eq(*other, best.source));
        let asked = others.map(|other| self.asking.header(other, Which::At(height)).boxed());
        let told = futures::future::join_all(asked).await;
        let same = told.into_iter().filter_map(|told| told.ok().flatten());
        let same = same.filter(|header| header.hash == there.hash).count();
        Ok(same + 1 >= self.asking.net.quorum)
    }
}

async fn known(asking: Asking<'_>) -> Result<(NetworkRow, Vec<Block>), Fail> {
    let id = &asking.network().id;
    let mut reader = asking.engine.db.read().await?;
    let row = till_store::networks::find(&mut reader, id).await?;
    let row = row.ok_or_else(|| Fail::broken("a network that is led has no row"))?;
    let window = till_store::networks::window(&mut reader, id).await?;
    Ok((row, window))
}
