//! The logs of some blocks, and whether they can be all of them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};

use futures::FutureExt as _;
use till_chains::evm::blocks::Header;
use till_chains::evm::client::{Proven, Within, proven_receipts};
use till_chains::evm::decode::Transfer;
use till_chains::evm::logs::Log;
use till_chains::raw::raw;
use till_chains::rpc::RpcError;

use super::Trouble;
use super::ask::Asking;
use crate::nodes::Source;

/// So few blocks are asked for one by one, by hash: an endpoint that has not got there says so.
const BY_HASH_MAX: usize = 4;

/// How many blocks an endpoint is asked for at once: it is found out, never known.
#[derive(Debug)]
pub(super) struct Span(AtomicI64);

const SPAN_FIRST: i64 = 10;
const SPAN_MAX: i64 = 1_000;

impl Default for Span {
    fn default() -> Span {
        Span(AtomicI64::new(SPAN_FIRST))
    }
}

impl Span {
    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn went_well(&self) {
        let wider = (self.get() * 2).min(SPAN_MAX);
        self.0.store(wider, Ordering::Relaxed);
    }

    fn was_too_much(&self) {
        let narrower = (self.get() / 2).max(1);
        self.0.store(narrower, Ordering::Relaxed);
    }
}

/// All logs of our tokens in these blocks, which follow one another.
pub(super) async fn read(
    asking: Asking<'_>,
    source: &Source,
    span: &Span,
    headers: &[Header],
) -> Result<Vec<Log>, Trouble> {
    let logs = match headers.len() <= BY_HASH_MAX {
        true => by_hash(asking, source, headers).await?,
        false => by_height(asking, source, span, headers).await?,
    };
    check(asking, source, headers, logs).await
}

async fn by_hash(
    asking: Asking<'_>,
    source: &Source,
    headers: &[Header],
) -> Result<Vec<Log>, Trouble> {
    let hashes = headers.iter().map(|header| header.hash);
    let asked = hashes.map(|hash| asking.try_logs(source, Within::Block(hash)).boxed());
    let asked = futures::future::try_join_all(asked);
    let logs = asked.await.map_err(|error| asking.failed(source, &error))?;
    Ok(logs.concat())
}

/// Split when refused, never skipped.
async fn by_height(
    asking: Asking<'_>,
    source: &Source,
    span: &Span,
    headers: &[Header],
) -> Result<Vec<Log>, Trouble> {
    let mut logs = Vec::new();
    let mut rest = headers;
    while let Some(first) = rest.first() {
        let count = usize::try_from(span.get()).unwrap_or(1).min(rest.len());
        let last = &rest[count - 1];
        let within = match count {
            1 => Within::Block(first.hash),
            _ => Within::Heights(first.height, last.height),
        };
        match asking.try_logs(source, within).await {
            Ok(found) => {
                logs.extend(found);
                rest = &rest[count..];
                span.went_well();
            }
            Err(error) if count > 1 && is_too_much(&error) => span.was_too_much(),
            Err(error) => return Err(asking.failed(source, &error)),
        }
    }
    Ok(logs)
}

/// Providers say in many ways that a range is too wide.
fn is_too_much(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::Refused { .. }
            | RpcError::TooLong(_)
            | RpcError::Timeout(_)
            | RpcError::Status(_)
    )
}

/// Every log must be of one of these blocks, and the blocks' blooms must name what came and nothing that did not.
async fn check(
    asking: Asking<'_>,
    source: &Source,
    headers: &[Header],
    logs: Vec<Log>,
) -> Result<Vec<Log>, Trouble> {
    let blocks: HashMap<i64, &Header> = headers.iter().map(|it| (it.height, it)).collect();
    let mut came: HashSet<(i64, [u8; 20])> = HashSet::new();
    for log in &logs {
        let block = blocks.get(&log.height);
        if block.is_none_or(|block| block.hash != log.block_hash) {
            return Err(asking.unsettled(source));
        }
        came.insert((log.height, log.contract));
    }
    for header in headers {
        for contract in asking.net.contracts.all() {
            let has = header.may_have_transfers_of(contract);
            match (has, came.contains(&(header.height, *contract))) {
                (Some(false), true) => {
                    return Err(asking.lied(source, "a log that its block does not have"));
                }
                (Some(true), false) => {
                    second_opinion(asking, source, header, contract).await?;
                }
                _ => {}
            }
        }
    }
    Ok(logs)
}

/// A block may have logs of a token, and none came. Others are asked, and the same one about this very block. What they have
/// is held against it only when its own receipts have it, too: otherwise one could speak ill of another.
async fn second_opinion(
    asking: Asking<'_>,
    source: &Source,
    header: &Header,
    contract: &[u8; 20],
) -> Result<(), Trouble> {
    let mut others = asking.usable();
    others.retain(|other| !std::ptr::eq(*other, source));
    if others.is_empty() {
        return prove(asking, source, header, contract).await;
    }
    let mut answers = 0;
    for other in others.into_iter().chain([source]) {
        let within = Within::Block(header.hash);
        // One that has not got there yet cannot say.
        let Ok(logs) = asking.try_logs(other, within).await else {
            continue;
        };
        let left_out = logs.iter().find(|log| log.contract == *contract);
        let Some(left_out) = left_out else {
            return Ok(());
        };
        answers += 1;
        let transactions = [left_out.tx_hash];
        let receipts = asking.receipts(source, &header.hash, &transactions).await?;
        let has = receipts.get(&left_out.tx_hash);
        if has.is_some_and(|receipt| receipt.block_hash == header.hash) {
            return Err(asking.lied(source, "it left out logs"));
        }
    }
    match answers {
        0 => Err(Trouble::Source),
        _ => Ok(()),
    }
}

/// With nobody else to ask, the block's own head tells: it names the root of all receipts. Where it cannot be held against
/// them, the endpoint is believed.
async fn prove(
    asking: Asking<'_>,
    source: &Source,
    header: &Header,
    contract: &[u8; 20],
) -> Result<(), Trouble> {
    let network = asking.network();
    let proven = proven_receipts(asking.rpc, &source.endpoint, network, header).await;
    let receipts = match proven {
        Ok(Proven::All(receipts)) => receipts,
        Ok(Proven::Others) => {
            return Err(asking.lied(source, "receipts that its block does not have"));
        }
        Err(error @ (RpcError::Unreachable(_) | RpcError::CutOff)) => {
            return Err(asking.failed(source, &error));
        }
        // Not every node can be asked so, or for so much.
        Ok(Proven::Unknown) | Err(_) => return Ok(()),
    };
    let is_of_it = |transfer: &Transfer| {
        let own = transfer.asset.contract.as_deref();
        own.and_then(|own| raw(network.family, own)) == Some(*contract)
    };
    let mut moved = receipts.values().flat_map(|receipt| &receipt.transfers);
    match moved.any(is_of_it) {
        true => Err(asking.lied(source, "it left out logs")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_grows_while_all_goes_well_and_is_halved_to_a_block_when_not() {
        let span = Span::default();
        let mut grown = Vec::new();
        for _ in 0..8 {
            span.went_well();
            grown.push(span.get());
        }
        assert_eq!(grown, [20, 40, 80, 160, 320, 640, 1_000, 1_000]);
        for _ in 0..12 {
            span.was_too_much();
        }
        assert_eq!(span.get(), 1);
    }
}
