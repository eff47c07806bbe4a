//! TLS by files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode, Version};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::common::{Place, Server, text, until};

/// A certificate that signs itself, in the place of the one before.
fn write_certificate(place: &Place) -> RootCertStore {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    place.write("tls.pem", &certificate.pem());
    place.write("tls.key", &key.serialize_pem());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    roots
}

const FILES: [&str; 4] = [
    "--set",
    "server.tls_certificate=tls.pem",
    "--set",
    "server.tls_key=tls.key",
];

async fn connect(
    address: &str,
    roots: &RootCertStore,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let socket = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config))
        .connect(name, socket)
        .await
}

fn request(
    method: Method,
    address: &str,
    path: &str,
    key: &str,
    body: &Value,
) -> Request<Full<Bytes>> {
    let body = match method == Method::GET {
        true => Bytes::new(),
        false => Bytes::from(body.to_string()),
    };
    Request::builder()
        .method(method)
        .uri(format!("https://{address}{path}"))
        .header("authorization", format!("Bearer {key}"))
        .header("idempotency-key", "one")
        .header("content-type", "application/json")
        .body(Full::new(body))
        .unwrap()
}

/// Answers over HTTP/2, with requests under way at once.
async fn by_http2(address: &str, roots: &RootCertStore, key: &str) -> Value {
    let socket = connect(address, roots, b"h2").await.unwrap();
    assert_eq!(socket.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket))
            .await
            .unwrap();
    tokio::spawn(connection);
    let body = json!({ "amount": "5", "currency": "USD" });
    let made = sender.send_request(request(Method::POST, address, "/v1/invoices", key, &body));
    let mut other = sender.clone();
    let health = other.send_request(request(Method::GET, address, "/healthz", "", &Value::Null));
    let (made, health) = tokio::join!(made, health);
    assert_eq!(health.unwrap().status(), StatusCode::OK);
    let made = made.unwrap();
    assert_eq!(
        (made.status(), made.version()),
        (StatusCode::CREATED, Version::HTTP_2)
    );
    let made = made.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&made).unwrap()
}

async fn is_healthy_by_http1(address: &str, roots: &RootCertStore) -> std::io::Result<bool> {
    let socket = connect(address, roots, b"http/1.1").await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
        .await
        .map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    let mut asked = request(Method::GET, address, "/healthz", "", &Value::Null);
    asked
        .headers_mut()
        .insert("host", "localhost".parse().unwrap());
    *asked.uri_mut() = "/healthz".parse().unwrap();
    let answer = sender.send_request(asked).await;
    Ok(answer.map_err(std::io::Error::other)?.status() == StatusCode::OK)
}

#[test]
fn with_certificate_files_a_server_speaks_tls_and_reads_them_anew() {
    let runtime = Runtime::new().unwrap();
    let place = Place::new();
    let account = place.account(&[]);
    let roots = write_certificate(&place);
    let server: Server = place.serve(&FILES);
    assert!(
        server.first_line.contains("https://"),
        "{}",
        server.first_line
    );
    let address = server.address.clone();
    let key = text(&account, "/test/secret_key");
    let made = runtime.block_on(by_http2(&address, &roots, key));
    let checkout = text(&made, "/checkout_url");
    assert!(
        checkout.starts_with(&format!("https://{address}/")),
        "{checkout}"
    );
    assert!(
        runtime
            .block_on(is_healthy_by_http1(&address, &roots))
            .unwrap()
    );
    assert!(
        server.client("").get("/healthz").is_err(),
        "plain HTTP is not answered"
    );

    let renewed = write_certificate(&place);
    server.signal("HUP");
    server.log_until("the TLS certificate was read anew");
    assert!(
        runtime
            .block_on(is_healthy_by_http1(&address, &renewed))
            .unwrap()
    );
    assert!(
        runtime
            .block_on(is_healthy_by_http1(&address, &roots))
            .is_err()
    );

    // Without being told, too; and what cannot be used changes nothing.
    place.write("tls.key", "nothing of use");
    server.log_until("stays in use");
    assert!(
        runtime
            .block_on(is_healthy_by_http1(&address, &renewed))
            .unwrap()
    );
    let last = write_certificate(&place);
    until("the last one is in use", || {
        runtime
            .block_on(is_healthy_by_http1(&address, &last))
            .is_ok()
    });
    server.stop();
}

#[test]
fn tls_files_that_cannot_be_used_are_one_line_at_the_start_and_by_check() {
    let place = Place::new();
    let serve = [&["serve", "--listen", "127.0.0.1:0"], &FILES[..]].concat();
    let check = [&["check"], &FILES[..]].concat();
    let wrong = |why: &str| {
        let line = place.till(&serve).fails(1);
        assert!(line.contains(why), "{line}");
        let checked = place.till(&check);
        assert_eq!(checked.status, Some(1), "{}", checked.stdout);
        let is_told = |line: &str| line.starts_with("FAIL TLS") && line.contains(why);
        assert!(checked.stdout.lines().any(is_told), "{}", checked.stdout);
    };
    wrong("server.tls_certificate: tls.pem cannot be read");
    write_certificate(&place);
    let certificate = fs::read_to_string(place.path("tls.pem")).unwrap();
    place.write("tls.pem", "nothing");
    wrong("holds no readable certificate");
    write_certificate(&place);
    place.write("tls.pem", &certificate);
    wrong("does not belong to the certificate");
    let one = [&["serve"], &FILES[..2]].concat();
    let line = place.till(&one).fails(1);
    assert!(line.contains("belong together"), "{line}");
    write_certificate(&place);
    let checked = place.till(&check).ok().stdout;
    assert!(checked.contains("ok TLS"), "{checked}");
}

#[test]
fn a_key_that_everybody_may_read_is_warned_about() {
    let place = Place::new();
    write_certificate(&place);
    let check = [&["check"], &FILES[..]].concat();
    let checked = |mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.path("tls.key"), mode).unwrap();
        place.till(&check).ok().stdout
    };
    let warned = checked(0o644);
    let line = warned.lines().find(|it| it.starts_with("warn TLS key"));
    assert!(line.is_some_and(|it| it.contains("chmod")), "{warned}");
    assert!(!checked(0o640).contains("warn TLS key"));
}
