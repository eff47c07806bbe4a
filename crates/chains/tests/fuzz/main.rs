//! The decoders against spoiled answers: whatever a node says, they take it or refuse it, never panic, and what they take
//! is what it must be. The answers that are spoiled are those of `tests/fixtures`, and addresses.
//!
//! A second for each target among the other tests; `make fuzz` gives them more, and other rounds every time.

mod mutate;
mod run;

use std::collections::BTreeSet;

use futures::FutureExt as _;
use run::{Tried, fuzz, round};
use till_chains::bitcoin::esplora_answers::{EsploraTransaction, headers};
use till_chains::bitcoin::{block, header, transaction};
use till_chains::evm::decode::Receipt;
use till_chains::evm::logs::Contracts;
use till_chains::evm::{blocks, decode, logs, multicall};
use till_chains::feed;
use till_chains::observer::Observer;
use till_chains::raw::raw;
use till_chains::rpc::open;
use till_chains::zmq::read_message;
use till_chains::{normalise_tx_hash, parse_address, parse_destination, signer};
use till_core::asset::{Family, Mode, Network, Registry};

const EVM: &str = "eip155:84532";
const TRON: &str = "tron:3448148188";
const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
const UNITS_END: u128 = 1 << 112;

macro_rules! recorded {
    ($($name:literal),+ $(,)?) => {
        &[$(include_bytes!(concat!("../fixtures/", $name, ".json"))),+]
    };
}

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).expect("a network")
}

/// The result inside an answer to the question number 1, as the client has it.
fn result(answer: &[u8]) -> Option<String> {
    let result = open(1, answer).ok()?;
    Some(result.get().to_owned())
}

#[test]
fn answers_are_opened_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let opened = open(1, answer);
        if let Ok(result) = &opened {
            // What is inside is JSON, and a part of what came.
            let text = std::str::from_utf8(answer).expect("it was taken for text");
            assert!(text.contains(result.get()));
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(result.get()).is_ok());
        }
        assert!(open(2, answer).is_err(), "a number that nobody asked under");
        opened.is_ok()
    }
    fuzz(
        "answers",
        recorded![
            "evm_block",
            "evm_multicall",
            "tron_busy",
            "tron_refused",
            "tron_receipt"
        ],
        check,
    );
}

#[test]
fn what_is_published_is_heard_or_refused() {
    fn check(stream: &[u8]) -> bool {
        let observer = Observer::of(network(REGTEST)).expect("it is watched");
        let mut rest = stream;
        let mut is_heard = false;
        // What is in memory is there at once.
        while let Some(Ok(message)) = read_message(&mut rest).now_or_never() {
            assert!(message.topic.len() + message.content.len() <= stream.len());
            observer.news(&message);
            is_heard = true;
        }
        is_heard
    }
    // A block's name and a transaction, each with its running number, and a long frame.
    fuzz(
        "publishers",
        &[
            b"\x01\x09hashblock\x01\x04abcd\x00\x04\x00\x00\x00\x00",
            b"\x01\x05rawtx\x01\x52\x02\x00\x00\x00\x01pppppppppppppppppppppppppppppppp\x00\x00\x00\x00\x00\xff\xff\xff\xff\x01\x10\x27\x00\x00\x00\x00\x00\x00\x16\x00\x14aaaaaaaaaaaaaaaaaaaa\x00\x00\x00\x00\x00\x04\x01\x00\x00\x00",
            b"\x02\x00\x00\x00\x00\x00\x00\x00\x03abc\x04\x02ab\x00\x01x",
        ],
        check,
    );
}

#[test]
fn blocks_are_read_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let read = [EVM, TRON].map(|id| blocks::header(network(id), &result));
        for header in read.iter().flatten().flatten() {
            assert!(header.height >= 0 && header.time >= 0, "{header:?}");
        }
        // TRON's nodes fill less, and nothing that others need is needed of them.
        assert!(read[0].is_err() || read[1].is_ok());
        read.iter().any(|header| matches!(header, Ok(Some(_))))
    }
    fuzz("blocks", recorded!["evm_block", "tron_block"], check);
}

#[test]
fn logs_are_read_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let read = [EVM, TRON].map(|id| {
            let contracts = Contracts::of(network(id));
            let logs = logs::logs(&contracts, &result);
            for log in logs.iter().flatten() {
                assert!(contracts.all().contains(&log.contract) && log.height >= 0);
                let units = log.moved.map_or(1, |moved| moved.units);
                assert!((1..UNITS_END).contains(&units), "{units}");
            }
            logs
        });
        read.iter().flatten().any(|logs| !logs.is_empty())
    }
    fuzz("logs", recorded!["evm_logs", "tron_logs"], check);
}

