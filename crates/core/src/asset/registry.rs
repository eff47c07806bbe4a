//! The registry of networks and assets, and the types of its entries.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// What a new test account offers before its owner has chosen anything.
pub const DEFAULT_TEST_ASSETS: [&str; 3] = [
    "USDC@eip155:84532",
    "USDC@eip155:11155111",
    "USDT@tron:3448148188",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Test,
    Live,
}

impl Mode {
    pub const ALL: [Mode; 2] = [Mode::Test, Mode::Live];

    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Test => "test",
            Mode::Live => "live",
        }
    }

    pub fn parse(text: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

    pub fn is_live(self) -> bool {
        self == Mode::Live
    }
}

/// Networks that share one form of address and one way of deriving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Evm,
    Tron,
    Bitcoin,
    Solana,
}

impl Family {
    pub const ALL: [Family; 4] = [Family::Evm, Family::Tron, Family::Bitcoin, Family::Solana];

    /// The part of a CAIP-2 id before the colon.
    pub fn namespace(self) -> &'static str {
        match self {
            Family::Evm => "eip155",
            Family::Tron => "tron",
            Family::Bitcoin => "bip122",
            Family::Solana => "solana",
        }
    }

    pub fn from_namespace(namespace: &str) -> Option<Family> {
        Family::ALL
            .into_iter()
            .find(|family| family.namespace() == namespace)
    }
}

/// How deep a block must lie: a tag the node itself answers to, or blocks counted from the tip.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    Tag(String),
    Confirmations(u32),
}

/// How far a token's contract address was checked when the table was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The issuer's own publication says so.
    Verified,
    /// Several unrelated sources agree, the issuer was not asked.
    Corroborated,
    Unverified,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// CAIP-2, compared exactly and with case.
    pub id: String,
    /// Other spellings taken on input: TRON's hexadecimal chain id.
    pub aliases: Vec<String>,
    pub family: Family,
    pub mode: Mode,
    pub name: String,
    pub chain_id: Option<u64>,
    /// A link with `{hash}` where the transaction goes.
    pub explorer_tx: Option<String>,
    pub block_time_ms: u64,
    /// None where the network has no such step between included and final.
    pub safe: Option<Depth>,
    pub finalized: Depth,
    /// The contract that deposit addresses are deployed through, in the network's own address form.
    pub factory: Option<String>,
    /// A developer's own chain: its assets are offered on servers that watch it, and unknown elsewhere.
    pub local: bool,
    /// How far the clocks of its blocks may be behind ours, where that is more than elsewhere: miners of Bitcoin may write the
    /// time of six blocks ago.
    pub clock_slack_ms: Option<i64>,
}

impl Network {
    /// Only these families have a sender that a payer can announce beforehand.
    pub fn wallet_payments(&self) -> bool {
        matches!(self.family, Family::Evm | Family::Tron)
    }

    pub fn explorer_link(&self, tx_hash: &str) -> Option<String> {
        let link = self.explorer_tx.as_ref()?;
        Some(link.replace("{hash}", tx_hash))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// `SYMBOL@network`.
    pub code: String,
    pub symbol: String,
    pub network: String,
    pub network_name: String,
    pub family: Family,
    pub mode: Mode,
    pub decimals: u32,
    /// None for the network's own coin.
    pub contract: Option<String>,
    /// The currency a stablecoin is priced in; None means the price moves.
    pub currency: Option<String>,
    /// False for what is only listed so that it can be recognised when somebody sends it by mistake.
    pub offered: bool,
    /// The call by which the issuer's contract tells whether an address is blocked.
    pub blacklist_selector: Option<String>,
    pub evidence: Evidence,
}

#[derive(Debug)]
pub struct Registry {
    networks: Vec<Network>,
    assets: Vec<Asset>,
    network_by_name: HashMap<String, usize>,
    asset_by_code: HashMap<String, usize>,
}

impl Registry {
    /// Whether an address is a token's contract or a factory on some network of the family: an address is often the same
    /// thing on several, and nobody's wallet.
    pub fn is_contract(&self, family: Family, address: &str) -> bool {
        let of_family = |network: &&Network| network.family == family;
        let mut factories = self.networks().iter().filter(of_family);
        let mut tokens = self.assets().iter().filter(|asset| asset.family == family);
        factories.any(|network| network.factory.as_deref() == Some(address))
            || tokens.any(|asset| asset.contract.as_deref() == Some(address))
    }

