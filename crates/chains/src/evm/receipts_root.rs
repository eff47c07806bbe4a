//! Whether receipts are all that a block has: its head names the root of the tree that they make up, so that not one log can
//! be left out. Nodes give them by `eth_getBlockReceipts`, where they can be asked so.

use alloy_primitives::keccak256;
use serde::Deserialize;

use super::words::{DecodeError, any_bytes, bytes, quantity};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawReceipt {
    #[serde(rename = "type")]
    kind: Option<String>,
    status: String,
    cumulative_gas_used: String,
    logs_bloom: String,
    logs: Vec<RawLog>,
    transaction_index: String,
    /// Of what an OP network takes over from the one below it.
    deposit_nonce: Option<String>,
    deposit_receipt_version: Option<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct RawLog {
    address: String,
    topics: Vec<String>,
    data: String,
    log_index: String,
    #[serde(default)]
    removed: bool,
}

/// Kinds whose bytes are known: the first without a number, access lists, fees, blobs, delegations.
const KINDS: [u64; 5] = [0, 1, 2, 3, 4];
const DEPOSIT: u64 = 0x7e;

/// The root of the receipts in the result of `eth_getBlockReceipts`. None where one is of a kind that is not known here:
/// networks have their own.
pub fn receipts_root(result: &str) -> Result<Option<[u8; 32]>, DecodeError> {
    let raw: Vec<RawReceipt> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let mut items = Vec::with_capacity(raw.len());
    for (place, receipt) in raw.iter().enumerate() {
        if quantity(&receipt.transaction_index)? != place as u64 {
            return Err(DecodeError::Contradiction);
        }
        let kind = quantity(receipt.kind.as_deref().unwrap_or("0x0"))?;
        if !KINDS.contains(&kind) && kind != DEPOSIT {
            return Ok(None);
        }
        let key = nibbles(&number(place as u64));
        items.push((key, encoded(receipt, kind)?));
    }
    items.sort();
    Ok(Some(root(&items)))
}

fn encoded(receipt: &RawReceipt, kind: u64) -> Result<Vec<u8>, DecodeError> {
    let mut logs = Vec::new();
    let mut known: Vec<&RawLog> = Vec::new();
    for log in receipt.logs.iter().filter(|log| !log.removed) {
        // What is there twice counts once.
        if known.contains(&log) {
            continue;
        }
        known.push(log);
        let mut topics = Vec::new();
        for topic in &log.topics {
            topics.extend(string(&bytes::<32>(topic)?));
        }
        let address = string(&bytes::<20>(&log.address)?);
        let data = string(&any_bytes(&log.data)?);
        logs.extend(list(&[address, list(&topics), data].concat()));
    }
    let mut fields = number(quantity(&receipt.status)?);
    fields.extend(number(quantity(&receipt.cumulative_gas_used)?));
    fields.extend(string(&bytes::<256>(&receipt.logs_bloom)?));
    fields.extend(list(&logs));
    // Nodes tell the nonce of older ones, too, and the root has it from the first version on.
    if kind == DEPOSIT
        && let Some(version) = &receipt.deposit_receipt_version
    {
        let nonce = receipt.deposit_nonce.as_ref().ok_or(DecodeError::Shape)?;
        fields.extend(number(quantity(nonce)?));
        fields.extend(number(quantity(version)?));
    }
    let mut receipt = list(&fields);
    if let Ok(kind @ 1..) = u8::try_from(kind) {
        receipt.insert(0, kind);
    }
    Ok(receipt)
}

/// A string of bytes in RLP.
fn string(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [byte @ ..0x80] => vec![*byte],
        _ => headed(0x80, bytes),
    }
}

fn list(content: &[u8]) -> Vec<u8> {
    headed(0xc0, content)
}

fn number(value: u64) -> Vec<u8> {
    string(significant(&value.to_be_bytes()))
}

fn significant(bytes: &[u8]) -> &[u8] {
    let first = bytes.iter().position(|byte| *byte != 0);
    first.map_or(&[], |first| &bytes[first..])
}

/// What follows a head that says how long it is: in one byte up to 55, and beyond it the length of the length first.
fn headed(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_be_bytes();
    let length = significant(&length);
    let mut all = match (length, content.len()) {
        ([], _) => vec![kind],
        ([length], ..=55) => vec![kind + length],
        // A length has at most eight bytes.
        (length, _) => [
            &[kind + 55 + u8::try_from(length.len()).unwrap_or(8)],
            length,
        ]
        .concat(),
    };
    all.extend(content);
    all
}

fn nibbles(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0xf])
        .collect()
}

type Item = (Vec<u8>, Vec<u8>);

/// The root of the tree of these, which are sorted by their paths.
fn root(items: &[Item]) -> [u8; 32] {
    match items.is_empty() {
        true => keccak256(string(&[])).0,
        false => keccak256(node(items, 0)).0,
    }
}

