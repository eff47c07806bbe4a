//! What every request meets and every answer carries.

use super::*;

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
async fn a_request_names_its_host_once() {
    let server = start(patient()).await;
    for hosts in ["", "host: a\r\nhost: b\r\n", "host: a\r\nHost: a\r\n"] {
        let request = format!("GET /v1/ok HTTP/1.1\r\n{hosts}connection: close\r\n\r\n");
        let said = raw(&server, request.as_bytes()).await;
        check_error(&said, 400, "parameter_invalid");
        assert!(said.contains("\"param\":\"Host\""), "{said}");
    }
    let old = raw(&server, b"GET /v1/ok HTTP/1.0\r\n\r\n").await;
    assert!(old.contains(" 200 "), "{old}");
    let twice = raw(
        &server,
        b"GET /v1/ok HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n",
    )
    .await;
    assert!(twice.contains(" 400 "), "{twice}");
}

#[tokio::test]
async fn what_is_refused_early_can_be_read_by_pages_of_other_origins_too() {
    let mut edge = test_edge();
    edge.any_origin = Arc::new(|path| path.starts_with("/v1/ok"));
    let server = start_with(edge, patient()).await;
    let open = "access-control-allow-origin: *\r\n";
    for path in ["/v1/ok", "/v1/ok?till_test_sk_x", "/v1/ok/nothing"] {
        let said = get_path(&server, path).await;
        assert_eq!(said.matches(open).count(), 1, "{said}");
        assert!(
            said.contains("access-control-expose-headers: date, retry-after, x-request-id, idempotent-replayed\r\n"),
            "{said}"
        );
    }
    let large = format!(
        "GET /v1/ok HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
        "a".repeat(90_000)
    );
    let said = raw(&server, large.as_bytes()).await;
    assert!(
        said.starts_with("HTTP/1.1 431 ") && said.contains(open),
        "{said}"
    );
    let said = get_path(&server, "/v1/me").await;
    assert!(!said.contains("access-control"), "{said}");
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
    let request = format!(
        "PUT /?till_test_sk_canary HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx: {big}\r\n\r\n"
    );
    check_error(
        &raw(&server, request.as_bytes()).await,
        400,
        "secret_key_in_url",
    );
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused_whoever_notices() {
    let server = start(patient()).await;
    for bytes in [40_000, 100_000, 12_000_000] {
        let big = "a".repeat(bytes);
        let request =
            format!("GET /v1/ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx: {big}\r\n\r\n");
        check_error(
            &raw(&server, request.as_bytes()).await,
            431,
            "parameter_invalid",
        );
    }
    let many = "x: y\r\n".repeat(101);
    let request = format!("GET /v1/ok HTTP/1.1\r\nhost: x\r\n{many}\r\n");
    check_error(
        &raw(&server, request.as_bytes()).await,
        431,
        "parameter_invalid",
    );
    let fits = "x: y\r\n".repeat(98);
    let request = format!("GET /v1/ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{fits}\r\n");
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
async fn a_panic_is_an_internal_error_and_the_next_request_is_served() {
    let server = start(patient()).await;
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let twice = b"GET /v1/panic HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    socket.write_all(twice).await.unwrap();
    let said = read_to_end(&mut socket).await;
    let (first, second) = said.split_once("HTTP/1.1 200 OK").expect(&said);
    check_error(first, 500, "internal_error");
    assert!(second.ends_with("\"ok\""), "{second}");
}

#[tokio::test]
async fn a_handler_that_hangs_is_given_up_and_a_stream_is_not() {
    let mut edge = test_edge();
    edge.time_limit = SHORT;
    let server = start_with(edge, patient()).await;
    let said = get_path(&server, "/v1/hang").await;
    check_error(&said, 503, "service_unavailable");
    assert!(said.contains("retry-after: 1\r\n"), "{said}");
    let said = get_path(&server, "/v1/ticks").await;
    assert_eq!(said.matches("tick\n").count(), 2, "{said}");
}

#[tokio::test]
async fn a_path_may_have_a_time_of_its_own() {
    let mut edge = test_edge();
    edge.time_limit = Duration::from_secs(3600);
    edge.patient = (&["/v1/hang"], SHORT);
    let server = start_with(edge, patient()).await;
    let said = get_path(&server, "/v1/hang").await;
    check_error(&said, 503, "service_unavailable");
}

#[tokio::test]
async fn a_body_is_held_to_its_size_and_its_type() {
    let server = start(patient()).await;
    let post = |headers: &str, body: &str| {
        format!("POST /v1/echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n{body}")
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
    for codings in [
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: identity, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
    ] {
        let coded = post(&format!("{json}{codings}"), "2\r\n{}\r\n0\r\n\r\n");
        check_error(
            &raw(&server, coded.as_bytes()).await,
            400,
            "parameter_invalid",
        );
    }
    let torn = post(&format!("{json}transfer-encoding: chunked\r\n"), "zz\r\n");
    check_error(
        &raw(&server, torn.as_bytes()).await,
        400,
        "body_invalid_json",
    );
    // More than the sockets buffer: the client is still sending when the answer comes.
    let body = "a".repeat(12_000_000);
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

/// Many clients send the head and the body one after the other and expect to get through with both.
#[tokio::test]
async fn a_refusal_waits_for_the_body_that_it_does_not_need() {
    let server = start(patient()).await;
    for (line, length, status) in [
        ("POST /v1/nothing", 40, 404),
        ("POST /v1/ok", 40, 405),
        ("POST /v1/echo", 3_000_000, 413),
    ] {
        let mut socket = TcpStream::connect(server.addr).await.unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut rest = vec![b' '; length];
        // The connection is as good as before.
        rest.extend_from_slice(b"GET /v1/ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        for piece in rest.chunks(64 * 1024) {
            socket.write_all(piece).await.unwrap();
        }
        let said = read_to_end(&mut socket).await;
        assert!(
            said.starts_with(&format!("HTTP/1.1 {status} ")),
            "{line}: {said}"
        );
        assert!(said.contains("HTTP/1.1 200 OK\r\n"), "{line}: {said}");
    }
}

/// What is far too large is refused without being read; the client reads why, however late it looks.
#[tokio::test]
async fn a_giant_is_refused_at_once_and_heard_out_for_a_while() {
    let server = start(patient()).await;
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let head = "POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                content-length: 99999999999\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    for _ in 0..20 {
        let sent = socket.write_all(&[b' '; 8 * 1024]).await;
        sent.expect("the server must hear the client out");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    check_error(&read_to_end(&mut socket).await, 413, "body_too_large");
}

#[tokio::test]
async fn a_client_that_waits_to_be_asked_for_its_body_is_not_asked_in_vain() {
    let server = start(patient()).await;
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let head = "POST /v1/nothing HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 40\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    check_error(&read_to_end(&mut socket).await, 404, "route_not_found");
}

#[tokio::test]
async fn head_requests_get_the_head_of_the_answer() {
    let server = start(patient()).await;
    for (path, status) in [("/v1/ok", 200), ("/v1/nothing", 404)] {
        let request = format!("HEAD {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let said = raw(&server, request.as_bytes()).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
        assert!(
            said.contains("x-request-id: ") && said.ends_with("\r\n\r\n"),
            "{said}"
        );
    }
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
    let mut edge = test_edge();
    edge.credential_paths = &["/v1/refund_claims/"];
    for path in [
        "/v1/ok?key=till_test_pk_CANARY",
        "/v1/till_live_sk_CANARY",
        "/v1/till%5flive%5fsk%5fCANARY",
        "/v1/refund_claims/CANARY",
    ] {
        let request = Request::builder()
            .uri(path)
            .header("host", "x")
            .header("authorization", "Bearer CANARY")
            .body(Body::empty())
            .unwrap();
        edge.answer(router(), request).await;
    }
    let text = log.0.lock().unwrap().clone();
    assert!(!text.contains("CANARY"), "{text}");
    let first = r#"method="GET" route="none" status=200 duration_us=0 request_id="req_1""#;
    assert!(text.starts_with(first), "{text}");
    assert!(!text.contains("path="), "these are no routes: {text}");
}

#[tokio::test]
async fn a_request_whose_client_hangs_up_has_its_line_all_the_same() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let edge = test_edge();
    let request = Request::builder()
        .uri("/v1/hang")
        .header("host", "x")
        .body(Body::empty())
        .unwrap();
    let hung_up = tokio::time::timeout(SHORT, edge.answer(router(), request)).await;
    assert!(hung_up.is_err());
    let text = log.0.lock().unwrap().clone();
    assert!(text.contains("path=\"/v1/hang\" status=499"), "{text}");
}
