//! What endpoints say that is not so.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::Client;
use crate::node::Node;
use crate::proxy::{Asked, Lie};

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/// A transaction that nobody ever sent.
pub const INVENTED: &str = "0xabababababababababababababababababababababababababababababababab";

fn word(address: &str) -> String {
    format!("0x{:0>64}", address.trim_start_matches("0x"))
}

/// Every register names everybody.
pub fn names_everybody() -> Lie {
    Arc::new(|method: &str, params: &Value, _: &Asked<'_>| {
        let data = params[0]["data"].as_str().unwrap_or_default();
        let is_question = method == "eth_call" && data.starts_with("0xfe575a87");
        is_question.then(|| json!(format!("0x{:064x}", 1)))
    })
}

/// And no register anybody.
pub fn names_nobody() -> Lie {
    answers_calls("0xfe575a87", 0)
}

/// Every balance is the same, before a transfer and after it.
pub fn keeps_balances() -> Lie {
    answers_calls("0x70a08231", 77_000_000)
}

/// No contract can be called.
pub fn answers_no_calls() -> Lie {
    Arc::new(|method: &str, _: &Value, _: &Asked<'_>| (method == "eth_call").then(|| json!("0x")))
}

fn answers_calls(selector: &'static str, answer: u128) -> Lie {
    Arc::new(move |method: &str, params: &Value, _: &Asked<'_>| {
        let data = params[0]["data"].as_str().unwrap_or_default();
        let is_question = method == "eth_call" && data.starts_with(selector);
        is_question.then(|| json!(format!("0x{answer:064x}")))
    })
}

/// Behind its address is a node of another chain.
pub fn is_another(node: &Node) -> Lie {
    let other = Client::new(node.url.trim_start_matches("http://"), "");
    Arc::new(move |method: &str, params: &Value, _: &Asked<'_>| {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut told = other.post("/", "", &question).expect("a node").json();
        Some(told["result"].take())
    })
}

/// It does not say which chain it is on.
pub fn names_no_chain() -> Lie {
    Arc::new(|method: &str, _: &Value, _: &Asked<'_>| {
        (method == "eth_chainId").then_some(json!({}))
    })
}

/// The last block is the last that there are numbers for, and was made when no calendar goes.
pub fn is_beyond_all_numbers() -> Lie {
    Arc::new(|method: &str, params: &Value, ask: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber" && params[0] == "latest";
        let mut block = is_question.then(|| ask(method, params.clone()))?;
        block["number"] = json!(format!("0x{:x}", i64::MAX));
        block["timestamp"] = json!("0x3afff44180");
        Some(block)
    })
}

/// Blocks at these heights are not there, when they are asked for by their heights; the others are.
pub fn lacks(heights: Range<i64>) -> Lie {
    Arc::new(move |method: &str, params: &Value, _: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber";
        let height = number(&params[0]).filter(|_| is_question)?;
        heights.contains(&height).then_some(Value::Null)
    })
}

/// Of the logs that are asked for, those to one address are left out, each time.
pub fn leaves_out(address: &str) -> Lie {
    let word = json!(word(&address.to_lowercase()));
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let mut logs = (method == "eth_getLogs").then(|| ask(method, params.clone()))?;
        logs.as_array_mut()?.retain(|log| log["topics"][2] != word);
        Some(logs)
    })
}

/// Nothing was ever moved to one address, whichever way it is asked.
pub fn denies(address: &str) -> Lie {
    let word = json!(word(&address.to_lowercase()));
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let is_it = |log: &Value| log["topics"][2] == word;
        let forget = |logs: &mut Value| {
            if let Some(logs) = logs.as_array_mut() {
                logs.retain(|log| !is_it(log));
            }
        };
        let mut result = ask(method, params.clone());
        match method {
            "eth_getLogs" => forget(&mut result),
            "eth_getTransactionReceipt" => {
                let mut logs = result["logs"].as_array()?.iter();
                return logs.any(is_it).then_some(Value::Null);
            }
            "eth_getBlockReceipts" => {
                let receipts = result.as_array_mut()?.iter_mut();
                receipts.for_each(|receipt| forget(&mut receipt["logs"]));
            }
            _ => return None,
        }
        Some(result)
    })
}

