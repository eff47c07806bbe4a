//! Account keys against the published vectors.

use bitcoin::bip32::{DerivationPath, Xpriv};
use proptest::prelude::*;

use super::*;
use crate::example_destination;
use till_core::asset::Family;

/// BIP84's own test vector, whose mnemonic is "abandon" eleven times and "about".
const ZPUB_OF_BIP84: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

fn seed() -> Vec<u8> {
    hex::decode(
        "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1\
         9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4",
    )
    .unwrap()
}

fn private(network: NetworkKind, path: &str) -> Xpriv {
    let path: DerivationPath = path.parse().unwrap();
    Xpriv::new_master(network, &seed())
        .unwrap()
        .derive_priv(&Secp256k1::new(), &path)
        .unwrap()
}

fn public(network: NetworkKind, path: &str) -> Xpub {
    Xpub::from_priv(&Secp256k1::new(), &private(network, path))
}

fn with_version(key: &Xpub, version: [u8; 4]) -> String {
    let mut bytes = key.encode();
    bytes[..4].copy_from_slice(&version);
    base58::encode_check(&bytes)
}

#[test]
fn the_first_addresses_are_those_bip84_publishes() {
    let account = BitcoinAccount::parse(ZPUB_OF_BIP84).unwrap();
    assert_eq!(account.mode(), Mode::Live);
    assert_eq!(
        account.address(0).unwrap(),
        "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
    );
    assert_eq!(
        account.address(1).unwrap(),
        "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"
    );
}

#[test]
fn every_name_of_a_key_is_the_same_account() {
    let live = public(NetworkKind::Main, "m/84'/0'/0'");
    assert_eq!(with_version(&live, ZPUB), ZPUB_OF_BIP84);
    assert_eq!(
        BitcoinAccount::parse(ZPUB_OF_BIP84),
        BitcoinAccount::parse(&live.to_string())
    );
    let canonical = BitcoinAccount::parse(ZPUB_OF_BIP84).unwrap().canonical();
    assert_eq!(canonical, live.to_string());

    let test = public(NetworkKind::Test, "m/84'/1'/0'");
    let account = BitcoinAccount::parse(&with_version(&test, VPUB)).unwrap();
    assert_eq!(
        (account.canonical(), account.mode()),
        (test.to_string(), Mode::Test)
    );
    assert!(account.address(0).unwrap().starts_with("tb1q"));
}

#[test]
fn the_example_is_the_test_account_of_the_published_mnemonic() {
    let test = public(NetworkKind::Test, "m/84'/1'/0'");
    assert_eq!(example_destination(Family::Bitcoin), test.to_string());
}

#[test]
fn a_descendant_is_the_wallet_s_own_key_further_down_written_as_an_account() {
    let account = BitcoinAccount::parse(example_destination(Family::Bitcoin)).unwrap();
    let below = account.descendant(&[3, 1, 4, 1]).unwrap();
    assert_eq!(BitcoinAccount::parse(&below.canonical()), Ok(below.clone()));
    let spendable = public(NetworkKind::Test, "m/84'/1'/0'/3/1/4/1/0/7");
    let address = Address::p2wpkh(&spendable.to_pub(), KnownHrp::Testnets).to_string();
    assert_eq!(below.address(7), Ok(address));
}

#[test]
fn the_material_is_the_same_however_a_key_is_written() {
    let key = public(NetworkKind::Main, "m/84'/0'/0'");
    let mut disguised = key;
    disguised.parent_fingerprint = [9; 4].into();
    disguised.network = NetworkKind::Test;
    let material = |key: &Xpub| BitcoinAccount::parse(&key.to_string()).unwrap().material();
    assert_eq!(material(&key), material(&disguised));
    assert_ne!(
        material(&key),
        material(&public(NetworkKind::Main, "m/84'/0'/1'"))
    );
}

#[test]
fn a_private_key_is_recognised_and_refused() {
    for (network, path) in [
        (NetworkKind::Main, "m/84'/0'/0'"),
        (NetworkKind::Test, "m/84'/1'/0'"),
    ] {
        let key = private(network, path);
        let refused = Err(AddressError::PrivateKey);
        assert_eq!(BitcoinAccount::parse(&key.to_string()), refused);
        for version in PRIVATE {
            let mut bytes = key.encode();
            bytes[..4].copy_from_slice(&version);
            assert_eq!(
                BitcoinAccount::parse(&base58::encode_check(&bytes)),
                refused
            );
        }
    }
}

#[test]
fn only_the_key_of_an_account_is_accepted() {
    for path in ["m", "m/84'", "m/84'/0'", "m/84'/0'/0", "m/84'/0'/0'/0"] {
        let key = public(NetworkKind::Main, path).to_string();
        let refused = Err(AddressError::NotAnAccountKey);
        assert_eq!(BitcoinAccount::parse(&key), refused, "{path}");
    }
    // A ypub promises another kind of address.
    let key = public(NetworkKind::Main, "m/49'/0'/0'");
    let ypub = with_version(&key, [0x04, 0x9d, 0x7c, 0xb2]);
    assert_eq!(
        BitcoinAccount::parse(&ypub),
        Err(AddressError::NotAnAccountKey)
    );
}

#[test]
fn numbers_end_where_hardened_children_begin() {
    let account = BitcoinAccount::parse(ZPUB_OF_BIP84).unwrap();
    assert!(account.address((1 << 31) - 1).is_ok());
    for number in [1 << 31, 1 << 32, u64::MAX] {
        assert_eq!(account.address(number), Err(AddressError::NumberTooLarge));
    }
}

#[test]
fn a_path_is_read_in_one_spelling_only() {
    assert_eq!(parse_path("0/0"), Ok(0));
    assert_eq!(parse_path("0/17"), Ok(17));
    for text in [
        "", "0", "0/", "1/0", "m/0/0", "0/01", "0/+1", "0/1'", "0/-1", "0/1/2",
    ] {
        assert_eq!(parse_path(text), Err(AddressError::Path), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn another_number_is_another_address(a in 0u64..1 << 31, b in 0u64..1 << 31) {
        let account = BitcoinAccount::parse(ZPUB_OF_BIP84).unwrap();
        prop_assert_eq!(a == b, account.address(a) == account.address(b));
    }

    #[test]
    fn a_changed_byte_of_the_key_never_gives_the_same_address(place in 13usize..78, by in 1u8..) {
        let account = BitcoinAccount::parse(ZPUB_OF_BIP84).unwrap();
        let mut bytes = account.account.encode();
        bytes[place] ^= by;
        // Half of the changed keys are not points of the curve and are refused.
        if let Ok(other) = BitcoinAccount::parse(&base58::encode_check(&bytes)) {
            prop_assert_ne!(other.address(0), account.address(0));
        }
    }

    #[test]
    fn garbage_never_panics(text in "\\PC*", bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
        let _ = BitcoinAccount::parse(&text);
        let _ = BitcoinAccount::parse(&base58::encode_check(&bytes));
        let mut named = XPUB.to_vec();
        named.extend(bytes);
        let _ = BitcoinAccount::parse(&base58::encode_check(&named));
        let _ = parse_path(&text);
    }
}
