//! What receivers answer, and what becomes of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use till_core::webhook::{EVENT_ID_HEADER, UrlPolicy};
use till_engine::outbound::{Sender, SystemResolver};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::receiver::{OK, answering, recording, request, serve};
use crate::{config, development_sender, error, post, sender};

#[tokio::test]
async fn a_delivery_carries_its_headers_and_exact_body_and_nothing_unexpected() {
    let (receiver, requests) = recording().await;
    let headers = [(EVENT_ID_HEADER, "evt_1".to_owned())];
    let body = Bytes::from_static(b"{ \"exact\" :1 }\n");
    let outcome = development_sender()
        .post(&receiver.url(), &headers, body)
        .await;

    assert!(outcome.delivered, "{outcome:?}");
    assert_eq!(outcome.status_code, Some(200));
    assert_eq!(outcome.response_body, "ok");
    assert_eq!(outcome.error, None);
    let requests = requests.lock().expect("not poisoned");
    let (head, body) = requests[0].split_once("\r\n\r\n").expect("a whole request");
    assert_eq!(body, "{ \"exact\" :1 }\n");
    let mut lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /hooks HTTP/1.1");
    lines.sort_unstable();
    let host = format!("host: {}", receiver.address);
    let agent = concat!("user-agent: Till/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "content-length: 15",
            "content-type: application/json",
            &host,
            agent,
            "x-service-event-id: evt_1",
        ]
    );
}

#[tokio::test]
async fn deliveries_to_one_endpoint_share_a_connection() {
    let receiver = answering(OK).await;
    let sender = development_sender();
    for _ in 0..20 {
        assert!(post(&sender, &receiver.url()).await.delivered);
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn every_2xx_is_a_delivery_and_nothing_else_is() {
    for (status, delivered) in [
        (200, true),
        (204, true),
        (299, true),
        (400, false),
        (503, false),
    ] {
        let receiver = answering(format!(
            "HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n"
        ))
        .await;
        let outcome = post(&development_sender(), &receiver.url()).await;
        assert_eq!(outcome.delivered, delivered, "{status}");
        assert_eq!(outcome.status_code, Some(status));
        assert_eq!(outcome.error.is_none(), delivered);
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let target = answering(OK).await;
        let receiver = answering(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
            target.url()
        ))
        .await;
        let outcome = post(&development_sender(), &receiver.url()).await;
        assert_eq!(outcome.status_code, Some(status));
        assert_eq!(error(&outcome), "redirect not followed");
        assert_eq!(target.connections(), 0);
    }
}

fn impatient_sender() -> Sender {
    let mut config = config(UrlPolicy::PrivateAllowed);
    config.deadline = Duration::from_millis(300);
    sender(config, Arc::new(SystemResolver::Unconfigured))
}

#[tokio::test]
async fn a_receiver_that_never_answers_is_cut_at_the_deadline() {
    let receiver = serve(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let outcome = post(&impatient_sender(), &receiver.url()).await;
    assert_eq!(outcome.status_code, None);
    assert_eq!(error(&outcome), "timed out waiting for an answer");
}

#[tokio::test]
async fn a_body_that_drips_is_cut_at_the_deadline_however_often_it_drips() {
    let (hung_up, mut observed) = mpsc::channel(1);
    let receiver = serve(move |mut stream| {
        let hung_up = hung_up.clone();
        async move {
            request(&mut stream, &mut Vec::new()).await;
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
            let _ = stream.write_all(head).await;
            let mut period = tokio::time::interval(Duration::from_millis(20));
            while stream.write_all(b"x").await.is_ok() {
                period.tick().await;
            }
            let _ = hung_up.send(()).await;
        }
    })
    .await;
    let outcome = post(&impatient_sender(), &receiver.url()).await;
    assert_eq!(outcome.status_code, Some(200));
    assert_eq!(error(&outcome), "timed out reading the answer");
    assert!(outcome.response_body.starts_with('x'));
    observed.recv().await.expect("the connection is given up");
}

#[tokio::test]
async fn of_a_huge_answer_one_kibibyte_is_kept_and_the_rest_is_never_read() {
    const ANSWER_BYTES: usize = 64 * 1024 * 1024;
    let (written, mut observed) = mpsc::channel(1);
    let receiver = serve(move |mut stream| {
        let written = written.clone();
        async move {
            request(&mut stream, &mut Vec::new()).await;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {ANSWER_BYTES}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            let chunk = vec![b'x'; 64 * 1024];
            let mut total = 0;
            while total < ANSWER_BYTES && stream.write_all(&chunk).await.is_ok() {
                total += chunk.len();
            }
            let _ = written.send(total).await;
        }
    })
    .await;
    let sender = development_sender();
    let outcome = post(&sender, &receiver.url()).await;
    assert!(outcome.delivered, "{outcome:?}");
    assert_eq!(outcome.response_body, "x".repeat(1024));
    let written = observed.recv().await.expect("the receiver ended");
    // What was written and never read sat in the kernel's buffers.
    assert!(written < ANSWER_BYTES, "all of it was taken");
    post(&sender, &receiver.url()).await;
    assert_eq!(receiver.connections(), 2);
}

#[tokio::test]
async fn an_answer_of_endless_headers_is_refused() {
    let lines = "x-filler: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n".repeat(100_000);
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1_000_000));
    for answer in [format!("HTTP/1.1 200 OK\r\n{lines}\r\n"), long] {
        let receiver = answering(answer).await;
        let outcome = post(&development_sender(), &receiver.url()).await;
        assert_eq!(error(&outcome), "the answer's headers are too large");
    }
}

#[tokio::test]
async fn an_answer_in_another_protocol_is_named_so() {
    let receiver = answering("220 mail.example ESMTP\r\n\r\n").await;
    let outcome = post(&development_sender(), &receiver.url()).await;
    assert_eq!(error(&outcome), "the answer is not HTTP/1.1");
}

#[tokio::test]
async fn a_receiver_that_hangs_up_is_a_failure() {
    let receiver = serve(|mut stream| async move {
        request(&mut stream, &mut Vec::new()).await;
    })
    .await;
    let outcome = post(&development_sender(), &receiver.url()).await;
    assert_eq!(error(&outcome), "connection closed before an answer");
}

#[tokio::test]
async fn a_compressed_answer_is_kept_as_it_came() {
    let receiver = answering(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00"
            .as_slice(),
    )
    .await;
    let outcome = post(&development_sender(), &receiver.url()).await;
    assert!(outcome.delivered);
    assert_eq!(
        outcome.response_body, "\u{1f}\u{fffd}\u{8}\u{fffd}",
        "not decompressed, and storable"
    );
}

#[tokio::test]
async fn a_header_value_cannot_start_another_header() {
    let receiver = answering(OK).await;
    let sender = development_sender();
    for value in ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b"] {
        let headers = [(EVENT_ID_HEADER, value.to_owned())];
        let outcome = sender.post(&receiver.url(), &headers, Bytes::new()).await;
        assert_eq!(
            error(&outcome),
            "header x-service-event-id cannot be sent",
            "{value:?}"
        );
    }
    assert_eq!(receiver.connections(), 0);
}
