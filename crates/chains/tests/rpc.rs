//! Asking nodes over real sockets, on loopback: nodes that answer, and everything else that may listen there.

use std::time::Duration;

use serde_json::{Value, json};
use till_chains::rpc::{Endpoint, RpcClient, RpcError};
use till_chains::{TxHashForm, lookup, normalise_tx_hash};
use till_core::asset::Registry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Reads one request, head and body.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap_or(0);
        all.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        if read == 0 {
            return text;
        }
    }
}

struct Node {
    address: String,
    heard: UnboundedReceiver<String>,
}

/// Answers every request with what `answer` makes of its body, and hangs up.
async fn node(answer: impl Fn(&Value) -> Vec<u8> + Send + 'static) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (say, heard) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let request = read_request(&mut stream).await;
            let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
            let reply = answer(&serde_json::from_str(body).unwrap_or_default());
            say.send(request).ok();
            stream.write_all(&reply).await.ok();
        }
    });
    Node { address, heard }
}

fn http(status: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn result(question: &Value, result: &Value) -> Vec<u8> {
    let body = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    http("200 OK", "", &body.to_string())
}

fn client() -> RpcClient {
    RpcClient::with_deadline(Duration::from_secs(10)).unwrap()
}

async fn ask(rpc: &RpcClient, url: &str) -> Result<String, RpcError> {
    let endpoint = Endpoint::parse(url).unwrap();
    let result = rpc.call(&endpoint, "eth_chainId", &json!([])).await;
    result.map(|result| result.get().to_owned())
}

/// What the client says of a node that answers so.
async fn said(answer: impl Fn(&Value) -> Vec<u8> + Send + 'static) -> String {
    let node = node(answer).await;
    let url = format!("http://{}/v2/0123456789abcdef", node.address);
    let error = ask(&client(), &url).await.unwrap_err().to_string();
    assert!(!error.contains("0123456789abcdef"), "{error}");
    error
}

#[tokio::test]
async fn a_question_is_asked_and_answered() {
    let mut node = node(|question| result(question, &json!("0x14a34"))).await;
    let url = format!("http://user:p%40ss@{}/v2/key?x=y", node.address);
    let rpc = client();
    assert_eq!(ask(&rpc, &url).await.unwrap(), "\"0x14a34\"");
    let request = node.heard.recv().await.unwrap();
    assert!(
        request.starts_with("POST /v2/key?x=y HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("\r\nauthorization: Basic dXNlcjpwQHNz\r\n"),
        "{request}"
    );
    assert!(!request.contains("accept-encoding"), "{request}");
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    assert_eq!(body, asked);
    assert_eq!(ask(&rpc, &url).await.unwrap(), "\"0x14a34\"");
    assert!(node.heard.recv().await.unwrap().contains("\"id\":2"));
}

#[tokio::test]
async fn the_answer_to_another_question_is_refused() {
    let late = |_: &Value| http("200 OK", "", r#"{"jsonrpc":"2.0","id":77,"result":"0x1"}"#);
    assert_eq!(
        said(late).await,
        "not an answer: it answers another question"
    );
}

#[tokio::test]
async fn what_is_not_json_rpc_is_refused() {
    let page = |_: &Value| http("200 OK", "", "<html>Bad gateway</html>");
    assert_eq!(said(page).await, "not an answer: it is not JSON-RPC");
    let squeezed = |_: &Value| http("200 OK", "content-encoding: gzip\r\n", "\x1f\x08garbage");
    assert_eq!(said(squeezed).await, "not an answer: it is not JSON-RPC");
    let tron = |_: &Value| http("200 OK", "", r#"{"Error":"rate limited"}"#);
    assert_eq!(said(tron).await, "asked too often: rate limited");
    let nothing = |_: &Value| Vec::new();
    assert_eq!(said(nothing).await, "connection closed before an answer");
    let noise = |_: &Value| b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec();
    assert_eq!(said(noise).await, "the answer is not HTTP/1.1");
}

#[tokio::test]
async fn a_status_is_an_error_and_a_redirect_is_not_followed() {
    let mut elsewhere = node(|question| result(question, &json!("0x1"))).await;
    let location = format!("location: http://{}/\r\n", elsewhere.address);
    let moved = move |_: &Value| http("307 Temporary Redirect", &location, "");
    assert_eq!(said(moved).await, "answered with status 307");
    assert!(elsewhere.heard.try_recv().is_err());
    let gateway = |question: &Value| {
        let body = json!({ "id": question["id"], "result": "0x1" });
        http("502 Bad Gateway", "", &body.to_string())
    };
    assert_eq!(said(gateway).await, "answered with status 502");
}

#[tokio::test]
async fn a_refusal_is_told_without_the_endpoints_key() {
    let refuse = |question: &Value| {
        let error = json!({ "code": -32005, "message": "no project\n0123456789abcdef" });
        let body = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        http("429 Too Many Requests", "", &body.to_string())
    };
    assert_eq!(said(refuse).await, "refused with -32005: no project …");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let cut = |question: &Value| {
        let whole = result(question, &json!("0x14a34"));
        whole[..whole.len() - 1].to_vec()
    };
    assert_eq!(said(cut).await, "the answer broke off");
    let chunk = |_: &Value| {
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n".to_vec()
    };
    assert_eq!(said(chunk).await, "the answer broke off");
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let long = |question: &Value| result(question, &json!("x".repeat(1024 * 1024)));
    let error = "the answer is longer than 1048576 bytes";
    assert_eq!(said(long).await, error);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let endless = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\n\r\n{\"id\":1,\"result\":\"";
        stream.write_all(head).await.unwrap();
        let mut written = 0;
        while stream.write_all(&[b'x'; 65536]).await.is_ok() {
            written += 65536;
        }
        written
    });
    assert_eq!(ask(&client(), &url).await.unwrap_err().to_string(), error);
    // Ends because the client hung up. Buffers of the system hold some of what was written.
    assert!(endless.await.unwrap() < 64 * 1024 * 1024);
}

#[tokio::test]
async fn a_node_that_does_not_answer_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let rpc = RpcClient::with_deadline(Duration::from_millis(200)).unwrap();
    let error = ask(&rpc, &url).await.unwrap_err();
    assert!(matches!(error, RpcError::Timeout(_)), "{error}");
    // One that drips its answer is no better.
    let dripping = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", dripping.local_addr().unwrap());
    let drip = tokio::spawn(async move {
        let (mut stream, _) = dripping.accept().await.unwrap();
        read_request(&mut stream).await;
        let mut every = tokio::time::interval(Duration::from_millis(20));
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(b" ").await.is_ok() {
            every.tick().await;
        }
    });
    let error = ask(&rpc, &url).await.unwrap_err();
    assert!(matches!(error, RpcError::Timeout(_)), "{error}");
    drip.await.unwrap();
}

// N20.
#[tokio::test]
async fn https_never_falls_back_to_plain_text() {
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", plain.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.unwrap();
        let mut first = vec![0; 4096];
        let read = stream.read(&mut first).await.unwrap();
        stream
            .write_all(&http("400 Bad Request", "", ""))
            .await
            .unwrap();
        let mut rest = first[..read].to_vec();
        stream.read_to_end(&mut rest).await.ok();
        String::from_utf8_lossy(&rest).into_owned()
    });
    let error = ask(&client(), &url).await.unwrap_err();
    assert_eq!(error.to_string(), "TLS: the receiver does not speak TLS");
    assert!(!heard.await.unwrap().contains("eth_chainId"));
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/secret-of-ours", gone.local_addr().unwrap());
    drop(gone);
    let error = ask(&client(), &url).await.unwrap_err();
    assert_eq!(error.to_string(), "connection failed: connection refused");
}

