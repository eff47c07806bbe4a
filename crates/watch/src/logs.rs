//! Reads the logs of some blocks, and checks that none was left out.

use std::sync::atomic::{AtomicI64, Ordering};

use futures::FutureExt as _;
use till_chains::observer::{BlockContents, Completeness, Header, Log};
use till_chains::rpc::RpcError;

use crate::endpoint::Endpoint;
use crate::heads::Head;
use crate::latecomers::readers_in_time;
use crate::pool::{EndpointTrouble, Pool, is_refusal};

/// Up to this many blocks are asked for one by one, by hash: an endpoint that does not have a block yet then says so,
/// instead of giving no logs.
const BY_HASH_MAX: usize = 4;

/// How many blocks' receipts are read in parallel, and how many such batches one after the other: the receipts of a
/// whole block are megabytes.
const PROVEN_AT_ONCE: usize = 2;
const PROVEN_TIMES_MAX: usize = 4;

/// Logs that one endpoint gave.
pub type EndpointLogs<'s> = (&'s Endpoint, Vec<Log>);

/// How many blocks an endpoint is asked for at once. Providers do not say what they allow, so it is found by trying.
#[derive(Debug)]
pub struct Span(AtomicI64);

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

/// All logs of our tokens in these blocks, each the child of the one before.
pub async fn read_logs(
    pool: Pool<'_>,
    source: &Endpoint,
    span: &Span,
    headers: &[Header],
) -> Result<Vec<Log>, EndpointTrouble> {
    let logs = match headers.len() <= BY_HASH_MAX {
        true => by_hash(pool, source, headers).await?,
        false => by_height(pool, source, span, headers).await?,
    };
    check(pool, source, headers, logs).await
}

/// The logs of each reader of the head. Where contents can be proven, distrusted readers are left out; if nobody is
/// left, the logs of the first blocks are read from proven receipts, and the other blocks removed from `headers`.
pub async fn read_all<'s>(
    pool: Pool<'s>,
    head: &Head<'s>,
    spans: &[Span],
    headers: &mut Vec<Header>,
) -> Result<Vec<EndpointLogs<'s>>, EndpointTrouble> {
    let readers = content_readers(pool, head);
    let blocks = &headers[..];
    let ask = |reader: &'s Endpoint| {
        let span = &spans[pool.net.place_of(reader)];
        read_logs(pool, reader, span, blocks).boxed()
    };
    let told = readers_in_time(pool, &head.holders, &readers, ask).await;
    let mut given = Vec::new();
    for (reader, logs) in readers.into_iter().zip(told) {
        match logs.ok_or(EndpointTrouble).flatten() {
            Ok(logs) => given.push((reader, logs)),
            Err(EndpointTrouble) if reader.is_contents_doubted(pool.now_us()) => {}
            Err(trouble) => return Err(trouble),
        }
    }
    if !given.is_empty() {
        return Ok(given);
    }
    for holder in &head.holders {
        if let Some(logs) = proven(pool, holder, headers, false).await? {
            return Ok(vec![(holder, logs)]);
        }
    }
    Err(EndpointTrouble)
}

/// The readers of the head, where contents can be proven without those that are distrusted about them.
fn content_readers<'s>(pool: Pool<'_>, head: &Head<'s>) -> Vec<&'s Endpoint> {
    let (proves, now_us) = (pool.observer().proves_contents(), pool.now_us());
    let is_read = |reader: &&Endpoint| !(proves && reader.is_contents_doubted(now_us));
    head.readers().iter().copied().filter(is_read).collect()
}

async fn by_hash(
    pool: Pool<'_>,
    source: &Endpoint,
    headers: &[Header],
) -> Result<Vec<Log>, EndpointTrouble> {
    let (rpc, endpoint) = (pool.rpc, &source.address);
    let observer = pool.observer();
    let asked = headers.iter().map(|header| {
        let logs = observer.logs_in(rpc, endpoint, header.hash, header.height);
        logs.boxed()
    });
    let asked = futures::future::try_join_all(asked);
    let logs = asked.await.map_err(|error| pool.failed(source, &error))?;
    Ok(logs.concat())
}