/// Every transaction has another hash, with the same receipt, whichever way it is asked. `hides` leaves the logs themselves out.
pub fn renames(hides: bool) -> Lie {
    let renamed = |hash: &str| format!("0x{}{}", &hash[4..], &hash[2..4]);
    let real = |hash: &str| format!("0x{}{}", &hash[64..], &hash[2..64]);
    let rename = move |it: &mut Value| {
        if let Some(hash) = it["transactionHash"].as_str() {
            it["transactionHash"] = json!(renamed(hash));
        }
    };
    let rename_receipt = move |receipt: &mut Value| {
        rename(receipt);
        for log in receipt["logs"].as_array_mut().into_iter().flatten() {
            rename(log);
        }
    };
    Arc::new(
        move |method: &str, params: &Value, ask: &Asked<'_>| match method {
            "eth_getLogs" if hides => Some(json!([])),
            "eth_getLogs" => {
                let mut logs = ask(method, params.clone());
                logs.as_array_mut()?.iter_mut().for_each(rename);
                Some(logs)
            }
            "eth_getTransactionReceipt" if hides => Some(Value::Null),
            "eth_getTransactionReceipt" => {
                let mut receipt = ask(method, json!([real(params[0].as_str()?)]));
                rename_receipt(&mut receipt);
                Some(receipt)
            }
            "eth_getBlockReceipts" => {
                let mut receipts = ask(method, params.clone());
                receipts.as_array_mut()?.iter_mut().for_each(rename_receipt);
                Some(receipts)
            }
            _ => None,
        },
    )
}

/// Every log is there twice, and once more as one that was removed from the chain.
pub fn repeats_logs_and_adds_removed_ones() -> Lie {
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let repeat = |logs: &mut Value| {
            let Some(logs) = logs.as_array_mut() else {
                return;
            };
            let mut removed = logs.clone();
            for log in &mut removed {
                log["removed"] = json!(true);
                log["logIndex"] = json!("0x777");
            }
            logs.extend(logs.clone());
            logs.extend(removed);
        };
        let mut result = ask(method, params.clone());
        match method {
            "eth_getLogs" => repeat(&mut result),
            "eth_getTransactionReceipt" => repeat(&mut result["logs"]),
            "eth_getBlockReceipts" => {
                let receipts = result.as_array_mut()?.iter_mut();
                receipts.for_each(|receipt| repeat(&mut receipt["logs"]));
            }
            _ => return None,
        }
        Some(result)
    })
}

/// The first question to a register is answered with nothing.
pub fn registers_falter_once() -> Lie {
    let was_asked = AtomicBool::new(false);
    Arc::new(move |method: &str, params: &Value, _: &Asked<'_>| {
        let data = params[0]["data"].as_str().unwrap_or_default();
        let is_question = method == "eth_call" && data.starts_with("0xfe575a87");
        let is_first = is_question && !was_asked.swap(true, Ordering::Relaxed);
        is_first.then(|| json!("0x"))
    })
}

/// The first receipt that is asked for is not there.
pub fn lacks_receipts_once() -> Lie {
    let was_asked = AtomicBool::new(false);
    Arc::new(move |method: &str, _: &Value, _: &Asked<'_>| {
        let is_receipt = method == "eth_getTransactionReceipt";
        let is_first = is_receipt && !was_asked.swap(true, Ordering::Relaxed);
        is_first.then_some(Value::Null)
    })
}

/// Whatever logs are asked for, one of another block is with them.
pub fn mixes_blocks(node: &Node, asset: &str) -> Lie {
    let (contract, word) = (node.contract(asset), word(&node.payer()));
    let hash = format!("0x{}", "cd".repeat(32));
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let mut logs = (method == "eth_getLogs").then(|| ask(method, params.clone()))?;
        logs.as_array_mut()?.push(json!({
            "address": contract, "topics": [TRANSFER, word, word], "data": format!("0x{:064x}", 1),
            "blockNumber": "0x1", "blockHash": hash, "transactionHash": INVENTED,
            "transactionIndex": "0x0", "logIndex": "0x0", "removed": false,
        }));
        Some(logs)
    })
}

/// No block after a height is the child of the one before.
pub fn breaks_off(after: i64) -> Lie {
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber";
        number(&params[0]).filter(|height| is_question && *height > after)?;
        let mut block = ask(method, params.clone());
        if block.is_object() {
            block["parentHash"] = json!(format!("0x{}", "ee".repeat(32)));
        }
        Some(block)
    })
}

fn number(text: &Value) -> Option<i64> {
    let digits = text.as_str()?.strip_prefix("0x")?;
    i64::from_str_radix(digits, 16).ok()
}

