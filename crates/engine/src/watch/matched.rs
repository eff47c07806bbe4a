//! Which logs concern us, and what their transactions did: read from receipts, found by addresses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use till_chains::evm::logs::Log;
use till_chains::raw::shown;
use till_core::asset::{Family, Registry};

use super::agree::{Answers, Claim, Question, Told, Verdict, decide, told};
use super::ask::Asking;
use super::{Trouble, set};
use crate::base::fail::Fail;
use crate::intake::chain::Seen;
use till_watch::Endpoint;

/// What a log says whose receipt was not seen yet: its place in the transaction is not known.
const NOWHERE: i64 = -1;

/// Logs that one endpoint gave.
pub(super) type Given<'s> = (&'s Endpoint, Vec<Log>);

/// The transfers to us among some blocks' logs, in the order of the chain.
#[derive(Debug, Default)]
pub(super) struct Matched {
    pub(super) seen: Vec<Seen>,
    /// The first block with a transfer about which not enough say the same. What is from there on is not among these.
    pub(super) open: Option<i64>,
}

impl Matched {
    /// Not enough say the same of a transfer in this block.
    pub(super) fn end_below(&mut self, open: i64) {
        let is_below = |height: i64| height < open;
        self.seen.retain(|seen| seen.height.is_none_or(is_below));
        self.open = Some(self.open.map_or(open, |before| before.min(open)));
    }
}

/// Those of the logs that name one of our addresses, and which addresses those are.
pub(super) async fn ours<'s>(
    asking: Asking<'s>,
    given: Vec<Given<'s>>,
) -> Result<(Vec<Given<'s>>, HashSet<String>), Trouble> {
    // What was read first and is looked for afterwards cannot have come too early.
    set::refresh(asking.engine, asking.net).await?;
    let mut given: Vec<Given<'s>> = given
        .into_iter()
        .map(|(source, logs)| (source, candidates(asking, logs)))
        .collect();
    let family = asking.network().family;
    let ours = registered(asking, &given).await?;
    let is_ours = |log: &Log| recipient(family, log).is_some_and(|it| ours.contains(&it));
    for (_, logs) in &mut given {
        logs.retain(is_ours);
    }
    Ok((given, ours))
}

fn candidates(asking: Asking<'_>, mut logs: Vec<Log>) -> Vec<Log> {
    logs.retain(|log| log.moved.is_some());
    let recipient = |log: &Log| log.moved.map_or([0; 20], |moved| moved.recipient);
    let recipients: Vec<[u8; 20]> = logs.iter().map(recipient).collect();
    let mut hits = asking.net.set.may_have(&recipients).into_iter();
    logs.retain(|_| hits.next().unwrap_or(false));
    logs
}

fn recipient(family: Family, log: &Log) -> Option<String> {
    Some(shown(family, &log.moved?.recipient))
}

/// The set knows eight bytes of each address; the database knows them in full.
async fn registered(asking: Asking<'_>, given: &[Given<'_>]) -> Result<HashSet<String>, Fail> {
    let family = asking.network().family;
    let logs = given.iter().flat_map(|(_, logs)| logs);
    let addresses: HashSet<String> = logs.filter_map(|log| recipient(family, log)).collect();
    if addresses.is_empty() {
        return Ok(HashSet::new());
    }
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let mut reader = asking.engine.db.read().await?;
    let mut ours = till_store::leases::ours(&mut reader, &addresses).await?;
    ours.extend(till_store::destinations::registered(&mut reader, &addresses).await?);
    Ok(ours)
}

/// What the transactions of these logs moved to us, as far as so many endpoints agree.
pub(super) async fn agreed<'s>(
    asking: Asking<'s>,
    given: &[Given<'s>],
    ours: &HashSet<String>,
    need: usize,
) -> Result<Matched, Trouble> {
    let mut by_block: BTreeMap<(i64, [u8; 32]), BTreeSet<[u8; 32]>> = BTreeMap::new();
    for log in given.iter().flat_map(|(_, logs)| logs) {
        let block = (log.height, log.block_hash);
        by_block.entry(block).or_default().insert(log.tx_hash);
    }
    let mut seen = Vec::new();
    for ((height, block), transactions) in by_block {
        let transactions: Vec<[u8; 32]> = transactions.into_iter().collect();
        let question = Question {
            height,
            block,
            transactions: &transactions,
            ours,
            need,
            is_known: false,
        };
        let mut answers = Answers::new();
        for (source, logs) in given {
            let mut told = told(asking, source, question).await?;
            add_logs(asking, source, logs, question, &mut told)?;
            answers.push((source, told));
        }
        for (transaction, verdict) in decide(asking, question, answers).await {
            let Verdict::Agreed(claims) = verdict else {
                seen.retain(|it: &Seen| it.height < Some(height));
                let open = Some(height);
                return Ok(Matched { seen, open });
            };
            let to_us = claims.iter();
            seen.extend(to_us.map(|claim| claim.seen(asking, &transaction, height)));
        }
    }
    Ok(Matched { seen, open: None })
}

/// An endpoint's receipts must have what its logs say. Where it has no receipt, its logs stand for it: a claim that
/// nothing can be made of yet.
fn add_logs(
    asking: Asking<'_>,
    source: &Endpoint,
    logs: &[Log],
    question: Question<'_>,
    told: &mut Told,
) -> Result<(), Trouble> {
    let mut by_transaction: BTreeMap<[u8; 32], Vec<Claim>> = BTreeMap::new();
    for log in logs.iter().filter(|it| it.block_hash == question.block) {
        let claim = claim_of(asking, log);
        by_transaction.entry(log.tx_hash).or_default().push(claim);
    }
    for (transaction, mut claims) in by_transaction {
        claims.sort();
        let known = told.entry(transaction).or_default();
        if known.is_empty() {
            *known = claims;
            continue;
        }
        let mut rest: Vec<Claim> = known
            .iter()
            .map(|it| Claim {
                place: NOWHERE,
                ..it.clone()
            })
            .collect();
        for claim in claims {
            let Some(at) = rest.iter().position(|it| *it == claim) else {
                return Err(asking.lied(source, "a log that its receipt does not have"));
            };
            rest.swap_remove(at);
        }
    }
    Ok(())
}

/// What a log says, its place in its transaction unknown.
pub(super) fn claim_of(asking: Asking<'_>, log: &Log) -> Claim {
    let network = asking.network();
    let show = |address: &[u8; 20]| shown(network.family, address);
    let contract = show(&log.contract);
    let asset = Registry::builtin().asset_of_contract(&network.id, &contract);
    let moved = log.moved.as_ref();
    Claim {
        place: NOWHERE,
        asset: asset.map_or(contract, |asset| asset.code.clone()),
        sender: moved.map(|it| show(&it.sender)),
        recipient: moved.map_or(String::new(), |it| show(&it.recipient)),
        units: moved.map_or(0, |it| it.units),
    }
}
