//! Bitcoin: what lies on the addresses of an account key, and transactions for the wallet of that key to sign.

use std::collections::BTreeMap;

use serde::Serialize;
use till_chains::bitcoin::BitcoinAccount;
use till_chains::bitcoin::account::path;
use till_chains::bitcoin::psbt::{self, Coin, INPUTS_MAX, is_worth_its_fee};
use till_chains::observer::Unspent;
use till_core::asset::{Asset, Registry};
use till_core::money::{self, Units};
use till_watch::Holdings;

use super::unsigned::{Account, is_worth};

/// A rate beyond this is a mistake, or somebody else's wish: in sats per 1,000 virtual bytes.
const RATE_MAX: u64 = 1_000_000;
/// A rate is written in sats per virtual byte, with so many decimals.
const RATE_DECIMALS: u32 = 3;

/// A transaction for a wallet to sign.
#[derive(Debug, Serialize)]
pub struct UnsignedPsbt {
    pub network: String,
    /// In base64 (BIP-174).
    pub psbt: String,
    /// In sats per virtual byte.
    pub fee_rate: String,
    pub inputs: Vec<PsbtInput>,
    /// Said in text, where nobody reads it from the transaction itself.
    #[serde(skip)]
    pub summary: String,
}

#[derive(Debug, Serialize)]
pub struct PsbtInput {
    pub address: String,
    /// Below the account key.
    pub path: String,
    pub asset: String,
    pub amount: String,
    pub tx_hash: String,
    pub output: u32,
}

/// What the command line says of fees and keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signing {
    /// In sats per 1,000 virtual bytes.
    pub fee_rate: Option<u64>,
    /// Of the key from which the account key was derived.
    pub fingerprint: Option<[u8; 4]>,
}

/// A rate as it is given, in sats per virtual byte.
pub fn fee_rate(text: &str) -> Result<u64, String> {
    let rate = money::parse(text, RATE_DECIMALS).ok();
    let rate = rate.and_then(|rate| u64::try_from(rate.0).ok());
    match rate {
        Some(rate @ 1..=RATE_MAX) => Ok(rate),
        _ => Err("write sats per virtual byte, such as 2 or 1.5, up to 1000".to_owned()),
    }
}

/// Eight digits, as wallets show them.
pub fn fingerprint(text: &str) -> Result<[u8; 4], String> {
    let mut bytes = [0; 4];
    let decoded = hex::decode_to_slice(text, &mut bytes);
    let odd = |_| "write the eight digits that the wallet shows, such as 73c5da0a".to_owned();
    decoded.map(|()| bytes).map_err(odd)
}

/// The transactions of each account key, and whether something is left that is less than was asked for.
pub async fn of_network(
    asking: &mut Holdings<'_>,
    account: &Account<'_>,
    signing: Signing,
) -> Result<(Vec<UnsignedPsbt>, bool), String> {
    let (mut all, mut is_less_left, mut rate) = (Vec::new(), false, signing.fee_rate);
    for row in account.numbered {
        let Ok(key) = BitcoinAccount::parse(&row.destination) else {
            continue;
        };
        let numbers = 0..u64::try_from(row.next_number).unwrap_or_default();
        let programs = numbers.filter_map(|number| Some((key.program(number)?, number)));
        let programs: BTreeMap<[u8; 20], u64> = programs.collect();
        let addresses: Vec<[u8; 20]> = programs.keys().copied().collect();
        let unspent = match addresses.is_empty() {
            true => Vec::new(),
            false => asking.unspent(&addresses).await?,
        };
        let coin = coin(asking)?;
        let (worth_it, less) = worth_it(unspent, coin, account.min);
        is_less_left |= less;
        if worth_it.is_empty() {
            continue;
        }
        let rate = match rate {
            Some(rate) => rate,
            None => *rate.insert(asked_rate(asking).await?),
        };
        let (paying, cheap): (Vec<_>, Vec<_>) = worth_it
            .into_iter()
            .partition(|it| is_worth_its_fee(it.sats, rate));
        if paying.is_empty() {
            return Err(format!(
                "{}: what lies there costs more than it brings at {} sats per virtual byte; wait for a lower fee rate, or for more",
                asking.network().id,
                shown(rate)
            ));
        }
        if !cheap.is_empty() {
            asking.remark(&format!(
                "{} outputs are left out, each of which costs more than it brings at {} sats per virtual byte",
                cheap.len(),
                shown(rate)
            ));
        }
        for some in paying.chunks(INPUTS_MAX) {
            let signing = Signing {
                fee_rate: Some(rate),
                ..signing
            };
            let made = transaction(asking, &key, (some, &programs), (coin, signing));
            all.push(made.await?);
        }
    }
    Ok((all, is_less_left))
}

