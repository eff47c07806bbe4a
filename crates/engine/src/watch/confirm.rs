//! Before a block with transfers to us counts as final, as many endpoints as must agree are asked for the receipts
//! again: what only one of them says is not credited.

use std::collections::BTreeMap;

use till_core::payment::Level;
use till_store::transfers::TransferRow;

use super::ask::{Asking, Receipts, shown};
use super::gather::Read;
use super::tips::Chain;
use crate::base::fail::Fail;
use crate::intake::chain::{Seen, Tip};
use crate::nodes::Source;

/// A transfer, as far as endpoints can be asked about it.
struct Claim {
    height: i64,
    block: [u8; 32],
    transaction: [u8; 32],
    place: i64,
    recipient: String,
    units: u128,
}

/// How far a tip may rise: below the first transfer that not enough endpoints have.
pub(super) async fn confirmed(
    asking: Asking<'_>,
    before: Option<i64>,
    tip: Option<Tip>,
    (chain, read): (&Chain<'_>, &Read),
) -> Result<Option<Tip>, Fail> {
    let Some(tip) = tip.filter(|tip| before.is_none_or(|before| before < tip.height)) else {
        return Ok(None);
    };
    let claims = claims(
        asking,
        before.unwrap_or(i64::MIN),
        tip.height,
        (chain, read),
    )
    .await?;
    for ((height, block), claims) in by_block(claims) {
        if !are_agreed(asking, &block, &claims).await {
            let network = &*asking.network().id;
            tracing::error!(
                network,
                height,
                "not enough endpoints have a transfer that one of them told of; nothing from here on is final"
            );
            metrics::counter!("till_network_disagreements_total", "network" => network)
                .increment(1);
            let below = chain.at(height - 1);
            return Ok(below.map(|block| Tip {
                height: block.height,
                hash: block.hash.clone(),
            }));
        }
    }
    Ok(Some(tip))
}

/// Where payments count before they are final, enough endpoints must have them before anything is written.
pub(super) async fn are_believed(asking: Asking<'_>, chain: &Chain<'_>, read: &Read) -> bool {
    let credits_early = asking
        .engine
        .config
        .credit_at
        .contains_key(&asking.network().id);
    if !credits_early || asking.net.quorum < 2 {
        return true;
    }
    let claims = read
        .transfers
        .iter()
        .filter_map(|seen| of_seen(seen, chain));
    for claims in by_block(claims.collect()).into_values() {
        let block = claims[0].block;
        if !are_agreed(asking, &block, &claims).await {
            return false;
        }
    }
    true
}

fn by_block(claims: Vec<Claim>) -> BTreeMap<(i64, [u8; 32]), Vec<Claim>> {
    let mut by_block: BTreeMap<(i64, [u8; 32]), Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        let block = (claim.height, claim.block);
        by_block.entry(block).or_default().push(claim);
    }
    by_block
}

async fn claims(
    asking: Asking<'_>,
    before: i64,
    up_to: i64,
    (chain, read): (&Chain<'_>, &Read),
) -> Result<Vec<Claim>, Fail> {
    let network = &asking.network().id;
    let mut reader = asking.engine.db.read().await?;
    let known = till_store::transfers::in_blocks(&mut reader, network, before, up_to).await?;
    drop(reader);
    let replaced_from = read.blocks.first().map_or(i64::MAX, |first| first.height);
    let known = known.iter().filter_map(of_row);
    let known = known.filter(|claim| claim.height < replaced_from);
    let new = read
        .transfers
        .iter()
        .filter_map(|seen| of_seen(seen, chain));
    let is_covered = |claim: &Claim| before < claim.height && claim.height <= up_to;
    Ok(known.chain(new.filter(is_covered)).collect())
}

fn of_row(row: &TransferRow) -> Option<Claim> {
    Some(Claim {
        height: row.height?,
        block: bytes(row.block_hash.as_deref()?)?,
        transaction: bytes(&row.tx_hash)?,
        place: row.place,
        recipient: row.recipient.clone(),
        units: row.units.0,
    })
}

fn of_seen(seen: &Seen, chain: &Chain<'_>) -> Option<Claim> {
    let block = chain.at(seen.height?)?;
    Some(Claim {
        height: block.height,
        block: bytes(&block.hash)?,
        transaction: bytes(&seen.tx_hash)?,
        place: seen.place,
        recipient: seen.recipient.clone(),
        units: seen.units.0,
    })
}

fn bytes(hash: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash.trim_start_matches("0x"), &mut bytes).ok()?;
    Some(bytes)
}

async fn are_agreed(asking: Asking<'_>, block: &[u8; 32], claims: &[Claim]) -> bool {
    let mut transactions: Vec<[u8; 32]> = claims.iter().map(|it| it.transaction).collect();
    transactions.sort_unstable();
    transactions.dedup();
    let mut agreeing = 0;
    for source in asking.usable() {
        if agreeing == asking.net.quorum {
            break;
        }
        agreeing += usize::from(agrees(asking, source, block, &transactions, claims).await);
    }
    agreeing >= asking.net.quorum
}

async fn agrees(
    asking: Asking<'_>,
    source: &Source,
    block: &[u8; 32],
    transactions: &[[u8; 32]],
    claims: &[Claim],
) -> bool {
    let receipts = asking.receipts(source, block, transactions).await;
    let Ok(receipts) = receipts else {
        return false;
    };
    let missing = claims.iter().find(|claim| !has(&receipts, block, claim));
    if let Some(missing) = missing {
        let (network, level) = (&*asking.network().id, Level::Final.as_str());
        let (height, transaction) = (missing.height, shown(&missing.transaction));
        tracing::warn!(network, endpoint = %source.endpoint, height, transaction, level, "an endpoint does not have a transfer");
    }
    missing.is_none()
}

fn has(receipts: &Receipts, block: &[u8; 32], claim: &Claim) -> bool {
    receipts.get(&claim.transaction).is_some_and(|receipt| {
        receipt.block_hash == *block
            && receipt.transfers.iter().any(|it| {
                (i64::from(it.place), &it.recipient, it.units.0)
                    == (claim.place, &claim.recipient, claim.units)
            })
    })
}
