//! A mempool that changes: ten thousand transactions, of which a hundred pay us, and a thousand replacements. How long a look
//! takes that finds so many changes, and how much memory the mempool holds. The node is a script in this process, so the
//! figures are what Till itself costs, with a connection on this machine.
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what this program is for"
)]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};
use till_chains::bitcoin::transaction::transaction;
use till_chains::rpc::{self, RpcClient};
use till_core::time::Clock;
use till_watch::{EndpointSettings, Mempool, Pool, Watching};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";
const TRANSACTIONS: u32 = 10_000;
const REPLACED: u32 = 1_000;
/// One in so many pays us.
const OURS: u32 = 100;

/// The bytes of what waits, by hash.
type Waiting = Arc<Mutex<HashMap<String, String>>>;

/// It stands still: no look is too long, and none waits for the rest after the one before.
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic_us(&self) -> u64 {
        7
    }
}

/// A transaction that spends the output of this number, and pays a sum to us or to somebody else.
fn bytes(number: u32, sats: u64) -> String {
    let recipient = match number % OURS {
        0 => "07",
        _ => "08",
    };
    let spent = hex(&[number.to_be_bytes().to_vec(), vec![9; 28]].concat());
    let (sats, program) = (hex(&sats.to_le_bytes()), recipient.repeat(20));
    format!("0200000001{spent}0000000000ffffffff01{sats}160014{program}00000000")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(bytes: &str) -> String {
    hex(&transaction(bytes).unwrap().hash)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    figure.unwrap_or_default()
}

#[tokio::main]
async fn main() {
    let waiting = Waiting::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(listen(listener, Arc::clone(&waiting)));
    let endpoints = EndpointSettings {
        of: vec![rpc::Endpoint::parse(&url).unwrap()],
        quorum: None,
    };
    let all = BTreeMap::from([(REGTEST.to_owned(), endpoints)]);
    let watching = Watching::once(all, RpcClient::new().unwrap());
    let net = &watching.networks[0];
    net.set.insert(&[[7; 20]]);
    net.endpoints[0].mark_identified(0);
    let pool = Pool::all(&watching, &Still).next().unwrap();
    let before = resident_kib();
    let mut mempool = Mempool::default();
    for number in 0..TRANSACTIONS {
        let it = bytes(number, 1_000);
        waiting.lock().unwrap().insert(hash(&it), it);
    }
    look("fill", &mut mempool, pool, TRANSACTIONS).await;
    for number in 0..REPLACED {
        let mut waiting = waiting.lock().unwrap();
        waiting.remove(&hash(&bytes(number, 1_000)));
        let it = bytes(number, 2_000);
        waiting.insert(hash(&it), it);
    }
    look("replace", &mut mempool, pool, REPLACED).await;
    look("nothing new", &mut mempool, pool, 1).await;
    println!(
        "memory  {} KiB more than before",
        resident_kib().saturating_sub(before)
    );
}

async fn look(what: &str, mempool: &mut Mempool, pool: Pool<'_>, changes: u32) {
    let began = Instant::now();
    mempool.look(pool, &[]).await;
    let recipients = mempool.unchecked();
    mempool.retain_ours(&recipients);
    let news = mempool.changes(&[0x11; 32].into());
    mempool.are_written(&news.transfers, &news.dropped);
    let took = began.elapsed();
    let (each, took) = (took.as_micros() / u128::from(changes), took.as_millis());
    let (shown, dropped) = (news.transfers.len(), news.dropped.len());
    println!("{what}: {took} ms, {each} µs per change; {shown} shown, {dropped} dropped");
}

async fn listen(listener: TcpListener, waiting: Waiting) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream, Arc::clone(&waiting)));
    }
}

async fn serve(mut stream: TcpStream, waiting: Waiting) {
    while let Some(question) = read(&mut stream).await {
        let result = answer(&waiting, &question);
        let body = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut all = Vec::new();
    loop {
        if let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n")
            && let Ok(question) = serde_json::from_slice(&all[end + 4..])
        {
            return Some(question);
        }
        match stream.read_buf(&mut all).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

fn answer(waiting: &Waiting, question: &Value) -> Value {
    let waiting = waiting.lock().unwrap();
    match question["method"].as_str().unwrap() {
        "getrawmempool" => json!(waiting.keys().collect::<Vec<_>>()),
        "getblockchaininfo" => json!({ "blocks": 5, "bestblockhash": "11".repeat(32) }),
        "getrawtransaction" => json!(waiting.get(question["params"][0].as_str().unwrap())),
        "gettxout" => json!({ "scriptPubKey": { "hex": format!("0014{}", "05".repeat(20)) } }),
        _ => Value::Null,
    }
}
