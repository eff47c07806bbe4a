//! Follows one network as its leader: round by round it reads the next blocks from a quorum and hands them to the door.

use till_core::chain::Block;
use till_store::networks::NetworkRow;
use till_watch::{
    Chain, ChainUpdate, EndpointTips, Head, KnownChain, Mempool, Rounds, Span, Unconfirmed,
    agreed_head, agreed_tips, blame_dissenters, going_on, last_shared, still_on_it,
};

use super::confirm::confirmed;
use super::first_height::first_height;
use super::gather::{ExpectedParent, Gathered, gather};
use super::measure;
use super::network_watch::NetworkWatch;
use super::second_reading::SecondReading;
use super::trouble::Trouble;
use super::unconfirmed::unconfirmed_transfers;
use super::waiting::waiting_transfers;
use crate::base::fail::Fail;
use crate::intake::chain::{Advanced, NetworkUpdate, advance};

/// What a leader does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextRound {
    /// There is more to read.
    Now,
    Later,
    /// Somebody else leads.
    Leave,
}

pub(super) struct Follower<'e> {
    pub(super) watch: NetworkWatch<'e>,
    pub(super) epoch: i64,
    /// The network's row and its latest blocks, as the database has them.
    pub(super) row: NetworkRow,
    pub(super) window: Vec<Block>,
    rounds: Rounds<'e>,
    /// The reading for the second look, if it takes longer than a round.
    pub(super) second_reading: Option<SecondReading<'e>>,
    spans: Vec<Span>,
    /// The latest steps, oldest first: the second look prefers an endpoint that was not read at first.
    readers: Vec<ReadBy>,
    unconfirmed: Unconfirmed,
    /// None where a network's waiting transactions cannot be asked for.
    mempool: Option<Mempool>,
    /// Why reading stands still, as far as this round has found out.
    held: Option<String>,
}

/// The heights of a step, and the places of the endpoints that it was read from.
struct ReadBy {
    from: i64,
    up_to: i64,
    readers: Vec<usize>,
}

