//! From a vetted URL to the socket addresses that may be connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use http::Uri;
use till_core::webhook::{UrlPolicy, is_public, vet_url};
use till_net::{DialError, Route};
use url::{Host, Url};

use super::connect::ConnectError;
use super::resolve::Resolve;

pub(super) struct Gate {
    pub(super) policy: UrlPolicy,
    pub(super) own_addresses: Vec<SocketAddr>,
    pub(super) resolver: Arc<dyn Resolve>,
}

impl Route for Gate {
    type Error = ConnectError;

    async fn find(&self, uri: &Uri) -> Result<(Url, Vec<SocketAddr>), ConnectError> {
        let url = vet_url(&uri.to_string(), self.policy)?;
        let addresses = self.addresses(&url).await?;
        Ok((url, addresses))
    }
}

impl Gate {
    /// Resolves once and vets every answer. One forbidden address refuses the host as a whole: a
    /// name that mixes public and private addresses is an attack or a mistake, never a receiver.
    pub(super) async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, ConnectError> {
        let port = url.port_or_known_default().ok_or(DialError::NoAddress)?;
        let ips = match url.host() {
            Some(Host::Ipv4(ip)) => vec![IpAddr::V4(ip)],
            Some(Host::Ipv6(ip)) => vec![IpAddr::V6(ip)],
            Some(Host::Domain(name)) => self.resolve(name).await?,
            None => Vec::new(),
        };
        let addresses: Vec<SocketAddr> = ips
            .into_iter()
            .map(|ip| SocketAddr::new(ip, port))
            .collect();
        if addresses.is_empty() {
            return Err(DialError::NoAddress.into());
        }
        if self.policy == UrlPolicy::Public {
            for address in &addresses {
                self.vet(*address)?;
            }
        }
        Ok(addresses)
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, ConnectError> {
        match self.policy {
            // The final dot keeps the resolver from trying the name inside our own search domains.
            UrlPolicy::Public => self.resolver.lookup(&format!("{name}.")).await,
            UrlPolicy::PrivateAllowed if name == "localhost" => Ok(vec![
                IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(Ipv6Addr::LOCALHOST),
            ]),
            UrlPolicy::PrivateAllowed => self.resolver.lookup(name).await,
        }
        .map_err(|error| DialError::Dns(error.kind()).into())
    }

    fn vet(&self, address: SocketAddr) -> Result<(), ConnectError> {
        if !is_public(address.ip()) {
            return Err(ConnectError::Forbidden);
        }
        let is_own = self.own_addresses.iter().any(|own| {
            own.port() == address.port()
                && (own.ip() == address.ip()
                    || (own.ip().is_unspecified() && is_this_machine(address)))
        });
        if is_own {
            return Err(ConnectError::OwnAddress);
        }
        Ok(())
    }
}

/// Whether the address is one of this machine's. The kernel's routing table knows: what it would
/// send to one of its own addresses it would send from that address. Connecting a datagram socket
/// asks it without sending anything.
fn is_this_machine(address: SocketAddr) -> bool {
    let unspecified: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = UdpSocket::bind((unspecified, 0)).and_then(|socket| {
        socket.connect(address)?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::SystemResolver;

    fn gate(own_addresses: Vec<SocketAddr>) -> Gate {
        Gate {
            policy: UrlPolicy::Public,
            own_addresses,
            resolver: Arc::new(SystemResolver::Unconfigured),
        }
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().expect(text)
    }

    #[test]
    fn our_own_public_address_is_refused_on_our_own_port_only() {
        let gate = gate(vec![at("8.8.8.8:443")]);
        assert!(matches!(
            gate.vet(at("8.8.8.8:443")),
            Err(ConnectError::OwnAddress)
        ));
        assert!(gate.vet(at("8.8.8.8:8443")).is_ok());
        assert!(gate.vet(at("8.8.4.4:443")).is_ok());
    }

    #[test]
    fn the_kernel_tells_which_addresses_are_ours() {
        assert!(is_this_machine(at("127.0.0.1:443")));
        assert!(!is_this_machine(at("8.8.8.8:443")));
    }

    #[test]
    fn listening_everywhere_does_not_forbid_everyone() {
        let gate = gate(vec![at("0.0.0.0:443"), at("[::]:443")]);
        assert!(gate.vet(at("8.8.8.8:443")).is_ok());
    }
}
