//! What one endpoint says of its chain, asked in the same words for every family. Whoever asks several endpoints, and
//! decides whom to believe, knows no more of a chain than this.

use std::collections::{HashMap, HashSet};

use till_core::asset::{Asset, Depth, Family, Network, Registry};

mod answers;
mod on_bitcoin;

use crate::bitcoin;
use crate::block_hash::BlockHash;
use crate::evm::balances::{balance_in, balances};
use crate::evm::client::{self, BlockRef, LogRange, Proven};
use crate::evm::crowded;
use crate::evm::forwarder::is_factory;
use crate::evm::logs::Contracts;
use crate::raw::{raw, shown};
use crate::rpc::{Endpoint, RpcClient, RpcError};
use crate::zmq::Message;

pub use crate::evm::balances::Balance;
pub use crate::evm::blocks::Header;
pub use crate::evm::decode::{Receipt, Transfer};
pub use crate::evm::logs::{Log, LoggedTransfer};

pub use self::answers::{BlockContents, Completeness, Receipts, Tips};
pub use self::on_bitcoin::{News, Spend, Unspent, WaitingAbout, WaitingTransaction};

/// One for each family whose chains can be watched. TRON's nodes answer Ethereum's questions; what they cannot say is
/// asked of this type, and nobody else looks at the family.
#[derive(Clone, Debug)]
pub enum Observer {
    Evm(Contracts),
    Tron(Contracts),
    /// Without contracts: what is moved is the network's own coin.
    Bitcoin(Contracts),
}

impl Observer {
    /// None for families whose chains are not watched yet.
    pub fn of(network: &'static Network) -> Option<Observer> {
        match network.family {
            Family::Evm => Some(Observer::Evm(Contracts::of(network))),
            Family::Tron => Some(Observer::Tron(Contracts::of(network))),
            Family::Bitcoin => Some(Observer::Bitcoin(Contracts::of(network))),
            Family::Solana => None,
        }
    }

    fn contracts(&self) -> &Contracts {
        match self {
            Observer::Evm(contracts) | Observer::Tron(contracts) | Observer::Bitcoin(contracts) => {
                contracts
            }
        }
    }

