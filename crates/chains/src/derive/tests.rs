//! Derivations depend on every byte of what they are computed from.

use proptest::prelude::*;
use till_core::asset::Registry;

use super::*;
use crate::example_destination;

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).unwrap()
}

fn address(network: &Network, account: &str, number: u64) -> String {
    let destination = example_destination(network.family);
    let derivation = derive(network, account, destination, number).unwrap();
    derivation.address().unwrap()
}

#[test]
fn one_address_serves_every_evm_network_of_a_mode() {
    let networks = Registry::builtin().networks().iter();
    let addresses: std::collections::HashSet<_> = networks
        .filter(|network| network.family == Family::Evm && network.mode == Mode::Test)
        .map(|network| address(network, "acct_1", 7))
        .collect();
    assert_eq!(addresses.len(), 1);
}

#[test]
fn account_mode_family_and_number_all_decide_the_salt() {
    let right = salt("acct_1", Mode::Test, Family::Evm, 1);
    for other in [
        salt("acct_2", Mode::Test, Family::Evm, 1),
        salt("acct_1", Mode::Live, Family::Evm, 1),
        salt("acct_1", Mode::Test, Family::Tron, 1),
        salt("acct_1", Mode::Test, Family::Evm, 2),
        salt("acct_1", Mode::Test, Family::Evm, 1 << 56),
    ] {
        assert_ne!(other, right);
    }
}

#[test]
fn a_derived_address_is_a_payable_address_of_its_network() {
    for id in [
        "eip155:84532",
        "tron:3448148188",
        "bip122:00000000da84f2bafbbc53dee25a72ae",
    ] {
        let address = address(network(id), "acct_1", 3);
        assert_eq!(parse_address(network(id), &address), Ok(address));
    }
}

#[test]
fn a_network_without_a_factory_derives_nothing() {
    for id in [
        "tron:728126428",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    ] {
        let destination = example_destination(network(id).family);
        assert_eq!(
            derive(network(id), "acct_1", destination, 0),
            Err(AddressError::NoFactory)
        );
    }
}

#[test]
fn a_bitcoin_account_is_taken_only_in_its_own_mode() {
    let test = example_destination(Family::Bitcoin);
    let parsed = parse_destination(Family::Bitcoin, Mode::Test, test);
    assert_eq!(parsed.as_deref(), Ok(test));
    assert_eq!(
        parse_destination(Family::Bitcoin, Mode::Live, test),
        Err(AddressError::WrongNetwork)
    );
    // An address would take one payment and then leak who else pays there.
    let address = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
    assert!(parse_destination(Family::Bitcoin, Mode::Test, address).is_err());
}

#[test]
fn an_address_is_refused_on_networks_of_another_family() {
    let texts = [
        (Family::Evm, example_destination(Family::Evm)),
        (Family::Tron, example_destination(Family::Tron)),
        (Family::Solana, example_destination(Family::Solana)),
        (
            Family::Bitcoin,
            "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
        ),
    ];
    for network in Registry::builtin().networks() {
        for (family, text) in texts {
            let fits = family == network.family
                && (family != Family::Bitcoin || network.mode == Mode::Test);
            assert_eq!(
                parse_address(network, text).is_ok(),
                fits,
                "{} {text}",
                network.id
            );
        }
    }
}

#[test]
fn the_contracts_own_addresses_are_all_well_formed() {
    let registry = Registry::builtin();
    for asset in registry.assets() {
        if let Some(contract) = &asset.contract {
            let parsed = parse_address(network(&asset.network), contract);
            assert_eq!(parsed.as_ref(), Ok(contract), "{}", asset.code);
        }
    }
    for network in registry.networks() {
        if let Some(factory) = &network.factory {
            assert_eq!(parse_address(network, factory).as_ref(), Ok(factory));
        }
    }
}