fn sane(network: &Network, receipt: &Receipt) {
    let mut places = BTreeSet::new();
    for transfer in &receipt.transfers {
        assert!(places.insert(transfer.place), "a place twice");
        assert_eq!(transfer.asset.network, network.id);
        assert!((1..UNITS_END).contains(&transfer.units.0));
        for address in [&transfer.senders[0], &transfer.recipient] {
            let shown = parse_address(network, address);
            assert!(shown.is_ok_and(|shown| shown == *address) || is_zero(network, address));
        }
    }
}

/// What is minted comes from nobody, whose address nobody may give.
fn is_zero(network: &Network, address: &str) -> bool {
    address == till_chains::raw::shown(network.family, &[0; 20])
}

#[test]
fn receipts_are_read_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let Some(hash) = hash_of(&result) else {
            return false;
        };
        let read = [EVM, TRON].map(|id| {
            let receipt = decode::receipt(network(id), &hash, &result);
            receipt
                .iter()
                .flatten()
                .for_each(|it| sane(network(id), it));
            let other = decode::receipt(network(id), &[0xaa; 32], &result);
            assert!(
                !matches!(other, Ok(Some(_))) || hash == [0xaa; 32],
                "another's receipt"
            );
            receipt
        });
        read.iter().any(|receipt| matches!(receipt, Ok(Some(_))))
    }
    fuzz(
        "receipts",
        recorded![
            "evm_receipt",
            "evm_receipt_many",
            "evm_receipt_failed",
            "evm_receipt_other",
            "evm_receipt_inner",
            "tron_receipt",
            "tron_receipt_many",
            "tron_receipt_failed",
        ],
        check,
    );
}

fn hash_of(result: &str) -> Option<[u8; 32]> {
    let receipt: serde_json::Value = serde_json::from_str(result).ok()?;
    normalise_tx_hash(receipt["transactionHash"].as_str()?)?.bytes()
}

#[test]
fn receipts_of_a_block_are_read_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let receipts = decode::block_receipts(network(EVM), &result);
        receipts
            .iter()
            .flat_map(|all| all.values())
            .for_each(|it| sane(network(EVM), it));
        receipts.is_ok_and(|receipts| !receipts.is_empty())
    }
    fuzz("block receipts", recorded!["evm_block_receipts"], check);
}

#[test]
fn what_contracts_answer_is_read_or_refused() {
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let text: Option<String> = serde_json::from_str(&result).ok();
        let bytes = text.and_then(|text| hex::decode(text.trim_start_matches("0x")).ok());
        let Some(bytes) = bytes else {
            return false;
        };
        if let Some(round) = feed::read(&bytes, &[[0; 31].as_slice(), &[8]].concat()) {
            assert!(round.digits > 0 && round.updated_at > 0);
        }
        (0..4).any(|calls| multicall::answers(&bytes, calls).is_ok())
    }
    fuzz("contracts", recorded!["evm_multicall", "feed_round"], check);
}

#[test]
fn addresses_and_hashes_are_read_or_refused() {
    fn check(text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else {
            return false;
        };
        let mut taken = normalise_tx_hash(text).is_some();
        for network in Registry::builtin().networks() {
            let Ok(shown) = parse_address(network, text) else {
                continue;
            };
            taken = true;
            assert_eq!(
                parse_address(network, &shown).as_ref(),
                Ok(&shown),
                "{text}"
            );
            if matches!(network.family, Family::Evm | Family::Tron) {
                assert!(raw(network.family, &shown).is_some());
            }
        }
        for mode in [Mode::Test, Mode::Live] {
            for family in [Family::Evm, Family::Tron, Family::Bitcoin, Family::Solana] {
                let shown = parse_destination(family, mode, text);
                let again = shown.as_ref().map(|it| parse_destination(family, mode, it));
                assert!(again.is_err() || again.as_ref() == Ok(&shown), "{text}");
            }
        }
        for family in [Family::Evm, Family::Tron] {
            taken |= signer(family, "Till wallet binding", text).is_some();
        }
        taken
    }
    const CORPUS: &[&[u8]] = &[
        b"0x52908400098527886E0F7030069857D2E4169EE7",
        b"0xde709f2102306220921060314715629080e2fb77",
        b"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
        b"tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
        b"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
        b"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        b"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        b"0xa398727d7a4c702e7265a77df98dbfd523f3d2ca8d88e7b80aaff135fed24bc3",
        b"xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V",
        b"0x28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276\
          67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d831b",
    ];
    fuzz("addresses", CORPUS, check);
}

