//! The golden file that Rust, Solidity and TypeScript all read. A change in it is a change of where
//! merchants are paid, so it is only rewritten on purpose: `BLESS=1 cargo nextest run -p till-chains`.

use std::path::PathBuf;

use alloy_primitives::keccak256;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use till_chains::evm::forwarder::{INIT_LEN, INIT_PREFIX, INIT_SUFFIX, init_code};
use till_chains::{Derivation, derive, evm, example_destination, parse_address, salt, tron};
use till_core::asset::{Family, Mode, Network, Registry};

/// The 69 bytes of the CREATE2 proxy behind the pinned factory address.
const FACTORY_RUNTIME: &str = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
const EVM_FACTORY: &str = "0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7";
const TRON_FACTORY: &str = "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs";
const NILE: &str = "tron:3448148188";
const BTC_LIVE: &str = "bip122:000000000019d6689c085ae165831e93";
const BTC_TEST: &str = "bip122:00000000da84f2bafbbc53dee25a72ae";
const ZPUB_OF_BIP84: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vectors {
    about: String,
    forwarder: Value,
    create2: Vec<Create2>,
    deposits: Vec<Deposit>,
    addresses: Vec<Parsed>,
}

/// The formula by itself.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Create2 {
    init_code_hash: String,
    derivation: Derivation,
    address: String,
}

/// From an account and a number to an address.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Deposit {
    account: String,
    mode: Mode,
    network: String,
    destination: String,
    number: u64,
    salt: String,
    derivation: Derivation,
    address: String,
}

/// What a text is as an address of a network; null when it must be refused.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Parsed {
    network: String,
    text: String,
    canonical: Option<String>,
}

fn path() -> PathBuf {
    PathBuf::from("../../testdata/address_vectors.json")
}

fn read() -> Vectors {
    let text = std::fs::read_to_string(path()).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).unwrap()
}

fn prefixed(bytes: impl AsRef<[u8]>) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn forwarder() -> Value {
    let runtime = hex::decode(FACTORY_RUNTIME).unwrap();
    json!({
        "init_prefix": prefixed(INIT_PREFIX),
        "init_suffix": prefixed(INIT_SUFFIX),
        "init_length": INIT_LEN,
        "flush_selector": prefixed(&keccak256("flush(address)")[..4]),
        "create2_first_byte": {"eip155": "0xff", "tron": "0x41"},
        "factory": EVM_FACTORY,
        "factory_runtime": prefixed(&runtime),
        "factory_runtime_keccak": prefixed(keccak256(&runtime)),
    })
}

fn init_code_hash(derivation: &Derivation) -> String {
    let destination = match derivation {
        Derivation::Evm { destination, .. } => evm::address::parse(destination).unwrap(),
        Derivation::Tron { destination, .. } => tron::address::parse(destination).unwrap(),
        other => panic!("no init code in {other:?}"),
    };
    prefixed(keccak256(init_code(&destination)))
}

fn create2(derivation: Derivation) -> Create2 {
    Create2 {
        init_code_hash: init_code_hash(&derivation),
        address: derivation.address().unwrap(),
        derivation,
    }
}

fn deposit(account: &str, id: &str, destination: &str, number: u64) -> Deposit {
    let network = network(id);
    let derivation = derive(network, account, destination, number).unwrap();
    Deposit {
        account: account.to_owned(),
        mode: network.mode,
        network: id.to_owned(),
        destination: destination.to_owned(),
        number,
        salt: prefixed(salt(account, network.mode, network.family, number)),
        address: derivation.address().unwrap(),
        derivation,
    }
}

