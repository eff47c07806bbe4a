//! What merchants may call themselves. Payers trust a name, so it must not be read as an address to go to or to pay to.

use till_chains::parse_address;
use till_core::asset::{Network, Registry};
use till_core::text::{has_invisible, is_deceptive};

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("must not contain control, direction or invisible characters")]
    Characters,
    #[error("must not contain a link, an e-mail address or a payment address")]
    Address,
}

/// A name may be a domain name as shops have them, Booking.com, without anything that makes it a link.
pub fn check(name: &str) -> Result<(), NameError> {
    if name.chars().any(is_deceptive) || has_invisible(name) {
        return Err(NameError::Characters);
    }
    let plain: String = name.chars().map(plain).collect();
    let is_link = plain.contains("://") || plain.contains('@');
    if is_link || plain.split_whitespace().any(leads_somewhere) || has_address(name) {
        return Err(NameError::Address);
    }
    Ok(())
}

/// Characters that are drawn like those of a link, and that some programs take for them.
fn plain(c: char) -> char {
    match c {
        '．' | '。' | '｡' | '․' => '.',
        '／' | '⁄' | '∕' => '/',
        '：' | '∶' => ':',
        '＠' | '﹫' => '@',
        c => c.to_ascii_lowercase(),
    }
}

/// Whether a word begins as the address of a site does, or goes on after a domain: with a path, a port or a question.
fn leads_somewhere(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    if word.starts_with("www.") {
        return true;
    }
    let Some((host, rest)) = word.split_once(['/', ':', '?', '#', '\\']) else {
        return false;
    };
    let is_domain = host.rsplit_once('.').is_some_and(|(before, last)| {
        before.ends_with(char::is_alphanumeric)
            && last.chars().count() > 1
            && last.chars().all(char::is_alphabetic)
    });
    is_domain && rest.starts_with(char::is_alphanumeric)
}

/// Whether a word of a text could be taken for an address to pay to.
fn has_address(text: &str) -> bool {
    const CHARS_MIN: usize = 26;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut long = words.filter(|word| word.len() >= CHARS_MIN);
    let networks = Registry::builtin().networks();
    long.any(|word| {
        let is_of = |network: &Network| parse_address(network, word).is_ok();
        word.contains(|c: char| c.is_ascii_digit()) || networks.iter().any(is_of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shops_are_called_what_shops_are_called() {
        for name in [
            "Acme",
            "Booking.com",
            "booking.com: hotels",
            "Coffee / Tea",
            "Müller & Co./Ltd",
            "24/7",
            "3.5/5 Pizza",
            "No. 1: The Shop",
            "Wwww.",
            "قهوة",
            "می\u{200c}خانه",
            "Atelier 👩\u{200d}🚀",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_link_or_an_address_is_no_name() {
        for name in [
            "www.evil.com",
            "WWW.Evil.Com",
            "Visit www.evil.com",
            "(www.evil.com)",
            "evil.com/pay",
            "Pay at evil.com/pay",
            "evil.com:8080",
            "evil.com?to=me",
            "https://evil.com",
            "ｗ．evil．com／pay",
            "help@evil.com",
            "help＠evil.com",
            "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        ] {
            assert_eq!(check(name), Err(NameError::Address), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_no_part_of_a_name() {
        for name in [
            "Pay\u{200b}Pal",
            "Pay\u{200d}Pal",
            "Acme\u{00ad}",
            "Acme\u{2060}",
            "Acme\u{feff}",
            "Acme\u{3164}",
            "Acme\u{e0041}",
            "emcA\u{202e}",
            "Acme\n",
        ] {
            assert_eq!(check(name), Err(NameError::Characters), "{name:?}");
        }
    }
}
