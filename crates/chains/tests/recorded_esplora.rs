//! What Esplora's pages said that was recorded: about a regtest chain with a payment to two in its last block.

use till_chains::bitcoin::decode_error::DecodeError;
use till_chains::bitcoin::esplora_answers::{EsploraTransaction, headers};
use till_core::asset::{Mode, Network, Registry};

const PAYMENT: &str = "ad979f06077b1b70813905d3621118455da9e9b4875dfb1f33a43689adfde4ac";
const BLOCK: &str = "5aab4d77ff34af90751e9c7013d65ec826f2526aa9c0f5d260603e7eda888e69";

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("fixtures/esplora_", $name, ".json"))
    };
}

fn regtest() -> &'static Network {
    let id = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
    Registry::builtin().network(id).expect("a network")
}

fn transaction(page: &str) -> EsploraTransaction {
    serde_json::from_str(page).expect("a transaction")
}

#[test]
fn recorded_headers_prove_themselves_and_follow_from_one_another() {
    let page = recorded!("blocks");
    let read = headers(regtest(), None, page.as_bytes()).expect("headers");
    let heights: Vec<i64> = read.iter().map(|(height, _)| *height).collect();
    assert_eq!(heights, (122..=131).rev().collect::<Vec<_>>());
    assert_eq!(hex::encode(read[0].1.name), BLOCK);
    assert_eq!(headers(regtest(), Some(131), page.as_bytes()), Ok(read));
    let other = headers(regtest(), Some(130), page.as_bytes());
    assert_eq!(other, Err(DecodeError::OtherBlock));
    let spoiled = |from: &str, to: &str| {
        let page = page.replacen(from, to, 1);
        headers(regtest(), None, page.as_bytes())
    };
    // Another name, and another height.
    assert_eq!(spoiled(BLOCK, PAYMENT), Err(DecodeError::OtherBlock));
    assert_eq!(
        spoiled("\"height\":125", "\"height\":126"),
        Err(DecodeError::OtherBlock)
    );
    assert!(spoiled("\"bits\":5", "\"bits\":4").is_err());
    assert_eq!(
        headers(regtest(), None, b"[]"),
        Err(DecodeError::OtherBlock)
    );
}

#[test]
fn a_recorded_transaction_hashes_to_its_name_and_names_whose_the_spent_outputs_were() {
    let told = transaction(recorded!("transaction"));
    let sent = told.sent(Mode::Test).expect("a transaction");
    assert_eq!(hex::encode(sent.transaction.hash), PAYMENT);
    assert_eq!(sent.senders, ["mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM"]);
    let outputs = sent.transaction.outputs.iter();
    let outputs: Vec<(u32, u8, u64)> = outputs
        .map(|it| (it.place, it.program[0], it.sats))
        .collect();
    assert_eq!(outputs, [(0, 0x11, 100_000), (1, 0x33, 90_000)]);
    let block = told.block().expect("a block").map(hex::encode);
    assert_eq!(block.as_deref(), Some(BLOCK));
    let waiting = transaction(recorded!("waiting"));
    assert!(!waiting.is_confirmed());
    assert_eq!(waiting.block(), Ok(None));
    assert_eq!(waiting.transaction(), Ok(sent.transaction));
}

#[test]
fn what_is_told_otherwise_has_another_name_and_a_coinbase_has_no_sender() {
    let page = recorded!("transaction");
    let more = transaction(&page.replacen("100000", "100001", 1)).transaction();
    assert_ne!(more.map(|it| hex::encode(it.hash)), Ok(PAYMENT.to_owned()));
    let silent = page.replacen("\"prevout\":{", "\"prevout\":null,\"other\":{", 1);
    let silent = transaction(&silent).sent(Mode::Test);
    assert_eq!(silent, Err(DecodeError::PreviousOutputs));
    let mined = transaction(recorded!("coinbase"));
    let mined = mined.sent(Mode::Test).expect("a transaction");
    assert!(mined.transaction.is_coinbase && mined.senders.is_empty());
    let odd = page.replace("\"is_coinbase\":false", "\"is_coinbase\":true");
    assert_eq!(transaction(&odd).sent(Mode::Test), Err(DecodeError::Shape));
}