/// A transfer to an address in the block at a height, as soon as there is one.
pub fn invents(node: &Node, height: i64, asset: &str, (to, units): (&str, u128)) -> Lie {
    let (contract, to) = (node.contract(asset), word(&node.hex(to)));
    let from = word(&node.payer());
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let block = ask(
            "eth_getBlockByNumber",
            json!([format!("0x{height:x}"), false]),
        );
        let hash = block["hash"].as_str()?;
        let log = json!({
            "address": contract, "topics": [TRANSFER, from, to], "data": format!("0x{units:064x}"),
            "blockNumber": format!("0x{height:x}"), "blockHash": hash, "transactionHash": INVENTED,
            "transactionIndex": "0x0", "logIndex": "0x0", "removed": false,
        });
        match method {
            "eth_getLogs" => {
                let filter = &params[0];
                let within = number(&filter["fromBlock"])
                    .zip(number(&filter["toBlock"]))
                    .is_some_and(|(from, to)| (from..=to).contains(&height));
                let mut logs = ask(method, params.clone());
                if within || filter["blockHash"] == hash {
                    logs.as_array_mut()?.push(log);
                }
                Some(logs)
            }
            "eth_getTransactionReceipt" if params[0] == INVENTED => Some(json!({
                "transactionHash": INVENTED, "blockHash": hash, "blockNumber": format!("0x{height:x}"),
                "status": "0x1", "logs": [log],
            })),
            _ => None,
        }
    })
}

/// A transfer to an address in every block that is asked about, in another transaction each time; where `breaks_receipts`, a
/// block's receipts are of a kind that nobody knows.
pub fn invents_anew(
    node: &Node,
    asset: &str,
    (to, units): (&str, u128),
    breaks_receipts: bool,
) -> Lie {
    let (contract, to) = (node.contract(asset), word(&node.hex(to)));
    let from = word(&node.payer());
    let made: Mutex<HashMap<String, Value>> = Mutex::default();
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let mut made = made.lock().expect("not poisoned");
        match method {
            "eth_getLogs" => {
                let filter = &params[0];
                let block = match &filter["blockHash"] {
                    Value::String(hash) => ask("eth_getBlockByHash", json!([hash, false])),
                    _ => ask("eth_getBlockByNumber", json!([filter["fromBlock"], false])),
                };
                let mut logs = ask(method, params.clone());
                let tx_hash = format!("0xab{:062x}", made.len());
                let log = json!({
                    "address": contract, "topics": [TRANSFER, from, to], "data": format!("0x{units:064x}"),
                    "blockNumber": block["number"], "blockHash": block["hash"], "transactionHash": tx_hash,
                    "transactionIndex": "0x0", "logIndex": "0x777", "removed": false,
                });
                logs.as_array_mut()?.push(log.clone());
                made.insert(tx_hash, log);
                Some(logs)
            }
            "eth_getTransactionReceipt" => {
                let log = made.get(params[0].as_str()?)?;
                Some(json!({
                    "transactionHash": params[0], "blockHash": log["blockHash"],
                    "blockNumber": log["blockNumber"], "status": "0x1", "logs": [log],
                }))
            }
            "eth_getBlockReceipts" if breaks_receipts => {
                let mut receipts = ask(method, params.clone());
                for receipt in receipts.as_array_mut()? {
                    receipt["type"] = json!("0x66");
                }
                Some(receipts)
            }
            _ => None,
        }
    })
}

/// Every transfer was sent by somebody else.
pub fn changes_senders(to: &str) -> Lie {
    let sender = word(to);
    let change = move |logs: &mut Value| {
        for log in logs.as_array_mut().into_iter().flatten() {
            log["topics"][1] = json!(sender);
        }
    };
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let mut result = ask(method, params.clone());
        match method {
            "eth_getLogs" => change(&mut result),
            "eth_getTransactionReceipt" => change(&mut result["logs"]),
            _ => return None,
        }
        Some(result)
    })
}

/// One block further than everybody, and no block has any logs.
pub fn hides_ahead() -> Lie {
    Arc::new(|method: &str, params: &Value, ask: &Asked<'_>| {
        if method == "eth_getLogs" {
            return Some(json!([]));
        }
        if method != "eth_getBlockByNumber" {
            return None;
        }
        let latest = ask(method, json!(["latest", false]));
        let next = number(&latest["number"])? + 1;
        let is_next = params[0] == "latest" || number(&params[0]) == Some(next);
        let mut block = match is_next {
            true => {
                let mut block = latest.clone();
                block["parentHash"] = latest["hash"].clone();
                block["number"] = json!(format!("0x{next:x}"));
                block["hash"] = json!(format!("0x{next:064x}"));
                block
            }
            false => ask(method, params.clone()),
        };
        if block.is_object() {
            block["logsBloom"] = json!(format!("0x{}", "00".repeat(256)));
        }
        Some(block)
    })
}

fn full_bloom() -> Value {
    json!(format!("0x{}", "ff".repeat(256)))
}

