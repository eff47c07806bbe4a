//! Opens the connection: vet, resolve, vet what was resolved, connect to exactly that, and speak TLS.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use till_core::webhook::{UrlRefused, vet_url};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;
use url::{Host, Url};

use super::gate::Gate;
use super::stream::Stream;

/// A host with many addresses gets this many chances, so that each has a fair share of the deadline.
const ADDRESSES_TRIED_MAX: usize = 3;

/// The texts are shown to the merchant. They name no address, so that a name which leads inside
/// cannot be used to learn what our resolver knows.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    #[error("{0}")]
    Refused(#[from] UrlRefused),
    #[error("forbidden address: the host leads to an address that is not public")]
    Forbidden,
    #[error("forbidden address: the host leads to this server")]
    OwnAddress,
    #[error("DNS: {}", dns_text(*.0))]
    Dns(io::ErrorKind),
    #[error("DNS: the host has no address")]
    NoAddress,
    #[error("connection failed: {0}")]
    Tcp(io::ErrorKind),
    #[error("TLS: {0}")]
    Tls(&'static str),
    #[error("timed out connecting")]
    Timeout,
}

impl ConnectError {
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self, ConnectError::Forbidden | ConnectError::OwnAddress)
    }
}

fn dns_text(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "the host has no address",
        io::ErrorKind::TimedOut => "the lookup timed out",
        _ => "the lookup failed",
    }
}

#[derive(Clone)]
pub(super) struct Connector {
    gate: Arc<Gate>,
    tls: TlsConnector,
    deadline: Duration,
}

impl Connector {
    pub(super) fn new(gate: Arc<Gate>, tls: Arc<ClientConfig>, deadline: Duration) -> Connector {
        Connector {
            gate,
            tls: TlsConnector::from(tls),
            deadline,
        }
    }

    async fn connect(self, uri: Uri) -> Result<TokioIo<Stream>, ConnectError> {
        let url = vet_url(&uri.to_string(), self.gate.policy)?;
        let addresses = self.gate.addresses(&url).await?;
        let tcp = self.open(&addresses).await?;
        // Deliveries are one small write each: waiting to fill a packet would only add delay.
        tcp.set_nodelay(true)
            .map_err(|error| ConnectError::Tcp(error.kind()))?;
        let stream = if url.scheme() == "https" {
            let tls = self.tls.connect(server_name(&url)?, tcp).await;
            Stream::Tls(Box::new(tls.map_err(tls_error)?))
        } else {
            Stream::Plain(tcp)
        };
        Ok(TokioIo::new(stream))
    }

    async fn open(&self, addresses: &[SocketAddr]) -> Result<TcpStream, ConnectError> {
        let tried = &addresses[..addresses.len().min(ADDRESSES_TRIED_MAX)];
        let share = self.deadline / u32::try_from(tried.len().max(1)).unwrap_or(u32::MAX);
        let mut failure = ConnectError::NoAddress;
        for address in tried {
            failure = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(tcp)) => return Ok(tcp),
                Ok(Err(error)) => ConnectError::Tcp(error.kind()),
                Err(_) => ConnectError::Timeout,
            };
        }
        Err(failure)
    }
}

fn server_name(url: &Url) -> Result<ServerName<'static>, ConnectError> {
    match url.host() {
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned())
            .map_err(|_| ConnectError::Refused(UrlRefused::Malformed)),
        Some(Host::Ipv4(ip)) => Ok(ServerName::from(std::net::IpAddr::V4(ip))),
        Some(Host::Ipv6(ip)) => Ok(ServerName::from(std::net::IpAddr::V6(ip))),
        None => Err(ConnectError::Refused(UrlRefused::NoHost)),
    }
}

/// In our own words: the library's list every name in the certificate, which the receiver chose.
fn tls_error(error: io::Error) -> ConnectError {
    use rustls::{CertificateError as Certificate, Error};
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>());
    ConnectError::Tls(match inner {
        Some(Error::InvalidCertificate(reason)) => match reason {
            Certificate::UnknownIssuer => "the certificate's issuer is not trusted",
            Certificate::Expired | Certificate::ExpiredContext { .. } => {
                "the certificate has expired"
            }
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "the certificate is not valid yet"
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "the certificate is for another host"
            }
            _ => "the certificate is not valid",
        },
        Some(Error::AlertReceived(_)) => "the receiver refused the handshake",
        Some(Error::PeerIncompatible(_)) => "no common protocol, TLS 1.2 or later is needed",
        Some(Error::InvalidMessage(_)) => "the receiver does not speak TLS",
        _ => "the handshake failed",
    })
}

type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, ConnectError>> + Send>>;

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = ConnectError;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let connector = self.clone();
        Box::pin(async move {
            // The client may go on connecting after the delivery that asked for it has found
            // another connection, so the delivery's own deadline does not bound this.
            timeout(connector.deadline, connector.connect(uri))
                .await
                .unwrap_or(Err(ConnectError::Timeout))
        })
    }
}