    pub fn network(&self) -> &'static Network {
        self.contracts().network()
    }

    /// Whether nodes know what lay on an address when an earlier block was made. TRON's know balances of now alone.
    pub fn knows_past_balances(&self) -> bool {
        matches!(self, Observer::Evm(_))
    }

    /// Whether the receipts that nodes give make up the root that headers name.
    pub fn proves_contents(&self) -> bool {
        match self {
            Observer::Evm(contracts) => client::names_receipts(contracts.network()),
            // Who sent what is in a block of Bitcoin is not proven with it, so transfers are voted on as a whole.
            Observer::Tron(_) | Observer::Bitcoin(_) => false,
        }
    }

    /// How many blocks are read in one step at most: those of Bitcoin are read whole.
    pub fn blocks_at_most(&self) -> i64 {
        match self {
            Observer::Bitcoin(_) => on_bitcoin::BLOCKS_MAX,
            Observer::Evm(_) | Observer::Tron(_) => i64::MAX,
        }
    }

    /// Whether transactions that wait for a block can be asked for.
    pub fn has_mempool(&self) -> bool {
        matches!(self, Observer::Bitcoin(_))
    }

    /// What nodes can be asked to publish as it comes. Nothing where a family's nodes do not publish.
    pub fn topics(&self) -> &'static [&'static str] {
        match self {
            Observer::Bitcoin(_) => on_bitcoin::TOPICS,
            Observer::Evm(_) | Observer::Tron(_) => &[],
        }
    }

    /// What a published message tells of. Nothing proves it, and nothing may follow from it but a question.
    pub fn news(&self, message: &Message) -> News {
        match self {
            Observer::Bitcoin(_) => on_bitcoin::news(message),
            Observer::Evm(_) | Observer::Tron(_) => News::Nothing,
        }
    }

    /// The hashes of all transactions that wait for a block, and the block that the endpoint had last right after it said so.
    pub async fn mempool(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
    ) -> Result<(Vec<[u8; 32]>, BlockHash), RpcError> {
        let waiting = bitcoin::client::mempool(rpc, endpoint).await?;
        Ok((waiting, self.last_block(rpc, endpoint).await?))
    }

    /// The same of an endpoint that is asked by address, as far as it concerns an address or a transaction.
    pub async fn waiting_about(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        about: &WaitingAbout,
    ) -> Result<Vec<[u8; 32]>, RpcError> {
        bitcoin::client::waiting_about(rpc, endpoint, self.network(), about).await
    }

    /// The block that an endpoint has last, where it has a mempool.
    pub async fn last_block(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
    ) -> Result<BlockHash, RpcError> {
        Ok(bitcoin::client::last_name(rpc, endpoint).await?.into())
    }

    /// One of them; none where it does not wait any more.
    pub async fn waiting(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        transaction: &[u8; 32],
    ) -> Result<Option<WaitingTransaction>, RpcError> {
        on_bitcoin::waiting(rpc, endpoint, transaction).await
    }

    /// Whose what it spends was; none where the endpoint cannot say.
    pub async fn waiting_senders(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        waiting: &WaitingTransaction,
    ) -> Result<Option<Vec<String>>, RpcError> {
        let which = (&waiting.hash, &*waiting.spends);
        bitcoin::client::waiting_senders(rpc, endpoint, self.network(), which).await
    }

    /// The network's own coin.
    pub fn coin(&self) -> Option<&'static Asset> {
        on_bitcoin::coin(self.network())
    }

    /// What is moved, by the contract that a log names. Where a network's own coin is watched its logs name none.
    pub fn asset_of(&self, contract: &[u8; 20]) -> Option<&'static Asset> {
        let network = self.network();
        match self {
            Observer::Bitcoin(_) => self.coin(),
            Observer::Evm(_) | Observer::Tron(_) => {
                let contract = shown(network.family, contract);
                Registry::builtin().asset_of_contract(&network.id, &contract)
            }
        }
    }

    /// What is wrong with an endpoint, in words for its operator: another chain, or one without our contracts.
    pub async fn identify(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
    ) -> Result<Option<String>, RpcError> {
        if let Some(elsewhere) = self.elsewhere(rpc, endpoint).await? {
            return Ok(Some(elsewhere));
        }
        let network = self.network();
        if let Some(factory) = &network.factory
            && let Some(address) = raw(network.family, factory)
            && !is_factory(&client::code(rpc, endpoint, &address).await?)
        {
            return Ok(Some(format!("the factory is not at {factory}")));
        }
        let assets = Registry::builtin().assets().iter();
        for asset in assets.filter(|asset| asset.network == network.id && asset.offered) {
            let contract = asset.contract.as_deref();
            let Some(contract) = contract.and_then(|text| raw(network.family, text)) else {
                continue;
            };
            if client::code(rpc, endpoint, &contract).await?.is_empty() {
                let place = shown(network.family, &contract);
                return Ok(Some(format!("{} is not at {place}", asset.symbol)));
            }
        }
        Ok(None)
    }

    /// Which other chain the endpoint is on, in words for its operator; none where it is on this one.
    pub async fn elsewhere(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
    ) -> Result<Option<String>, RpcError> {
        let network = self.network();
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::elsewhere(rpc, endpoint, network).await;
        }
        let told = client::chain_id(rpc, endpoint).await?;
        let is_here = network.chain_id == Some(told);
        Ok((!is_here).then(|| format!("it is on {}:{told}", network.family.namespace())))
    }

    pub async fn tips(&self, rpc: &RpcClient, endpoint: &Endpoint) -> Result<Tips, RpcError> {
        let network = self.network();
        let (last, safe, last_final) = tokio::try_join!(
            self.last(rpc, endpoint),
            self.named(rpc, endpoint, network.safe.as_ref()),
            self.named(rpc, endpoint, Some(&network.finalized)),
        )?;
        let head = last.first().cloned();
        let head = head.ok_or_else(|| RpcError::NotAnAnswer("it has no blocks".to_owned()))?;
        let counted = |depth: Option<&Depth>| depth.and_then(|depth| below(head.height, depth));
        let (safe_at, final_at) = (
            counted(network.safe.as_ref()),
            counted(Some(&network.finalized)),
        );
        Ok(Tips {
            safe: match safe_at {
                Some(height) => self.header_among(rpc, endpoint, &last, height).await?,
                None => safe,
            },
            last_final: match final_at {
                Some(height) => self.header_among(rpc, endpoint, &last, height).await?,
                None => last_final,
            },
            head,
        })
    }

    /// The header of the block at a height, asked for where it is not among these.
    async fn header_among(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        known: &[Header],
        height: i64,
    ) -> Result<Option<Header>, RpcError> {
        match known.iter().find(|it| it.height == height) {
            Some(known) => Ok(Some(known.clone())),
            None => self.header(rpc, endpoint, height).await,
        }
    }

    /// The last block, and those before it that came with the answer.
    async fn last(&self, rpc: &RpcClient, endpoint: &Endpoint) -> Result<Vec<Header>, RpcError> {
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::last(rpc, endpoint, self.network()).await;
        }
        let latest = BlockRef::Tag("latest".to_owned());
        let latest = self.which(rpc, endpoint, latest).await?;
        Ok(latest.into_iter().collect())
    }

    /// A chain that just began, or a node that just started, has no such block: that is said by null or by a refusal.
    async fn named(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        depth: Option<&Depth>,
    ) -> Result<Option<Header>, RpcError> {
        let Some(Depth::Tag(tag)) = depth else {
            return Ok(None);
        };
        match self.which(rpc, endpoint, BlockRef::Tag(tag.clone())).await {
            Err(RpcError::Refused { .. }) => Ok(None),
            told => told,
        }
    }

    async fn which(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        which: BlockRef,
    ) -> Result<Option<Header>, RpcError> {
        client::header(rpc, endpoint, self.network(), &which).await
    }

    /// The header of the block at a height; none where the endpoint has no such block.
    pub async fn header(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        height: i64,
    ) -> Result<Option<Header>, RpcError> {
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::header(rpc, endpoint, self.network(), height).await;
        }
        self.which(rpc, endpoint, BlockRef::At(height)).await
    }

    /// The logs of our tokens in one block, however many they are.
    pub async fn logs_in(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        block: BlockHash,
        height: i64,
    ) -> Result<Vec<Log>, RpcError> {
        let block = word(&block)?;
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::logs_in(rpc, endpoint, self.network(), (block, height)).await;
        }
        let within = LogRange::Block(block);
        match client::logs(rpc, endpoint, self.contracts(), within).await {
            Err(error) if crowded::is_too_many(&error) => {
                crowded::logs(rpc, endpoint, self.contracts(), block).await
            }
            told => told,
        }
    }

    /// And in the blocks of a range, both ends included.
    pub async fn logs_between(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        (from, to): (i64, i64),
    ) -> Result<Vec<Log>, RpcError> {
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::logs_between(rpc, endpoint, self.network(), (from, to)).await;
        }
        client::logs(rpc, endpoint, self.contracts(), LogRange::Heights(from, to)).await
    }

    /// Every log must be of one of these blocks, and the blocks' blooms must name what came and nothing that did not.
    pub fn completeness(&self, headers: &[Header], logs: &[Log]) -> Completeness {
        let blocks: HashMap<i64, &Header> = headers.iter().map(|it| (it.height, it)).collect();
        let mut came: HashSet<(i64, [u8; 20])> = HashSet::new();
        for log in logs {
            let block = blocks.get(&log.height);
            if block.is_none_or(|block| block.hash != log.block_hash) {
                return Completeness::OtherBlocks;
            }
            came.insert((log.height, log.contract));
        }
        let mut may_lack = Vec::new();
        for (at, header) in headers.iter().enumerate() {
            for contract in self.contracts().all() {
                let has = header.may_have_transfers_of(contract);
                match (has, came.contains(&(header.height, *contract))) {
                    (Some(false), true) => return Completeness::Invented,
                    (Some(true), false) => may_lack.push((at, *contract)),
                    _ => {}
                }
            }
        }
        Completeness::MayLack(may_lack)
    }

    /// False where the header rules out that the block has a transfer of one of our tokens.
    pub fn may_have_transfers(&self, header: &Header) -> bool {
        if let Observer::Bitcoin(_) = self {
            return true;
        }
        let mut contracts = self.contracts().all().iter();
        contracts.any(|it| header.may_have_transfers_of(it) != Some(false))
    }

    /// What became of one transaction that a block is said to have; none where the endpoint knows of no block with it.
    pub async fn receipt(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        (block, transaction): (&BlockHash, &[u8; 32]),
    ) -> Result<Option<Receipt>, RpcError> {
        if let Observer::Bitcoin(_) = self {
            let at = (word(block)?, transaction);
            return on_bitcoin::receipt(rpc, endpoint, self.network(), at).await;
        }
        client::receipt(rpc, endpoint, self.network(), transaction).await
    }

    /// Of all transactions of a block. Not every node can be asked so.
    pub async fn block_receipts(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        block: &BlockHash,
    ) -> Result<Receipts, RpcError> {
        if let Observer::Bitcoin(_) = self {
            let block = word(block)?;
            return on_bitcoin::block_receipts(rpc, endpoint, self.network(), block).await;
        }
        client::block_receipts(rpc, endpoint, self.network(), &word(block)?).await
    }

    /// The same, held against the header of the block.
    pub async fn contents(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        header: &Header,
    ) -> Result<BlockContents, RpcError> {
        if let Observer::Bitcoin(_) = self {
            return Ok(BlockContents::Unprovable);
        }
        let told = client::proven_receipts(rpc, endpoint, self.network(), header).await?;
        Ok(match told {
            Proven::All(receipts) => BlockContents::Proven(receipts),
            Proven::Others => BlockContents::Others,
            Proven::Unknown => BlockContents::Unprovable,
        })
    }

    /// What the receipts of a block say, as its logs would.
    pub fn logs_of(&self, block: BlockHash, receipts: &Receipts) -> Result<Vec<Log>, RpcError> {
        crowded::logs_of(self.network(), block, receipts)
    }

    /// Whether a transaction moved a token.
    pub fn moves(&self, receipt: &Receipt, contract: &[u8; 20]) -> bool {
        let family = self.network().family;
        let is_of = |transfer: &Transfer| {
            let known = transfer.asset.contract.as_deref();
            known.and_then(|known| raw(family, known)) == Some(*contract)
        };
        receipt.transfers.iter().any(is_of)
    }

    /// What lay on an address of a token once a block was made. Nodes know it for a while.
    pub async fn balance_in(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        (contract, address): (&[u8; 20], &[u8; 20]),
        block: &BlockHash,
    ) -> Result<u128, RpcError> {
        balance_in(rpc, endpoint, contract, address, &word(block)?).await
    }

    /// What lies on these addresses, in their order and the registry's. What is not there is not among it.
    pub async fn balances(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        addresses: &[[u8; 20]],
    ) -> Result<Vec<Balance>, RpcError> {
        let network = self.network();
        if let Observer::Bitcoin(_) = self {
            return on_bitcoin::balances(rpc, endpoint, network, addresses).await;
        }
        balances(rpc, endpoint, network, addresses).await
    }

    /// Whether many balances are one question to a node. TRON has no Multicall3.
    pub fn answers_many_balances(&self) -> bool {
        matches!(self, Observer::Evm(_) | Observer::Bitcoin(_))
    }

    /// The outputs that lie on these addresses and can be spent, where a network has such.
    pub async fn unspent(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        addresses: &[[u8; 20]],
    ) -> Result<Vec<Unspent>, RpcError> {
        bitcoin::client::unspent(rpc, endpoint, self.network(), addresses).await
    }

    /// The transaction that has one of them, in full; none where the endpoint does not have it any more.
    pub async fn previous(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        unspent: &Unspent,
    ) -> Result<Option<Vec<u8>>, RpcError> {
        bitcoin::client::previous(rpc, endpoint, unspent).await
    }

    /// What a transaction that spends them should pay, in sats per 1,000 virtual bytes; none where the endpoint cannot say.
    pub async fn fee_rate(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
    ) -> Result<Option<u64>, RpcError> {
        bitcoin::client::fee_rate(rpc, endpoint).await
    }

    pub async fn has_code(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        address: &[u8; 20],
    ) -> Result<bool, RpcError> {
        Ok(!client::code(rpc, endpoint, address).await?.is_empty())
    }

    /// Whether deploying what is deployed costs nothing. On TRON it burns the energy that it may use.
    pub fn deploys_twice_for_free(&self) -> bool {
        matches!(self, Observer::Evm(_))
    }

    /// What a call would cost.
    pub async fn gas(
        &self,
        rpc: &RpcClient,
        endpoint: &Endpoint,
        to: &[u8; 20],
        data: &[u8],
    ) -> Result<u64, RpcError> {
        client::gas(rpc, endpoint, to, data).await
    }

    /// An address in the form that the network shows.
    pub fn address_text(&self, address: &[u8; 20]) -> String {
        let network = self.network();
        match self {
            // Every 20 bytes are such a program.
            Observer::Bitcoin(_) => {
                bitcoin::script::shown(network.mode, address).unwrap_or_default()
            }
            Observer::Evm(_) | Observer::Tron(_) => shown(network.family, address),
        }
    }

    /// And back; none for what is no address of the network.
    pub fn address_bytes(&self, address: &str) -> Option<[u8; 20]> {
        let network = self.network();
        match self {
            Observer::Bitcoin(_) => bitcoin::script::parse(network.mode, address),
            Observer::Evm(_) | Observer::Tron(_) => raw(network.family, address),
        }
    }
}

