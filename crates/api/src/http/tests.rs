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

use super::answer::{Broken, Failure, RequestId, json};
use super::body;
use super::layers::Edge;
use super::server::{ServerLimits, serve};

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
        drain_time: LONG,
        ..ServerLimits::default()
    }
}

fn edge() -> Edge {
    let next = AtomicU64::new(1);
    let ids = move || format!("req_{}", next.fetch_add(1, Ordering::Relaxed));
    Edge::new("https://pay.example/docs", Arc::new(ids))
}

async fn start(limits: ServerLimits) -> Server {
    start_with(edge(), limits).await
}

async fn start_with(edge: Edge, limits: ServerLimits) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(async move {
        let shutdown = async {
            let _ = stopped.await;
        };
        serve(listener, edge, router(), limits, shutdown).await;
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
    // A refusal can come before the last byte is sent.
    let _ = socket.write_all(bytes).await;
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

#[tokio::test]
async fn what_the_router_refuses_has_the_one_shape() {
    let server = start(patient()).await;
    check_error(
        &get_path(&server, "/v1/nothing").await,
        404,
        "route_not_found",
    );
    check_error(&get_path(&server, "//v1/ok").await, 404, "route_not_found");
    check_error(
        &get_path(&server, "/v1/../v1/ok").await,
        404,
        "route_not_found",
    );
    check_error(
        &get_path(&server, "/v1/number/canar%C3").await,
        400,
        "parameter_invalid",
    );
    let said = raw(
        &server,
        b"DELETE /v1/ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    )
    .await;
    check_error(&said, 405, "method_not_allowed");
    assert!(said.contains("allow: GET,HEAD\r\n"), "{said}");
}

#[tokio::test]
async fn what_a_handler_refuses_is_put_into_words_and_a_page_is_left_alone() {
    let server = start(patient()).await;
    let said = get_path(&server, "/v1/refused").await;
    check_error(&said, 429, "rate_limited");
    assert!(said.contains("retry-after: 9\r\n"), "{said}");
    check_error(
        &get_path(&server, "/v1/broken").await,
        500,
        "internal_error",
    );
    let page = get_path(&server, "/page").await;
    assert!(
        page.starts_with("HTTP/1.1 404 ") && page.ends_with("<p>not here</p>"),
        "{page}"
    );
    assert!(
        page.contains("x-request-id: req_") && !page.contains("cache-control"),
        "{page}"
    );
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let server = start(patient()).await;
    for path in ["/v1/ok", "/v1/nothing", "/v1/panic"] {
        let said = get_path(&server, path).await;
        for header in [
            "x-request-id: req_",
            "x-content-type-options: nosniff\r\n",
            "referrer-policy: no-referrer\r\n",
            "cache-control: no-store\r\n",
        ] {
            assert!(said.contains(header), "{path} lacks {header}: {said}");
        }
    }
}

#[tokio::test]
async fn a_handler_learns_the_peer_and_the_request_id() {
    let server = start(patient()).await;
    let said = get_path(&server, "/v1/me").await;
    assert!(said.ends_with(r#"["127.0.0.1","req_1"]"#), "{said}");
    assert!(said.contains("x-request-id: req_1\r\n"), "{said}");
}

#[tokio::test]
async fn a_secret_key_in_the_address_wins_over_everything() {
    let server = start(patient()).await;
    for path in [
        "/v1/ok?key=till_test_sk_canary",
        "/v1/nothing/till%5Flive%5Fsk%5Fcanary",
        "/v1/panic?a=till_live_sk_canary",
        "http://x/v1/ok?till_test_sk_canary",
    ] {
        check_error(&get_path(&server, path).await, 400, "secret_key_in_url");
    }
    let big = "a".repeat(40_000);
    let request =
        format!("PUT /?till_test_sk_canary HTTP/1.1\r\nconnection: close\r\nx: {big}\r\n\r\n");
    check_error(
        &raw(&server, request.as_bytes()).await,
        400,
        "secret_key_in_url",
    );
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused_whoever_notices() {
    let server = start(patient()).await;
    for bytes in [40_000, 100_000, 1_000_000] {
        let big = "a".repeat(bytes);
        let request = format!("GET /v1/ok HTTP/1.1\r\nconnection: close\r\nx: {big}\r\n\r\n");
        check_error(
            &raw(&server, request.as_bytes()).await,
            431,
            "parameter_invalid",
        );
    }
    let many = "x: y\r\n".repeat(101);
    let request = format!("GET /v1/ok HTTP/1.1\r\n{many}\r\n");
    check_error(
        &raw(&server, request.as_bytes()).await,
        431,
        "parameter_invalid",
    );
    let fits = "x: y\r\n".repeat(98);
    let request = format!("GET /v1/ok HTTP/1.1\r\nconnection: close\r\n{fits}\r\n");
    assert!(
        raw(&server, request.as_bytes())
            .await
            .starts_with("HTTP/1.1 200 ")
    );
    let long = "a".repeat(33_000);
    check_error(
        &get_path(&server, &format!("/{long}")).await,
        431,
        "parameter_invalid",
    );
}

#[tokio::test]
async fn what_is_not_http_gets_the_one_shape_and_an_id() {
    let server = start(patient()).await;
    for request in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/ok HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /v1/ok HTTP/1.1\r\nx: a\0b\r\n\r\n",
        b"POST /v1/echo HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        b"POST /v1/echo HTTP/1.1\r\ncontent-length: +1\r\n\r\nx",
        b"POST /v1/echo HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n",
    ] {
        let said = raw(&server, request).await;
        check_error(&said, 400, "parameter_invalid");
        assert!(said.contains("connection: close\r\n"), "{said}");
        assert!(said.contains("date: "), "{said}");
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_next_request_is_served() {
    let server = start(patient()).await;
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let twice = b"GET /v1/panic HTTP/1.1\r\n\r\nGET /v1/ok HTTP/1.1\r\nconnection: close\r\n\r\n";
    socket.write_all(twice).await.unwrap();
    let said = read_to_end(&mut socket).await;
    let (first, second) = said.split_once("HTTP/1.1 200 OK").expect(&said);
    check_error(first, 500, "internal_error");
    assert!(second.ends_with("\"ok\""), "{second}");
}

#[tokio::test]
async fn a_handler_that_hangs_is_given_up_and_a_stream_is_not() {
    let mut edge = edge();
    edge.time_limit = SHORT;
    let server = start_with(edge, patient()).await;
    let said = get_path(&server, "/v1/hang").await;
    check_error(&said, 503, "service_unavailable");
    assert!(said.contains("retry-after: 1\r\n"), "{said}");
    let said = get_path(&server, "/v1/ticks").await;
    assert_eq!(said.matches("tick\n").count(), 2, "{said}");
}

#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off() {
    let limits = ServerLimits {
        head_time: SHORT,
        ..patient()
    };
    let server = start(limits).await;
    assert_eq!(raw(&server, b"").await, "", "a silent connection");
    assert_eq!(raw(&server, b"GET /v1/ok HTTP/1.1\r\nhost: ").await, "");
    // After a first answer the same holds for the next head, and bytes now and then buy no time.
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let mut answer = [0; 1024];
    socket
        .write_all(b"GET /v1/ok HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    assert!(socket.read(&mut answer).await.unwrap() > 0);
    let mut trickled = 0;
    while tokio::time::timeout(SHORT / 3, socket.read(&mut answer))
        .await
        .is_err()
    {
        trickled += 1;
        assert!(trickled < 100, "the head may trickle for ever");
        let _ = socket.write_all(b"G").await;
    }
    assert!(trickled >= 2, "cut off at once");
}

#[tokio::test]
async fn an_idle_connection_outlives_the_time_for_a_head_but_not_its_own() {
    let limits = ServerLimits {
        head_time: SHORT,
        ..patient()
    };
    let server = start(limits).await;
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let mut answer = [0; 1024];
    for _ in 0..2 {
        socket
            .write_all(b"GET /v1/ok HTTP/1.1\r\n\r\n")
            .await
            .unwrap();
        let n = socket.read(&mut answer).await.unwrap();
        assert!(answer[..n].starts_with(b"HTTP/1.1 200 "), "{n}");
        let silence = tokio::time::timeout(SHORT * 3, socket.read(&mut answer)).await;
        assert!(silence.is_err(), "closed too early");
    }
    let limits = ServerLimits {
        idle_time: SHORT,
        ..patient()
    };
    let server = start(limits).await;
    let said = raw(&server, b"GET /v1/ok HTTP/1.1\r\n\r\n").await;
    assert!(said.ends_with("\"ok\""), "{said}");
}

#[tokio::test]
async fn a_slow_handler_is_not_taken_for_a_slow_head() {
    let limits = ServerLimits {
        head_time: SHORT,
        idle_time: SHORT,
        ..patient()
    };
    let server = start(limits).await;
    let said = raw(&server, b"GET /v1/slow HTTP/1.1\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    let said = raw(&server, b"GET /v1/ticks HTTP/1.1\r\n\r\n").await;
    assert_eq!(said.matches("tick\n").count(), 2, "{said}");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_and_garbage_after_them_too() {
    let server = start(patient()).await;
    let said = raw(
        &server,
        b"GET /v1/me HTTP/1.1\r\n\r\nGET /v1/slow HTTP/1.1\r\n\r\nGET /v1/me HTTP/1.1\r\n\r\n\0garbage\r\n\r\n",
    )
    .await;
    let answers: Vec<_> = said.split("HTTP/1.1 ").skip(1).collect();
    assert_eq!(answers.len(), 4, "{said}");
    assert!(
        answers[0].contains("req_1\"]") && answers[2].contains("req_3\"]"),
        "{said}"
    );
    check_error(
        &format!("HTTP/1.1 {}", answers[3]),
        400,
        "parameter_invalid",
    );
}

#[tokio::test]
async fn a_body_is_held_to_its_size_and_its_type() {
    let server = start(patient()).await;
    let post = |headers: &str, body: &str| {
        format!("POST /v1/echo HTTP/1.1\r\nconnection: close\r\n{headers}\r\n{body}")
    };
    let json = "content-type: application/json\r\n";
    let good = post(&format!("{json}content-length: 2\r\n"), "{}");
    assert!(raw(&server, good.as_bytes()).await.ends_with("\"{}\""));
    let chunked = post(
        &format!("{json}transfer-encoding: chunked\r\n"),
        "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    );
    assert!(raw(&server, chunked.as_bytes()).await.ends_with("\"{}\""));
    let untyped = post("content-length: 2\r\n", "{}");
    check_error(
        &raw(&server, untyped.as_bytes()).await,
        415,
        "content_type_invalid",
    );
    let torn = post(&format!("{json}transfer-encoding: chunked\r\n"), "zz\r\n");
    check_error(
        &raw(&server, torn.as_bytes()).await,
        400,
        "body_invalid_json",
    );
    // The client is still sending when the answer comes, and must be able to read it.
    let body = "a".repeat(2_000_000);
    let large = post(&format!("{json}content-length: {}\r\n", body.len()), &body);
    check_error(&raw(&server, large.as_bytes()).await, 413, "body_too_large");
    let piece = format!("4e20\r\n{}\r\n", "a".repeat(20_000)).repeat(50);
    let endless = post(&format!("{json}transfer-encoding: chunked\r\n"), &piece);
    check_error(
        &raw(&server, endless.as_bytes()).await,
        413,
        "body_too_large",
    );
}

#[tokio::test]
async fn head_requests_get_the_head_of_the_answer() {
    let server = start(patient()).await;
    for (path, status) in [("/v1/ok", 200), ("/v1/nothing", 404)] {
        let request = format!("HEAD {path} HTTP/1.1\r\nconnection: close\r\n\r\n");
        let said = raw(&server, request.as_bytes()).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
        assert!(
            said.contains("x-request-id: ") && said.ends_with("\r\n\r\n"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let limits = ServerLimits {
        connections_max: 1,
        ..patient()
    };
    let server = start(limits).await;
    let mut first = TcpStream::connect(server.addr).await.unwrap();
    first
        .write_all(b"GET /v1/ok HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    first.read_u8().await.unwrap();
    let said = raw(&server, b"").await;
    check_error(&said, 503, "service_unavailable");
    assert!(said.contains("retry-after: 1\r\n"), "{said}");
}

#[tokio::test]
async fn on_shutdown_requests_finish_and_idle_connections_go() {
    let mut server = start(patient()).await;
    let mut idle = TcpStream::connect(server.addr).await.unwrap();
    let mut used = TcpStream::connect(server.addr).await.unwrap();
    used.write_all(b"GET /v1/ok HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    used.read_u8().await.unwrap();
    let mut busy = TcpStream::connect(server.addr).await.unwrap();
    busy.write_all(b"GET /v1/ticks HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    busy.read_u8().await.unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    let said = read_to_end(&mut busy).await;
    assert_eq!(said.matches("tick\n").count(), 2, "{said}");
    assert_eq!(read_to_end(&mut idle).await, "");
    read_to_end(&mut used).await;
    tokio::time::timeout(LONG / 2, &mut server.ended)
        .await
        .expect("the server does not end")
        .unwrap();
    assert!(TcpStream::connect(server.addr).await.is_err());
}

#[tokio::test]
async fn a_request_that_outlasts_the_drain_is_cut_off() {
    let limits = ServerLimits {
        drain_time: SHORT,
        ..patient()
    };
    let mut server = start(limits).await;
    let mut busy = TcpStream::connect(server.addr).await.unwrap();
    busy.write_all(b"GET /v1/ok HTTP/1.1\r\n\r\nGET /v1/hang HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    busy.read_u8().await.unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    tokio::time::timeout(LONG, server.ended)
        .await
        .unwrap()
        .unwrap();
    read_to_end(&mut busy).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_given_up() {
    let limits = ServerLimits {
        stalled_write_time: SHORT,
        ..patient()
    };
    let mut server = start(limits).await;
    let mut deaf = TcpStream::connect(server.addr).await.unwrap();
    deaf.write_all(b"GET /v1/huge HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    deaf.read_u8().await.unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    // Only an end of the connection lets the server end before its time to drain.
    tokio::time::timeout(LONG / 2, server.ended)
        .await
        .expect("the connection lives on")
        .unwrap();
}

/// Everything that is logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<String>>);

impl tracing::field::Visit for Log {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let mut text = self.0.lock().unwrap();
        text.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn the_log_names_every_request_and_no_credential() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut edge = edge();
    edge.credential_paths = &["/v1/refund_claims/"];
    for path in [
        "/v1/ok?key=till_test_pk_CANARY",
        "/v1/till_live_sk_CANARY",
        "/v1/till%5flive%5fsk%5fCANARY",
        "/v1/refund_claims/CANARY",
    ] {
        let request = Request::builder()
            .uri(path)
            .header("authorization", "Bearer CANARY")
            .body(Body::empty())
            .unwrap();
        edge.answer(router(), request).await;
    }
    let text = log.0.lock().unwrap().clone();
    assert!(!text.contains("CANARY"), "{text}");
    let first = r#"method="GET" path=/v1/ok status=200 request_id="req_1""#;
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("path=/v1/refund_claims/*** status=404 request_id=\"req_4\""),
        "{text}"
    );
}
