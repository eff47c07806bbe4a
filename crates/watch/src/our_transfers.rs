//! Finds the logs of transfers to our addresses, and reads what their transactions moved from receipts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use futures::FutureExt as _;
use till_chains::BlockHash;
use till_chains::observer::{Header, Log};

use crate::claims::{Answers, Claim, ClaimQuestion, ClaimsByTransaction, Verdict, decide, told};
use crate::endpoint::Endpoint;
use crate::latecomers::readers_in_time;
use crate::logs::EndpointLogs;
use crate::pool::{EndpointTrouble, Pool};
use crate::update::SeenTransfer;

/// The place of a transfer that is known by its log alone: only a receipt tells it.
const NOWHERE: i64 = -1;

/// The transfers to us among some blocks' logs, in the order of the chain.
#[derive(Debug, Default)]
pub struct Matched {
    pub seen: Vec<SeenTransfer>,
    /// The first block with a transfer that too few endpoints agree on. Transfers from there on are left out.
    pub open: Option<i64>,
}

impl Matched {
    /// Leaves out what is from this block on, because too few endpoints agree on one of its transfers.
    pub fn end_below(&mut self, open: i64) {
        let is_below = |height: i64| height < open;
        self.seen.retain(|seen| seen.height.is_none_or(is_below));
        self.open = Some(self.open.map_or(open, |before| before.min(open)));
    }
}

/// The logs whose recipients may be ours: the watched set compares eight bytes of each address.
pub fn candidates<'s>(pool: Pool<'_>, given: Vec<EndpointLogs<'s>>) -> Vec<EndpointLogs<'s>> {
    let of_endpoint = |(source, logs)| (source, may_be_ours(pool, logs));
    given.into_iter().map(of_endpoint).collect()
}

fn may_be_ours(pool: Pool<'_>, mut logs: Vec<Log>) -> Vec<Log> {
    logs.retain(|log| log.moved.is_some());
    let recipient = |log: &Log| log.moved.map_or([0; 20], |moved| moved.recipient);
    let recipients: Vec<[u8; 20]> = logs.iter().map(recipient).collect();
    let mut hits = pool.net.set.may_have(&recipients).into_iter();
    logs.retain(|_| hits.next().unwrap_or(false));
    logs
}

fn recipient(pool: Pool<'_>, log: &Log) -> Option<String> {
    Some(pool.observer().address_text(&log.moved?.recipient))
}

/// The recipients in these logs.
pub fn recipients(pool: Pool<'_>, given: &[EndpointLogs<'_>]) -> HashSet<String> {
    let logs = given.iter().flat_map(|(_, logs)| logs);
    logs.filter_map(|log| recipient(pool, log)).collect()
}

/// Keeps the logs whose recipients are in `ours`.
pub fn retain_ours(pool: Pool<'_>, given: &mut [EndpointLogs<'_>], ours: &HashSet<String>) {
    let is_ours = |log: &Log| recipient(pool, log).is_some_and(|it| ours.contains(&it));
    for (_, logs) in given {
        logs.retain(is_ours);
    }
}

/// The transfers to us in the transactions of these logs, as far as they are proven or `need` endpoints agree on them. The
/// headers are agreed on already.
pub async fn agreed<'s>(
    pool: Pool<'s>,
    given: &[EndpointLogs<'s>],
    ours: &HashSet<String>,
    (headers, need): (&[Header], usize),
) -> Result<Matched, EndpointTrouble> {
    let mut by_block: BTreeMap<(i64, BlockHash), BTreeSet<[u8; 32]>> = BTreeMap::new();
    for log in given.iter().flat_map(|(_, logs)| logs) {
        let block = (log.height, log.block_hash);
        by_block.entry(block).or_default().insert(log.tx_hash);
    }
    let readers: Vec<&Endpoint> = given.iter().map(|(source, _)| *source).collect();
    let mut seen = Vec::new();
    for ((height, block), transactions) in by_block {
        let transactions: Vec<[u8; 32]> = transactions.into_iter().collect();
        let question = ClaimQuestion {
            height,
            block,
            transactions: &transactions,
            ours,
            header: headers.iter().find(|header| header.hash == block),
            need,
            is_known: false,
        };
        let ask = |source| async move { told(pool, source, question).await }.boxed();
        let answers_of = readers_in_time(pool, &pool.usable(), &readers, ask).await;
        let mut answers = Answers::new();
        for ((source, logs), told) in given.iter().zip(answers_of) {
            let told = match told {
                Some(Ok(told)) => add_logs(pool, source, logs, question, told),
                Some(Err(trouble)) => Err(trouble),
                // Others are heard in its place.
                None => continue,
            };
            match told {
                Ok(told) => answers.push((*source, told)),
                // What the block holds is proven without it.
                Err(EndpointTrouble) if pool.observer().proves_contents() => {}
                Err(trouble) => return Err(trouble),
            }
        }
        for (transaction, verdict) in decide(pool, question, answers).await {
            let Verdict::Agreed(claims) = verdict else {
                seen.retain(|it: &SeenTransfer| it.height < Some(height));
                let open = Some(height);
                return Ok(Matched { seen, open });
            };
            let to_us = claims.iter();
            seen.extend(to_us.map(|claim| claim.seen(pool, &transaction, height)));
        }
    }
    Ok(Matched { seen, open: None })
}

/// Checks an endpoint's receipts against its logs. Logs without a receipt become a claim that does not count yet.
fn add_logs(
    pool: Pool<'_>,
    source: &Endpoint,
    logs: &[Log],
    question: ClaimQuestion<'_>,
    mut told: ClaimsByTransaction,
) -> Result<ClaimsByTransaction, EndpointTrouble> {
    let mut by_transaction: BTreeMap<[u8; 32], Vec<Claim>> = BTreeMap::new();
    for log in logs.iter().filter(|it| it.block_hash == question.block) {
        let claim = claim_of(pool, log);
        by_transaction.entry(log.tx_hash).or_default().push(claim);
    }
    for (transaction, mut claims) in by_transaction {
        claims.sort();
        let known = told.entry(transaction).or_default();
        if known.is_empty() {
            *known = claims;
            continue;
        }
        let mut rest: Vec<&Claim> = known.iter().collect();
        for claim in claims {
            let Some(at) = rest.iter().position(|it| is_of(&claim, it)) else {
                return Err(pool.false_contents(source, "a log that its receipt does not have"));
            };
            rest.swap_remove(at);
        }
    }
    Ok(told)
}

/// Whether a log matches a transfer from its receipt. A log has no place, and not always a sender: these are not
/// compared.
pub fn is_of(logged: &Claim, known: &Claim) -> bool {
    let senders = match logged.senders.is_empty() {
        true => &logged.senders,
        false => &known.senders,
    };
    let claim = Claim {
        place: NOWHERE,
        senders: senders.clone(),
        ..known.clone()
    };
    *logged == claim
}

/// A log as a claim, without a place.
pub fn claim_of(pool: Pool<'_>, log: &Log) -> Claim {
    let show = |address: &[u8; 20]| pool.observer().address_text(address);
    let asset = pool.observer().asset_of(&log.contract);
    let moved = log.moved.as_ref();
    let sender = moved.and_then(|it| it.sender.as_ref());
    Claim {
        place: NOWHERE,
        asset: asset.map_or_else(|| show(&log.contract), |asset| asset.code.clone()),
        senders: sender.map(show).into_iter().collect(),
        recipient: moved.map_or(String::new(), |it| show(&it.recipient)),
        units: moved.map_or(0, |it| it.units),
    }
}
