//! Confirms transfers before their block counts as final: a quorum is asked for the receipts again. A transfer that it
//! does not have, or has with other contents, is taken back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::BlockHash;
use till_core::chain::Block;
use till_store::transfers::TransferRow;
use till_watch::{
    Answers, Chain, ChainUpdate, Claim, ClaimQuestion, SeenTransfer, Tip, Verdict, amount_arrived,
    decide,
};

use super::gather::disagreement;
use super::network_watch::NetworkWatch;
use super::our_addresses::homes;
use super::senders;
use crate::base::fail::Fail;
use crate::screening;

/// How many blocks are asked about in parallel.
const AT_ONCE: usize = 16;

/// How far the final tip may rise, and what was found out about transfers up to it.
#[derive(Debug, Default)]
pub(super) struct Confirmed {
    pub(super) tip: Option<Tip>,
    /// Transfers that enough endpoints say are not there, by transaction and place in it.
    pub(super) refuted: Vec<(String, i64)>,
    /// Transfers that stay and of which more is known now: how much arrived, or what registers say of the senders.
    pub(super) learned: Vec<SeenTransfer>,
    /// Why the tip does not rise as far as it could.
    pub(super) held: Option<String>,
}

/// Raises the final tip to below the first block with a transfer that no quorum confirms. Transfers of this very round
/// were confirmed when they were read.
pub(super) async fn confirmed(
    watch: NetworkWatch<'_>,
    before: Option<i64>,
    tip: Option<Tip>,
    (chain, read): (&Chain<'_>, &ChainUpdate),
) -> Result<Confirmed, Fail> {
    let Some(tip) = tip.filter(|tip| before.is_none_or(|before| before < tip.height)) else {
        return Ok(Confirmed::default());
    };
    // A block may be final already when it is first read. If too few endpoints could answer about one of its transfers,
    // they are asked once more before it counts as final.
    let open = read.transfers.iter();
    let open = open.filter(|it| is_open(watch, it));
    let open = open.filter_map(|it| it.height).min();
    let tip = match open.filter(|open| *open <= tip.height) {
        None => tip,
        Some(open) => match below(chain, before, open) {
            Some(below) => below,
            None => return Ok(Confirmed::default()),
        },
    };
    let after = before.unwrap_or(i64::MIN);
    let (mut agreed, mut open) = (Vec::new(), None);
    for (block, rows) in known(watch, (after, tip.height), (chain, read)).await? {
        match ask(watch, block, &rows).await {
            Some(wrong) => agreed.push((block.0, rows, wrong)),
            None => {
                open = Some(block.0);
                break;
            }
        }
    }
    // Together: one that hangs is waited for once, and not for every block.
    let learning = agreed
        .iter()
        .map(|(height, rows, wrong)| learn(watch, chain.at(*height), rows, wrong).boxed());
    let learning: Vec<_> = learning.collect();
    let learned: Vec<(Vec<SeenTransfer>, Option<i64>)> =
        stream::iter(learning).buffered(AT_ONCE).collect().await;
    // A contradiction about what arrived, or about a sender, counts like a transfer that no quorum has.
    let contradicted = learned.iter().filter_map(|(_, open)| *open);
    let open = contradicted.chain(open).min();
    let refuted = agreed.into_iter().flat_map(|(_, _, wrong)| wrong);
    Ok(Confirmed {
        tip: match open {
            None => Some(tip),
            Some(height) => below(chain, before, height),
        },
        refuted: refuted.collect(),
        learned: learned.into_iter().flat_map(|(seen, _)| seen).collect(),
        held: open.map(disagreement),
    })
}

/// The block below a height, if that raises the tip.
fn below(chain: &Chain<'_>, before: Option<i64>, height: i64) -> Option<Tip> {
    let below = chain.at(height - 1)?;
    let rises = before.is_none_or(|it| it < below.height);
    rises.then(|| Tip::of(below))
}

/// Whether a transfer still lacks an agreed answer: what the registers say of its sender, or how much arrived.
fn is_open(watch: NetworkWatch<'_>, seen: &SeenTransfer) -> bool {
    let asks_registers = screening::is_asked_on_chains(watch.engine) && !seen.senders.is_empty();
    (asks_registers && screening::is_unanswered(seen.registers.as_deref()))
        || (amount_arrived::is_asked(watch.pool, &seen.asset) && seen.arrived.is_none())
}

/// Height and hash.
type BlockId = (i64, BlockHash);

/// The transfers in these blocks that were written in an earlier round, by block.
async fn known(
    watch: NetworkWatch<'_>,
    (after, up_to): (i64, i64),
    (chain, read): (&Chain<'_>, &ChainUpdate),
) -> Result<BTreeMap<BlockId, Vec<TransferRow>>, Fail> {
    let network = &watch.network().id;
    let mut reader = watch.engine.db.read().await?;
    let rows = till_store::transfers::in_blocks(&mut reader, network, after, up_to).await?;
    drop(reader);
    let just_now: HashSet<(&str, i64)> = read
        .transfers
        .iter()
        .map(|seen| (&*seen.tx_hash, seen.place))
        .collect();
    let mut known: BTreeMap<BlockId, Vec<TransferRow>> = BTreeMap::new();
    for row in rows {
        let (Some(height), Some(hash)) = (row.height, &row.block_hash) else {
            continue;
        };
        // What is in a block that this step replaces is not there any more.
        let is_replaced = chain.at(height).is_some_and(|block| block.hash != *hash);
        if let Some(block) = BlockHash::parse(hash)
            && !is_replaced
            && !just_now.contains(&(&*row.tx_hash, row.place))
        {
            known.entry((height, block)).or_default().push(row);
        }
    }
    Ok(known)
}

/// The transfers of a block that a quorum denies. None while there is no quorum about one of them.
async fn ask(
    watch: NetworkWatch<'_>,
    (height, block): BlockId,
    rows: &[TransferRow],
) -> Option<Vec<(String, i64)>> {
    let mut by_transaction: HashMap<[u8; 32], Vec<&TransferRow>> = HashMap::new();
    for row in rows {
        let transaction = BlockHash::parse(&row.tx_hash)?.word()?;
        by_transaction.entry(transaction).or_default().push(row);
    }
    let transactions: BTreeSet<[u8; 32]> = by_transaction.keys().copied().collect();
    let transactions: Vec<[u8; 32]> = transactions.into_iter().collect();
    let ours: HashSet<String> = rows.iter().map(|row| row.recipient.clone()).collect();
    let question = ClaimQuestion {
        height,
        block,
        transactions: &transactions,
        ours: &ours,
        header: None,
        need: watch.net.quorum,
        is_known: true,
    };
    let mut wrong = Vec::new();
    for (transaction, verdict) in decide(watch.pool, question, Answers::new()).await {
        let Verdict::Agreed(claims) = verdict else {
            return None;
        };
        let rows = &by_transaction[&transaction];
        let wrongs = rows.iter().filter(|row| !claims.contains(&claim_of(row)));
        wrong.extend(wrongs.map(|row| (row.tx_hash.clone(), row.place)));
    }
    if let [(transaction, _), ..] = &wrong[..] {
        let network = &*watch.network().id;
        tracing::error!(
            network,
            height,
            transaction,
            "a transfer that was taken in is not there, as enough endpoints say, so it is taken back; ask the provider of the endpoint that told of it"
        );
        metrics::counter!("till_network_refuted_total", "network" => network).increment(1);
    }
    Some(wrong)
}

/// A known transfer as a claim, to compare with the claims of endpoints.
pub(super) fn claim_of(row: &TransferRow) -> Claim {
    Claim {
        place: row.place,
        asset: row.asset.clone(),
        senders: row.senders.clone(),
        recipient: row.recipient.clone(),
        units: row.units.0,
    }
}

fn seen_again(row: &TransferRow) -> SeenTransfer {
    SeenTransfer {
        tx_hash: row.tx_hash.clone(),
        place: row.place,
        asset: row.asset.clone(),
        units: row.units,
        arrived: row.came(),
        strayed: row.has_strayed(),
        registers: row.registers.clone(),
        senders: row.senders.clone(),
        recipient: row.recipient.clone(),
        height: row.height,
    }
}

/// Asks again what too few endpoints answered when a transfer was seen. Returns the transfers of which more is known
/// now, and the block's height if endpoints contradict each other about it.
async fn learn(
    watch: NetworkWatch<'_>,
    block: Option<&Block>,
    rows: &[TransferRow],
    wrong: &[(String, i64)],
) -> (Vec<SeenTransfer>, Option<i64>) {
    let is_open = |row: &TransferRow| !row.whole || screening::is_open(row.registers.as_deref());
    let Some(block) = block.filter(|_| rows.iter().any(is_open)) else {
        return (Vec::new(), None);
    };
    let is_wrong = |row: &TransferRow| {
        let identity =
            |(tx_hash, place): &(String, i64)| (&row.tx_hash, row.place) == (tx_hash, *place);
        wrong.iter().any(identity)
    };
    let stays: Vec<&TransferRow> = rows.iter().filter(|row| !is_wrong(row)).collect();
    let mut seen: Vec<SeenTransfer> = stays.iter().map(|row| seen_again(row)).collect();
    let Ok(homes) = homes(watch, &seen).await else {
        return (Vec::new(), Some(block.height));
    };
    let block_alone = std::slice::from_ref(block);
    let came = amount_arrived::note(watch.pool, block_alone, &homes, &mut seen).await;
    let sent = senders::note(watch, &mut seen).await;
    let open = came.or(sent);
    let is_news = |(seen, row): &(SeenTransfer, &TransferRow)| {
        let known = (row.came(), row.has_strayed(), &row.registers);
        (seen.arrived, seen.strayed, &seen.registers) != known
    };
    let learned = seen.into_iter().zip(stays).filter(is_news);
    (learned.map(|(seen, _)| seen).collect(), open)
}
