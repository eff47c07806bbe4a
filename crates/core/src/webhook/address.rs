//! Which addresses a merchant may make us connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix_bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix_bits)
}

const fn v6(a: u16, b: u16, prefix_bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix_bits)
}

const FORBIDDEN_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),        // this host
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // carrier-grade NAT, and a cloud's metadata at 100.100.100.200
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // a cloud's host agent on an otherwise public address
    v4(169, 254, 0, 0, 16),   // link-local, and most clouds' metadata
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // 6to4 relays
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // benchmarks
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, and broadcast
];

/// Only 2000::/3 is handed out as global unicast, so everything around it is forbidden as a whole.
/// That covers the addresses that smuggle an IPv4 one (mapped, compatible, NAT64), unique local,
/// link-local and multicast, and whatever is assigned there next.
const FORBIDDEN_V6: [Ipv6Net; 7] = [
    v6(0x0000, 0, 3), // ::, ::1, ::ffff:0:0/96, ::/96, 64:ff9b::/96, 64:ff9b:1::/48, 100::/64
    v6(0x4000, 0, 2), // unassigned, and segment routing 5f00::/16
    v6(0x8000, 0, 1), // fc00::/7, fe80::/10, fec0::/10, ff00::/8
    v6(0x2001, 0, 23), // protocol assignments, with Teredo 2001::/32
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16), // 6to4
    v6(0x3fff, 0, 20), // documentation
];

/// Whether the address belongs to the public Internet.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !FORBIDDEN_V4.iter().any(|net| net.contains(&ip)),
        IpAddr::V6(ip) => !FORBIDDEN_V6.iter().any(|net| net.contains(&ip)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().expect(text))
    }

    /// `before` and `after` are the neighbours of the range; "" where it meets another forbidden
    /// range or the end of the address space.
    fn check(before: &str, first: &str, last: &str, after: &str) {
        assert!(!public(first), "first {first}");
        assert!(!public(last), "last {last}");
        for neighbour in [before, after].into_iter().filter(|text| !text.is_empty()) {
            assert!(public(neighbour), "neighbour {neighbour}");
        }
    }

    #[test]
    fn every_forbidden_range_ends_exactly_where_it_should() {
        check("", "0.0.0.0", "0.255.255.255", "1.0.0.0");
        check("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0");
        check(
            "100.63.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "100.128.0.0",
        );
        check(
            "126.255.255.255",
            "127.0.0.0",
            "127.255.255.255",
            "128.0.0.0",
        );
        check(
            "168.63.129.15",
            "168.63.129.16",
            "168.63.129.16",
            "168.63.129.17",
        );
        check(
            "169.253.255.255",
            "169.254.0.0",
            "169.254.255.255",
            "169.255.0.0",
        );
        check(
            "172.15.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "172.32.0.0",
        );
        check("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0");
        check("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0");
        check(
            "192.88.98.255",
            "192.88.99.0",
            "192.88.99.255",
            "192.88.100.0",
        );
        check(
            "192.167.255.255",
            "192.168.0.0",
            "192.168.255.255",
            "192.169.0.0",
        );
        check(
            "198.17.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.20.0.0",
        );
        check(
            "198.51.99.255",
            "198.51.100.0",
            "198.51.100.255",
            "198.51.101.0",
        );
        check(
            "203.0.112.255",
            "203.0.113.0",
            "203.0.113.255",
            "203.0.114.0",
        );
        check("223.255.255.255", "224.0.0.0", "239.255.255.255", "");
        check("", "240.0.0.0", "255.255.255.255", "");

        let ones = "ffff:ffff:ffff:ffff:ffff:ffff";
        check("", "::", &format!("1fff:ffff:{ones}"), "2000::");
        check(
            &format!("3fff:ffff:{ones}"),
            "4000::",
            &format!("7fff:ffff:{ones}"),
            "",
        );
        check("", "8000::", &format!("ffff:ffff:{ones}"), "");
        check(
            &format!("2000:ffff:{ones}"),
            "2001::",
            &format!("2001:1ff:{ones}"),
            "2001:200::",
        );
        check(
            &format!("2001:db7:{ones}"),
            "2001:db8::",
            &format!("2001:db8:{ones}"),
            "2001:db9::",
        );
        check(
            &format!("2001:ffff:{ones}"),
            "2002::",
            &format!("2002:ffff:{ones}"),
            "2003::",
        );
        check(
            &format!("3ffe:ffff:{ones}"),
            "3fff::",
            &format!("3fff:fff:{ones}"),
            "3fff:1000::",
        );
    }

    #[test]
    fn addresses_known_from_attacks_are_not_public() {
        for text in [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "255.255.255.255",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2002:7f00:1::",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!public(text), "{text}");
        }
    }

    #[test]
    fn ordinary_servers_are_public() {
        for text in [
            "8.8.8.8",
            "93.184.215.14",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(public(text), "{text}");
        }
    }
}