/// No path goes on where another ends: they are numbers in RLP.
fn node(items: &[Item], depth: usize) -> Vec<u8> {
    let [(first, _), .., (last, _)] = items else {
        let [(path, value)] = items else {
            return string(&[]);
        };
        return list(&[path_of(&path[depth..], true), string(value)].concat());
    };
    let shared = first[depth..].iter().zip(&last[depth..]);
    let shared = shared.take_while(|(a, b)| a == b).count();
    if shared > 0 {
        let path = path_of(&first[depth..depth + shared], false);
        return list(&[path, reference(items, depth + shared)].concat());
    }
    let mut children = Vec::new();
    for nibble in 0..16 {
        let from = items.partition_point(|(path, _)| path[depth] < nibble);
        let to = items.partition_point(|(path, _)| path[depth] <= nibble);
        children.extend(reference(&items[from..to], depth + 1));
    }
    children.extend(string(&[]));
    list(&children)
}

/// What is short stands for itself, and the rest is named by its hash.
fn reference(items: &[Item], depth: usize) -> Vec<u8> {
    if items.is_empty() {
        return string(&[]);
    }
    let node = node(items, depth);
    match node.len() < 32 {
        true => node,
        false => string(keccak256(node).as_slice()),
    }
}

/// A part of a path with a first digit that says whether it is odd, and whether anything follows.
fn path_of(path: &[u8], is_last: bool) -> Vec<u8> {
    let flag = if is_last { 2 } else { 0 };
    let mut digits = match path.len() % 2 {
        1 => vec![flag + 1],
        _ => vec![flag, 0],
    };
    digits.extend(path);
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    string(&bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn recorded(text: &str) -> Value {
        let mut answer: Value = serde_json::from_str(text).unwrap();
        answer["result"].take()
    }

    #[test]
    fn a_block_names_the_root_of_its_receipts_and_of_no_others() {
        let block = recorded(include_str!("../../tests/fixtures/evm_block.json"));
        let receipts = recorded(include_str!("../../tests/fixtures/evm_block_receipts.json"));
        let named = bytes::<32>(block["receiptsRoot"].as_str().unwrap()).unwrap();
        assert_eq!(receipts_root(&receipts.to_string()), Ok(Some(named)));

        let mut fewer = receipts.clone();
        fewer[1]["logs"].as_array_mut().unwrap().pop();
        assert_ne!(receipts_root(&fewer.to_string()), Ok(Some(named)));
        let mut other = receipts.clone();
        other[0]["status"] = "0x0".into();
        assert_ne!(receipts_root(&other.to_string()), Ok(Some(named)));
        let mut missing = receipts.clone();
        missing.as_array_mut().unwrap().remove(2);
        assert_eq!(
            receipts_root(&missing.to_string()),
            Err(DecodeError::Contradiction)
        );
        let mut more = receipts.clone();
        let logs = more[1]["logs"].as_array_mut().unwrap();
        let mut removed = logs[0].clone();
        removed["removed"] = true.into();
        removed["logIndex"] = "0x77".into();
        logs.extend([logs[0].clone(), removed]);
        assert_eq!(receipts_root(&more.to_string()), Ok(Some(named)));
        let mut unknown = receipts;
        unknown[0]["type"] = "0x6a".into();
        assert_eq!(receipts_root(&unknown.to_string()), Ok(None));
    }

    #[test]
    fn a_deposits_nonce_is_in_the_root_where_it_has_a_version() {
        let receipts = recorded(include_str!("../../tests/fixtures/evm_block_receipts.json"));
        let root = |nonce: Option<&str>, version: Option<&str>| {
            let mut deposit = receipts[0].clone();
            deposit["type"] = "0x7e".into();
            deposit["depositNonce"] = nonce.into();
            deposit["depositReceiptVersion"] = version.into();
            receipts_root(&Value::from(vec![deposit]).to_string())
        };
        let old = root(None, None).unwrap().unwrap();
        assert_eq!(root(Some("0x3d3b7f"), None), Ok(Some(old)));
        assert_ne!(root(Some("0x3d3b7f"), Some("0x1")), Ok(Some(old)));
        assert_eq!(root(None, Some("0x1")), Err(DecodeError::Shape));
    }

    // The empty tree, and `singleItem` of Ethereum's own tests of trees.
    #[test]
    fn the_tree_is_ethereums() {
        let empty = "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
        assert_eq!(hex::encode(root(&[])), empty);
        let single = (nibbles(b"A"), "a".repeat(50).into_bytes());
        let expected = "d23786fb4a010da3ce639d66d5e904a11dbc02746d1ce25029e53290cabf28ab";
        assert_eq!(hex::encode(root(&[single])), expected);
    }
}