#[tokio::test]
async fn names_mean_what_they_mean_to_the_machine() {
    let node = node(|question| result(question, &json!("0x1"))).await;
    let port = node.address.rsplit(':').next().unwrap();
    let url = format!("http://localhost:{port}");
    assert_eq!(ask(&client(), &url).await.unwrap(), "\"0x1\"");
    let error = ask(&client(), "http://no-such-host.invalid/")
        .await
        .unwrap_err();
    assert!(error.to_string().starts_with("DNS: "), "{error}");
}

// TRON's hash has no 0x, its JSON-RPC wants one.
#[tokio::test]
async fn a_tron_hash_is_asked_for_in_the_nodes_form() {
    let mut node = node(|question| result(question, &Value::Null)).await;
    let endpoint = Endpoint::parse(&format!("http://{}/jsonrpc", node.address)).unwrap();
    let nile = Registry::builtin().network("tron:3448148188").unwrap();
    let hash = normalise_tx_hash(&"AB".repeat(32)).unwrap();
    let found = lookup::look_up(&client(), &endpoint, nile, &hash)
        .await
        .unwrap();
    assert_eq!(found, None);
    let request = node.heard.recv().await.unwrap();
    let params = format!("\"params\":[\"0x{}\"]", "ab".repeat(32));
    assert!(request.contains(&params), "{request}");
    // A hash of another form is not even asked for.
    let evm = TxHashForm::Evm(format!("0x{}", "ab".repeat(32)));
    assert_eq!(
        lookup::look_up(&client(), &endpoint, nile, &evm)
            .await
            .unwrap(),
        None
    );
    assert!(node.heard.try_recv().is_err());
}

#[tokio::test]
async fn a_cookie_is_read_for_every_question_and_gives_way_to_a_name_in_the_address() {
    let mut node = node(|question| result(question, &json!("0x1"))).await;
    let file = std::env::temp_dir().join(format!("till-cookie-{}", std::process::id()));
    let rpc = client();
    let ask = async |url: &str| {
        let endpoint = Endpoint::parse(url).unwrap().or_cookie_of(&file);
        let told = rpc.call(&endpoint, "getblockcount", &json!([])).await;
        told.map(drop).map_err(|error| error.to_string())
    };
    let url = format!("http://{}", node.address);
    let missing = ask(&url).await.unwrap_err();
    assert_eq!(missing, "its cookie file cannot be read: entity not found");
    for (cookie, sent) in [("__cookie__:ab\n", "X19jb29raWVfXzphYg=="), ("a:b", "YTpi")] {
        std::fs::write(&file, cookie).unwrap();
        ask(&url).await.unwrap();
        let request = node.heard.recv().await.unwrap();
        let header = format!("authorization: Basic {sent}\r\n");
        assert!(request.contains(&header), "{request}");
    }
    ask(&format!("http://user:p%40ss@{}", node.address))
        .await
        .unwrap();
    let request = node.heard.recv().await.unwrap();
    assert!(request.contains("authorization: Basic dXNlcjpwQHNz\r\n"));
    std::fs::remove_file(&file).unwrap();
}
