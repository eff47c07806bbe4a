//! Whose address a request counts against.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

pub const FORWARDED_FOR: &str = "x-forwarded-for";

/// The peer, or behind trusted proxies the nearest hop that is not one of them. What stands further
/// left in `X-Forwarded-For` was written by someone we do not trust, so it is never believed.
pub fn client_addr(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer.to_canonical();
    if !is_trusted(client, trusted) {
        return client;
    }
    let values = headers.get_all(FORWARDED_FOR);
    let hops = values
        .iter()
        .rev()
        .flat_map(|value| value.as_bytes().rsplit(|b| *b == b','));
    for hop in hops {
        // An unreadable hop ends what is known: the proxy that reported it answers for it.
        let Some(hop) = std::str::from_utf8(hop).ok().and_then(parse_hop) else {
            break;
        };
        client = hop;
        if !is_trusted(client, trusted) {
            break;
        }
    }
    client
}

/// What limits count by: one IPv6 customer holds a whole /64.
pub fn limit_key(addr: IpAddr) -> IpAddr {
    network(addr, 0xffff)
}

/// What counts where clients must not keep each other out: a connection at home often has a whole /56.
pub fn household_key(addr: IpAddr) -> IpAddr {
    network(addr, 0xff00)
}

/// An IPv4 address as it is; of an IPv6 address three groups, and these bits of the fourth.
fn network(addr: IpAddr, of_the_fourth: u16) -> IpAddr {
    match addr.to_canonical() {
        IpAddr::V4(addr) => IpAddr::V4(addr),
        IpAddr::V6(addr) => {
            let [a, b, c, d, ..] = addr.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d & of_the_fourth, 0, 0, 0, 0))
        }
    }
}

/// How much of a client's address is written into the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedAddress {
    Full,
    /// A network of its provider's: enough to see who floods, too little to find a person by.
    Prefix,
    Nothing,
}

impl LoggedAddress {
    pub fn text(self, addr: IpAddr) -> Option<String> {
        match (self, addr.to_canonical()) {
            (LoggedAddress::Nothing, _) => None,
            (LoggedAddress::Full, addr) => Some(addr.to_string()),
            (LoggedAddress::Prefix, IpAddr::V4(addr)) => {
                let [a, b, c, _] = addr.octets();
                Some(format!("{a}.{b}.{c}.0/24"))
            }
            (LoggedAddress::Prefix, IpAddr::V6(addr)) => {
                let [a, b, c, ..] = addr.segments();
                let network = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0);
                Some(format!("{network}/48"))
            }
        }
    }
}

fn is_trusted(addr: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|net| net.contains(&addr))
}

/// An address with or without port, IPv6 with or without brackets.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop
        .strip_prefix('[')
        .and_then(|hop| hop.strip_suffix(']'))
        .unwrap_or(hop);
    bare.parse::<IpAddr>()
        .or_else(|_| hop.parse::<SocketAddr>().map(|addr| addr.ip()))
        .ok()
        .map(|addr| addr.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"]
            .map(|net| net.parse().unwrap())
            .into();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
        }
        let client = client_addr(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(
            client,
            expected.parse::<IpAddr>().unwrap(),
            "{peer} {forwarded:?}"
        );
    }

    #[test]
    fn a_stranger_cannot_say_who_he_is() {
        check("192.0.2.1", &["198.51.100.7"], "192.0.2.1");
        check("192.0.2.1", &[], "192.0.2.1");
        check("::ffff:192.0.2.1", &["198.51.100.7"], "192.0.2.1");
    }

    #[test]
    fn behind_trusted_proxies_the_nearest_other_hop_counts() {
        check("10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check(
            "10.0.0.1",
            &["1.1.1.1, 198.51.100.7 , 10.2.2.2"],
            "198.51.100.7",
        );
        check(
            "10.0.0.1",
            &["1.1.1.1", "198.51.100.7, 10.2.2.2"],
            "198.51.100.7",
        );
        check("fd00::1", &["2001:db8::9"], "2001:db8::9");
        check("10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7");
        check("10.0.0.1", &["[2001:db8::9]:80"], "2001:db8::9");
        check("10.0.0.1", &["[2001:db8::9]"], "2001:db8::9");
    }

    #[test]
    fn an_unreadable_hop_falls_back_to_who_reported_it() {
        check("10.0.0.1", &["unknown"], "10.0.0.1");
        check("10.0.0.1", &[""], "10.0.0.1");
        check("10.0.0.1", &["198.51.100.7, junk, 10.2.2.2"], "10.2.2.2");
        check("10.0.0.1", &["10.3.3.3, 10.2.2.2"], "10.3.3.3");
    }

    #[test]
    fn limits_count_a_64_of_ipv6_as_one() {
        let key = |addr: &str| limit_key(addr.parse().unwrap()).to_string();
        assert_eq!(key("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(key("192.0.2.1"), "192.0.2.1");
        assert_eq!(key("::ffff:192.0.2.1"), "192.0.2.1");
    }

    #[test]
    fn a_household_is_a_56_of_ipv6() {
        let key = |addr: &str| household_key(addr.parse().unwrap()).to_string();
        assert_eq!(key("2001:db8:1:1234:3:4:5:6"), "2001:db8:1:1200::");
        assert_eq!(key("2001:db8:1:12ff::1"), "2001:db8:1:1200::");
        assert_eq!(key("2001:db8:1:1300::1"), "2001:db8:1:1300::");
        assert_eq!(key("192.0.2.1"), "192.0.2.1");
        assert_eq!(key("::ffff:192.0.2.1"), "192.0.2.1");
    }

    #[test]
    fn of_a_client_the_log_has_as_much_as_was_asked_for() {
        let shown = |how: LoggedAddress, addr: &str| how.text(addr.parse().unwrap());
        let prefix = |addr: &str| shown(LoggedAddress::Prefix, addr).unwrap();
        assert_eq!(prefix("192.0.2.77"), "192.0.2.0/24");
        assert_eq!(prefix("::ffff:192.0.2.77"), "192.0.2.0/24");
        assert_eq!(prefix("2001:db8:1:2:3::4"), "2001:db8:1::/48");
        let full = shown(LoggedAddress::Full, "192.0.2.77");
        assert_eq!(full.as_deref(), Some("192.0.2.77"));
        assert_eq!(shown(LoggedAddress::Nothing, "192.0.2.77"), None);
    }

    proptest! {
        #[test]
        fn any_chain_of_hops_is_read(value in "[0-9a-f:., \\[\\]]{0,60}") {
            let mut headers = HeaderMap::new();
            headers.insert(FORWARDED_FOR, HeaderValue::from_str(&value).unwrap());
            client_addr("10.0.0.1".parse().unwrap(), &headers, &["10.0.0.0/8".parse().unwrap()]);
        }
    }
}