/// What proves itself is taken as it was recorded or not at all; what does not, is at least of the shape that it must have.
#[test]
fn answers_of_bitcoin_nodes_are_read_or_refused() {
    fn name() -> [u8; 32] {
        header::name("2217d7b246c004d812522350b201314a012cebb2e67426306408e771a44c0be8")
            .expect("a name")
    }
    fn check(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let mut taken = false;
        if let Ok(hex) = serde_json::from_str::<String>(&result) {
            if let Ok(header) = header::header(network(REGTEST), &name(), &hex) {
                assert_eq!(header.name, name());
                taken = true;
            }
            if let Ok(block) = block::block(network(REGTEST), &name(), &hex) {
                assert_eq!(block.transactions.len(), 3);
                taken = true;
            }
        }
        let sent = block::sent_in_block(Mode::Test, &name(), &result);
        for sent in sent.iter().flatten().flatten() {
            let mut senders = sent.senders.iter().collect::<BTreeSet<_>>();
            assert_eq!(senders.len(), sent.senders.len(), "a sender twice");
            senders.retain(|it| parse_address(network(REGTEST), it).is_err());
            assert!(senders.is_empty(), "{senders:?}");
            assert!(sent.transaction.outputs.iter().all(|it| it.sats > 0));
        }
        taken |= sent.is_ok();
        taken |= transaction::output_owner(Mode::Test, &result).is_ok();
        let hash = "3411784898a1584db2fc547e949747b0ce61c5cfdd882e5b89938e1edb76da51";
        let hash = header::name(hash).expect("a hash");
        let sent = transaction::in_block(Mode::Test, (&name(), &hash), &result);
        if let Ok(Some(sent)) = &sent {
            assert_eq!(sent.transaction.hash, hash);
        }
        taken || sent.is_ok()
    }
    fuzz(
        "bitcoin",
        recorded![
            "bitcoin_header",
            "bitcoin_block",
            "bitcoin_block_spent",
            "bitcoin_transaction",
            "bitcoin_mempool",
            "bitcoin_output",
        ],
        check,
    );
}

#[test]
fn pages_of_providers_are_read_or_refused() {
    fn check(page: &[u8]) -> bool {
        let headers = headers(network(REGTEST), None, page);
        for pair in headers.iter().flat_map(|it| it.windows(2)) {
            assert_eq!(pair[0].1.parent, pair[1].1.name);
        }
        let told = serde_json::from_slice::<EsploraTransaction>(page);
        let Ok(told) = told else {
            return headers.is_ok();
        };
        let sent = told.sent(Mode::Test);
        if let Ok(sent) = &sent {
            assert_eq!(told.transaction().as_ref(), Ok(&sent.transaction));
            let senders = sent.senders.iter().collect::<BTreeSet<_>>();
            assert_eq!(senders.len(), sent.senders.len(), "a sender twice");
            assert!(sent.transaction.outputs.iter().all(|it| it.sats > 0));
        }
        sent.is_ok() && told.block().is_ok()
    }
    fuzz(
        "providers",
        recorded![
            "esplora_blocks",
            "esplora_transaction",
            "esplora_waiting",
            "esplora_coinbase"
        ],
        check,
    );
}

/// A decoder with a mistake of the kind that is made: an amount one byte too long is cut without looking.
#[test]
fn a_planted_panic_is_found_and_its_round_shows_it_again() {
    fn planted(answer: &[u8]) -> bool {
        let Some(result) = result(answer) else {
            return false;
        };
        let Ok(logs) = serde_json::from_str::<Vec<serde_json::Value>>(&result) else {
            return false;
        };
        for log in &logs {
            let data = log["data"].as_str().unwrap_or_default();
            assert!(data.len() <= 66, "planted");
        }
        true
    }
    let corpus: &[&[u8]] = recorded!["evm_logs", "tron_logs"];
    let find = |seed| round(seed, corpus, planted, &mut Tried::default()).err();
    let (seed, why) = (0..50)
        .find_map(|seed| Some((seed, find(seed)?)))
        .expect("it is found within fifty rounds");
    assert!(why.contains("it panics"), "{why}");
    assert_eq!(find(seed), Some(why));
}
