//! Where deliveries may go once names have been resolved.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use till_core::webhook::{UrlPolicy, UrlRefused};
use till_engine::outbound::{Addresses, Resolve, Sender, SystemResolver};

use crate::receiver::{OK, answering};
use crate::{config, development_sender, error, post, sender};

/// Gives its answers one after the other, then none.
struct Scripted {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    lookups: AtomicUsize,
}

fn scripted(answers: &[&[&str]]) -> Arc<Scripted> {
    let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().expect(ip)).collect();
    Arc::new(Scripted {
        answers: Mutex::new(answers.iter().map(parse).collect()),
        lookups: AtomicUsize::new(0),
    })
}

impl Resolve for Scripted {
    fn lookup<'a>(&'a self, _host: &'a str) -> Addresses<'a> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().expect("not poisoned").pop_front();
        Box::pin(async move { answer.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

const FORBIDDEN: &str = "forbidden address: the host leads to an address that is not public";

#[tokio::test]
async fn a_name_that_leads_inside_is_never_connected_to() {
    let receiver = answering(OK).await;
    let url = format!("https://shop.example:{}/", receiver.address.port());
    for answer in [
        &["127.0.0.1"] as &[&str],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["169.254.169.254"],
        // One private address spoils the whole answer, wherever it stands.
        &["127.0.0.1", "8.8.8.8"],
        &["8.8.8.8", "127.0.0.1"],
        &["8.8.8.8", "2606:4700::1111", "::1"],
    ] {
        let sender = sender(config(UrlPolicy::Public), scripted(&[answer, answer]));
        let outcome = post(&sender, &url).await;
        assert_eq!(error(&outcome), FORBIDDEN, "{answer:?}");
        assert_eq!(outcome.status_code, None);
        assert_eq!(sender.check(&url).await, Err(UrlRefused::ForbiddenAddress));
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn a_name_that_turns_inside_after_it_was_checked_is_refused_at_delivery() {
    let receiver = answering(OK).await;
    let url = format!("https://shop.example:{}/", receiver.address.port());
    let resolver = scripted(&[&["8.8.8.8"], &["127.0.0.1"]]);
    let sender = sender(config(UrlPolicy::Public), resolver);
    assert_eq!(sender.check(&url).await, Ok(()));
    assert_eq!(error(&post(&sender, &url).await), FORBIDDEN);
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn the_address_that_was_vetted_is_the_one_connected_to() {
    let receiver = answering(OK).await;
    let url = format!("http://shop.example:{}/", receiver.address.port());
    // A second lookup would lead where nobody listens.
    let resolver = scripted(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let sender = sender(config(UrlPolicy::PrivateAllowed), resolver.clone());
    assert!(post(&sender, &url).await.delivered);
    assert_eq!(resolver.lookups.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn another_address_of_the_host_is_tried_when_one_refuses() {
    let receiver = answering(OK).await;
    let url = format!("http://shop.example:{}/", receiver.address.port());
    let resolver = scripted(&[&["127.0.0.2", "127.0.0.1"]]);
    let sender = sender(config(UrlPolicy::PrivateAllowed), resolver);
    assert!(post(&sender, &url).await.delivered);
}

#[tokio::test]
async fn literal_local_addresses_are_refused_on_a_public_server() {
    let receiver = answering(OK).await;
    let port = receiver.address.port();
    let sender = sender(config(UrlPolicy::Public), scripted(&[]));
    for (url, expected) in [
        (
            format!("https://127.0.0.1:{port}/"),
            "the URL's address is not public",
        ),
        (
            format!("https://2130706433:{port}/"),
            "the URL's address is not public",
        ),
        (
            format!("https://[::ffff:127.0.0.1]:{port}/"),
            "the URL's address is not public",
        ),
        (
            format!("https://localhost:{port}/"),
            "the URL names a local or internal host",
        ),
        (
            format!("http://8.8.8.8:{port}/"),
            "the URL must start with https://",
        ),
    ] {
        assert_eq!(error(&post(&sender, &url).await), expected, "{url}");
        assert!(sender.check(&url).await.is_err(), "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn localhost_needs_no_dns_in_development() {
    let receiver = answering(OK).await;
    let url = format!("http://localhost:{}/", receiver.address.port());
    let outcome = post(&development_sender(), &url).await;
    assert!(outcome.delivered, "{outcome:?}");
}

#[tokio::test]
async fn a_name_without_an_address_fails_by_dns_and_may_still_be_set() {
    let sender = sender(config(UrlPolicy::Public), scripted(&[]));
    let outcome = post(&sender, "https://shop.example/").await;
    assert_eq!(error(&outcome), "DNS: the host has no address");
    assert_eq!(sender.check("https://shop.example/").await, Ok(()));
}

#[tokio::test]
async fn a_closed_port_is_named() {
    let receiver = answering(OK).await;
    let resolver = Arc::new(SystemResolver::Unconfigured);
    let sender = sender(config(UrlPolicy::PrivateAllowed), resolver);
    // Nothing listens on this one of the loopback addresses.
    let url = format!("http://127.0.0.2:{}/", receiver.address.port());
    let outcome = post(&sender, &url).await;
    assert_eq!(error(&outcome), "connection failed: connection refused");
}

#[test]
fn a_sender_with_the_systems_resolver_is_made_before_any_runtime_runs() {
    let sender = Sender::new(config(UrlPolicy::PrivateAllowed)).expect("a sender");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let receiver = answering(OK).await;
        assert!(post(&sender, &receiver.url()).await.delivered);
        // Reserved never to exist, so this fails with DNS and without.
        let outcome = post(&sender, "http://nowhere.invalid/").await;
        assert!(error(&outcome).starts_with("DNS: "), "{outcome:?}");
    });
}
