//! An endpoint in front of a node that passes everything on, until it is told to be a bad one.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Client;
use crate::node::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Honest,
    /// No log is ever there.
    Omits,
    /// The head counts as final.
    FinalAtOnce,
    /// It stays where it was told to.
    StandsAt(i64),
    Garbage,
    /// It takes questions and never answers.
    Hangs,
    /// The same where contracts are called, and nowhere else.
    HangsOnCalls,
    /// It answers everything, after so many milliseconds.
    Late(u64),
    /// Logs of so many blocks at a time and of no more.
    Narrow(i64),
    /// Nothing is known of the logs up to there.
    Forgot(i64),
    /// More logs than so many in one answer are refused.
    Capped(usize),
    /// More questions than so many at once are refused.
    Busy(usize),
    /// More questions than so many in a second are refused.
    Seldom(usize),
    /// The same, as TRON's nodes say it.
    SeldomOnTron(usize),
    /// What TRON's nodes refuse or leave empty.
    Tron,
}

/// What is said instead of the result that the node behind gives, if anything is: asked with method and parameters, it
/// may ask the node what it likes.
pub type Lie = Arc<dyn Fn(&str, &Value, &Asked<'_>) -> Option<Value> + Send + Sync>;

/// The node behind, asked for a method with parameters: its result.
pub type Asked<'n> = dyn Fn(&str, Value) -> Value + 'n;

pub struct Proxy {
    pub url: String,
    manner: Arc<Mutex<Manner>>,
    lie: Arc<Mutex<Option<Lie>>>,
}

impl Proxy {
    pub fn before(node: &Node) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let manner = Arc::new(Mutex::new(Manner::Honest));
        let behind = Client::new(node.url.trim_start_matches("http://"), "");
        let lie: Arc<Mutex<Option<Lie>>> = Arc::default();
        let (shared, lies) = (Arc::clone(&manner), Arc::clone(&lie));
        let asked: Arc<Questions> = Arc::default();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (behind, manner) = (behind.clone(), Arc::clone(&shared));
                let (lie, asked) = (Arc::clone(&lies), Arc::clone(&asked));
                thread::spawn(move || serve(stream, &behind, (&manner, &lie), &asked));
            }
        });
        Proxy { url, manner, lie }
    }

    /// From now on it says this, where it says anything.
    pub fn tells(&self, lie: Lie) {
        *self.lie.lock().expect("not poisoned") = Some(lie);
    }

    pub fn tells_the_truth(&self) {
        *self.lie.lock().expect("not poisoned") = None;
    }

    pub fn becomes(&self, manner: Manner) {
        *self.manner.lock().expect("not poisoned") = manner;
    }
}

/// What was asked: right now, and within the last second.
#[derive(Default)]
struct Questions {
    at_once: AtomicUsize,
    lately: Mutex<Vec<Instant>>,
}

impl Questions {
    #[expect(
        clippy::disallowed_methods,
        reason = "a provider's limit goes by the real clock"
    )]
    fn is_too_often(&self, most: usize) -> bool {
        let mut lately = self.lately.lock().expect("not poisoned");
        lately.retain(|at| at.elapsed() < Duration::from_secs(1));
        if lately.len() >= most {
            return true;
        }
        lately.push(Instant::now());
        false
    }
}

fn hangs(manner: Manner, question: &Value) -> bool {
    match manner {
        Manner::Hangs => true,
        Manner::HangsOnCalls => question["method"] == "eth_call",
        _ => false,
    }
}

