//! Which logs concern us, and what their transactions did: read from receipts, found by addresses.

use std::collections::{BTreeMap, HashMap, HashSet};

use till_chains::evm::decode::{Receipt, Transfer};
use till_chains::evm::logs::Log;
use till_chains::raw::shown;
use till_chains::tx_hash_of;
use till_core::asset::{Family, Registry};

use super::ask::{Asking, Receipts};
use super::{Trouble, set};
use crate::base::fail::Fail;
use crate::intake::chain::Seen;
use crate::nodes::Source;

/// The transfers to us among these logs, in the order of the chain.
pub(super) async fn transfers(
    asking: Asking<'_>,
    source: &Source,
    logs: &[Log],
) -> Result<Vec<Seen>, Trouble> {
    set::refresh(asking.engine, asking.net).await?;
    let candidates = candidates(asking, logs);
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let ours = ours(asking, &candidates).await?;
    let mut by_block: BTreeMap<(i64, [u8; 32]), Vec<&Log>> = BTreeMap::new();
    for log in candidates {
        if recipient(asking.network().family, log).is_some_and(|it| ours.contains(&it)) {
            let block = (log.height, log.block_hash);
            by_block.entry(block).or_default().push(log);
        }
    }
    let mut seen = Vec::new();
    for ((height, block), logs) in by_block {
        let mut transactions: Vec<[u8; 32]> = logs.iter().map(|log| log.tx_hash).collect();
        transactions.sort_unstable();
        transactions.dedup();
        let receipts = asking.receipts(source, &block, &transactions).await?;
        check(asking, source, &block, &logs, &receipts)?;
        for (transaction, receipt) in &receipts {
            let to_us = receipt.transfers.iter();
            let to_us = to_us.filter(|transfer| ours.contains(&transfer.recipient));
            seen.extend(to_us.map(|it| sighting(asking, transaction, height, it)));
        }
    }
    Ok(seen)
}

fn candidates<'l>(asking: Asking<'_>, logs: &'l [Log]) -> Vec<&'l Log> {
    let moving: Vec<(&Log, [u8; 20])> = logs
        .iter()
        .filter_map(|log| Some((log, log.moved?.recipient)))
        .collect();
    let recipients: Vec<[u8; 20]> = moving.iter().map(|(_, recipient)| *recipient).collect();
    let hits = asking.net.set.may_have(&recipients);
    let hits = moving.into_iter().zip(hits).filter(|(_, hit)| *hit);
    hits.map(|((log, _), _)| log).collect()
}

fn recipient(family: Family, log: &Log) -> Option<String> {
    Some(shown(family, &log.moved?.recipient))
}

/// The set knows eight bytes of each address; the database knows them in full.
async fn ours(asking: Asking<'_>, logs: &[&Log]) -> Result<HashSet<String>, Fail> {
    let family = asking.network().family;
    let addresses: HashSet<String> = logs
        .iter()
        .filter_map(|log| recipient(family, log))
        .collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let mut reader = asking.engine.db.read().await?;
    let mut ours = till_store::leases::ours(&mut reader, &addresses).await?;
    ours.extend(till_store::destinations::registered(&mut reader, &addresses).await?);
    Ok(ours)
}

/// The receipts must be of that block, whole, and have what the logs say.
fn check(
    asking: Asking<'_>,
    source: &Source,
    block: &[u8; 32],
    logs: &[&Log],
    receipts: &Receipts,
) -> Result<(), Trouble> {
    let mut told: HashMap<([u8; 32], Moved), usize> = HashMap::new();
    for log in logs {
        let Some(receipt) = receipts.get(&log.tx_hash) else {
            return Err(asking.unsettled(source));
        };
        if receipt.block_hash != *block || receipt.height != log.height.cast_unsigned() {
            return Err(asking.unsettled(source));
        }
        if !receipt.is_whole {
            return Err(asking.lied(source, "a receipt with logs left out"));
        }
        let moved = moved_by_log(asking.network(), log);
        *told.entry((log.tx_hash, moved)).or_default() += 1;
    }
    for ((transaction, moved), count) in told {
        if count_in(&receipts[&transaction], &moved) < count {
            return Err(asking.lied(source, "a log that its receipt does not have"));
        }
    }
    Ok(())
}

/// Asset, sender, recipient and units.
type Moved = (String, String, String, u128);

fn moved_by_log(network: &till_core::asset::Network, log: &Log) -> Moved {
    let show = |address: &[u8; 20]| shown(network.family, address);
    let contract = show(&log.contract);
    let asset = Registry::builtin().asset_of_contract(&network.id, &contract);
    let code = asset.map_or(contract, |asset| asset.code.clone());
    let moved = log.moved.as_ref();
    (
        code,
        moved.map_or(String::new(), |it| show(&it.sender)),
        moved.map_or(String::new(), |it| show(&it.recipient)),
        moved.map_or(0, |it| it.units),
    )
}

fn count_in(receipt: &Receipt, moved: &Moved) -> usize {
    let same = |it: &&Transfer| {
        let (asset, sender, recipient) = (&it.asset.code, &it.sender, &it.recipient);
        (asset, sender, recipient, it.units.0) == (&moved.0, &moved.1, &moved.2, moved.3)
    };
    receipt.transfers.iter().filter(same).count()
}

fn sighting(asking: Asking<'_>, transaction: &[u8; 32], height: i64, it: &Transfer) -> Seen {
    Seen {
        tx_hash: tx_hash_of(asking.network().family, transaction),
        place: i64::from(it.place),
        asset: it.asset.code.clone(),
        units: it.units,
        sender: Some(it.sender.clone()),
        recipient: it.recipient.clone(),
        height: Some(height),
    }
}