fn coin(asking: &Holdings<'_>) -> Result<&'static Asset, String> {
    let network = &asking.network().id;
    let mut assets = Registry::builtin().assets().iter();
    let coin = assets.find(|it| it.network == *network && it.contract.is_none());
    coin.ok_or_else(|| format!("{network} has no coin"))
}

/// By address: what lies there together must be worth it.
fn worth_it(unspent: Vec<Unspent>, coin: &Asset, min: Option<&str>) -> (Vec<Unspent>, bool) {
    let mut sums: BTreeMap<[u8; 20], u128> = BTreeMap::new();
    for it in &unspent {
        *sums.entry(it.program).or_default() += u128::from(it.sats);
    }
    let is_worth_it = |it: &Unspent| {
        let sum = sums.get(&it.program).copied().unwrap_or_default();
        is_worth(Units(sum), coin.decimals, min)
    };
    let (worth_it, less): (Vec<_>, Vec<_>) = unspent.into_iter().partition(is_worth_it);
    (worth_it, !less.is_empty())
}

async fn asked_rate(asking: &mut Holdings<'_>) -> Result<u64, String> {
    let id = &asking.network().id;
    match asking.fee_rate().await? {
        Some(rate @ 1..=RATE_MAX) => Ok(rate),
        Some(rate) => Err(format!(
            "{id}: the endpoints name {} sats per virtual byte, which is not believed; give --fee-rate",
            shown(rate)
        )),
        None => Err(format!(
            "{id}: the endpoints cannot say what a transaction should pay; give --fee-rate"
        )),
    }
}

fn shown(rate: u64) -> String {
    let text = money::show(Units(rate.into()), RATE_DECIMALS);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    short.to_owned()
}

async fn transaction(
    asking: &Holdings<'_>,
    key: &BitcoinAccount,
    (some, programs): (&[Unspent], &BTreeMap<[u8; 20], u64>),
    (coin, signing): (&Asset, Signing),
) -> Result<UnsignedPsbt, String> {
    let (mut coins, mut inputs) = (Vec::new(), Vec::new());
    for unspent in some {
        let number = programs.get(&unspent.program).copied().unwrap_or_default();
        let address = key.address(number).map_err(|error| error.to_string())?;
        inputs.push(PsbtInput {
            address,
            path: path(number),
            asset: coin.code.clone(),
            amount: money::show(Units(unspent.sats.into()), coin.decimals),
            tx_hash: hex::encode(unspent.place.transaction),
            output: unspent.place.output,
        });
        coins.push(Coin {
            number,
            place: unspent.place,
            sats: unspent.sats,
            previous: asking.previous(unspent).await,
        });
    }
    let (network, rate) = (&asking.network().id, signing.fee_rate.unwrap_or_default());
    let made = psbt::sweep(key, signing.fingerprint, &coins, rate);
    let made = made.map_err(|error| format!("{network}: {error}"))?;
    let home = key.change_address(0).map_err(|error| error.to_string())?;
    let summary = format!(
        "{} sats go to {home} (path {} of the same key) with a fee of {} sats",
        made.sent, made.path, made.fee
    );
    Ok(UnsignedPsbt {
        network: network.clone(),
        psbt: made.psbt,
        fee_rate: shown(rate),
        inputs,
        summary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_in_sats_per_virtual_byte_and_within_reason() {
        assert_eq!(fee_rate("2"), Ok(2_000));
        assert_eq!(fee_rate("1.5"), Ok(1_500));
        assert_eq!(fee_rate("0.001"), Ok(1));
        for text in ["0", "", "-1", "1000.001", "1.0001", "1e3", "fast"] {
            assert!(fee_rate(text).is_err(), "{text}");
        }
        assert_eq!(
            [1, 1_500, 2_000, 100_000].map(shown),
            ["0.001", "1.5", "2", "100"]
        );
    }

    #[test]
    fn a_fingerprint_has_eight_digits() {
        assert_eq!(fingerprint("73c5da0a"), Ok([0x73, 0xc5, 0xda, 0x0a]));
        for text in ["", "73c5da0", "73c5da0a0", "73c5da0g"] {
            assert!(fingerprint(text).is_err(), "{text}");
        }
    }
}
