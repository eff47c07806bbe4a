//! What a merchant puts on payers' pages: the way back, where help is, and the colour.

use thiserror::Error;
use url::{Host, Url};

use crate::email::parse_email;
use crate::text::is_deceptive;
use crate::webhook::{UrlPolicy, UrlRefused, vet_url};

/// Stands for the invoice's id in the address of the way back.
pub const INVOICE: &str = "{invoice}";

/// As long as any invoice's id.
const SAMPLE: &str = "inv_00000000000000000000000000";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LinkRefused {
    #[error("{0}")]
    Url(#[from] UrlRefused),
    #[error("the URL must not contain control or direction characters")]
    Deceptive,
    #[error("{{invoice}} may stand in the path, the query or the fragment only")]
    InvoiceInHost,
    #[error("the address behind mailto: is none")]
    Mailbox,
}

/// Whether a payer may be sent back to a page on their own computer, for trying things out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loopback {
    Allowed,
    Refused,
}

/// Judges where payers go afterwards.
pub fn check_return_url(text: &str, loopback: Loopback) -> Result<(), LinkRefused> {
    let url = followed(&text.replace(INVOICE, SAMPLE))?;
    if url.authority().contains(SAMPLE) {
        return Err(LinkRefused::InvoiceInHost);
    }
    let is_plain = url.scheme() == "http" && loopback == Loopback::Allowed;
    match url.scheme() == "https" || (is_plain && is_loopback(&url)) {
        true => Ok(()),
        false => Err(UrlRefused::Scheme.into()),
    }
}

/// Judges the address of a merchant's own site.
pub fn check_website(text: &str) -> Result<(), LinkRefused> {
    match followed(text)?.scheme() {
        "https" => Ok(()),
        _ => Err(UrlRefused::Scheme.into()),
    }
}

/// Judges where payers ask for help: a page, or a mailbox.
pub fn check_support_url(text: &str) -> Result<(), LinkRefused> {
    if let Some(mailbox) = text.strip_prefix("mailto:") {
        let address = mailbox.split('?').next().unwrap_or_default();
        let is_odd = |c: char| is_deceptive(c) || c.is_whitespace();
        return match parse_email(address) {
            Some(_) if !mailbox.contains(is_odd) => Ok(()),
            _ => Err(LinkRefused::Mailbox),
        };
    }
    check_website(text)
}

fn followed(text: &str) -> Result<Url, LinkRefused> {
    if text.chars().any(is_deceptive) {
        return Err(LinkRefused::Deceptive);
    }
    // The payer's browser follows it, not this server: where it leads is no danger to us.
    Ok(vet_url(text, UrlPolicy::PrivateAllowed)?)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The way back from one invoice.
pub fn way_back(return_url: &str, invoice: &str) -> String {
    return_url.replace(INVOICE, invoice)
}

/// A way back that leads there without an invoice.
pub fn way_back_from_nowhere(return_url: &str) -> Option<&str> {
    (!return_url.contains(INVOICE)).then_some(return_url)
}

/// A colour as `#rrggbb`.
pub fn is_accent(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_https_and_names_the_invoice_behind_the_host() {
        for url in [
            "https://shop.example",
            "https://shop.example/thanks?order={invoice}",
            "https://shop.example/{invoice}/{invoice}#{invoice}",
            "https://localhost:8443/x",
        ] {
            assert_eq!(check_return_url(url, Loopback::Refused), Ok(()), "{url}");
        }
        for url in [
            "",
            "shop.example",
            "http://shop.example/",
            "http://localhost/",
            "javascript:alert(1)",
            "javascript://x%0aalert(1)",
            "data:text/html,x",
            "https://user@shop.example/",
            "https://{invoice}/",
            "https://{invoice}.shop.example/",
            "https://shop.example:{invoice}/",
            "https://{invoice}@shop.example/",
            "https://shop.example/a b",
            "https://shop.example/\u{202e}x",
            "https://shop.example\\x",
        ] {
            assert!(check_return_url(url, Loopback::Refused).is_err(), "{url}");
        }
        let long = format!("https://shop.example/{}", "x".repeat(2_048));
        assert!(check_return_url(&long, Loopback::Refused).is_err());
    }

    #[test]
    fn http_is_for_the_own_computer_where_that_is_allowed() {
        for url in [
            "http://localhost:3000/",
            "http://shop.localhost/",
            "http://127.0.0.1:3000/?i={invoice}",
            "http://[::1]/",
        ] {
            assert_eq!(check_return_url(url, Loopback::Allowed), Ok(()), "{url}");
            assert!(check_return_url(url, Loopback::Refused).is_err(), "{url}");
        }
        for url in [
            "http://shop.example/",
            "http://10.0.0.1/",
            "http://localhost.example/",
        ] {
            assert!(check_return_url(url, Loopback::Allowed).is_err(), "{url}");
        }
    }

    #[test]
    fn help_is_a_page_or_a_mailbox() {
        for url in [
            "https://shop.example/help",
            "mailto:help@shop.example",
            "mailto:help@shop.example?subject=Order%201",
        ] {
            assert_eq!(check_support_url(url), Ok(()), "{url}");
        }
        for url in [
            "http://shop.example/help",
            "http://localhost/",
            "mailto:",
            "mailto:help",
            "mailto:help@shop.example?subject=a b",
            "tel:123",
            "javascript:alert(1)",
            "https://a:b@shop.example/",
        ] {
            assert!(check_support_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_invoice_is_put_in_wherever_it_is_named() {
        assert_eq!(
            way_back("https://shop.example/{invoice}?i={invoice}", "inv_1"),
            "https://shop.example/inv_1?i=inv_1"
        );
        assert_eq!(
            way_back_from_nowhere("https://shop.example/{invoice}"),
            None
        );
        assert!(way_back_from_nowhere("https://shop.example/").is_some());
    }

    #[test]
    fn a_colour_has_six_digits() {
        assert!(is_accent("#00aaFF"));
        for text in [
            "",
            "#",
            "#fff",
            "00aaff",
            "#00aaf",
            "#00aaff0",
            "#00aafg",
            "red",
            "#00aaf\u{e9}",
        ] {
            assert!(!is_accent(text), "{text}");
        }
    }
}
