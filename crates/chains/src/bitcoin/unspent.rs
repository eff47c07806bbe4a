//! What lies on addresses: outputs that no block has spent, as a node's or a provider's answer tells of them.

use serde::Deserialize;
use serde_json::value::RawValue;
use till_core::money;

use super::decode_error::DecodeError;
use super::header::name;
use super::script::{KeyProgram, key_program};
use super::transaction::Outpoint;

const BTC_DECIMALS: u32 = 8;

/// So many blocks, its own included, lie on a coinbase before what it pays can be spent.
pub const MATURE_AFTER: i64 = 100;
/// A transaction that is paid for now may wait for so many blocks.
pub const FEE_BLOCKS: u16 = 6;

/// An output of a block that can be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unspent {
    pub program: KeyProgram,
    pub place: Outpoint,
    pub sats: u64,
    /// Of its block.
    pub height: i64,
}

#[derive(Deserialize)]
struct RawScan<'a> {
    success: bool,
    height: i64,
    #[serde(borrow)]
    unspents: Vec<RawUnspent<'a>>,
}

#[derive(Deserialize)]
struct RawUnspent<'a> {
    txid: &'a str,
    vout: u32,
    #[serde(rename = "scriptPubKey")]
    script: &'a str,
    #[serde(borrow)]
    amount: &'a RawValue,
    height: i64,
    #[serde(default)]
    coinbase: bool,
}

/// From the result of `scantxoutset`. What was newly mined and cannot be spent yet is left out.
pub fn scanned(result: &str) -> Result<Vec<Unspent>, DecodeError> {
    let scan: RawScan<'_> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    if !scan.success {
        return Err(DecodeError::Shape);
    }
    let is_ripe =
        |it: &&RawUnspent<'_>| !it.coinbase || scan.height - it.height + 1 >= MATURE_AFTER;
    let of = |it: &RawUnspent<'_>| {
        let script = hex::decode(it.script).map_err(|_| DecodeError::Shape)?;
        let script = bitcoin::Script::from_bytes(&script);
        let sats = money::parse(it.amount.get(), BTC_DECIMALS).map_err(|_| DecodeError::Shape)?;
        Ok(Unspent {
            program: key_program(script).ok_or(DecodeError::Shape)?,
            place: place(it.txid, it.vout)?,
            sats: u64::try_from(sats.0).map_err(|_| DecodeError::Shape)?,
            height: it.height,
        })
    };
    scan.unspents.iter().filter(is_ripe).map(of).collect()
}

#[derive(Deserialize)]
struct EsploraUnspent {
    txid: String,
    vout: u32,
    value: u64,
    status: EsploraStatus,
}

#[derive(Deserialize)]
struct EsploraStatus {
    confirmed: bool,
    block_height: Option<i64>,
}

/// From `/address/:address/utxo`. What waits for a block is left out.
pub fn told(program: &KeyProgram, page: &[u8]) -> Result<Vec<Unspent>, DecodeError> {
    let all: Vec<EsploraUnspent> = serde_json::from_slice(page).map_err(|_| DecodeError::Shape)?;
    let of = |it: &EsploraUnspent| {
        Ok(Unspent {
            program: *program,
            place: place(&it.txid, it.vout)?,
            sats: it.value,
            height: it.status.block_height.ok_or(DecodeError::Shape)?,
        })
    };
    let confirmed = all.iter().filter(|it| it.status.confirmed);
    confirmed.map(of).collect()
}

fn place(txid: &str, output: u32) -> Result<Outpoint, DecodeError> {
    Ok(Outpoint {
        transaction: name(txid)?,
        output,
    })
}

#[derive(Deserialize)]
struct RawEstimate<'a> {
    #[serde(borrow)]
    feerate: Option<&'a RawValue>,
}

/// Sats per 1,000 virtual bytes from the result of `estimatesmartfee`; none where the node has seen too little to say.
pub fn estimated(result: &str) -> Result<Option<u64>, DecodeError> {
    let told: RawEstimate<'_> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let Some(rate) = told.feerate else {
        return Ok(None);
    };
    let rate = money::parse(rate.get(), BTC_DECIMALS).map_err(|_| DecodeError::Shape)?;
    u64::try_from(rate.0)
        .map(Some)
        .map_err(|_| DecodeError::Shape)
}

