//! The way to every address there is.

use std::net::SocketAddr;
use std::time::Duration;

use http::Uri;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Host, Url};

use crate::connector::Route;
use crate::dial::{DialError, open};

/// For addresses that the operator or whoever is at the command line chose: a node in the next rack is the best there is, so
/// every address is fine, and names mean what they mean to the machine's other programs.
pub struct Anywhere;

impl Route for Anywhere {
    type Error = DialError;

    async fn find(&self, uri: &Uri) -> Result<(Url, Vec<SocketAddr>), DialError> {
        let url = Url::parse(&uri.to_string()).map_err(|_| DialError::NoAddress)?;
        let addresses = addresses_of(&url).await?;
        Ok((url, addresses))
    }
}

async fn addresses_of(url: &Url) -> Result<Vec<SocketAddr>, DialError> {
    let port = url.port_or_known_default().ok_or(DialError::NoAddress)?;
    Ok(match url.host() {
        Some(Host::Ipv4(ip)) => vec![SocketAddr::new(ip.into(), port)],
        Some(Host::Ipv6(ip)) => vec![SocketAddr::new(ip.into(), port)],
        Some(Host::Domain(name)) => tokio::net::lookup_host((name, port))
            .await
            .map_err(|error| DialError::Dns(error.kind()))?
            .collect(),
        None => Vec::new(),
    })
}

/// A plain connection to where the operator says, for what is not spoken over HTTP.
pub async fn connect(url: &Url, deadline: Duration) -> Result<TcpStream, DialError> {
    let addresses = timeout(deadline, addresses_of(url)).await;
    let addresses = addresses.map_err(|_| DialError::Timeout)??;
    open(&addresses, deadline).await
}
