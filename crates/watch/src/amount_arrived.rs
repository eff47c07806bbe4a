//! How much of a transfer arrived. A token may take a fee, or log more than it moves. So a transfer brought what its
//! recipient's balance gained in its block, where endpoints still know that; if it is less than its log says, a person
//! must look at it. The same holds for what a deposit address sent on in the same block, unless it went to its
//! merchant.

use std::collections::{BTreeMap, HashMap};

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::BlockHash;
use till_core::asset::Registry;
use till_core::chain::Block;
use till_core::money::Units;

use crate::endpoint::Endpoint;
use crate::pool::Pool;
use crate::quorum::{QuorumAnswer, ask_quorum};
use crate::update::SeenTransfer;

/// Questions at the same time.
const AT_ONCE: usize = 16;

/// The merchants' destinations, by deposit address. Other addresses are not in it: what they send on is their owners'
/// business.
pub type DestinationsByAddress = HashMap<String, Vec<String>>;

/// One recipient's gain of one token in one block.
#[derive(Clone, Copy)]
struct Gain<'h> {
    block: BlockHash,
    height: i64,
    parent: BlockHash,
    contract: [u8; 20],
    recipient: [u8; 20],
    /// The addresses that it may send on to. None for what is no deposit address: it may send on to any.
    homes: Option<&'h [[u8; 20]]>,
}

/// What a recipient received in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArrivedAmounts {
    arrived: i128,
    /// How much of it was sent on in the same block to an address that is no destination.
    strayed: i128,
}

/// Sets `arrived` on the transfers for which a quorum of endpoints agrees on it. The others are asked about again before
/// their block counts as final. TRON is left out: its nodes know current balances only. Returns the first block about
/// which endpoints contradict each other.
pub async fn note(
    pool: Pool<'_>,
    blocks: &[Block],
    homes: &DestinationsByAddress,
    seen: &mut [SeenTransfer],
) -> Option<i64> {
    if !pool.observer().knows_past_balances() {
        return None;
    }
    let mut groups: BTreeMap<(i64, String, String), Vec<usize>> = BTreeMap::new();
    for (index, it) in seen.iter().enumerate() {
        let key = (it.height, it.recipient.clone(), it.asset.clone());
        if let (Some(height), recipient, asset) = key {
            let group = groups.entry((height, recipient, asset)).or_default();
            group.push(index);
        }
    }
    // What was decided stays so.
    let is_open = |index: &usize| seen[*index].arrived != Some(seen[*index].units);
    groups.retain(|_, of| of.iter().any(is_open));
    let bytes = |address: &String| pool.observer().address_bytes(address);
    let homes: HashMap<&str, Vec<[u8; 20]>> = homes
        .iter()
        .map(|(address, of)| (&**address, of.iter().filter_map(bytes).collect()))
        .collect();
    let asked = groups
        .into_iter()
        .filter_map(|((height, recipient, asset), of)| {
            let gain = gain(pool, blocks, (height, &recipient, &asset))?;
            let gain = Gain {
                homes: homes.get(&*recipient).map(Vec::as_slice),
                ..gain
            };
            // The sum is an endpoint's claim and may overflow: no token has as many units.
            let told = of.iter().map(|index| seen[*index].units.0);
            let told = told.fold(0, u128::saturating_add);
            Some(async move { (of, told, arrived(pool, gain, told).await) }.boxed())
        });
    let asked: Vec<_> = asked.collect();
    let answers: Vec<(Vec<usize>, u128, QuorumAnswer<ArrivedAmounts>)> =
        stream::iter(asked).buffered(AT_ONCE).collect().await;
    let mut open: Option<i64> = None;
    for (of, told, arrived) in answers {
        match arrived {
            QuorumAnswer::Agreed(came) => {
                let arrived = u128::try_from(came.arrived.max(0)).unwrap_or_default();
                cut(pool, seen, &of, told.saturating_sub(arrived));
                for index in &of {
                    seen[*index].strayed = came.strayed > 0;
                }
            }
            QuorumAnswer::Contradicted => {
                let heights = of.iter().filter_map(|index| seen[*index].height);
                open = open.into_iter().chain(heights).min();
            }
            QuorumAnswer::Unknown => {}
        }
    }
    open
}

