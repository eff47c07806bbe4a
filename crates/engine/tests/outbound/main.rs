//! Deliveries over real sockets, on loopback only.

mod answers;
mod destinations;
mod lists;
mod receiver;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use till_core::webhook::UrlPolicy;
use till_engine::outbound::{Outcome, Resolve, Sender, SenderConfig, SystemResolver};

fn config(policy: UrlPolicy) -> SenderConfig {
    SenderConfig {
        policy,
        // So that the tests do not depend on what the machine trusts.
        trusted_certificates_pem: vec![tls::unrelated_certificate_pem()],
        own_addresses: Vec::new(),
        sockets: 16,
        deadline: Duration::from_secs(10),
    }
}

fn development_sender() -> Sender {
    sender(
        config(UrlPolicy::PrivateAllowed),
        Arc::new(SystemResolver::Unconfigured),
    )
}

fn sender(config: SenderConfig, resolver: Arc<dyn Resolve>) -> Sender {
    Sender::with_resolver(config, resolver).expect("the configuration is good")
}

async fn post(sender: &Sender, url: &str) -> Outcome {
    sender.post(url, &[], Bytes::from_static(b"{}")).await
}

fn error(outcome: &Outcome) -> &str {
    assert!(!outcome.delivered, "{outcome:?}");
    outcome.error.as_deref().expect("a failure names its cause")
}
