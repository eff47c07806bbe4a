//! The edge and the server over real sockets, spoken to in raw bytes as a hostile client would.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt;
use http::StatusCode;
use till_core::error::{Code, Refusal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::connection::layers::Edge;
use crate::connection::server::{ServerLimits, serve};
use crate::message::answer::{Broken, Failure, RequestId, json};
use crate::message::body;

mod connection;
mod edge;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(60);

struct Server {
    addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<()>,
}

fn patient() -> ServerLimits {
    ServerLimits {
        head_time: LONG,
        idle_time: LONG,
        stalled_write_time: LONG,
        slow_reader_time: LONG,
        drain_time: LONG,
        ..ServerLimits::default()
    }
}

fn test_edge() -> Edge {
    let next = AtomicU64::new(1);
    let ids = move || format!("req_{}", next.fetch_add(1, Ordering::Relaxed));
    Edge::new("https://pay.example/docs", Arc::new(ids))
}

async fn start(limits: ServerLimits) -> Server {
    start_with(test_edge(), limits).await
}

async fn start_with(edge: Edge, limits: ServerLimits) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(async move {
        let shutdown = async {
            let _ = stopped.await;
        };
        serve(listener, None, edge, router(), limits, shutdown).await;
    });
    Server {
        addr,
        stop: Some(stop),
        ended,
    }
}

async fn echo(request: Request) -> Result<Response, Failure> {
    let (parts, sent) = request.into_parts();
    let bytes = body::read(&parts.headers, sent, LONG).await?;
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(json(StatusCode::OK, &text))
}

async fn ticks() -> Response {
    // The second tick comes after the time limit of the tests that ask for it.
    let ticks = futures::stream::iter([Duration::ZERO, SHORT * 3]).then(|wait| async move {
        tokio::time::sleep(wait).await;
        Ok::<_, std::convert::Infallible>(Bytes::from("tick\n"))
    });
    Body::from_stream(ticks).into_response()
}

async fn panics() -> StatusCode {
    panic!("canary")
}

fn router() -> Router {
    Router::new()
        .route("/v1/ok", get(|| async { json(StatusCode::OK, &"ok") }))
        .route("/v1/echo", post(echo))
        .route("/v1/ticks", get(ticks))
        .route("/v1/panic", get(panics))
        .route("/v1/hang", get(std::future::pending::<()>))
        .route("/v1/slow", get(|| async { tokio::time::sleep(SHORT * 2).await }))
        .route("/v1/huge", get(|| async { vec![0_u8; 64 << 20] }))
        .route("/v1/number/{n}", get(|Path(n): Path<u8>| async move { n.to_string() }))
        .route(
            "/v1/me",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>, id: axum::Extension<RequestId>| async move {
                json(StatusCode::OK, &(peer.ip().to_string(), id.as_str()))
            }),
        )
        .route(
            "/v1/refused",
            get(|| async { Failure::from(Refusal::of(Code::RateLimited).retry_after(9)) }),
        )
        .route(
            "/v1/broken",
            get(|| async { Failure::from(Broken::new("canary in the SQL")) }),
        )
        .route(
            "/page",
            get(|| async {
                let html = axum::response::Html("<p>not here</p>");
                (StatusCode::NOT_FOUND, html)
            }),
        )
}

/// Everything the server says until it closes, or what it said within the time when it does not.
async fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    // Many clients give up when they cannot finish sending, and never read why they were refused.
    let sent = socket.write_all(bytes).await;
    sent.expect("the server must hear the client out");
    read_to_end(&mut socket).await
}

async fn read_to_end(socket: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let mut chunk = vec![0; 65536];
    while let Ok(n) = tokio::time::timeout(LONG, socket.read(&mut chunk))
        .await
        .expect("the server neither answers nor closes")
    {
        if n == 0 {
            break;
        }
        said.extend_from_slice(&chunk[..n]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

async fn get_path(server: &Server, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    raw(server, request.as_bytes()).await
}

/// One answer, in the one shape, with the id in both places.
fn check_error(said: &str, status: u16, code: &str) {
    assert!(
        said.starts_with(&format!("HTTP/1.1 {status} ")),
        "{status} expected: {said}"
    );
    let (head, body) = said.split_once("\r\n\r\n").expect(said);
    let head = head.to_ascii_lowercase();
    assert!(head.contains("content-type: application/json"), "{said}");
    let id = head
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "))
        .expect(said);
    assert!(id.starts_with("req_"), "{said}");
    let body: serde_json::Value = serde_json::from_str(body).expect(said);
    let error = body["error"].as_object().unwrap();
    assert_eq!(error["code"], code, "{said}");
    assert_eq!(error["request_id"], id);
    assert_eq!(
        error["doc_url"],
        format!("https://pay.example/docs/errors/{code}")
    );
    let mut names: Vec<_> = error.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["code", "doc_url", "message", "param", "request_id", "type"]
    );
    assert!(!said.contains("canary"), "{said}");
}
