//! What a client can do to a connection, and what the server does to it at its end.

use super::*;
use crate::connection::admission::AdmissionLimits;

#[tokio::test]
async fn what_is_not_http_gets_the_one_shape_and_an_id() {
    let server = start(patient()).await;
    for request in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/ok HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n",
        b"GET /v1/ok HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n",
        b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: +1\r\n\r\nx",
        b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n",
    ] {
        let said = raw(&server, request).await;
        check_error(&said, 400, "parameter_invalid");
        assert!(said.contains("connection: close\r\n"), "{said}");
        assert!(said.contains("date: "), "{said}");
    }
}

/// Whoever goes by the first length takes what follows for another client's request.
#[tokio::test]
async fn a_body_with_two_lengths_is_refused_and_the_connection_closed() {
    let server = start(patient()).await;
    let smuggled = "0\r\n\r\nGET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n";
    let length = format!("Content-Length: {}\r\n", smuggled.len());
    let chunked = "transfer-encoding: chunked\r\n";
    for path in ["/v1/echo", "/v1/ok", "/v1/nothing"] {
        for headers in [[&length, chunked], [chunked, &length]] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\n{}\r\n{smuggled}",
                headers.concat()
            );
            // The same on a connection that has answered before.
            let mut socket = TcpStream::connect(server.addr).await.unwrap();
            let first = b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n";
            socket.write_all(first).await.unwrap();
            let mut answer = [0; 1024];
            assert!(socket.read(&mut answer).await.unwrap() > 0);
            socket.write_all(request.as_bytes()).await.unwrap();
            let later = read_to_end(&mut socket).await;
            for said in [raw(&server, request.as_bytes()).await, later] {
                check_error(&said, 400, "parameter_invalid");
                assert!(said.contains("\"param\":\"Content-Length\""), "{said}");
                assert!(said.contains("connection: close\r\n"), "{said}");
            }
        }
    }
    let url = "POST /?till_test_sk_canary HTTP/1.1\r\nhost: x\r\n";
    let request = format!("{url}{length}{chunked}\r\n{smuggled}");
    let said = raw(&server, request.as_bytes()).await;
    check_error(&said, 400, "secret_key_in_url");
}

#[tokio::test]
async fn a_control_character_in_the_idempotency_key_is_named() {
    let server = start(patient()).await;
    for (byte, name) in [('\u{7f}', "0x7F"), ('\u{1}', "0x01"), ('\0', "0x00")] {
        let key = format!("Idempotency-Key: a{byte}b\r\n");
        let request =
            format!("POST /v1/echo HTTP/1.1\r\nhost: x\r\n{key}content-length: 0\r\n\r\n");
        let said = raw(&server, request.as_bytes()).await;
        check_error(&said, 400, "idempotency_key_invalid");
        assert!(said.contains("\"param\":\"Idempotency-Key\""), "{said}");
        assert!(said.contains(name), "{said}");
    }
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
        .write_all(b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n")
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
            .write_all(b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n")
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
    let said = raw(&server, b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n").await;
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
    let said = raw(&server, b"GET /v1/slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    let said = raw(&server, b"GET /v1/ticks HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(said.matches("tick\n").count(), 2, "{said}");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_and_garbage_after_them_too() {
    let server = start(patient()).await;
    let said = raw(
        &server,
        b"GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/slow HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n\0garbage\r\n\r\n",
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
async fn one_connection_too_many_is_told_so() {
    let server = start(with_room_for(1, 100)).await;
    let mut first = TcpStream::connect(server.addr).await.unwrap();
    first
        .write_all(b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    first.read_u8().await.unwrap();
    let said = get_path(&server, "/v1/ok").await;
    check_error(&said, 503, "service_unavailable");
    assert!(said.contains("retry-after: 1\r\n"), "{said}");
    assert!(said.contains("connection: close\r\n"), "{said}");
}

#[tokio::test]
async fn a_server_without_room_still_says_how_it_is() {
    let mut edge = test_edge();
    edge.health_paths = &["/v1/me"];
    let server = start_with(edge, with_room_for(2, 100)).await;
    let held = [server.held().await, server.held().await];
    let said = get_path(&server, "/v1/me").await;
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    check_error(
        &get_path(&server, "/v1/ok").await,
        503,
        "service_unavailable",
    );
    drop(held);
}

#[tokio::test]
async fn one_clients_connections_are_counted() {
    let server = start(with_room_for(100, 2)).await;
    let mut held = vec![server.held().await, server.held().await];
    let said = get_path(&server, "/v1/ok").await;
    check_error(&said, 429, "rate_limited");
    assert!(said.contains("retry-after: 1\r\n"), "{said}");
    // What is kept back for health is taken, too; then there is nothing more for this client.
    for _ in 0..8 {
        held.push(TcpStream::connect(server.addr).await.unwrap());
    }
    let mut refused = TcpStream::connect(server.addr).await.unwrap();
    check_error(&read_to_end(&mut refused).await, 429, "rate_limited");
    drop(held);
}

fn with_room_for(connections: usize, connections_per_client: usize) -> ServerLimits {
    let admission = AdmissionLimits {
        listener: "api",
        connections,
        connections_per_client,
        trusted_proxies: Vec::new(),
    };
    ServerLimits {
        admission,
        ..patient()
    }
}

impl Server {
    /// A connection that stays open after its first answer.
    async fn held(&self) -> TcpStream {
        let mut held = TcpStream::connect(self.addr).await.unwrap();
        let request = b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n";
        held.write_all(request).await.unwrap();
        held.read_u8().await.unwrap();
        held
    }
}

#[tokio::test]
async fn on_shutdown_requests_finish_and_idle_connections_go() {
    let mut server = start(patient()).await;
    let mut idle = TcpStream::connect(server.addr).await.unwrap();
    let mut used = TcpStream::connect(server.addr).await.unwrap();
    used.write_all(b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    used.read_u8().await.unwrap();
    let mut busy = TcpStream::connect(server.addr).await.unwrap();
    busy.write_all(b"GET /v1/ticks HTTP/1.1\r\nhost: x\r\n\r\n")
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
    busy.write_all(
        b"GET /v1/ok HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/hang HTTP/1.1\r\nhost: x\r\n\r\n",
    )
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
    deaf.write_all(b"GET /v1/huge HTTP/1.1\r\nhost: x\r\n\r\n")
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
