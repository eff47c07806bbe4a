//! Endpoints in this process that say what a test has written down. A chain is drawn as a text with a letter for each block
//! from height zero on: `abcd` and `abxyz` have their first two blocks in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use till_chains::rpc::{self, RpcClient};
use till_core::chain::Block;
use till_core::time::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::endpoint::Endpoint;
use crate::pool::Pool;
use crate::settings::EndpointSettings;
use crate::watching::Watching;

pub(crate) const NETWORK: &str = "eip155:84532";

/// How a scripted endpoint behaves.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) chain: &'static str,
    pub(crate) answers_after: Duration,
    pub(crate) names_its_chain: bool,
}

impl Manner {
    pub(crate) fn of(chain: &'static str) -> Manner {
        Manner {
            chain,
            answers_after: Duration::ZERO,
            names_its_chain: true,
        }
    }
}

/// A network whose endpoints are scripted.
pub(crate) struct Scripted {
    pub(crate) watching: Watching,
    pub(crate) manners: Vec<Arc<Mutex<Manner>>>,
}

/// A clock that stands still, so that no exclusion ends.
pub(crate) struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic_us(&self) -> u64 {
        7
    }
}

impl Scripted {
    /// One endpoint for each of the chains, all of them identified.
    pub(crate) async fn of(chains: &[&'static str]) -> Scripted {
        let (mut endpoints, mut manners) = (Vec::new(), Vec::new());
        for chain in chains {
            let manner = Arc::new(Mutex::new(Manner::of(chain)));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            endpoints.push(rpc::Endpoint::parse(&url).unwrap());
            tokio::spawn(listen(listener, Arc::clone(&manner)));
            manners.push(manner);
        }
        let settings = EndpointSettings {
            of: endpoints,
            quorum: None,
        };
        let all = BTreeMap::from([(NETWORK.to_owned(), settings)]);
        let scripted = Scripted {
            watching: Watching::once(all, RpcClient::new().unwrap()),
            manners,
        };
        for endpoint in scripted.endpoints() {
            endpoint.mark_identified(0);
        }
        scripted
    }

    pub(crate) fn pool(&self) -> Pool<'_> {
        Pool::all(&self.watching, &Still).next().unwrap()
    }

    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.watching.networks[0].endpoints
    }

    pub(crate) fn change(&self, place: usize, change: impl FnOnce(&mut Manner)) {
        change(&mut self.manners[place].lock().unwrap());
    }

    /// The places of some endpoints in the operator's order.
    pub(crate) fn places<'s>(&self, endpoints: impl Iterator<Item = &'s Endpoint>) -> Vec<usize> {
        let net = &self.watching.networks[0];
        endpoints.map(|it| net.place_of(it)).collect()
    }
}

/// A drawn chain as it is kept.
pub(crate) fn window(chain: &str) -> Vec<Block> {
    let kept = |height: i64| Block {
        height,
        hash: hash(chain, height),
        parent: hash(chain, height - 1),
        time: height * 1_000,
    };
    (0..i64::try_from(chain.len()).unwrap()).map(kept).collect()
}

fn hash(chain: &str, height: i64) -> String {
    let letter = usize::try_from(height).ok().map(|at| chain.as_bytes()[at]);
    format!("0x{}", format!("{:02x}", letter.unwrap_or(b'-')).repeat(32))
}

fn block(chain: &str, height: i64) -> Value {
    json!({
        "number": format!("0x{height:x}"), "hash": hash(chain, height),
        "parentHash": hash(chain, height - 1),
        "timestamp": format!("0x{height:x}"), "logsBloom": format!("0x{}", "00".repeat(256)),
        "receiptsRoot": format!("0x{}", "00".repeat(32)), "transactions": [],
    })
}

async fn listen(listener: TcpListener, manner: Arc<Mutex<Manner>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream, Arc::clone(&manner)));
    }
}

async fn serve(mut stream: TcpStream, manner: Arc<Mutex<Manner>>) {
    while let Some(question) = read(&mut stream).await {
        let manner = manner.lock().unwrap().clone();
        tokio::time::sleep(manner.answers_after).await;
        let result = answer(&manner, &question);
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

fn answer(manner: &Manner, question: &Value) -> Value {
    let top = i64::try_from(manner.chain.len()).unwrap() - 1;
    match question["method"].as_str().unwrap() {
        "eth_chainId" if manner.names_its_chain => json!("0x14a34"),
        "eth_getBlockByNumber" => {
            let asked = question["params"][0].as_str().unwrap();
            let height = match asked.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).unwrap(),
                None if asked == "latest" => top,
                None => 0,
            };
            match height <= top {
                true => block(manner.chain, height),
                false => Value::Null,
            }
        }
        _ => json!("nothing that is an answer"),
    }
}