/// The height of the block that so many confirmations are on, its own being the first.
fn below(head: i64, depth: &Depth) -> Option<i64> {
    match depth {
        Depth::Tag(_) => None,
        Depth::Confirmations(count) => Some(head - i64::from(*count) + 1).filter(|it| *it >= 0),
    }
}

/// Blocks of all these families are named by 32 bytes: nobody else's can be asked for.
fn word(block: &BlockHash) -> Result<[u8; 32], RpcError> {
    let other = || RpcError::NotAnAnswer("a block's hash is not 32 bytes long".to_owned());
    block.word().ok_or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_as_deep_as_blocks_are_on_it_and_itself() {
        let six = Depth::Confirmations(6);
        assert_eq!(below(100, &six), Some(95));
        assert_eq!(below(100, &Depth::Confirmations(1)), Some(100));
        assert_eq!(below(5, &six), Some(0));
        assert_eq!(below(4, &six), None, "the chain is too short");
        assert_eq!(below(100, &Depth::Tag("finalized".to_owned())), None);
    }

    #[test]
    fn the_families_that_can_be_watched_have_an_observer() {
        let of = |id: &str| Registry::builtin().network(id).and_then(Observer::of);
        assert!(matches!(of("eip155:8453"), Some(Observer::Evm(_))));
        assert!(matches!(of("tron:3448148188"), Some(Observer::Tron(_))));
        let bitcoin = of("bip122:000000000019d6689c085ae165831e93");
        assert!(matches!(bitcoin, Some(Observer::Bitcoin(_))));
        assert!(of("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp").is_none());
    }
}
