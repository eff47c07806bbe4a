//! Calls to the endpoints of one network. A failure is noted with its endpoint, which gets no calls for a while; a
//! false answer excludes it for longer.

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use till_chains::BlockHash;
use till_chains::observer::{Header, Observer, Receipt, Receipts};
use till_chains::rpc::{RpcClient, RpcError};
use till_core::asset::Network;
use till_core::chain::Block;
use till_core::time::Clock;

use crate::endpoint::Endpoint;
use crate::watching::{WatchedNetwork, Watching};

/// With more transactions of one block than this, all of its receipts are fetched in one call.
const RECEIPTS_MANY: usize = 16;

/// An endpoint failed, or gave a wrong answer. That was noted with it: the caller asks another, or the same one later.
#[derive(Debug, PartialEq, Eq)]
pub struct EndpointTrouble;

/// The endpoints of one network, and what is needed to ask them.
#[derive(Clone, Copy)]
pub struct Pool<'e> {
    pub rpc: &'e RpcClient,
    pub net: &'e WatchedNetwork,
    pub clock: &'e dyn Clock,
}

impl<'e> Pool<'e> {
    /// One of the networks that are watched, by its place among them.
    pub fn of(watching: &'e Watching, clock: &'e dyn Clock, place: usize) -> Option<Pool<'e>> {
        Some(Pool {
            rpc: &watching.rpc,
            net: watching.networks.get(place)?,
            clock,
        })
    }

    /// All of the networks, each with its endpoints.
    pub fn all(watching: &'e Watching, clock: &'e dyn Clock) -> impl Iterator<Item = Pool<'e>> {
        let rpc = &watching.rpc;
        watching
            .networks
            .iter()
            .map(move |net| Pool { rpc, net, clock })
    }

    pub(crate) fn observer(&self) -> &'e Observer {
        &self.net.observer
    }

    pub fn network(&self) -> &'static Network {
        self.net.network
    }

    pub fn now_us(&self) -> u64 {
        self.clock.monotonic_us()
    }

    pub fn usable(&self) -> Vec<&'e Endpoint> {
        self.net.usable(self.now_us()).collect()
    }

    pub fn failed(&self, source: &Endpoint, error: &RpcError) -> EndpointTrouble {
        let network = &*self.network().id;
        if is_refusal(error) {
            source.mark_rate_limited();
        }
        if source.mark_failed(self.now_us(), error) {
            tracing::warn!(network, endpoint = %source.address, %error, "an endpoint does not answer and is asked again soon; check or replace it if this lasts");
        }
        metrics::counter!("till_endpoint_errors_total", "network" => network).increment(1);
        EndpointTrouble
    }

    pub fn lied(&self, source: &Endpoint, what: &str) -> EndpointTrouble {
        let network = &*self.network().id;
        if source.mark_lied(self.now_us(), what) {
            tracing::error!(network, endpoint = %source.address, what, "an endpoint is not believed, because enough others or the chain itself contradict it; it is set aside for a while: ask its provider");
            metrics::counter!("till_endpoint_lies_total", "network" => network).increment(1);
        }
        EndpointTrouble
    }

    /// Records that an endpoint gave false block contents. Where contents can be proven, only its contents are
    /// distrusted for a while; elsewhere everything it says is.
    pub(crate) fn false_contents(&self, source: &Endpoint, what: &str) -> EndpointTrouble {
        if !self.observer().proves_contents() {
            return self.lied(source, what);
        }
        let network = &*self.network().id;
        if source.mark_contents_false(self.now_us(), what) {
            tracing::error!(network, endpoint = %source.address, what, "an endpoint is not believed about what blocks hold, because their receipts contradict it; others are read for a while: ask its provider");
            metrics::counter!("till_endpoint_lies_total", "network" => network).increment(1);
        }
        EndpointTrouble
    }

    /// Whether some endpoint is distrusted about block contents now.
    pub fn is_anybody_doubted(&self) -> bool {
        let now_us = self.now_us();
        let mut endpoints = self.net.endpoints.iter();
        endpoints.any(|it| it.is_contents_doubted(now_us))
    }

    pub(crate) fn wrong(&self, source: &Endpoint, what: &str) -> EndpointTrouble {
        let network = &*self.network().id;
        if source.mark_wrong(self.now_us(), what) {
            tracing::error!(network, endpoint = %source.address, what, "an endpoint is not used, because it is not what it is configured as; correct `rpc` of its network");
        }
        EndpointTrouble
    }

    /// Awaits a contract call and notes whether it timed out. Returns None at once while calls to this endpoint are
    /// paused: it is waited for once, and not for every payment.
    pub(crate) async fn call<T>(
        &self,
        source: &Endpoint,
        answer: impl Future<Output = Result<T, RpcError>>,
    ) -> Option<Result<T, RpcError>> {
        if source.pauses_calls(self.now_us()) {
            return None;
        }
        let answer = answer.await;
        if let Err(RpcError::Timeout(_)) = &answer {
            if source.mark_call_failed(self.now_us()) {
                let network = &*self.network().id;
                tracing::warn!(network, endpoint = %source.address, "an endpoint does not answer where contracts are called (eth_call), so it is not asked to for a minute; check or replace it if this lasts");
            }
        } else {
            source.mark_call_ok();
        }
        Some(answer)
    }

    pub(crate) async fn try_header(
        &self,
        source: &Endpoint,
        height: i64,
    ) -> Result<Option<Header>, RpcError> {
        let header = self.observer().header(self.rpc, &source.address, height);
        header.await
    }

    pub(crate) async fn header(
        &self,
        source: &Endpoint,
        height: i64,
    ) -> Result<Option<Header>, EndpointTrouble> {
        let header = self.try_header(source, height).await;
        header.map_err(|error| self.failed(source, &error))
    }

    /// The headers of a range, each the child of the one before. They end early at a block that the endpoint does not
    /// have, and at its rate limit.
    pub async fn headers(
        &self,
        source: &Endpoint,
        (from, to): (i64, i64),
    ) -> Result<Vec<Header>, EndpointTrouble> {
        let ask = |height| async move { self.try_header(source, height).await }.boxed();
        let asked: Vec<BoxFuture<'_, _>> = (from..=to).map(ask).collect();
        let mut asked = stream::iter(asked).buffered(source.at_once());
        let mut headers: Vec<Header> = Vec::new();
        let mut is_all = true;
        while let Some(told) = asked.next().await {
            is_all = matches!(told, Ok(Some(_)));
            match told {
                Ok(Some(header)) => headers.push(header),
                Ok(None) => {
                    source.deprioritise(self.now_us());
                    break;
                }
                Err(error) if is_refusal(&error) && !headers.is_empty() => {
                    source.mark_rate_limited();
                    break;
                }
                Err(error) => return Err(self.failed(source, &error)),
            }
        }
        if is_all {
            source.mark_ok();
        }
        let follows = |pair: &[Header]| pair[1].parent == pair[0].hash;
        match headers.windows(2).all(follows) {
            true => Ok(headers),
            // The chain was changed while it was read.
            false => Err(self.unsettled(source)),
        }
    }

    /// Deprioritises an endpoint whose blocks did not fit together. The chain may have changed between two answers; an
    /// endpoint that never fits would hold up everything.
    pub fn unsettled(&self, source: &Endpoint) -> EndpointTrouble {
        let network = &*self.network().id;
        tracing::debug!(network, endpoint = %source.address, "the chain changed while it was read");
        source.deprioritise(self.now_us());
        EndpointTrouble
    }

    /// The receipts of transactions that a block is said to have. Those that the endpoint does not know are missing.
    pub(crate) async fn receipts(
        &self,
        source: &Endpoint,
        block: &BlockHash,
        transactions: &[[u8; 32]],
    ) -> Result<Receipts, EndpointTrouble> {
        if transactions.len() > RECEIPTS_MANY {
            let endpoint = &source.address;
            let all = self
                .observer()
                .block_receipts(self.rpc, endpoint, block)
                .await;
            // Not every node can be asked so; one by one it is, then.
            if let Ok(mut all) = all {
                all.retain(|transaction, _| transactions.contains(transaction));
                return Ok(all);
            }
        }
        let ask = |transaction| self.receipt(source, block, transaction).boxed();
        let asked: Vec<BoxFuture<'_, _>> = transactions.iter().map(ask).collect();
        let asked = stream::iter(asked).buffer_unordered(source.at_once());
        let found: Vec<Option<([u8; 32], Receipt)>> = asked.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn receipt(
        &self,
        source: &Endpoint,
        block: &BlockHash,
        transaction: &[u8; 32],
    ) -> Result<Option<([u8; 32], Receipt)>, EndpointTrouble> {
        let which = (block, transaction);
        let receipt = self.observer().receipt(self.rpc, &source.address, which);
        let receipt = receipt.await.map_err(|error| self.failed(source, &error))?;
        Ok(receipt.map(|receipt| (*transaction, receipt)))
    }
}

/// Whether a call was refused for a rate limit.
pub(crate) fn is_refusal(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::TooOften { .. } | RpcError::Refused { code: -32_005, .. }
    )
}

pub fn block_of(header: &Header) -> Block {
    Block {
        height: header.height,
        hash: header.hash.text(),
        parent: header.parent.text(),
        time: header.time,
    }
}
