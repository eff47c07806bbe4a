//! Which URLs may receive events.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use till_core::webhook::{URL_LENGTH_MAX, UrlPolicy, UrlRefused, is_public, vet_url};
use url::Host;

fn refused(text: &str) -> UrlRefused {
    match vet_url(text, UrlPolicy::Public) {
        Ok(url) => panic!("{text} was accepted as {url}"),
        Err(refused) => refused,
    }
}

#[test]
fn a_public_https_url_is_accepted_as_written() {
    for text in [
        "https://shop.example/hooks",
        "https://shop.example:8443/hooks?key=1&x=%20",
        "https://8.8.8.8/hooks",
        "https://[2606:4700::1111]/hooks",
        "https://xn--bcher-kva.example/",
        "https://ec2-54-1-2-3.compute.example/",
        "https://internal.example/",
        "https://mylocal.example/",
    ] {
        let url = vet_url(text, UrlPolicy::Public).expect(text);
        assert_eq!(url.as_str(), text);
    }
}

#[test]
fn only_https_is_accepted() {
    for text in [
        "http://shop.example/",
        "ftp://shop.example/",
        "file:///etc/passwd",
        "gopher://shop.example/",
        "httpss://shop.example/",
    ] {
        assert_eq!(refused(text), UrlRefused::Scheme, "{text}");
    }
}

#[test]
fn credentials_are_refused_in_every_spelling() {
    for text in [
        "https://user:password@shop.example/",
        "https://user@shop.example/",
        "https://:password@shop.example/",
        "https://@shop.example/",
        "https://8.8.8.8@127.0.0.1/",
    ] {
        assert_eq!(refused(text), UrlRefused::Credentials, "{text}");
        assert_eq!(
            vet_url(text, UrlPolicy::PrivateAllowed),
            Err(UrlRefused::Credentials)
        );
    }
}

#[test]
fn a_url_without_a_host_is_refused_rather_than_repaired() {
    for text in [
        "https://",
        "https:///shop.example/",
        "https://?x",
        "https://#x",
        "https://:443/",
    ] {
        assert_eq!(refused(text), UrlRefused::NoHost, "{text}");
    }
    for text in [
        "",
        "https:",
        "https:shop.example",
        "https:/shop.example",
        "shop.example",
        "/hooks",
        "https:\\\\shop.example",
        "https://shop.example\\@127.0.0.1/",
        " https://shop.example/",
        "https://shop.example/ ",
        "https://sh\top.example/",
        "https://shop.example/\r\nx: y",
        "https://shop.example/\0",
        "https://shop.example:0/",
        "https://shop.example:65536/",
        "https://[::1/",
        "https://[fe80::1%eth0]/",
        "https://[fe80::1%25eth0]/",
    ] {
        assert_eq!(refused(text), UrlRefused::Malformed, "{text:?}");
    }
}

#[test]
fn every_spelling_of_a_non_public_address_is_refused() {
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "%31%32%37.0.0.1",
        "１２７.０.０.１",
        "１２７。０。０。１",
        "①②⑦.⓪.⓪.①",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "100.64.0.1",
        "192.0.0.192",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[ff02::1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "[100::1]",
        "[5f00::1]",
        "[3fff::1]",
        "[2001:db8::1]",
        "127.0.0.1.nip.io",
        "app.10.0.0.1.nip.io",
        "127-0-0-1.nip.io",
    ] {
        for text in [
            format!("https://{host}/hooks"),
            format!("https://{host}:8443"),
        ] {
            assert_eq!(refused(&text), UrlRefused::ForbiddenAddress, "{text}");
        }
    }
}

#[test]
fn a_public_address_must_be_spelled_plainly() {
    for host in [
        "0x08080808",
        "134744072",
        "8.8.2056",
        "010.8.8.8",
        "８.８.８.８",
    ] {
        let text = format!("https://{host}/");
        assert_eq!(refused(&text), UrlRefused::ForbiddenAddress, "{text}");
    }
}

