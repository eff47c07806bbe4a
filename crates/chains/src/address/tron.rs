//! TRON addresses as text and as bytes.

use crate::AddressError;

/// What every address begins with, on the main network and on the test networks alike.
pub const PREFIX: u8 = 0x41;

/// An address is always 34 characters; anything longer is not worth decoding.
const TEXT_LEN: usize = 34;

/// Base58Check of the prefix and 20 bytes, which is how wallets show it (`T…`).
pub fn parse(text: &str) -> Result<[u8; 20], AddressError> {
    if text.len() != TEXT_LEN {
        return Err(AddressError::Malformed);
    }
    let decoded = bs58::decode(text)
        .with_check(Some(PREFIX))
        .into_vec()
        .map_err(|error| match error {
            bs58::decode::Error::InvalidChecksum { .. } => AddressError::Checksum,
            bs58::decode::Error::InvalidVersion { .. } => AddressError::WrongNetwork,
            _ => AddressError::Malformed,
        })?;
    from_prefixed(&decoded)
}

/// The hexadecimal form that nodes answer with: 42 digits beginning with 41.
pub fn parse_hex(text: &str) -> Result<[u8; 20], AddressError> {
    let mut bytes = [0; 21];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| AddressError::Malformed)?;
    from_prefixed(&bytes)
}

pub fn display(bytes: &[u8; 20]) -> String {
    bs58::encode(bytes).with_check_version(PREFIX).into_string()
}

fn from_prefixed(bytes: &[u8]) -> Result<[u8; 20], AddressError> {
    let [PREFIX, rest @ ..] = bytes else {
        return Err(AddressError::WrongNetwork);
    };
    let bytes: [u8; 20] = rest.try_into().map_err(|_| AddressError::Malformed)?;
    if bytes == [0; 20] {
        return Err(AddressError::Zero);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_of_an_address_are_the_same_bytes() {
        let base58 = parse("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t").unwrap();
        let hex = parse_hex("41a614f803b6fd780986a42c78ec9c7f77e6ded13c").unwrap();
        assert_eq!(base58, hex);
        assert_eq!(display(&hex), "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, error) in [
            ("", AddressError::Malformed),
            ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", AddressError::Checksum),
            ("tR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", AddressError::Checksum),
            ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6", AddressError::Malformed),
            (
                "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60",
                AddressError::Malformed,
            ),
            // The zero address in TRON's own form, and a Bitcoin address.
            ("T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", AddressError::Zero),
            (
                "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
                AddressError::WrongNetwork,
            ),
            (
                "0x52908400098527886E0F7030069857D2E4169EE7",
                AddressError::Malformed,
            ),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_displayed_parses_back(bytes: [u8; 20]) {
            prop_assume!(bytes != [0; 20]);
            prop_assert_eq!(parse(&display(&bytes)), Ok(bytes));
            let hex = format!("41{}", hex::encode(bytes));
            prop_assert_eq!(parse_hex(&hex), Ok(bytes));
        }

        #[test]
        fn a_changed_character_is_noticed(bytes: [u8; 20], place in 1usize..34, to in "[1-9A-HJ-NP-Za-km-z]") {
            let mut text = display(&bytes);
            prop_assume!(text[place..=place] != to);
            text.replace_range(place..=place, &to);
            prop_assert!(parse(&text).is_err());
        }

        #[test]
        fn garbage_never_panics(text in "\\PC*", tail in "[0-9A-Za-z]{33}") {
            let _ = parse(&text);
            let _ = parse(&format!("T{tail}"));
            let _ = parse_hex(&text);
        }
    }
}
