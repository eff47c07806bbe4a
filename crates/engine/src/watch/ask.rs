//! Questions to a network's endpoints. Whoever does not answer is left alone for a while, and whoever lies for longer.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use till_chains::evm::blocks::Header;
use till_chains::evm::client::{self, Which, Within};
use till_chains::evm::decode::Receipt;
use till_chains::evm::logs::Log;
use till_chains::rpc::{RpcClient, RpcError};
use till_core::asset::Network;
use till_core::chain::Block;

use super::{Trouble, split};
use crate::base::Engine;
use till_watch::{Endpoint, WatchedNetwork};

/// With more transactions of one block to look at, all of its receipts are asked for at once.
const RECEIPTS_MANY: usize = 16;

/// The hashes of transactions and what became of them.
pub(super) type Receipts = BTreeMap<[u8; 32], Receipt>;

#[derive(Clone, Copy)]
pub(super) struct Asking<'e> {
    pub(super) engine: &'e Engine,
    pub(super) rpc: &'e RpcClient,
    pub(super) net: &'e WatchedNetwork,
}

impl<'e> Asking<'e> {
    /// One of the networks that are watched, by its place among them.
    pub(super) fn of(engine: &'e Engine, place: usize) -> Option<Asking<'e>> {
        let watching = engine.watching.as_ref()?;
        Some(Asking {
            engine,
            rpc: &watching.rpc,
            net: watching.networks.get(place)?,
        })
    }

    pub(super) fn network(&self) -> &'static Network {
        self.net.network
    }

    fn now_us(&self) -> u64 {
        self.engine.clock.monotonic_us()
    }

    pub(super) fn usable(&self) -> Vec<&'e Endpoint> {
        self.net.usable(self.now_us()).collect()
    }

    pub(super) fn failed(&self, source: &Endpoint, error: &RpcError) -> Trouble {
        let network = &*self.network().id;
        if is_refusal(error) {
            source.mark_rate_limited();
        }
        if source.mark_failed(self.now_us(), error) {
            tracing::warn!(network, endpoint = %source.address, %error, "an endpoint does not answer");
        }
        metrics::counter!("till_endpoint_errors_total", "network" => network).increment(1);
        Trouble::Source
    }

    pub(super) fn lied(&self, source: &Endpoint, what: &str) -> Trouble {
        let network = &*self.network().id;
        if source.mark_lied(self.now_us(), what) {
            tracing::error!(network, endpoint = %source.address, what, "an endpoint is not believed; it is left alone for a while");
            metrics::counter!("till_endpoint_lies_total", "network" => network).increment(1);
        }
        Trouble::Source
    }

    pub(super) fn wrong(&self, source: &Endpoint, what: &str) -> Trouble {
        let network = &*self.network().id;
        if source.mark_wrong(self.now_us(), what) {
            tracing::error!(network, endpoint = %source.address, what, "an endpoint is not used");
        }
        Trouble::Source
    }

    /// Has a contract called. None at once by who did not answer such a question lately: it is waited for once, and not for
    /// every payment.
    pub(super) async fn call<T>(
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
                tracing::warn!(network, endpoint = %source.address, "an endpoint does not answer where contracts are called; it is not asked to for a while");
            }
        } else {
            source.mark_call_ok();
        }
        Some(answer)
    }

    pub(super) async fn try_header(
        &self,
        source: &Endpoint,
        which: &Which,
    ) -> Result<Option<Header>, RpcError> {
        client::header(self.rpc, &source.address, self.network(), which).await
    }

    pub(super) async fn header(
        &self,
        source: &Endpoint,
        which: Which,
    ) -> Result<Option<Header>, Trouble> {
        let header = self.try_header(source, &which).await;
        header.map_err(|error| self.failed(source, &error))
    }

    /// The blocks of a range, by height, each the child of the one before. One that is not there ends them, and so does
    /// a provider that wants to be asked less.
    pub(super) async fn headers(
        &self,
        source: &Endpoint,
        (from, to): (i64, i64),
    ) -> Result<Vec<Header>, Trouble> {
        let ask = |height| async move { self.try_header(source, &Which::At(height)).await }.boxed();
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

    /// The chain may have changed while it was read. Others are read for a while: one that never fits would hold up all.
    pub(super) fn unsettled(&self, source: &Endpoint) -> Trouble {
        let network = &*self.network().id;
        tracing::debug!(network, endpoint = %source.address, "the chain changed while it was read");
        source.deprioritise(self.now_us());
        Trouble::Source
    }

    pub(super) async fn try_logs(
        &self,
        source: &Endpoint,
        within: Within,
    ) -> Result<Vec<Log>, RpcError> {
        let told = client::logs(self.rpc, &source.address, &self.net.contracts, within).await;
        match (within, told) {
            (Within::Block(block), Err(error)) if split::is_too_many(&error) => {
                split::logs((self.rpc, self.net), source, block).await
            }
            (_, told) => told,
        }
    }

    /// What became of transactions that a block is said to have. Those that the endpoint knows nothing of are missing.
    pub(super) async fn receipts(
        &self,
        source: &Endpoint,
        block: &[u8; 32],
        transactions: &[[u8; 32]],
    ) -> Result<Receipts, Trouble> {
        if transactions.len() > RECEIPTS_MANY {
            let endpoint = &source.address;
            let all = client::block_receipts(self.rpc, endpoint, self.network(), block).await;
            // Not every node can be asked so; one by one it is, then.
            if let Ok(mut all) = all {
                all.retain(|transaction, _| transactions.contains(transaction));
                return Ok(all);
            }
        }
        let ask = |transaction| self.receipt(source, transaction).boxed();
        let asked: Vec<BoxFuture<'_, _>> = transactions.iter().map(ask).collect();
        let asked = stream::iter(asked).buffer_unordered(source.at_once());
        let found: Vec<Option<([u8; 32], Receipt)>> = asked.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn receipt(
        &self,
        source: &Endpoint,
        transaction: &[u8; 32],
    ) -> Result<Option<([u8; 32], Receipt)>, Trouble> {
        let receipt = client::receipt(self.rpc, &source.address, self.network(), transaction).await;
        let receipt = receipt.map_err(|error| self.failed(source, &error))?;
        Ok(receipt.map(|receipt| (*transaction, receipt)))
    }
}

/// Providers that count questions say so that there were too many.
pub(super) fn is_refusal(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::TooOften(_) | RpcError::Refused { code: -32_005, .. }
    )
}

pub(super) fn shown(hash: &[u8; 32]) -> String {
    format!("0x{}", hex::encode(hash))
}

/// And back.
pub(super) fn bytes(hash: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash.trim_start_matches("0x"), &mut bytes).ok()?;
    Some(bytes)
}

pub(super) fn block_of(header: &Header) -> Block {
    Block {
        height: header.height,
        hash: shown(&header.hash),
        parent: shown(&header.parent),
        time: header.time,
    }
}