#[test]
fn names_that_stay_inside_are_refused() {
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "x.localhost",
        "x.localhost.",
        "ｌｏｃａｌｈｏｓｔ",
        "metadata.google.internal",
        "x.internal.",
        "printer.local",
        "x.localdomain",
        "router.home.arpa",
        "intranet",
        "shop.example.",
    ] {
        let text = format!("https://{host}/hooks");
        assert_eq!(refused(&text), UrlRefused::InternalName, "{text}");
    }
}

#[test]
fn the_length_is_limited_to_the_byte() {
    let base = "https://shop.example/";
    let longest = format!("{base}{}", "a".repeat(URL_LENGTH_MAX - base.len()));
    assert!(vet_url(&longest, UrlPolicy::Public).is_ok());
    assert_eq!(refused(&format!("{longest}a")), UrlRefused::TooLong);
}

#[test]
fn development_permits_http_and_private_addresses_and_nothing_more() {
    for text in [
        "http://127.0.0.1:8080/hooks",
        "http://localhost:8080/",
        "https://[::1]/",
        "http://receiver:9000/",
        "https://10.0.0.1/",
    ] {
        assert!(vet_url(text, UrlPolicy::PrivateAllowed).is_ok(), "{text}");
        assert!(vet_url(text, UrlPolicy::Public).is_err(), "{text}");
    }
    for text in [
        "ftp://127.0.0.1/",
        "http://",
        "http:///x",
        "http://a b/",
        "x",
    ] {
        assert!(vet_url(text, UrlPolicy::PrivateAllowed).is_err(), "{text}");
    }
}

fn accepted_leads_outside(text: &str) -> Result<(), TestCaseError> {
    let Ok(url) = vet_url(text, UrlPolicy::Public) else {
        return Ok(());
    };
    prop_assert_eq!(url.scheme(), "https");
    match url.host() {
        Some(Host::Ipv4(ip)) => prop_assert!(is_public(IpAddr::V4(ip)), "{}", text),
        Some(Host::Ipv6(ip)) => prop_assert!(is_public(IpAddr::V6(ip)), "{}", text),
        Some(Host::Domain(name)) => prop_assert!(!name.starts_with("localhost"), "{}", text),
        None => prop_assert!(false, "{} has no host", text),
    }
    Ok(())
}

proptest! {
    #[test]
    fn arbitrary_text_neither_panics_nor_leads_inside(text in any::<String>()) {
        accepted_leads_outside(&text)?;
        let _ = vet_url(&text, UrlPolicy::PrivateAllowed);
    }

    #[test]
    fn text_that_looks_like_a_url_neither_panics_nor_leads_inside(
        text in r"https?:/{0,3}[0-9a-fx.:%@\[\]\\/?#-]{0,24}"
    ) {
        accepted_leads_outside(&text)?;
    }

    #[test]
    fn an_ipv4_address_is_judged_alike_in_every_radix(bits in any::<u32>()) {
        let ip = Ipv4Addr::from(bits);
        let plain = vet_url(&format!("https://{ip}/"), UrlPolicy::Public);
        prop_assert_eq!(plain.is_ok(), is_public(IpAddr::V4(ip)));
        for host in [format!("{bits}"), format!("{bits:#x}"), format!("{bits:#o}").replace('o', "")] {
            let text = format!("https://{host}/");
            prop_assert!(vet_url(&text, UrlPolicy::Public).is_err(), "{}", text);
        }
    }

    #[test]
    fn an_ipv6_address_is_accepted_exactly_when_public(bits in any::<u128>()) {
        let ip = std::net::Ipv6Addr::from(bits);
        let vetted = vet_url(&format!("https://[{ip}]/"), UrlPolicy::Public);
        prop_assert_eq!(vetted.is_ok(), is_public(IpAddr::V6(ip)));
    }
}
