//! Opening connections: TCP, TLS and a pool of them, for whoever has decided where to connect.
//!
//! Where a connection may lead is decided above: by a [`Route`], which turns an address into the sockets that
//! may be tried, and [`Anywhere`] is the one without limits. Nothing here follows a redirect.

mod anywhere;
mod connector;
mod dial;
mod stream;
mod tls;

use url::Url;

pub use anywhere::{Anywhere, connect};
pub use connector::{Client, Connector, Route, client, client_of, describe};
pub use dial::DialError;
pub use stream::Stream;
pub use tls::{Roots, TlsError, client_config};

/// An address as it may be logged: scheme, host and port. Users, paths and queries hold keys.
pub fn place(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}"));
    format!(
        "{}://{}{}",
        url.scheme(),
        url.host_str().unwrap_or_default(),
        port.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_without_its_keys() {
        let url = Url::parse("https://user:pass@node.example.com:8545/v2/secret?key=secret#secret");
        assert_eq!(place(&url.unwrap()), "https://node.example.com:8545");
        let url = Url::parse("http://[::1]/secret").unwrap();
        assert_eq!(place(&url), "http://[::1]");
    }
}
