//! `invoices.options`

use serde::{Deserialize, Serialize};
use till_core::invoice::{Deposit, PayOption};
use till_core::money::Units;
use till_core::pricing::{Price, Rate};

use super::json_column::stored;

#[derive(Serialize, Deserialize)]
struct StoredOption {
    asset: String,
    due: Units,
    decimals: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<StoredRate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposit: Option<StoredDeposit>,
}

#[derive(Serialize, Deserialize)]
struct StoredRate {
    price: String,
    at: i64,
    sources: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredDeposit {
    address: String,
    number: u64,
    destination: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_until: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct StoredOptions(Vec<StoredOption>);

impl From<StoredOptions> for Vec<PayOption> {
    fn from(stored: StoredOptions) -> Vec<PayOption> {
        let deposit = |deposit: StoredDeposit| Deposit {
            address: deposit.address,
            number: deposit.number,
            destination: deposit.destination,
            held_until: deposit.held_until,
        };
        // What is owed stands in `due`: a rate that cannot be read is one that is not shown.
        let rate = |rate: StoredRate| {
            Some(Rate {
                price: Price::parse(&rate.price)?,
                at: rate.at,
                sources: rate.sources,
            })
        };
        let option = |option: StoredOption| PayOption {
            asset: option.asset,
            due: option.due,
            decimals: option.decimals,
            rate: option.rate.and_then(rate),
            deposit: option.deposit.map(deposit),
        };
        stored.0.into_iter().map(option).collect()
    }
}

impl From<&Vec<PayOption>> for StoredOptions {
    fn from(options: &Vec<PayOption>) -> StoredOptions {
        let deposit = |deposit: &Deposit| StoredDeposit {
            address: deposit.address.clone(),
            number: deposit.number,
            destination: deposit.destination.clone(),
            held_until: deposit.held_until,
        };
        let rate = |rate: &Rate| StoredRate {
            price: rate.price.to_string(),
            at: rate.at,
            sources: rate.sources.clone(),
        };
        let option = |option: &PayOption| StoredOption {
            asset: option.asset.clone(),
            due: option.due,
            decimals: option.decimals,
            rate: option.rate.as_ref().map(rate),
            deposit: option.deposit.as_ref().map(deposit),
        };
        StoredOptions(options.iter().map(option).collect())
    }
}

stored!(Vec<PayOption> as StoredOptions);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::golden;

    #[test]
    fn every_form_ever_written_is_read() {
        let option = |deposit| PayOption {
            asset: "USDC@eip155:84532".to_owned(),
            due: Units(25_000_000),
            decimals: 6,
            rate: None,
            deposit,
        };
        let leased = Deposit {
            address: "0x52908400098527886E0F7030069857D2E4169EE7".to_owned(),
            number: 7,
            destination: "0x8617E340B3D01FA5F11F306F4090FD50E238070D".to_owned(),
            held_until: None,
        };
        let held_until = Some(1_800_000_000_000);
        let cooling = Deposit {
            held_until,
            ..leased.clone()
        };
        golden::check::<StoredOptions, _>(
            include_str!("../../golden/invoices.options.jsonl"),
            &vec![option(Some(leased)), option(None)],
        );
        golden::check::<StoredOptions, _>(
            include_str!("../../golden/invoices.options.cooling.jsonl"),
            &vec![option(Some(cooling))],
        );
        let rated = PayOption {
            asset: "BTC@bip122:000000000019d6689c085ae165831e93".to_owned(),
            due: Units(25_740),
            decimals: 8,
            rate: Some(Rate {
                price: Price::parse("97123.10").unwrap(),
                at: 1_800_000_000_000,
                sources: vec!["prices.example".to_owned(), "Chainlink on Base".to_owned()],
            }),
            deposit: None,
        };
        golden::check::<StoredOptions, _>(
            include_str!("../../golden/invoices.options.rated.jsonl"),
            &vec![rated],
        );
    }
}