/// Answers every question of a connection until it is closed.
#[expect(
    clippy::disallowed_methods,
    reason = "an endpoint that is late is late by the real clock"
)]
fn serve(
    mut stream: TcpStream,
    behind: &Client,
    (manner, lie): (&Mutex<Manner>, &Mutex<Option<Lie>>),
    asked: &Questions,
) {
    while let Some(question) = read(&mut stream) {
        let manner = *manner.lock().expect("not poisoned");
        let lie = lie.lock().expect("not poisoned").clone();
        let before = asked.at_once.fetch_add(1, Ordering::SeqCst);
        let mut status = "200 OK";
        let body = match manner {
            Manner::Seldom(most) if asked.is_too_often(most) => {
                status = "429 Too Many Requests";
                String::new()
            }
            Manner::SeldomOnTron(most) if asked.is_too_often(most) => {
                let why = "class org.tron.core.services.http.RateLimiterServlet : lack of computing resources";
                json!({ "Error": why }).to_string()
            }
            Manner::Busy(most) if before >= most => refusal(&question["id"], -32_005).to_string(),
            manner if hangs(manner, &question) => {
                // Until the other side gives up.
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).ok();
                return;
            }
            Manner::Late(ms) => {
                thread::sleep(Duration::from_millis(ms));
                answer(behind, manner, question).to_string()
            }
            Manner::Garbage => "<html>Bad gateway</html>".to_owned(),
            manner => match lie.and_then(|lie| told(behind, &lie, &question)) {
                Some(lie) => lie.to_string(),
                None => answer(behind, manner, question).to_string(),
            },
        };
        asked.at_once.fetch_sub(1, Ordering::SeqCst);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n");
        if stream
            .write_all(format!("{head}{body}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut all = Vec::new();
    let mut piece = [0; 65_536];
    loop {
        let end = all.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
            let length = head.split("content-length:").nth(1)?.lines().next()?;
            let length: usize = length.trim().parse().ok()?;
            if all.len() >= end + 4 + length {
                return serde_json::from_slice(&all[end + 4..end + 4 + length]).ok();
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => all.extend_from_slice(&piece[..read]),
        }
    }
}

/// The heights that logs are asked for, where they are asked for by height.
fn range(filter: &Value) -> Option<(i64, i64)> {
    let number = |name: &str| {
        let digits = filter[name].as_str()?.trim_start_matches("0x");
        i64::from_str_radix(digits, 16).ok()
    };
    Some((number("fromBlock")?, number("toBlock")?))
}

/// And the height of the block, where they are asked for by its hash.
fn height_of(behind: &Client, filter: &Value) -> Option<i64> {
    let params = json!([filter["blockHash"], false]);
    let question =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByHash", "params": params });
    let block = behind.post("/", "", &question).expect("a node").json();
    let number = block["result"]["number"].as_str()?;
    i64::from_str_radix(number.trim_start_matches("0x"), 16).ok()
}

fn told(behind: &Client, lie: &Lie, question: &Value) -> Option<Value> {
    let ask = |method: &str, params: Value| {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        behind.post("/", "", &question).expect("a node").json()["result"].take()
    };
    let method = question["method"].as_str()?;
    let result = lie(method, &question["params"], &ask)?;
    Some(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }))
}

fn refusal(id: &Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } })
}

fn answer(behind: &Client, manner: Manner, mut question: Value) -> Value {
    let id = question["id"].clone();
    let method = question["method"].as_str().unwrap_or_default().to_owned();
    let tag = question["params"][0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let refused = |code: i64| refusal(&id, code);
    let about_blocks = method == "eth_getBlockByNumber";
    match manner {
        Manner::Omits if method == "eth_getLogs" => {
            return json!({ "jsonrpc": "2.0", "id": id, "result": [] });
        }
        Manner::FinalAtOnce if about_blocks && tag == "finalized" => {
            question["params"][0] = json!("latest");
        }
        Manner::StandsAt(height) if about_blocks => {
            let asked = i64::from_str_radix(tag.trim_start_matches("0x"), 16);
            match asked {
                Ok(asked) if asked > height => {
                    return json!({ "jsonrpc": "2.0", "id": id, "result": null });
                }
                Ok(_) => {}
                Err(_) => question["params"][0] = json!(format!("0x{height:x}")),
            }
        }
        Manner::Narrow(blocks) if method == "eth_getLogs" => {
            let (from, to) = range(&question["params"][0]).unwrap_or_default();
            if to - from >= blocks {
                return refused(-32_005);
            }
        }
        Manner::Forgot(height) if method == "eth_getLogs" => {
            let from = range(&question["params"][0]).map(|(from, _)| from);
            if from.or_else(|| height_of(behind, &question["params"][0])) <= Some(height) {
                return refused(-32_000);
            }
        }
        Manner::Tron if tag == "safe" || tag == "pending" => return refused(-32_602),
        Manner::Tron if method == "eth_getBlockReceipts" => return refused(-32_601),
        _ => {}
    }
    let mut told = behind.post("/", "", &question).expect("a node").json();
    if let (Manner::Capped(most), "eth_getLogs") = (manner, &*method)
        && told["result"]
            .as_array()
            .is_some_and(|logs| logs.len() > most)
    {
        return refused(-32_005);
    }
    if manner == Manner::Tron && told["result"]["stateRoot"].is_string() {
        told["result"]["stateRoot"] = json!("0x");
        told["result"]["logsBloom"] = json!(format!("0x{}", "00".repeat(256)));
    }
    told
}