/// The same from `/fee-estimates`, which has sats per virtual byte by the number of blocks that may be waited for.
pub fn estimated_for(blocks: u16, page: &[u8]) -> Result<Option<u64>, DecodeError> {
    let text = str::from_utf8(page).map_err(|_| DecodeError::Shape)?;
    let told: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|_| DecodeError::Shape)?;
    let Some(rate) = told.get(&blocks.to_string()) else {
        return Ok(None);
    };
    let (whole, fraction) = rate.get().split_once('.').unwrap_or((rate.get(), "0"));
    let fraction: String = fraction.chars().take(3).collect();
    let rate = money::parse(&format!("{whole}.{fraction}"), 3).map_err(|_| DecodeError::Shape)?;
    u64::try_from(rate.0)
        .map(Some)
        .map_err(|_| DecodeError::Shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "3411784898a1584db2fc547e949747b0ce61c5cfdd882e5b89938e1edb76da51";

    fn scan(amount: &str, more: &str) -> Result<Vec<Unspent>, DecodeError> {
        let program = "07".repeat(20);
        scanned(&format!(
            r#"{{"success": true, "height": 200, "unspents": [{{"txid": "{HASH}", "vout": 2,
                "scriptPubKey": "0014{program}", "amount": {amount}, "height": 102{more}}}]}}"#
        ))
    }

    #[test]
    fn a_scan_tells_sats_exactly_and_leaves_out_what_is_not_ripe() {
        let one = scan("0.00050001", "").unwrap();
        let [one] = &*one else { panic!("{one:?}") };
        assert_eq!(
            (one.sats, one.program, one.place.output),
            (50_001, [7; 20], 2)
        );
        assert_eq!(hex::encode(one.place.transaction), HASH);
        assert_eq!(
            scan("20999999.97690000", "").unwrap()[0].sats,
            2_099_999_997_690_000
        );
        // 99 blocks lie on it, its own included.
        assert!(
            scan("50.00000000", r#", "coinbase": true"#)
                .unwrap()
                .is_empty()
        );
        for amount in ["-0.1", "0.000000001", "\"1\"", "1e-3", "null"] {
            assert_eq!(scan(amount, ""), Err(DecodeError::Shape), "{amount}");
        }
        let failed = scanned(r#"{"success": false, "height": 1, "unspents": []}"#);
        assert_eq!(failed, Err(DecodeError::Shape));
    }

    #[test]
    fn a_provider_tells_of_what_is_in_blocks() {
        let page = format!(
            r#"[{{"txid": "{HASH}", "vout": 0, "value": 7, "status": {{"confirmed": true, "block_height": 3}}}},
                {{"txid": "{HASH}", "vout": 1, "value": 8, "status": {{"confirmed": false}}}}]"#
        );
        let told = told(&[7; 20], page.as_bytes()).unwrap();
        let told: Vec<(u64, i64)> = told.iter().map(|it| (it.sats, it.height)).collect();
        assert_eq!(told, [(7, 3)]);
    }

    #[test]
    fn fee_rates_are_read_from_both_and_nothing_where_nobody_can_say() {
        let of_node = |text: &str| estimated(text).unwrap();
        assert_eq!(
            of_node(r#"{"feerate": 0.00002345, "blocks": 6}"#),
            Some(2_345)
        );
        assert_eq!(
            of_node(r#"{"errors": ["Insufficient data"], "blocks": 6}"#),
            None
        );
        let of_provider = |text: &str| estimated_for(6, text.as_bytes()).unwrap();
        assert_eq!(of_provider(r#"{"5": 9.1, "6": 2.34567}"#), Some(2_345));
        assert_eq!(of_provider(r#"{"6": 3}"#), Some(3_000));
        assert_eq!(of_provider("{}"), None);
        assert!(estimated_for(6, br#"{"6": 1e99}"#).is_err());
    }
}
