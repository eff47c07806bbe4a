//! What a wallet finds in it.

use bitcoin::hex::FromHex as _;

use super::*;
use crate::example_destination;
use crate::testing::BitcoinWallet;
use till_core::asset::Family;

fn account() -> BitcoinAccount {
    BitcoinAccount::parse(example_destination(Family::Bitcoin)).unwrap()
}

fn coin(number: u64, sats: u64) -> Coin {
    Coin {
        number,
        place: Outpoint {
            transaction: [u8::try_from(number).unwrap() + 1; 32],
            output: 3,
        },
        sats,
        previous: None,
    }
}

fn read(made: &SweepPsbt) -> Psbt {
    Psbt::deserialize(&STANDARD.decode(&made.psbt).unwrap()).unwrap()
}

#[test]
fn all_of_it_goes_to_the_change_chain_of_the_same_key_less_the_fee() {
    let made = sweep(&account(), None, &[coin(0, 50_000), coin(7, 20_000)], 2_000).unwrap();
    let psbt = read(&made);
    let [output] = &*psbt.unsigned_tx.output else {
        panic!("one output")
    };
    let home = account().change_key(0).unwrap();
    assert_eq!(
        output.script_pubkey,
        ScriptBuf::new_p2wpkh(&home.wpubkey_hash())
    );
    assert_eq!(output.value.to_sat(), made.sent);
    assert_eq!(made.sent + made.fee, 70_000);
    // 272 for each input and 174 for the rest are 180 virtual bytes.
    assert_eq!(made.fee, 2 * 180);
    assert!(psbt.unsigned_tx.input.iter().all(|it| it.sequence.is_rbf()));
}

#[test]
fn keys_are_named_from_the_account_key_or_from_the_one_that_it_comes_from() {
    let origins = |master: Option<[u8; 4]>| {
        let psbt = read(&sweep(&account(), master, &[coin(7, 50_000)], 1_000).unwrap());
        let of = |source: &KeySource| format!("{}/{}", source.0, source.1);
        (
            psbt.inputs[0].bip32_derivation.values().map(of).next(),
            psbt.outputs[0].bip32_derivation.values().map(of).next(),
            psbt.xpub.values().map(of).next(),
        )
    };
    let own = account().xpub().fingerprint();
    let text = |text: String| Some(text);
    let alone = (
        text(format!("{own}/0/7")),
        text(format!("{own}/1/0")),
        text(format!("{own}/")),
    );
    assert_eq!(origins(None), alone);
    // The fingerprint of the mnemonic in BIP84's test vectors.
    let master = <[u8; 4]>::from_hex("73c5da0a").unwrap();
    let full = (
        text("73c5da0a/84'/1'/0'/0/7".to_owned()),
        text("73c5da0a/84'/1'/0'/1/0".to_owned()),
        text("73c5da0a/84'/1'/0'".to_owned()),
    );
    assert_eq!(origins(Some(master)), full);
}

#[test]
fn what_does_not_pay_for_its_fee_or_leaves_dust_is_refused() {
    // 112 virtual bytes: with less than dust left nobody would pass it on.
    let least = 112 + DUST_SATS;
    assert!(sweep(&account(), None, &[coin(0, least)], 1_000).is_ok());
    for sats in [least - 1, 112, 1] {
        let refused = sweep(&account(), None, &[coin(0, sats)], 1_000);
        assert_eq!(refused, Err(SweepError::TooLittle { sats, fee: 112 }));
    }
    assert!(is_worth_its_fee(69, 1_000) && !is_worth_its_fee(68, 1_000));
}

#[test]
fn the_wallet_of_the_account_signs_it_and_another_cannot() {
    let wallet = BitcoinWallet::example().unwrap();
    let key = account().receiving_key(2).unwrap();
    let paid = Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![input(&coin(9, 1))],
        output: vec![output(&key, 40_000)],
    };
    let paid_coin = Coin {
        number: 2,
        place: Outpoint {
            transaction: reversed(paid.compute_txid().to_byte_array()),
            output: 0,
        },
        sats: 40_000,
        previous: Some(bitcoin::consensus::encode::serialize(&paid)),
    };
    let made = sweep(&account(), None, std::slice::from_ref(&paid_coin), 1_000).unwrap();
    assert_eq!(read(&made).inputs[0].non_witness_utxo, Some(paid));
    let signed = wallet.sign(&made.psbt).unwrap();
    let signed: Transaction = deserialize(&hex::decode(signed).unwrap()).unwrap();
    // It weighs what was paid for, but for a signature that may be a byte shorter.
    let paid_for = (INPUT_WEIGHT + REST_WEIGHT).div_ceil(4);
    let weighs = u64::try_from(signed.vsize()).unwrap();
    assert!((paid_for - 2..=paid_for).contains(&weighs), "{weighs}");
    assert!(
        BitcoinWallet::below_example(&[1])
            .unwrap()
            .sign(&made.psbt)
            .is_none()
    );
    let other = Coin {
        sats: 40_001,
        ..paid_coin
    };
    let refused = sweep(&account(), None, &[other], 1_000);
    assert_eq!(refused, Err(SweepError::OtherTransaction));
}
