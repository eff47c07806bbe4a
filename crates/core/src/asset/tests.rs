//! The registry says what was decided, and nothing twice.

use std::collections::HashSet;

use super::*;

fn offered(mode: Mode) -> HashSet<&'static str> {
    let assets = Registry::builtin().assets().iter();
    assets
        .filter(|asset| asset.offered && asset.mode == mode)
        .map(|asset| asset.code.as_str())
        .collect()
}

#[test]
fn test_mode_offers_exactly_the_decided_assets() {
    let decided = [
        "USDC@eip155:11155111",
        "USDC@eip155:84532",
        "USDC@eip155:11155420",
        "USDC@eip155:421614",
        "USDC@eip155:80002",
        "USDC@eip155:43113",
        "EURC@eip155:11155111",
        "EURC@eip155:84532",
        "USDT@tron:3448148188",
        "BTC@bip122:00000000da84f2bafbbc53dee25a72ae",
    ];
    assert_eq!(offered(Mode::Test), HashSet::from(decided));
}

#[test]
fn live_mode_offers_only_what_somebody_vouched_for() {
    let registry = Registry::builtin();
    for code in offered(Mode::Live) {
        let asset = registry.asset(code).unwrap();
        assert_ne!(asset.evidence, Evidence::Unverified, "{code}");
        assert_ne!(asset.family, Family::Solana, "{code}");
    }
    for code in ["USDC@eip155:1", "USDT@tron:728126428", "USDT@eip155:56"] {
        assert!(offered(Mode::Live).contains(code), "{code}");
    }
    assert!(offered(Mode::Live).contains("BTC@bip122:000000000019d6689c085ae165831e93"));
}

#[test]
fn bridged_look_alikes_are_known_but_never_offered() {
    let registry = Registry::builtin();
    for code in [
        "USDC.e@eip155:42161",
        "USDC.e@eip155:10",
        "USDC.e@eip155:137",
        "USDbC@eip155:8453",
        "USDT.e@eip155:10",
        "USDT.e@eip155:8453",
        "EUROC@eip155:42161",
        "PYUSD.e@eip155:42161",
    ] {
        assert!(!registry.asset(code).unwrap().offered, "{code}");
    }
}

#[test]
fn codes_names_and_contracts_are_unique() {
    let registry = Registry::builtin();
    let mut codes = HashSet::new();
    let mut contracts = HashSet::new();
    for asset in registry.assets() {
        assert!(codes.insert(&asset.code), "{}", asset.code);
        if let Some(contract) = &asset.contract {
            assert!(
                contracts.insert((&asset.network, contract.to_lowercase())),
                "{}",
                asset.code
            );
        }
    }
    let mut names = HashSet::new();
    for network in registry.networks() {
        for name in network.aliases.iter().chain([&network.id]) {
            assert!(names.insert(name), "{name}");
        }
    }
}

#[test]
fn every_asset_hangs_together() {
    let registry = Registry::builtin();
    for asset in registry.assets() {
        let network = registry.network(&asset.network).unwrap();
        assert_eq!(asset.code, format!("{}@{}", asset.symbol, asset.network));
        assert_eq!(
            (asset.mode, asset.family),
            (network.mode, network.family),
            "{}",
            asset.code
        );
        assert_eq!(asset.network_name, network.name);
        assert!((6..=18).contains(&asset.decimals), "{}", asset.code);
        assert_eq!(
            asset.contract.is_some(),
            asset.currency.is_some(),
            "{}",
            asset.code
        );
        let symbol = asset.symbol.as_str();
        assert!(
            symbol
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '.')
        );
        if let Some(currency) = &asset.currency {
            let euro = symbol.starts_with("EUR");
            assert_eq!(currency, if euro { "EUR" } else { "USD" }, "{}", asset.code);
        }
        if let Some(selector) = &asset.blacklist_selector {
            assert_eq!(selector.len(), 10, "{}", asset.code);
        }
    }
}

