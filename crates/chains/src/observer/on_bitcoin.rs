//! What Bitcoin's nodes say, in the words that are common to all families: an output is a log, a transaction with the owners of what
//! it spends is a receipt, and the number of an output is its place.
//!
//! What is newly mined cannot be spent, nor be sure to stay, before a hundred blocks lie on it. So the coinbase of a block is not
//! among what that block moved, but among what the block moved with which it can be spent.

use std::collections::BTreeMap;

use till_core::asset::{Asset, Network, Registry};
use till_core::money::Units;

use crate::bitcoin::client;
use crate::bitcoin::header::{BlockHeader, BlockName};
use crate::bitcoin::transaction::{SentTransaction, Transaction, from_bytes};
use crate::block_hash::BlockHash;
use crate::evm::balances::Balance;
use crate::evm::blocks::Header;
use crate::evm::decode::{Receipt, Transfer};
use crate::evm::logs::{Log, LoggedTransfer};
use crate::rpc::{Endpoint, RpcClient, RpcError};
use crate::zmq::Message;

pub use crate::bitcoin::transaction::Outpoint as Spend;
pub use crate::bitcoin::unspent::Unspent;
pub use crate::bitcoin::waiting_about::WaitingAbout;

/// A block has thousands of outputs, all of which are looked at.
pub(super) const BLOCKS_MAX: i64 = 10;

/// The hashes of transactions and what became of them.
type Receipts = BTreeMap<[u8; 32], Receipt>;

/// What stands for a contract where the network's own coin is moved.
const COIN: [u8; 20] = [0; 20];

/// A transaction that waits for a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingTransaction {
    pub hash: [u8; 32],
    /// What no other transaction can spend beside it.
    pub spends: Vec<Spend>,
    /// Place, recipient and units of what it moves, as far as that can be ours.
    pub moves: Vec<(u32, [u8; 20], u128)>,
}

/// What nodes are asked to publish.
pub(super) const TOPICS: &[&str] = &["hashblock", "rawtx"];

/// What a published message tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Block,
    /// A transaction that pays to these and to nobody else who could be ours.
    Paid(Vec<[u8; 20]>),
    Nothing,
}

pub(super) fn news(message: &Message) -> News {
    match &*message.topic {
        b"hashblock" => News::Block,
        b"rawtx" => match from_bytes(&message.content) {
            Ok(paid) => News::Paid(paid.outputs.iter().map(|it| it.program).collect()),
            Err(_) => News::Nothing,
        },
        _ => News::Nothing,
    }
}

pub(super) fn coin(network: &Network) -> Option<&'static Asset> {
    let assets = Registry::builtin().assets().iter();
    let mut own = assets.filter(|asset| asset.network == network.id);
    own.find(|asset| asset.contract.is_none())
}