impl<'e> Follower<'e> {
    pub(super) async fn new(watch: NetworkWatch<'e>, epoch: i64) -> Result<Follower<'e>, Fail> {
        let (row, window) = known(watch).await?;
        let mut reader = watch.engine.db.read().await?;
        let waiting = till_store::transfers::waiting(&mut reader, &row.id).await?;
        drop(reader);
        let spans = watch.net.endpoints.iter().map(|_| Span::default());
        // Transfers that wait are in the mempool where there is one, and else wait for a quorum.
        let (mempool, waiting) = match watch.net.observer.has_mempool() {
            true => (Some(Mempool::inherited(waiting)), Vec::new()),
            false => (None, waiting),
        };
        Ok(Follower {
            watch,
            epoch,
            row,
            window,
            rounds: Rounds::new(watch.pool),
            second_reading: None,
            spans: spans.collect(),
            readers: Vec::new(),
            unconfirmed: Unconfirmed::inherited(waiting),
            mempool,
            held: None,
        })
    }

    async fn reload(&mut self) -> Result<(), Fail> {
        (self.row, self.window) = known(self.watch).await?;
        Ok(())
    }

    /// Whether the database has another cursor or freeze than this leader, as after `till network thaw`.
    async fn is_stale(&self) -> Result<bool, Fail> {
        let mut reader = self.watch.engine.db.read().await?;
        let row = till_store::networks::find(&mut reader, &self.watch.network().id).await?;
        let place = |row: &NetworkRow| {
            let frozen = row.frozen_at.is_some();
            (row.cursor_height, row.cursor_hash.clone(), frozen)
        };
        Ok(row.is_none_or(|row| place(&row) != place(&self.row)))
    }

    /// One round: asks all endpoints for their tips, reads the next blocks, and raises the safe and final tips.
    pub(super) async fn round(&mut self) -> Result<NextRound, Fail> {
        self.held = None;
        if self.is_stale().await? {
            let was_frozen = self.row.frozen_at.is_some();
            self.reload().await?;
            self.readers.clear();
            self.second_reading = None;
            if was_frozen && self.row.frozen_at.is_none() {
                let from = self.row.cursor_height.map(|cursor| cursor + 1);
                tracing::info!(network = %self.row.id, from, "the freeze has ended; it is read on");
            }
        }
        if self.row.frozen_at.is_some() {
            measure::standing(self.watch, &self.row, &self.window, None);
            return Ok(NextRound::Later);
        }
        let mut said = self.rounds.ask().await;
        let going = going_on(self.watch.pool, &said);
        if said.len() < self.watch.net.quorum {
            let going = going.map_or(said, |(going, _)| going);
            return self.show_unconfirmed(&going).await;
        }
        let next = self.go_on(&mut said).await?;
        match going {
            Some((going, at)) if next == NextRound::Later => {
                let why =
                    format!("an endpoint stands still at height {at}; nothing above it is final");
                self.held.get_or_insert(why);
                self.show_unconfirmed(&going).await
            }
            _ => Ok(next),
        }
    }

    /// Shows the transfers that the answering endpoints report, or those that advance, while they are too few for a
    /// quorum.
    async fn show_unconfirmed(&mut self, said: &[EndpointTips<'_>]) -> Result<NextRound, Fail> {
        let head = agreed_head(self.watch.pool, said, &self.window).await;
        let reached = head.as_ref().map(|head| head.block.height);
        measure::standing(self.watch, &self.row, &self.window, reached);
        let Some(mut head) = head.filter(|_| self.row.frozen_at.is_none()) else {
            return Ok(NextRound::Later);
        };
        head.prefer_prompt(self.watch.engine.clock.monotonic_us());
        // Where nothing was read yet, nobody can have paid before.
        let read = self.row.cursor_height.unwrap_or(head.block.height - 1);
        let top = head.block.height;
        let from = self.unconfirmed.next(read, top);
        if from > top {
            return Ok(NextRound::Later);
        }
        let read_at = self.window.last().map(|block| block.time);
        let from = (from, read_at);
        let seen =
            unconfirmed_transfers(self.watch, &head, &self.spans, from, &mut self.unconfirmed);
        let transfers = match seen.await {
            Ok(transfers) => transfers,
            Err(Trouble::Endpoint) => return Ok(NextRound::Later),
            Err(Trouble::Failed(fail)) => return Err(fail),
        };
        if !transfers.is_empty() {
            let update = ChainUpdate {
                transfers,
                ..ChainUpdate::default()
            };
            let step = self.step(update);
            if advance(self.watch.engine, &step).await? == Advanced::Fenced {
                return Ok(NextRound::Leave);
            }
        }
        Ok(match self.unconfirmed.next(read, top) {
            next if next > from.0 && next <= top => NextRound::Now,
            _ => NextRound::Later,
        })
    }

    /// Reads as far as enough endpoints agree, and hands over what is new.
    async fn go_on(&mut self, said: &mut Vec<EndpointTips<'e>>) -> Result<NextRound, Fail> {
        let mut head = agreed_head(self.watch.pool, said, &self.window).await;
        if head.as_ref().is_none_or(Head::is_short) {
            // Whoever answers late may say who is right.
            let late = self.rounds.wait_for_late().await;
            if !late.is_empty() {
                said.extend(late);
                head = agreed_head(self.watch.pool, said, &self.window).await;
            }
        }
        let Some(mut head) = head else {
            self.held = Some("the endpoints agree on no block".to_owned());
            measure::standing(self.watch, &self.row, &self.window, None);
            return Ok(NextRound::Later);
        };
        self.unconfirmed.enough_at(head.block.height);
        if head.is_short() {
            let height = head.block.height;
            let why = format!("the endpoints disagree about the blocks above height {height}");
            self.held = Some(why);
        }
        let now_us = self.watch.engine.clock.monotonic_us();
        head.prefer_prompt(now_us);
        let read = match self.read_on(&head, said).await {
            Ok(read) => read,
            Err(Trouble::Endpoint) => {
                self.stopped(&head, now_us);
                return Ok(NextRound::Later);
            }
            Err(Trouble::Failed(fail)) => return Err(fail),
        };
        let next = self.take(read, said, &head).await?;
        if self.row.frozen_at.is_none() {
            blame_dissenters(self.watch.pool, self.ours(), &head, said).await;
        }
        Ok(next)
    }

    /// Deprioritises the endpoints that failed this round and tells operators why reading stopped.
    fn stopped(&mut self, head: &Head<'_>, now_us: u64) {
        let at_fault = head.readers().iter();
        let at_fault = at_fault.filter_map(|reader| Some((reader, reader.exclusion()?)));
        let mut whys = Vec::new();
        for (reader, left) in at_fault {
            reader.deprioritise(now_us);
            whys.push(left.why().to_owned());
        }
        let why = whys.into_iter().next();
        let why = why.unwrap_or_else(|| {
            "the endpoints gave blocks that do not follow from one another".to_owned()
        });
        let after = self.window.last().map(|block| block.height);
        let after = after.map_or(String::new(), |height| format!(" above height {height}"));
        self.held = Some(format!("the blocks{after} could not be read: {why}"));
        let (row, window) = (&self.row, &self.window);
        measure::standing(self.watch, row, window, Some(head.block.height));
    }

    /// Publishes at the end of a round why reading stands still, or else why the second look does.
    pub(super) fn say(&mut self, second: Option<String>) {
        let held = self.held.take().or(second);
        self.watch.net.disputes.hold(held);
    }

    async fn take(
        &mut self,
        mut read: ChainUpdate,
        said: &[EndpointTips<'_>],
        head: &Head<'_>,
    ) -> Result<NextRound, Fail> {
        let chain = Chain {
            window: &self.window,
            new: &read.blocks,
        };
        let (safe, last_final) = agreed_tips(self.watch.pool, said, &chain).await;
        let before = self.row.final_height;
        if last_final.is_none() && before.is_some() && said.len() >= self.watch.net.quorum {
            let why = "too few endpoints name a final block of this chain";
            self.held = Some(why.to_owned());
        }
        let confirmed = confirmed(self.watch, before, last_final, (&chain, &read)).await?;
        let held = read.held.take().or(confirmed.held);
        self.held = held.or(self.held.take());
        read.safe = safe.filter(|tip| self.row.safe_height.is_none_or(|it| it < tip.height));
        read.last_final = confirmed.tip;
        read.refuted = confirmed.refuted;
        // Up to here a quorum has the unconfirmed transfers by now, or denies them.
        let cursor = chain.top().map_or(-1, |block| block.height);
        read.dropped = self.unconfirmed.due(cursor);
        measure::took(self.watch, &read);
        read.transfers.extend(confirmed.learned);
        let waiting = waiting_transfers(self.watch, self.mempool.as_mut(), &chain).await?;
        if let Some(mempool) = &self.mempool {
            read.dropped.retain(|it| !mempool.holds(it));
        }
        read.transfers.extend(waiting.transfers);
        read.dropped.extend(waiting.dropped);
        let is_news = !read.is_empty();
        if is_news {
            let step = self.step(read);
            let advanced = advance(self.watch.engine, &step).await?;
            if advanced == Advanced::Fenced {
                return Ok(NextRound::Leave);
            }
            self.reload().await?;
            if advanced == Advanced::Loose {
                tracing::warn!(network = %step.network, "the blocks that were read do not follow from those in the database, so they are read again; look at the endpoints if this lasts");
                return Ok(NextRound::Later);
            }
            if advanced == Advanced::Done {
                self.unconfirmed.are_settled(&step.dropped);
                if let Some(mempool) = &mut self.mempool {
                    mempool.are_written(&step.transfers, &step.dropped);
                }
            }
            self.was_read(&step, head);
        }
        let reached = head.block.height;
        measure::standing(self.watch, &self.row, &self.window, Some(reached));
        let cursor = self.window.last().map_or(-1, |block| block.height);
        let is_held = self.held.is_some();
        Ok(match is_news && cursor < reached && !is_held {
            true => NextRound::Now,
            false => NextRound::Later,
        })
    }

    /// Wraps an update with the network's id and this leader's epoch, which fences stale leaders.
    pub(super) fn step(&self, update: ChainUpdate) -> NetworkUpdate {
        NetworkUpdate::of(&self.watch.network().id, self.epoch, update)
    }

    fn was_read(&mut self, step: &NetworkUpdate, head: &Head<'_>) {
        if let (Some(first), Some(last)) = (step.blocks.first(), step.blocks.last()) {
            let place = |reader: &&till_watch::Endpoint| self.watch.net.place_of(reader);
            self.readers.push(ReadBy {
                from: first.height,
                up_to: last.height,
                readers: head.readers().iter().map(place).collect(),
            });
        }
    }

    /// The places of the endpoints that blocks from a height on were first read from. None if that was before this
    /// process led.
    pub(super) fn readers_of(&self, from: i64) -> Option<Vec<usize>> {
        let first = self.readers.first().filter(|step| step.from <= from);
        first?;
        let steps = self.readers.iter().filter(|step| step.up_to >= from);
        Some(steps.flat_map(|step| &step.readers).copied().collect())
    }

    pub(super) fn was_checked(&mut self, height: i64) {
        self.row.checked_height = Some(height);
        self.readers.retain(|step| step.up_to > height);
    }

    fn ours(&self) -> KnownChain<'_> {
        KnownChain {
            window: &self.window,
            last_final: self.row.final_height,
        }
    }

    fn at(&self, height: i64) -> Option<&Block> {
        self.window.iter().find(|block| block.height == height)
    }

    async fn read_on(
        &self,
        head: &Head<'_>,
        said: &[EndpointTips<'_>],
    ) -> Result<ChainUpdate, Trouble> {
        let height = head.block.height;
        let Some(cursor) = self.window.last().cloned() else {
            let from = first_height(self.watch, &self.row, head).await?;
            return self.read_from(head, from, ExpectedParent::Nothing).await;
        };
        if height <= cursor.height {
            let ours = self.at(height);
            let is_ours = ours.is_some_and(|ours| ours.hash == head.block.hash.text());
            return match is_ours {
                true => Ok(ChainUpdate::default()),
                false => self.read_from_fork(head, said).await,
            };
        }
        let upon = ExpectedParent::Parent(&cursor.hash);
        match gather(self.watch, head, &self.spans, cursor.height + 1, upon).await? {
            Gathered::Read(read) => Ok(read),
            Gathered::Elsewhere => self.read_from_fork(head, said).await,
        }
    }

    async fn read_from(
        &self,
        head: &Head<'_>,
        from: i64,
        upon: ExpectedParent<'_>,
    ) -> Result<ChainUpdate, Trouble> {
        if from > head.block.height {
            return Ok(ChainUpdate::default());
        }
        match gather(self.watch, head, &self.spans, from, upon).await? {
            Gathered::Read(read) => Ok(read),
            Gathered::Elsewhere => {
                for reader in head.readers() {
                    self.watch.unsettled(reader);
                }
                Err(Trouble::Endpoint)
            }
        }
    }

    /// Follows a reorg: goes back to the last block that both chains have, and reads on from there.
    async fn read_from_fork(
        &self,
        head: &Head<'_>,
        said: &[EndpointTips<'_>],
    ) -> Result<ChainUpdate, Trouble> {
        let said = &*still_on_it(self.watch.pool, said)
            .await
            .ok_or(Trouble::Endpoint)?;
        let head = &head.among(said).ok_or(Trouble::Endpoint)?;
        let shared = last_shared(self.watch.pool, self.ours(), head, said);
        let shared = shared.await.ok_or(Trouble::Endpoint)?;
        let network = &*self.watch.network().id;
        let (from, depth) = (shared.from, shared.depth);
        let upon = shared
            .parent
            .as_deref()
            .map_or(ExpectedParent::Nothing, ExpectedParent::Parent);
        let read = self.read_from(head, from, upon).await?;
        // Recheck the chain id: a load balancer may have switched nodes meanwhile.
        let said = still_on_it(self.watch.pool, said).await;
        let said = said.ok_or(Trouble::Endpoint)?;
        let is_on_it =
            |reader: &&till_watch::Endpoint| said.iter().any(|it| std::ptr::eq(it.source, *reader));
        if !head.readers().iter().all(is_on_it) {
            return Err(Trouble::Endpoint);
        }
        if !read.blocks.is_empty() {
            tracing::info!(network, from, depth, "the chain was reorganised");
            metrics::counter!("till_network_reorganisations_total", "network" => network)
                .increment(1);
            let endpoints = self.watch.net.endpoints.iter();
            endpoints.for_each(|it| it.forget_unshared());
        }
        Ok(read)
    }
}

async fn known(watch: NetworkWatch<'_>) -> Result<(NetworkRow, Vec<Block>), Fail> {
    let id = &watch.network().id;
    let mut reader = watch.engine.db.read().await?;
    let row = till_store::networks::find(&mut reader, id).await?;
    let row = row.ok_or_else(|| Fail::broken("a network that is led has no row"))?;
    let window = till_store::networks::window(&mut reader, id).await?;
    Ok((row, window))
}
