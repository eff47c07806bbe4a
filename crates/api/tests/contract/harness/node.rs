//! A node that knows the transactions it is told of, and misbehaves as it is told to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// Among what a node knows: its first block.
const GENESIS: &str = "genesis";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Answers,
    /// Takes the question and says nothing.
    Hangs,
    /// Answers with a web page.
    Page,
}

#[derive(Clone)]
pub struct Node {
    url: String,
    receipts: Arc<Mutex<HashMap<String, Value>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// Addresses that every register names, as hex digits.
    named: Arc<Mutex<Vec<String>>>,
    is_broken: Arc<AtomicBool>,
}

impl Node {
    pub async fn start(chain_id: u64, mood: Mood) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let node = Node {
            url: format!("http://{address}/v2/secret-of-the-operator"),
            receipts: Arc::default(),
            asked: Arc::default(),
            named: Arc::default(),
            is_broken: Arc::default(),
        };
        let own = node.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let node = own.clone();
                tokio::spawn(async move { node.serve(stream, chain_id, mood).await });
            }
        });
        node
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// A transaction with transfers as contract, sender, recipient (20 bytes of hex each) and units.
    pub fn knows(&self, hash: &str, transfers: &[(&str, &str, &str, u128)]) {
        let word = |address: &str| format!("0x{address:0>64}");
        let log = |(index, (contract, from, to, units)): (usize, &(&str, &str, &str, u128))| {
            json!({
                "address": format!("0x{contract}"),
                "topics": [TRANSFER, word(from), word(to)],
                "data": format!("0x{units:064x}"),
                "logIndex": format!("0x{index:x}"),
                "transactionHash": hash,
            })
        };
        let logs: Vec<Value> = transfers.iter().enumerate().map(log).collect();
        let receipt = json!({
            "transactionHash": hash, "blockHash": format!("0x{}", "bb".repeat(32)),
            "blockNumber": "0x7", "status": "0x1", "logs": logs,
        });
        self.receipts
            .lock()
            .unwrap()
            .insert(hash.to_owned(), receipt);
    }

    /// A transaction in the words of its own chain.
    pub fn knows_result(&self, hash: &str, result: Value) {
        let mut known = self.receipts.lock().unwrap();
        known.insert(hash.to_owned(), result);
    }

    /// A cluster of Solana says which it is by the hash of its first block.
    pub fn begins_with(&self, genesis: &str) {
        self.knows_result(GENESIS, json!(genesis));
    }

    /// The block that had it is gone.
    pub fn forgets(&self, hash: &str) {
        self.receipts.lock().unwrap().remove(hash);
    }

    /// From now on every register on its chain names this address.
    pub fn names(&self, address: &str) {
        let digits = address.trim_start_matches("0x").to_lowercase();
        self.named.lock().unwrap().push(digits);
    }

    /// Whether it answers with a web page from now on.
    pub fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    /// The methods it was asked since the last time.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    async fn serve(&self, mut stream: TcpStream, chain_id: u64, mood: Mood) {
        let mut said = Vec::new();
        let question: Value = loop {
            let mut piece = [0; 4096];
            let read = stream.read(&mut piece).await.unwrap_or(0);
            if read == 0 {
                return;
            }
            said.extend_from_slice(&piece[..read]);
            let body = said.windows(4).position(|four| four == b"\r\n\r\n");
            let body = body.map(|at| serde_json::from_slice(&said[at + 4..]));
            if let Some(Ok(question)) = body {
                break question;
            }
        };
        let method = question["method"].as_str().unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push(method.clone());
        let result = match &*method {
            "eth_chainId" => json!(format!("0x{chain_id:x}")),
            "eth_call" => {
                let data = question["params"][0]["data"].as_str().unwrap_or_default();
                let named = self.named.lock().unwrap();
                let is_named = named.iter().any(|digits| data.ends_with(digits.as_str()));
                json!(format!("0x{:064x}", u8::from(is_named)))
            }
            "getGenesisHash" => {
                let known = self.receipts.lock().unwrap().get(GENESIS).cloned();
                known.unwrap_or_default()
            }
            _ => {
                let hash = question["params"][0].as_str().unwrap_or_default();
                let known = self.receipts.lock().unwrap().get(hash).cloned();
                known.unwrap_or_default()
            }
        };
        let mood = match self.is_broken.load(Ordering::SeqCst) {
            true => Mood::Page,
            false => mood,
        };
        let body = match mood {
            Mood::Answers => {
                json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string()
            }
            Mood::Page => "<html>Bad gateway</html>".to_owned(),
            Mood::Hangs => return drop(stream.read(&mut [0]).await),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.ok();
    }
}