    pub fn builtin() -> &'static Registry {
        static BUILTIN: OnceLock<Registry> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let file: File = serde_json::from_str(include_str!("../../data/networks.json"))
                .expect("the table is compiled in, and a test parses it");
            Registry::new(file)
        })
    }

    fn new(file: File) -> Registry {
        let mut registry = Registry {
            networks: Vec::new(),
            assets: Vec::new(),
            network_by_name: HashMap::new(),
            asset_by_code: HashMap::new(),
        };
        for entry in file.networks {
            let network = entry.network();
            for asset in entry.assets() {
                let place = registry.assets.len();
                registry.asset_by_code.insert(asset.code.clone(), place);
                registry.assets.push(asset);
            }
            let place = registry.networks.len();
            for name in network.aliases.iter().chain([&network.id]) {
                registry.network_by_name.insert(name.clone(), place);
            }
            registry.networks.push(network);
        }
        registry
    }

    pub fn networks(&self) -> &[Network] {
        &self.networks
    }

    pub fn network(&self, caip2: &str) -> Option<&Network> {
        Some(&self.networks[*self.network_by_name.get(caip2)?])
    }

    pub fn assets(&self) -> &[Asset] {
        &self.assets
    }

    /// `SYMBOL@network`, where the network may be given by an alias.
    pub fn asset(&self, code: &str) -> Option<&Asset> {
        if let Some(place) = self.asset_by_code.get(code) {
            return Some(&self.assets[*place]);
        }
        let (symbol, network) = code.split_once('@')?;
        self.asset_on(symbol, network)
    }

    pub fn asset_on(&self, symbol: &str, network: &str) -> Option<&Asset> {
        let network = self.network(network)?;
        let place = self
            .asset_by_code
            .get(&format!("{symbol}@{}", network.id))?;
        Some(&self.assets[*place])
    }

    /// The asset a contract is, which is how an observed transfer gets its name: never by symbol.
    pub fn asset_of_contract(&self, network: &str, contract: &str) -> Option<&Asset> {
        let network = self.network(network)?;
        self.assets.iter().find(|asset| {
            asset.network == network.id
                && asset
                    .contract
                    .as_deref()
                    .is_some_and(|own| match network.family {
                        Family::Evm => own.eq_ignore_ascii_case(contract),
                        _ => own == contract,
                    })
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    networks: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    family: Family,
    mode: Mode,
    name: String,
    chain_id: Option<u64>,
    explorer_tx: Option<String>,
    block_time_ms: u64,
    safe: Option<Depth>,
    r#final: Depth,
    factory: Option<String>,
    #[serde(default)]
    local: bool,
    clock_slack_ms: Option<i64>,
    native: Coin,
    tokens: Vec<Token>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Coin {
    symbol: String,
    decimals: u32,
    offered: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    symbol: String,
    contract: String,
    decimals: u32,
    currency: String,
    blacklist_selector: Option<String>,
    status: Evidence,
    offered: bool,
}

impl Entry {
    fn network(&self) -> Network {
        Network {
            id: self.id.clone(),
            aliases: self.aliases.clone(),
            family: self.family,
            mode: self.mode,
            name: self.name.clone(),
            chain_id: self.chain_id,
            explorer_tx: self.explorer_tx.clone(),
            block_time_ms: self.block_time_ms,
            safe: self.safe.clone(),
            finalized: self.r#final.clone(),
            factory: self.factory.clone(),
            local: self.local,
            clock_slack_ms: self.clock_slack_ms,
        }
    }

    fn assets(&self) -> impl Iterator<Item = Asset> {
        let coin = Asset {
            offered: self.native.offered,
            ..self.asset(&self.native.symbol, self.native.decimals)
        };
        let tokens = self.tokens.iter().map(|token| Asset {
            contract: Some(token.contract.clone()),
            currency: Some(token.currency.clone()),
            blacklist_selector: token.blacklist_selector.clone(),
            evidence: token.status,
            offered: token.offered,
            ..self.asset(&token.symbol, token.decimals)
        });
        tokens.chain([coin])
    }

    fn asset(&self, symbol: &str, decimals: u32) -> Asset {
        Asset {
            code: format!("{symbol}@{}", self.id),
            symbol: symbol.to_owned(),
            network: self.id.clone(),
            network_name: self.name.clone(),
            family: self.family,
            mode: self.mode,
            decimals,
            contract: None,
            currency: None,
            offered: false,
            blacklist_selector: None,
            evidence: Evidence::Verified,
        }
    }
}
