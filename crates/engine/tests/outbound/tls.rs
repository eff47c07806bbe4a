//! Whom the sender believes.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use till_core::webhook::UrlPolicy;
use till_engine::outbound::{Outcome, Sender, SenderConfig, SenderError, SystemResolver};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{OK, Receiver, request, serve};
use crate::{config, error, post, sender};

struct Identity {
    pem: Vec<u8>,
    server: Arc<ServerConfig>,
}

fn identity(host: &str, adjust: impl FnOnce(&mut CertificateParams)) -> Identity {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec![host.to_owned()]).expect("a host");
    // A name that no other certificate has, neither another test's nor the system's: it is by
    // name that an issuer is looked for.
    let name = format!("Till test receiver at {host}");
    params.distinguished_name.push(DnType::CommonName, name);
    adjust(&mut params);
    let certificate = params.self_signed(&key).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .expect("the key fits");
    Identity {
        pem: certificate.pem().into_bytes(),
        server: Arc::new(server),
    }
}

pub fn unrelated_certificate_pem() -> Vec<u8> {
    identity("unrelated.example", |_| {}).pem
}

async fn receiver(identity: &Identity) -> Receiver {
    let acceptor = TlsAcceptor::from(Arc::clone(&identity.server));
    serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            let mut unread = Vec::new();
            while request(&mut stream, &mut unread).await.is_some() {
                let _ = stream.write_all(OK).await;
                let _ = stream.flush().await;
            }
        }
    })
    .await
}

async fn post_to(receiver: &Receiver, host: &str, trusted: &[&Identity]) -> Outcome {
    let mut config = config(UrlPolicy::PrivateAllowed);
    config
        .trusted_certificates_pem
        .extend(trusted.iter().map(|identity| identity.pem.clone()));
    let sender = sender(config, Arc::new(SystemResolver::Unconfigured));
    let url = format!("https://{host}:{}/hooks", receiver.address.port());
    post(&sender, &url).await
}

#[tokio::test]
async fn a_self_signed_certificate_is_refused_until_it_is_trusted() {
    let identity = identity("localhost", |_| {});
    let receiver = receiver(&identity).await;
    let refused = post_to(&receiver, "localhost", &[]).await;
    assert_eq!(
        error(&refused),
        "TLS: the certificate's issuer is not trusted"
    );
    let accepted = post_to(&receiver, "localhost", &[&identity]).await;
    assert!(accepted.delivered, "{accepted:?}");
    assert_eq!(accepted.response_body, "ok");
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let identity = identity("localhost", |_| {});
    let receiver = receiver(&identity).await;
    let outcome = post_to(&receiver, "127.0.0.1", &[&identity]).await;
    assert_eq!(error(&outcome), "TLS: the certificate is for another host");
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let identity = identity("localhost", |params| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    let receiver = receiver(&identity).await;
    let outcome = post_to(&receiver, "localhost", &[&identity]).await;
    assert_eq!(error(&outcome), "TLS: the certificate has expired");
}

#[tokio::test]
async fn a_receiver_that_does_not_speak_tls_is_named_so() {
    let plain = serve(|mut stream| async move {
        let _ = stream.write_all(OK).await;
    })
    .await;
    let outcome = post_to(&plain, "localhost", &[]).await;
    assert_eq!(error(&outcome), "TLS: the receiver does not speak TLS");
}

#[test]
fn a_trusted_certificate_file_without_a_certificate_is_refused_by_number() {
    let config = SenderConfig {
        trusted_certificates_pem: vec![unrelated_certificate_pem(), b"no PEM".to_vec()],
        ..config(UrlPolicy::Public)
    };
    let refused = Sender::with_resolver(config, Arc::new(SystemResolver::Unconfigured));
    assert!(matches!(refused, Err(SenderError::Certificate(1))));
}