fn generate() -> Vectors {
    let numbered_salt = |number: u8| {
        let mut salt = [0; 32];
        salt[31] = number;
        prefixed(salt)
    };
    let evm = |number| Derivation::Evm {
        factory: EVM_FACTORY.to_owned(),
        salt: numbered_salt(number),
        destination: example_destination(Family::Evm).to_owned(),
    };
    let tron = Derivation::Tron {
        factory: TRON_FACTORY.to_owned(),
        salt: numbered_salt(0),
        destination: example_destination(Family::Tron).to_owned(),
    };

    let mut deposits = Vec::new();
    let second = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for (account, id, destination) in [
        ("acct_1", "eip155:84532", example_destination(Family::Evm)),
        (
            "acct_1",
            "eip155:11155111",
            example_destination(Family::Evm),
        ),
        ("acct_1", "eip155:8453", example_destination(Family::Evm)),
        ("acct_2", "eip155:84532", second),
        ("acct_1", NILE, example_destination(Family::Tron)),
        ("acct_1", BTC_TEST, example_destination(Family::Bitcoin)),
        ("acct_1", BTC_LIVE, ZPUB_OF_BIP84),
    ] {
        for number in [0, 1, 1_000_000] {
            deposits.push(deposit(account, id, destination, number));
        }
    }

    let zero = format!("0x{}", "0".repeat(40));
    let addresses = [
        ("eip155:1", example_destination(Family::Evm)),
        ("eip155:1", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
        ("eip155:1", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed"),
        ("eip155:1", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        ("eip155:1", &zero),
        (NILE, example_destination(Family::Tron)),
        (NILE, "THVmXun9u721tBiYcT3VfLQKcwYBmoY1xY"),
        (NILE, "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb"),
        (BTC_LIVE, "BC1QCR8TE4KR609GCAWUTMRZA0J4XV80JY8Z306FYU"),
        (BTC_LIVE, "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
        (BTC_TEST, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"),
        (BTC_TEST, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),
    ];
    Vectors {
        about: "Deposit addresses and what they are computed from; docs/addresses.md explains. \
                Written by crates/chains/tests/vectors.rs."
            .to_owned(),
        forwarder: forwarder(),
        create2: vec![
            create2(evm(0)),
            create2(evm(1)),
            create2(evm(2)),
            create2(tron),
        ],
        deposits,
        addresses: addresses
            .map(|(id, text)| Parsed {
                network: id.to_owned(),
                text: text.to_owned(),
                canonical: parse_address(network(id), text).ok(),
            })
            .into(),
    }
}

#[test]
fn the_golden_file_is_what_the_program_computes() {
    let generated = generate();
    if std::env::var_os("BLESS").is_some() {
        let text = serde_json::to_string_pretty(&generated).unwrap();
        std::fs::write(path(), text + "\n").unwrap();
    }
    assert_eq!(read(), generated);
}

#[test]
fn every_entry_of_the_golden_file_recomputes_from_its_own_fields() {
    let vectors = read();
    assert_eq!(vectors.forwarder, forwarder());
    for entry in &vectors.create2 {
        assert_eq!(entry.derivation.address().as_ref(), Ok(&entry.address));
        assert_eq!(init_code_hash(&entry.derivation), entry.init_code_hash);
    }
    for entry in &vectors.deposits {
        let again = deposit(
            &entry.account,
            &entry.network,
            &entry.destination,
            entry.number,
        );
        assert_eq!(*entry, again);
    }
    for entry in &vectors.addresses {
        let parsed = parse_address(network(&entry.network), &entry.text).ok();
        assert_eq!(parsed, entry.canonical, "{}", entry.text);
    }
}

/// Figures that come from elsewhere: a virtual machine that deployed the forwarder, TRON's formula, BIP84.
#[test]
fn the_golden_file_holds_the_addresses_known_from_outside() {
    let vectors = read();
    let formula: Vec<_> = vectors.create2.iter().map(|v| v.address.as_str()).collect();
    assert_eq!(
        formula,
        [
            "0x19c798cC910272A39b7e89e30D55308514914cc3",
            "0xE8e9156C21Ed639A7803e4651847f845158ad19C",
            "0x5Efb78615fe2c87fd9C89C04B57117aADD10EbA6",
            "TFyWWu4jnc3bCnDVFvGRPYby7uJQu9Xtkt",
        ]
    );
    assert_eq!(
        vectors.forwarder["factory_runtime_keccak"],
        "0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989"
    );
    assert_eq!(vectors.forwarder["flush_selector"], "0x79c76e1a");
    let live = vectors.deposits.iter().filter(|v| v.network == BTC_LIVE);
    let live: Vec<_> = live.map(|v| v.address.as_str()).take(2).collect();
    assert_eq!(
        live,
        [
            "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
            "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
        ]
    );
    let first = &vectors.addresses[0];
    assert_eq!(first.canonical.as_ref(), Some(&first.text));
    assert!(vectors.addresses.iter().any(|v| v.canonical.is_none()));
}