/// Reads logs by ranges of heights. A range that is refused is halved, never skipped.
async fn by_height(
    pool: Pool<'_>,
    source: &Endpoint,
    span: &Span,
    headers: &[Header],
) -> Result<Vec<Log>, EndpointTrouble> {
    let mut logs = Vec::new();
    let mut rest = headers;
    while let Some(first) = rest.first() {
        let count = usize::try_from(span.get()).unwrap_or(1).min(rest.len());
        let last = &rest[count - 1];
        let (observer, endpoint) = (pool.observer(), &source.address);
        let heights = (first.height, last.height);
        let told = match count {
            1 => {
                let logs = observer.logs_in(pool.rpc, endpoint, first.hash, first.height);
                logs.await
            }
            _ => observer.logs_between(pool.rpc, endpoint, heights).await,
        };
        match told {
            Ok(found) => {
                logs.extend(found);
                rest = &rest[count..];
                span.went_well();
            }
            Err(error) if count > 1 && is_too_much(&error) => span.was_too_much(),
            Err(error) => return Err(pool.failed(source, &error)),
        }
    }
    Ok(logs)
}

/// Whether a range may have been too wide: providers say so in many ways.
fn is_too_much(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::Refused { .. }
            | RpcError::TooLong(_)
            | RpcError::Timeout(_)
            | RpcError::Status(_)
            | RpcError::TooOften { .. }
    )
}

/// Checks logs against hashes and blooms: each must be of one of these blocks, and named by its bloom. Where a bloom
/// names a token of which no log came, others are asked.
async fn check(
    pool: Pool<'_>,
    source: &Endpoint,
    headers: &[Header],
    logs: Vec<Log>,
) -> Result<Vec<Log>, EndpointTrouble> {
    let may_lack = match pool.observer().completeness(headers, &logs) {
        Completeness::OtherBlocks => return Err(pool.unsettled(source)),
        Completeness::Invented => {
            return Err(pool.false_contents(source, "a log that its block does not have"));
        }
        Completeness::MayLack(may_lack) => may_lack,
    };
    for (at, contract) in may_lack {
        second_opinion(pool, source, &headers[at], &contract).await?;
    }
    Ok(logs)
}

/// Asks others about a block whose bloom names a token of which this endpoint gave no log. Logs of others count against
/// it only if its own receipt has them too: otherwise one endpoint could discredit another.
async fn second_opinion(
    pool: Pool<'_>,
    source: &Endpoint,
    header: &Header,
    contract: &[u8; 20],
) -> Result<(), EndpointTrouble> {
    let mut others = pool.usable();
    others.retain(|other| !std::ptr::eq(*other, source));
    others.sort_by_key(|other| !other.is_prompt(pool.now_us()));
    if others.is_empty() {
        return prove(pool, source, header, contract).await;
    }
    let mut answers = 0;
    for other in others.into_iter().chain([source]) {
        let (observer, endpoint) = (pool.observer(), &other.address);
        let told = observer.logs_in(pool.rpc, endpoint, header.hash, header.height);
        // One that has not got there yet cannot say.
        let Ok(logs) = told.await else {
            continue;
        };
        let left_out = logs.iter().find(|log| log.contract == *contract);
        let Some(left_out) = left_out else {
            return Ok(());
        };
        answers += 1;
        let transactions = [left_out.tx_hash];
        let receipts = pool.receipts(source, &header.hash, &transactions).await?;
        let own = receipts.get(&left_out.tx_hash);
        let own = own.filter(|receipt| receipt.block_hash == header.hash);
        if own.is_some_and(|receipt| pool.observer().moves(receipt, contract)) {
            return Err(pool.false_contents(source, "it left out logs"));
        }
    }
    match answers {
        0 => Err(EndpointTrouble),
        _ => Ok(()),
    }
}