/// A transaction is in the block at a height, wherever it is.
pub fn repeats(tx_hash: &str, height: i64) -> Lie {
    let tx_hash = tx_hash.to_owned();
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let number_of = format!("0x{height:x}");
        let block = ask("eth_getBlockByNumber", json!([number_of, false]));
        let hash = block["hash"].as_str()?;
        let is_it = |it: &Value| it["number"] == number_of;
        let move_it = |it: &mut Value| {
            (it["blockHash"], it["blockNumber"]) = (json!(hash), json!(number_of));
        };
        let moved = || {
            let mut receipt = ask("eth_getTransactionReceipt", json!([tx_hash]));
            move_it(&mut receipt);
            receipt["logs"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .for_each(move_it);
            receipt
        };
        match method {
            "eth_getBlockByNumber" => {
                let mut block = Some(ask(method, params.clone())).filter(is_it)?;
                block["logsBloom"] = full_bloom();
                Some(block)
            }
            "eth_getLogs" => {
                let filter = &params[0];
                let heights = number(&filter["fromBlock"]).zip(number(&filter["toBlock"]));
                let within = heights.is_some_and(|(from, to)| (from..=to).contains(&height));
                let mut logs = ask(method, params.clone());
                if within || filter["blockHash"] == hash {
                    let more = moved()["logs"].take();
                    logs.as_array_mut()?.extend(more.as_array()?.clone());
                }
                Some(logs)
            }
            "eth_getTransactionReceipt" if params[0] == tx_hash => Some(moved()),
            _ => None,
        }
    })
}

/// The block at a height was made so many seconds earlier.
pub fn dates_back(height: i64, seconds: i64) -> Lie {
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber";
        let mut block = is_question.then(|| ask(method, params.clone()))?;
        number(&block["number"]).filter(|it| *it == height)?;
        let time = number(&block["timestamp"])? - seconds;
        block["timestamp"] = json!(format!("0x{time:x}"));
        Some(block)
    })
}

/// Every block may have any log, as far as its bloom says.
pub fn full_blooms() -> Lie {
    Arc::new(|method: &str, params: &Value, ask: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber";
        let mut block = is_question.then(|| ask(method, params.clone()))?;
        block["number"].as_str()?;
        block["logsBloom"] = full_bloom();
        Some(block)
    })
}

/// And the block at a height none.
pub fn empties_bloom(height: i64) -> Lie {
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let is_question = method == "eth_getBlockByNumber";
        let mut block = is_question.then(|| ask(method, params.clone()))?;
        number(&block["number"]).filter(|it| *it == height)?;
        block["logsBloom"] = json!(format!("0x{}", "00".repeat(256)));
        Some(block)
    })
}

/// The first transaction of every block has a log of a token.
pub fn adds_logs_of(contract: &str) -> Lie {
    let contract = contract.to_owned();
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        let hash = Some(&params[0]["blockHash"]).filter(|hash| hash.is_string())?;
        let mut logs = (method == "eth_getLogs").then(|| ask(method, params.clone()))?;
        let block = ask("eth_getBlockByHash", json!([hash, false]));
        let transaction = block["transactions"].as_array()?.first()?;
        let word = word("0x1111111111111111111111111111111111111111");
        logs.as_array_mut()?.push(json!({
            "address": contract, "topics": [TRANSFER, word, word], "data": format!("0x{:064x}", 1),
            "blockNumber": block["number"], "blockHash": hash, "transactionHash": transaction,
            "transactionIndex": "0x0", "logIndex": "0x0", "removed": false,
        }));
        Some(logs)
    })
}

/// Blocks are there, and what is in them is not told.
pub fn gives_no_logs() -> Lie {
    Arc::new(|method: &str, _: &Value, _: &Asked<'_>| {
        (method == "eth_getLogs").then(|| json!("not on this plan"))
    })
}

/// One lie, and where that says nothing another.
pub fn both(one: Lie, other: Lie) -> Lie {
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        one(method, params, ask).or_else(|| other(method, params, ask))
    })
}

/// A chain of its own from a height on, five blocks longer than everybody's, with nothing in it.
pub fn forks(from: i64) -> Lie {
    let own = |height: i64| format!("0xf0{height:062x}");
    Arc::new(move |method: &str, params: &Value, ask: &Asked<'_>| {
        if method == "eth_getLogs" && number(&params[0]["toBlock"])? >= from {
            return Some(json!([]));
        }
        if method != "eth_getBlockByNumber" {
            return None;
        }
        let top = number(&ask(method, json!(["latest", false]))["number"])? + 5;
        let height = match params[0] == "latest" {
            true => top,
            false => number(&params[0])?,
        };
        if height < from {
            return None;
        }
        if height > top {
            return Some(Value::Null);
        }
        let mut block = ask(method, json!([format!("0x{:x}", from - 1), false]));
        block["parentHash"] = match height == from {
            true => block["hash"].clone(),
            false => json!(own(height - 1)),
        };
        block["number"] = json!(format!("0x{height:x}"));
        block["hash"] = json!(own(height));
        Some(block)
    })
}