/// Whether balances can tell how much arrived: the asset is a token, and nodes know past balances.
pub fn is_asked(pool: Pool<'_>, asset: &str) -> bool {
    let asset = Registry::builtin().asset(asset);
    pool.observer().knows_past_balances() && asset.is_some_and(|it| it.contract.is_some())
}

fn gain(
    pool: Pool<'_>,
    blocks: &[Block],
    (height, recipient, asset): (i64, &str, &str),
) -> Option<Gain<'static>> {
    let bytes = |address: &str| pool.observer().address_bytes(address);
    let contract = Registry::builtin().asset(asset)?.contract.as_deref()?;
    let block = blocks.iter().find(|block| block.height == height)?;
    Some(Gain {
        block: BlockHash::parse(&block.hash)?,
        height,
        parent: BlockHash::parse(&block.parent)?,
        contract: bytes(contract)?,
        recipient: bytes(recipient)?,
        homes: None,
    })
}

/// What arrived and what strayed, as a quorum says: what the balance gained, and what was sent on in the same block.
async fn arrived<'h>(pool: Pool<'h>, gain: Gain<'h>, told: u128) -> QuorumAnswer<ArrivedAmounts> {
    let answer = ask_quorum(pool, |source| {
        async move {
            let gained = gained(pool, source, gain).await?;
            if gained >= i128::try_from(told).ok()? {
                let (arrived, strayed) = (gained, 0);
                return Some(ArrivedAmounts { arrived, strayed });
            }
            // Whatever went out in the same block had arrived.
            let (home, strayed) = went_on(pool, source, gain).await?;
            let arrived = gained.checked_add(home)?.checked_add(strayed)?;
            Some(ArrivedAmounts { arrived, strayed })
        }
        .boxed()
    });
    answer.await
}

async fn gained(pool: Pool<'_>, reader: &Endpoint, gain: Gain<'_>) -> Option<i128> {
    let (observer, rpc, endpoint) = (pool.observer(), pool.rpc, &reader.address);
    let what = (&gain.contract, &gain.recipient);
    let after = observer.balance_in(rpc, endpoint, what, &gain.block);
    let before = observer.balance_in(rpc, endpoint, what, &gain.parent);
    let both = futures::future::try_join(after, before);
    let (after, before) = pool.call(reader, both).await?.ok()?;
    let signed = |units: u128| i128::try_from(units).ok();
    signed(after)?.checked_sub(signed(before)?)
}

/// How much the recipient sent on in the block: to destinations, and elsewhere.
async fn went_on(pool: Pool<'_>, reader: &Endpoint, gain: Gain<'_>) -> Option<(i128, i128)> {
    let (rpc, endpoint) = (pool.rpc, &reader.address);
    let logs = pool
        .observer()
        .logs_in(rpc, endpoint, gain.block, gain.height);
    let logs = logs.await.ok()?;
    let out = logs.iter().filter(|log| log.contract == gain.contract);
    let out = out.filter_map(|log| log.moved);
    let mut out = out.filter(|moved| moved.sender == Some(gain.recipient));
    let is_home = |to: &[u8; 20]| gain.homes.is_none_or(|homes| homes.contains(to));
    out.try_fold((0_i128, 0_i128), |(home, strayed), moved| {
        let units = i128::try_from(moved.units).ok()?;
        Some(match is_home(&moved.recipient) {
            true => (home.checked_add(units)?, strayed),
            false => (home, strayed.checked_add(units)?),
        })
    })
}

/// Takes what is missing off the last transfers.
fn cut(pool: Pool<'_>, seen: &mut [SeenTransfer], of: &[usize], mut missing: u128) {
    for index in of.iter().rev() {
        let it = &mut seen[*index];
        let less = it.units.0.min(missing);
        missing -= less;
        it.arrived = Some(Units(it.units.0 - less));
        if less > 0 {
            let (network, tx_hash) = (&*pool.network().id, &it.tx_hash);
            let (told, arrived) = (it.units.0, it.units.0 - less);
            tracing::error!(
                network,
                tx_hash,
                told,
                arrived,
                "less arrived than a log says, because the token takes a fee or its log is false; the payment is held until the merchant has accepted or rejected it"
            );
        }
    }
}