#[test]
fn the_object_has_the_fields_of_the_contract_and_no_others() {
    let derivation = derive(
        network("eip155:84532"),
        "acct_1",
        example_destination(Family::Evm),
        0,
    )
    .unwrap();
    let mut object = serde_json::to_value(&derivation).unwrap();
    let keys: Vec<_> = object.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["scheme", "factory", "salt", "destination"]);
    assert_eq!(object["scheme"], "create2_forwarder_v1");
    let read: Derivation = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(read, derivation);
    object["address"] = "0x".into();
    assert!(serde_json::from_value::<Derivation>(object).is_err());
}

#[test]
fn a_salt_is_32_bytes_in_hexadecimal() {
    let right = format!("0x{}", "ab".repeat(32));
    assert_eq!(parse_salt(&right), Ok([0xab; 32]));
    for text in ["", "0x", &right[2..], &right[..64], "0xé"] {
        assert_eq!(parse_salt(text), Err(AddressError::Salt), "{text}");
    }
}

proptest! {
    /// What a hostile server could change in an object on its way to the payer.
    #[test]
    fn a_changed_character_in_any_field_gives_another_address_or_none(
        family in 0usize..3, field in 0usize..3, place: prop::sample::Index, to in "[0-9a-zA-Z]",
    ) {
        let ids = ["eip155:84532", "tron:3448148188", "bip122:00000000da84f2bafbbc53dee25a72ae"];
        let network = network(ids[family]);
        let derivation =
            derive(network, "acct_1", example_destination(network.family), 5).unwrap();
        let right = derivation.address().unwrap();
        let mut object = serde_json::to_value(&derivation).unwrap();
        let fields = object.as_object_mut().unwrap();
        let key = fields.keys().nth(1 + field % (fields.len() - 1)).unwrap().clone();
        let before = fields[&key].as_str().unwrap().to_owned();
        let place = place.index(before.len());
        let mut after = before.clone();
        after.replace_range(place..=place, &to);
        // The case of a hexadecimal digit is no part of its value.
        prop_assume!(!before.eq_ignore_ascii_case(&after));
        fields[&key] = after.into();
        let changed: Derivation = serde_json::from_value(object).unwrap();
        prop_assert_ne!(changed.address(), Ok(right));
    }

    #[test]
    fn garbage_never_panics(a in "\\PC*", b in "\\PC*", c in "\\PC*", d in "\\PC*") {
        for derivation in [
            Derivation::Evm { factory: a.clone(), salt: b.clone(), destination: c.clone() },
            Derivation::Tron { factory: a.clone(), salt: b.clone(), destination: c.clone() },
            Derivation::Bitcoin { account_xpub: a.clone(), path: b.clone() },
            Derivation::Solana { program: a.clone(), destination: b, salt: c, mint: d },
        ] {
            prop_assert!(derivation.address().is_err());
        }
        for network in Registry::builtin().networks() {
            let _ = parse_address(network, &a);
            let _ = parse_destination(network.family, network.mode, &a);
        }
    }
}

#[test]
fn many_addresses_at_once_are_the_same_as_one_by_one() {
    for id in [
        "eip155:84532",
        "tron:3448148188",
        "bip122:00000000da84f2bafbbc53dee25a72ae",
    ] {
        let network = network(id);
        let destination = example_destination(network.family);
        let many = DepositAddresses::new(network, "acct_1", destination).unwrap();
        for number in [0, 1, 7, 1_000_000] {
            assert_eq!(
                many.address(number),
                Ok(address(network, "acct_1", number)),
                "{id} {number}"
            );
        }
    }
}

#[test]
fn what_cannot_be_derived_one_by_one_cannot_be_derived_at_once() {
    for network in Registry::builtin().networks() {
        for family in Family::ALL {
            let destination = example_destination(family);
            assert_eq!(
                DepositAddresses::new(network, "acct_1", destination).is_ok(),
                derive(network, "acct_1", destination, 0).is_ok(),
                "{} {destination}",
                network.id
            );
        }
    }
}