#[test]
fn network_ids_are_well_formed_caip_2() {
    for network in Registry::builtin().networks() {
        let (namespace, reference) = network.id.split_once(':').unwrap();
        assert_eq!(Family::from_namespace(namespace), Some(network.family));
        assert!((1..=32).contains(&reference.len()), "{}", network.id);
        assert!(reference.chars().all(|c| c.is_ascii_alphanumeric()));
        match network.family {
            Family::Evm | Family::Tron => {
                assert_eq!(reference, network.chain_id.unwrap().to_string());
            }
            Family::Bitcoin => assert_eq!(reference.len(), 32),
            Family::Solana => assert_eq!(network.chain_id, None),
        }
        assert!(network.block_time_ms > 0);
        match &network.explorer_tx {
            Some(link) => assert!(link.starts_with("https://") && link.contains("{hash}")),
            None => assert!(network.local, "{}", network.id),
        }
    }
}

#[test]
fn what_is_on_a_chain_of_ones_own_is_offered_by_no_table() {
    let registry = Registry::builtin();
    let local: Vec<&Network> = registry.networks().iter().filter(|it| it.local).collect();
    assert_eq!(local.len(), 1);
    for network in local {
        assert_eq!(network.mode, Mode::Test);
        let mut assets = registry.assets().iter();
        assert!(!assets.any(|asset| asset.network == network.id && asset.offered));
    }
}

#[test]
fn a_tron_alias_is_the_hexadecimal_of_the_chain_id() {
    for network in Registry::builtin().networks() {
        let expected = match network.family {
            Family::Tron => vec![format!("tron:{:#x}", network.chain_id.unwrap())],
            _ => vec![],
        };
        assert_eq!(network.aliases, expected);
    }
}

#[test]
fn every_evm_network_pins_the_same_factory() {
    let networks = Registry::builtin().networks().iter();
    let factories: HashSet<_> = networks
        .filter(|network| network.family == Family::Evm)
        .map(|network| network.factory.as_deref())
        .collect();
    assert_eq!(
        factories,
        HashSet::from([Some("0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7")])
    );
}

#[test]
fn lookups_are_exact_and_take_aliases() {
    let registry = Registry::builtin();
    let usdt = registry.asset("USDT@tron:3448148188").unwrap();
    assert_eq!(registry.asset("USDT@tron:0xcd8690dc"), Some(usdt));
    assert_eq!(registry.asset_on("USDT", "tron:0xcd8690dc"), Some(usdt));
    let contract = usdt.contract.as_deref().unwrap();
    assert_eq!(
        registry.asset_of_contract("tron:3448148188", contract),
        Some(usdt)
    );
    let lower = contract.to_lowercase();
    assert_eq!(registry.asset_of_contract("tron:3448148188", &lower), None);

    let usdc = registry.asset("USDC@eip155:1").unwrap();
    let lower = usdc.contract.as_deref().unwrap().to_lowercase();
    assert_eq!(registry.asset_of_contract("eip155:1", &lower), Some(usdc));
    assert_eq!(registry.asset_of_contract("eip155:10", &lower), None);

    for unknown in [
        "",
        "@",
        "USDC",
        "USDC@",
        "@eip155:1",
        "usdc@eip155:1",
        "USDC@EIP155:1",
        "USDC@eip155:1 ",
        "USDC@eip155:01",
        "USDC@solana:5EYKT4usFV8p8njdtrEPy1VZQkQzkVDP",
    ] {
        assert_eq!(registry.asset(unknown), None, "{unknown}");
    }
}

#[test]
fn the_default_test_assets_are_offered() {
    for code in DEFAULT_TEST_ASSETS {
        assert!(offered(Mode::Test).contains(code), "{code}");
    }
}

#[test]
fn modes_and_families_read_back_what_they_write() {
    for mode in Mode::ALL {
        assert_eq!(Mode::parse(mode.as_str()), Some(mode));
        assert_eq!(
            serde_json::to_value(mode).unwrap(),
            serde_json::json!(mode.as_str())
        );
    }
    assert_eq!(Mode::parse("LIVE"), None);
    for family in Family::ALL {
        assert_eq!(Family::from_namespace(family.namespace()), Some(family));
    }
}

#[test]
fn an_explorer_link_carries_the_transaction() {
    let network = Registry::builtin().network("eip155:84532").unwrap();
    assert_eq!(
        network.explorer_link("0xabc").as_deref(),
        Some("https://sepolia.basescan.org/tx/0xabc")
    );
}
