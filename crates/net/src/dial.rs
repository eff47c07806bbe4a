//! From socket addresses to a connection that is ready to speak.
//!
//! TLS is opened here and not by hyper-rustls: its connector takes a host's name to whatever address that has, asks for it again by
//! itself, and tells failures in rustls' words, which name what the receiver chose. Here the addresses were vetted before, each
//! has its share of the time, and a place among the open sockets is held as long as the connection lasts.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::stream::{Socket, Stream};

/// A host with many addresses gets this many chances, so that each has a fair share of the deadline.
const ADDRESSES_TRIED_MAX: usize = 3;

/// The texts name no address: whoever reads them may have chosen the host to learn where it leads.
#[derive(Debug, Error)]
pub enum DialError {
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

fn dns_text(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "the host has no address",
        io::ErrorKind::TimedOut => "the lookup timed out",
        _ => "the lookup failed",
    }
}

#[derive(Clone)]
pub(crate) struct Dialer {
    tls: TlsConnector,
    pub(crate) deadline: Duration,
    /// How many sockets may be open.
    sockets: Option<Arc<Semaphore>>,
}

impl Dialer {
    pub(crate) fn new(
        tls: Arc<ClientConfig>,
        deadline: Duration,
        sockets: Option<usize>,
    ) -> Dialer {
        Dialer {
            tls: TlsConnector::from(tls),
            deadline,
            sockets: sockets.map(|sockets| Arc::new(Semaphore::new(sockets))),
        }
    }

    pub(crate) async fn dial(
        &self,
        url: &Url,
        addresses: &[SocketAddr],
    ) -> Result<TokioIo<Stream>, DialError> {
        let permit = match &self.sockets {
            // Nobody closes it; what is waited for are idle connections, which do not last.
            Some(sockets) => Arc::clone(sockets).acquire_owned().await.ok(),
            None => None,
        };
        let tcp = open(addresses, self.deadline).await?;
        // Requests are one small write each: waiting to fill a packet would only add delay.
        tcp.set_nodelay(true)
            .map_err(|error| DialError::Tcp(error.kind()))?;
        let socket = if url.scheme() == "https" {
            let tls = self.tls.connect(server_name(url)?, tcp).await;
            Socket::Tls(Box::new(tls.map_err(tls_error)?))
        } else {
            Socket::Plain(tcp)
        };
        Ok(TokioIo::new(Stream::new(socket, permit)))
    }
}

/// The first of some addresses that a connection can be opened to; each has its share of the time.
pub(crate) async fn open(
    addresses: &[SocketAddr],
    deadline: Duration,
) -> Result<TcpStream, DialError> {
    let tried = &addresses[..addresses.len().min(ADDRESSES_TRIED_MAX)];
    let share = deadline / u32::try_from(tried.len().max(1)).unwrap_or(u32::MAX);
    let mut failure = DialError::NoAddress;
    for address in tried {
        failure = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => return Ok(tcp),
            Ok(Err(error)) => DialError::Tcp(error.kind()),
            Err(_) => DialError::Timeout,
        };
    }
    Err(failure)
}

fn server_name(url: &Url) -> Result<ServerName<'static>, DialError> {
    match url.host() {
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned())
            .map_err(|_| DialError::Tls("no certificate can be for this host")),
        Some(Host::Ipv4(ip)) => Ok(ServerName::from(IpAddr::V4(ip))),
        Some(Host::Ipv6(ip)) => Ok(ServerName::from(IpAddr::V6(ip))),
        None => Err(DialError::NoAddress),
    }
}

/// In our own words: the library's list every name in the certificate, which the receiver chose.
fn tls_error(error: io::Error) -> DialError {
    use rustls::{CertificateError as Certificate, Error};
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>());
    DialError::Tls(match inner {
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
