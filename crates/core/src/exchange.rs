//! Exchanges a payer may pay from: which of our networks each withdraws to, and under what name.
//!
//! The table is data (`data/exchanges.json`), compiled in. A label or fee is there only once somebody read
//! it on the exchange's own page, and then says when; until then a payer is sent to that page.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    pub exchange: String,
    pub name: String,
    pub networks: Vec<Withdrawal>,
}

/// One network on one exchange's withdrawal screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdrawal {
    /// CAIP-2.
    pub network: String,
    /// The network's name on the exchange's withdrawal screen.
    pub label: Option<String>,
    /// As the exchange writes it, with its unit.
    pub withdrawal_fee: Option<String>,
    /// The exchange's own public page.
    pub source_url: String,
    /// RFC 3339; when label and fee were read there.
    pub verified_at: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    exchanges: Vec<Exchange>,
}

fn file() -> &'static File {
    static FILE: OnceLock<File> = OnceLock::new();
    FILE.get_or_init(|| {
        serde_json::from_str(include_str!("../data/exchanges.json"))
            .expect("the table is compiled in, and a test parses it")
    })
}

pub fn exchanges() -> &'static [Exchange] {
    &file().exchanges
}

/// Raised whenever the table changes, so that two answers can be told apart.
pub fn version() -> u32 {
    file().version
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use url::Url;

    use super::*;
    use crate::asset::{Mode, Registry};
    use crate::time;

    #[test]
    fn there_are_enough_exchanges_and_each_has_an_id_of_its_own() {
        assert!(exchanges().len() >= 12);
        assert!(version() >= 1);
        let ids: HashSet<&str> = exchanges()
            .iter()
            .map(|exchange| exchange.exchange.as_str())
            .collect();
        assert_eq!(ids.len(), exchanges().len());
        for id in ids {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            assert!(!id.is_empty() && id.bytes().all(plain), "{id}");
        }
    }

    #[test]
    fn every_network_is_a_live_one_of_ours_and_named_once() {
        for exchange in exchanges() {
            assert!(!exchange.name.is_empty() && !exchange.networks.is_empty());
            let mut seen = HashSet::new();
            for withdrawal in &exchange.networks {
                let network = Registry::builtin().network(&withdrawal.network);
                let network =
                    network.unwrap_or_else(|| panic!("{} is unknown", withdrawal.network));
                assert_eq!(network.id, withdrawal.network, "no alias");
                assert_eq!(network.mode, Mode::Live);
                assert!(seen.insert(&withdrawal.network), "{}", exchange.name);
            }
        }
    }

    #[test]
    fn every_live_network_can_be_paid_from_somewhere() {
        for network in Registry::builtin().networks() {
            if network.mode == Mode::Live {
                let served = exchanges()
                    .iter()
                    .flat_map(|exchange| &exchange.networks)
                    .any(|withdrawal| withdrawal.network == network.id);
                assert!(served, "{}", network.name);
            }
        }
    }

    #[test]
    fn what_was_not_verified_is_not_claimed() {
        for withdrawal in exchanges().iter().flat_map(|exchange| &exchange.networks) {
            let source = Url::parse(&withdrawal.source_url).expect("an address");
            assert_eq!(source.scheme(), "https");
            match &withdrawal.verified_at {
                Some(at) => assert!(time::parse(at).is_some(), "{at}"),
                None => assert_eq!(
                    (&withdrawal.label, &withdrawal.withdrawal_fee),
                    (&None, &None)
                ),
            }
        }
    }

    #[test]
    fn an_entry_goes_over_the_wire_with_every_field() {
        let entry = serde_json::to_value(&exchanges()[0]).unwrap();
        let fields = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(fields(&entry), ["exchange", "name", "networks"]);
        assert_eq!(
            fields(&entry["networks"][0]),
            [
                "network",
                "label",
                "withdrawal_fee",
                "source_url",
                "verified_at"
            ]
        );
    }
}
