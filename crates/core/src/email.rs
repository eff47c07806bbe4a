//! Mail addresses: a pragmatic part of RFC 5321, in one canonical form.
//!
//! Left out on purpose: quoted names, comments, address literals and names beyond ASCII. Nobody types them
//! into a checkout, and each of them has carried an injection somewhere.

use url::Host;

use crate::limits::EMAIL_CHARS_MAX;

const NAME_CHARS_MAX: usize = 64;
const DOMAIN_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;

/// The address with its domain in lower-case ASCII (an international one in its `xn--` form); none if it
/// is not an address. The name before the `@` is its owner's affair and stays as it is.
pub fn parse_email(text: &str) -> Option<String> {
    // Before anything is decoded: what is longer cannot become an address, only cost time.
    if text.len() > 4 * EMAIL_CHARS_MAX {
        return None;
    }
    let (name, domain) = text.split_once('@')?;
    if !is_name(name) {
        return None;
    }
    let address = format!("{name}@{}", canonical_domain(domain)?);
    (address.len() <= EMAIL_CHARS_MAX).then_some(address)
}

/// Enough for its owner to recognise the address, too little for anybody else to write to it.
pub fn mask(email: &str) -> String {
    let (name, domain) = email.split_once('@').unwrap_or(("", ""));
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(_)) => format!("{first}***@{domain}"),
        _ => format!("***@{domain}"),
    }
}

fn is_name(name: &str) -> bool {
    let atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    };
    name.len() <= NAME_CHARS_MAX && name.split('.').all(atom)
}

fn canonical_domain(domain: &str) -> Option<String> {
    // The parser reads percent-escapes and numbers as hosts of URLs do; an address has neither.
    if domain.contains('%') || domain.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let Ok(Host::Domain(domain)) = Host::parse(domain) else {
        return None;
    };
    let label = |label: &str| {
        (1..=LABEL_CHARS_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let (_, last) = domain.rsplit_once('.')?;
    let named = last.len() >= 2 && last.bytes().any(|b| b.is_ascii_alphabetic());
    (domain.len() <= DOMAIN_CHARS_MAX && named && domain.split('.').all(label)).then_some(domain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_addresses_are_taken_in_one_form() {
        for (text, address) in [
            ("ann@example.com", "ann@example.com"),
            ("Ann.B+till@Mail.EXAMPLE.com", "Ann.B+till@mail.example.com"),
            (
                "o'neil_1%x@sub.example.co.uk",
                "o'neil_1%x@sub.example.co.uk",
            ),
            ("a@b.io", "a@b.io"),
            ("ann@bücher.example", "ann@xn--bcher-kva.example"),
            ("ann@例え.jp", "ann@xn--r8jz45g.jp"),
            ("ann@1und1.de", "ann@1und1.de"),
        ] {
            assert_eq!(parse_email(text).as_deref(), Some(address), "{text}");
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            "@",
            "ann",
            "ann@",
            "@example.com",
            "ann@localhost",
            "ann@@example.com",
            "ann@b@example.com",
            " ann@example.com",
            "ann@example.com ",
            "ann b@example.com",
            ".ann@example.com",
            "ann.@example.com",
            "an..n@example.com",
            "\"ann\"@example.com",
            "ann(comment)@example.com",
            "Ann <ann@example.com>",
            "ann@example.com,bob@example.com",
            "ann@example.com;bob@example.com",
            "ann@[192.0.2.1]",
            "ann@192.0.2.1",
            "ann@0x7f.1",
            "ann@[::1]",
            "ann@example..com",
            "ann@.example.com",
            "ann@example.com.",
            "ann@-example.com",
            "ann@example-.com",
            "ann@exa_mple.com",
            "ann@example.c",
            "ann@example.123",
            "ann@ex%61mple.com",
            "ann@exam\u{0}ple.com",
            "ännchen@example.com",
            "ann@example.com\r\nBcc: bob@example.com",
            "ann\r\nBcc: bob@example.com",
            "ann@example.com\n",
            "ann\u{202e}@example.com",
        ] {
            assert_eq!(parse_email(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_lengths_of_the_standard_hold() {
        let name = "a".repeat(64);
        assert!(parse_email(&format!("{name}@example.com")).is_some());
        assert_eq!(parse_email(&format!("{name}a@example.com")), None);
        let label = "b".repeat(63);
        // 64 + 1 + 189 = 254 characters.
        let domain = format!("{label}.{label}.{}", "c".repeat(61));
        assert!(parse_email(&format!("{name}@{domain}")).is_some());
        assert_eq!(parse_email(&format!("{name}@{domain}c")), None);
        assert_eq!(parse_email(&format!("a@{label}b.com")), None);
        assert_eq!(parse_email(&"a".repeat(1_000_000)), None);
    }

    #[test]
    fn a_mask_keeps_the_domain_and_one_letter_at_most() {
        assert_eq!(mask("ann@example.com"), "a***@example.com");
        assert_eq!(mask("ab@example.com"), "a***@example.com");
        assert_eq!(mask("a@example.com"), "***@example.com");
    }

    proptest! {
        #[test]
        fn an_accepted_address_is_plain_ascii_and_stays_as_it_is(text in "\\PC{0,40}@\\PC{0,40}") {
            if let Some(address) = parse_email(&text) {
                prop_assert!(address.bytes().all(|b| b.is_ascii_graphic()));
                prop_assert_eq!(address.matches('@').count(), 1);
                prop_assert_eq!(parse_email(&address), Some(address.clone()));
            }
        }

        #[test]
        fn a_mask_gives_nothing_but_the_first_letter_away(name in "[a-z]{2,20}") {
            let masked = mask(&format!("{name}@example.com"));
            prop_assert_eq!(masked, format!("{}***@example.com", &name[..1]));
        }
    }
}