/// Looks for missing logs where nobody else can be asked: in receipts that match the root in the header. Where they
/// cannot be had, the endpoint is believed.
async fn prove(
    pool: Pool<'_>,
    source: &Endpoint,
    header: &Header,
    contract: &[u8; 20],
) -> Result<(), EndpointTrouble> {
    let logs = match named(pool, source, header).await? {
        BlockReceipts::All(logs) => logs,
        BlockReceipts::Others => {
            return Err(pool.lied(source, "receipts that its block does not have"));
        }
        BlockReceipts::NotNow | BlockReceipts::Never => return Ok(()),
    };
    match logs.iter().any(|log| log.contract == *contract) {
        true => Err(pool.lied(source, "it left out logs")),
        false => Ok(()),
    }
}

/// What reading all receipts of a block came to.
enum BlockReceipts {
    /// All logs of the block: the receipts match the root in its header.
    All(Vec<Log>),
    /// The receipts do not match the root in the header.
    Others,
    /// The endpoint limits our rate, or did not answer.
    NotNow,
    /// The endpoint does not serve the receipts of a whole block, or the network's root does not prove them.
    Never,
}

async fn named(
    pool: Pool<'_>,
    source: &Endpoint,
    header: &Header,
) -> Result<BlockReceipts, EndpointTrouble> {
    let told = pool.observer().contents(pool.rpc, &source.address, header);
    match told.await {
        Ok(BlockContents::Proven(receipts)) => {
            let logs = pool.observer().logs_of(header.hash, &receipts);
            Ok(BlockReceipts::All(
                logs.map_err(|it| pool.failed(source, &it))?,
            ))
        }
        Ok(BlockContents::Others) => Ok(BlockReceipts::Others),
        Err(error @ (RpcError::Unreachable(_) | RpcError::CutOff)) => {
            Err(pool.failed(source, &error))
        }
        Ok(BlockContents::Unprovable) | Err(RpcError::TooLong(_)) => Ok(BlockReceipts::Never),
        Err(error @ RpcError::Refused { .. }) if !is_refusal(&error) => Ok(BlockReceipts::Never),
        Err(_) => Ok(BlockReceipts::NotNow),
    }
}

/// The logs of these blocks, from receipts that match the receipts root of each header: an endpoint cannot leave a log out.
/// Blocks beyond what is proven at once are removed from `headers`. None where an endpoint has no such receipts; without
/// patience, also where it has none right now.
pub async fn proven(
    pool: Pool<'_>,
    source: &Endpoint,
    headers: &mut Vec<Header>,
    is_patient: bool,
) -> Result<Option<Vec<Log>>, EndpointTrouble> {
    let may_have_some = |header: &&Header| pool.observer().may_have_transfers(header);
    let busy: Vec<Header> = headers.iter().filter(may_have_some).cloned().collect();
    let mut logs = Vec::new();
    for some in busy.chunks(PROVEN_AT_ONCE).take(PROVEN_TIMES_MAX) {
        let asked = some
            .iter()
            .map(|header| named(pool, source, header).boxed());
        for told in futures::future::try_join_all(asked).await? {
            match told {
                BlockReceipts::All(told) => logs.extend(told),
                BlockReceipts::NotNow if is_patient => return Err(EndpointTrouble),
                BlockReceipts::Others => {
                    let (network, endpoint) = (&*pool.network().id, &source.address);
                    tracing::error!(network, %endpoint, "an endpoint's receipts are not those that the block's header names, so its logs count without proof; add a second endpoint and a quorum of two");
                    return Ok(None);
                }
                BlockReceipts::NotNow | BlockReceipts::Never => return Ok(None),
            }
        }
    }
    if let Some(beyond) = busy.get(PROVEN_AT_ONCE * PROVEN_TIMES_MAX) {
        headers.retain(|header| header.height < beyond.height);
    }
    Ok(Some(logs))
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
