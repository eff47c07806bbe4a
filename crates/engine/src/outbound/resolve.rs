//! Where a name leads.

use std::io;
use std::net::IpAddr;

use futures::future::BoxFuture;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::NetError;

pub type Addresses<'a> = BoxFuture<'a, io::Result<Vec<IpAddr>>>;

/// Answers with every address of the host, of both families: all of them are vetted.
pub trait Resolve: Send + Sync + 'static {
    fn lookup<'a>(&'a self, host: &'a str) -> Addresses<'a>;
}

pub enum SystemResolver {
    System(Box<TokioResolver>),
    /// A machine without DNS still delivers to literal addresses.
    Unconfigured,
}

impl SystemResolver {
    pub fn new() -> SystemResolver {
        let built = TokioResolver::builder_tokio().and_then(|mut builder| {
            builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
            builder.build()
        });
        match built {
            Ok(resolver) => SystemResolver::System(Box::new(resolver)),
            Err(error) => {
                tracing::warn!(%error, "the system's DNS settings cannot be read, so webhooks reach only URLs with literal IP addresses; check /etc/resolv.conf");
                SystemResolver::Unconfigured
            }
        }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        SystemResolver::new()
    }
}

impl Resolve for SystemResolver {
    fn lookup<'a>(&'a self, host: &'a str) -> Addresses<'a> {
        Box::pin(async move {
            match self {
                SystemResolver::System(resolver) => match resolver.lookup_ip(host).await {
                    Ok(found) => Ok(found.iter().collect()),
                    Err(error) => Err(io::Error::new(kind_of(&error), error)),
                },
                SystemResolver::Unconfigured => Err(io::ErrorKind::Unsupported.into()),
            }
        })
    }
}

fn kind_of(error: &NetError) -> io::ErrorKind {
    if error.is_no_records_found() || error.is_nx_domain() {
        io::ErrorKind::NotFound
    } else if matches!(error, NetError::Timeout) {
        io::ErrorKind::TimedOut
    } else {
        io::ErrorKind::Other
    }
}