/// A network is named by the first half of its first block's hash.
pub(super) async fn elsewhere(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<Option<String>, RpcError> {
    let genesis = client::genesis(rpc, endpoint).await?;
    let (named, _) = genesis.split_at(genesis.len() / 2);
    let told = format!("{}:{}", network.family.namespace(), hex::encode(named));
    Ok((told != network.id).then(|| format!("it is on {told}")))
}

fn header_of(height: i64, header: &BlockHeader) -> Header {
    Header {
        height,
        hash: header.name.into(),
        parent: header.parent.into(),
        time: header.time,
        bloom: None,
        receipts_root: Some(header.merkle_root),
        transactions: None,
    }
}

/// The last blocks that one question brings, the latest first.
pub(super) async fn last(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<Vec<Header>, RpcError> {
    let last = client::last_headers(rpc, endpoint, network).await?;
    let last = last.iter();
    Ok(last.map(|(height, it)| header_of(*height, it)).collect())
}

pub(super) async fn header(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    height: i64,
) -> Result<Option<Header>, RpcError> {
    let header = client::header_at(rpc, endpoint, network, height).await?;
    Ok(header.map(|header| header_of(height, &header)))
}

/// The outputs of a block that can be ours.
pub(super) async fn logs_in(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (name, height): (BlockName, i64),
) -> Result<Vec<Log>, RpcError> {
    let block = client::whole_block(rpc, endpoint, network, &name).await?;
    let mut logs = Vec::new();
    let moving = block.transactions.iter().filter(|it| !it.is_coinbase);
    moving.for_each(|it| logs.extend(logs_of(it, (name, height))));
    if let Some(matured) = matured(rpc, endpoint, network, height).await? {
        logs.extend(logs_of(&matured.transaction, (name, height)));
    }
    Ok(logs)
}

pub(super) async fn logs_between(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (from, to): (i64, i64),
) -> Result<Vec<Log>, RpcError> {
    let mut logs = Vec::new();
    for height in from..=to {
        let name = client::name_at(rpc, endpoint, height).await?;
        let none = || RpcError::NotAnAnswer("it has no such block".to_owned());
        let at = (name.ok_or_else(none)?, height);
        logs.extend(logs_in(rpc, endpoint, network, at).await?);
    }
    Ok(logs)
}

fn logs_of(
    transaction: &Transaction,
    (block, height): (BlockName, i64),
) -> impl Iterator<Item = Log> {
    let outputs = transaction.outputs.iter();
    outputs.map(move |output| Log {
        height,
        block_hash: block.into(),
        tx_hash: transaction.hash,
        contract: COIN,
        moved: Some(LoggedTransfer {
            sender: None,
            recipient: output.program,
            units: output.sats.into(),
        }),
    })
}

/// What was newly mined so long ago that it can be spent from this block on.
async fn matured(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    height: i64,
) -> Result<Option<SentTransaction>, RpcError> {
    match client::maturing(rpc, endpoint, height).await? {
        Some(mined) => client::coinbase(rpc, endpoint, network, &mined).await,
        None => Ok(None),
    }
}

pub(super) async fn receipt(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (block, transaction): (BlockName, &[u8; 32]),
) -> Result<Option<Receipt>, RpcError> {
    let Some(height) = client::height_of(rpc, endpoint, &block).await? else {
        return Ok(None);
    };
    let at = (&block, transaction);
    let sent = match client::sent(rpc, endpoint, network, at).await? {
        Some(sent) if sent.transaction.is_coinbase => None,
        Some(sent) => Some(sent),
        None => {
            let matured = matured(rpc, endpoint, network, height).await?;
            matured.filter(|it| it.transaction.hash == *transaction)
        }
    };
    Ok(sent.map(|sent| receipt_of(network, &sent, (block, height))))
}

pub(super) async fn block_receipts(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: BlockName,
) -> Result<Receipts, RpcError> {
    let Some(height) = client::height_of(rpc, endpoint, &block).await? else {
        return Ok(Receipts::new());
    };
    let sent = client::sent_all(rpc, endpoint, network, &block).await?;
    let moving = sent.into_iter().filter(|it| !it.transaction.is_coinbase);
    let matured = matured(rpc, endpoint, network, height).await?;
    let all = moving.chain(matured);
    let receipt = |sent: SentTransaction| {
        let receipt = receipt_of(network, &sent, (block, height));
        (sent.transaction.hash, receipt)
    };
    Ok(all.map(receipt).collect())
}

fn receipt_of(
    network: &Network,
    sent: &SentTransaction,
    (block, height): (BlockName, i64),
) -> Receipt {
    let transfers = sent.transaction.outputs.iter().filter_map(|output| {
        Some(Transfer {
            asset: coin(network)?,
            log_index: output.place.into(),
            place: output.place,
            senders: sent.senders.clone(),
            recipient: crate::bitcoin::script::shown(network.mode, &output.program)?,
            units: Units(output.sats.into()),
        })
    });
    Receipt {
        block_hash: BlockHash::from(block),
        height,
        transfers: transfers.collect(),
        is_whole: true,
    }
}

pub(super) async fn waiting(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    transaction: &[u8; 32],
) -> Result<Option<WaitingTransaction>, RpcError> {
    let waiting = client::waiting(rpc, endpoint, transaction).await?;
    let moved = |waiting: Transaction| {
        let outputs = waiting.outputs.iter();
        WaitingTransaction {
            hash: waiting.hash,
            moves: outputs
                .map(|it| (it.place, it.program, it.sats.into()))
                .collect(),
            spends: waiting.spends,
        }
    };
    Ok(waiting.filter(|it| !it.is_coinbase).map(moved))
}

/// What lies on each of these addresses, in their order.
pub(super) async fn balances(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    addresses: &[[u8; 20]],
) -> Result<Vec<Balance>, RpcError> {
    let unspent = client::unspent(rpc, endpoint, network, addresses).await?;
    let mut sums: BTreeMap<[u8; 20], u128> = BTreeMap::new();
    for it in unspent {
        *sums.entry(it.program).or_default() += u128::from(it.sats);
    }
    let balance = |address: &[u8; 20]| {
        Some(Balance {
            address: *address,
            asset: coin(network)?,
            contract: None,
            units: Units(*sums.get(address)?),
        })
    };
    Ok(addresses.iter().filter_map(balance).collect())
}
