//! What a Bitcoin node said that was recorded: a regtest node with two payments in a block, one of them to several.

use till_chains::bitcoin::header::name;
use till_chains::bitcoin::transaction::{in_block, output_owner};
use till_chains::bitcoin::{block, header, script};
use till_chains::rpc::{RpcError, open};
use till_core::asset::{Mode, Network, Registry};

const BLOCK: &str = "2217d7b246c004d812522350b201314a012cebb2e67426306408e771a44c0be8";
const PAYMENT: &str = "3411784898a1584db2fc547e949747b0ce61c5cfdd882e5b89938e1edb76da51";
const PAYER: &str = "mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM";

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("fixtures/bitcoin_", $name, ".json"))
    };
}

fn regtest() -> &'static Network {
    let id = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
    Registry::builtin().network(id).expect("a network")
}

fn result(answer: &[u8]) -> String {
    open(1, answer).expect("an answer").get().to_owned()
}

fn digits(answer: &[u8]) -> String {
    serde_json::from_str(&result(answer)).expect("digits")
}

fn of(text: &str) -> [u8; 32] {
    name(text).expect("a hash")
}

#[test]
fn a_recorded_block_proves_itself_and_says_who_was_paid() {
    let head = header::header(regtest(), &of(BLOCK), &digits(recorded!("header")));
    let read = block::block(regtest(), &of(BLOCK), &digits(recorded!("block"))).expect("a block");
    assert_eq!(head, Ok(read.header));
    let paid = read.transactions.iter().find(|it| it.hash == of(PAYMENT));
    let paid: Vec<(u32, u8, u64)> = paid
        .expect("it is there")
        .outputs
        .iter()
        .map(|it| (it.place, it.program[0], it.sats))
        .collect();
    // The output of nothing, the look-alike and the data between them are nobody's.
    assert_eq!(paid, [(0, 0x11, 100_000), (3, 0x11, 7), (5, 0x33, 90_000)]);
}

#[test]
fn recorded_payments_name_whose_the_spent_outputs_were() {
    let told = result(recorded!("transaction"));
    let sent = in_block(Mode::Test, (&of(BLOCK), &of(PAYMENT)), &told);
    let sent = sent.expect("an answer").expect("on the chain");
    assert_eq!(sent.senders, [PAYER]);
    assert_eq!(sent.transaction.spends.len(), 2);
    let all = block::sent_in_block(Mode::Test, &of(BLOCK), &result(recorded!("block_spent")));
    let all = all.expect("an answer").expect("on the chain");
    assert_eq!(all.iter().filter(|it| **it == sent).count(), 1);
    let owner = output_owner(Mode::Test, &result(recorded!("output")));
    assert_eq!(owner, Ok(Some(Some(PAYER.to_owned()))));
    assert_eq!(output_owner(Mode::Test, "null"), Ok(None), "it is spent");
    let shown = script::shown(Mode::Test, &[0x11; 20]).expect("an address");
    assert!(shown.starts_with("tb1q"), "{shown}");
}

#[test]
fn a_node_that_threw_a_block_away_says_so() {
    let told = open(1, recorded!("pruned"));
    let Err(RpcError::Refused { code, message }) = told else {
        panic!("it refuses");
    };
    assert_eq!(code, -1);
    assert!(message.contains("not available"), "{message}");
}
