//! Solana addresses as text.

use crate::AddressError;

/// 32 bytes are at most 44 characters; anything longer is not worth decoding.
const TEXT_LEN_MAX: usize = 44;

/// There is no checksum: a mistyped character gives another address, or none.
pub fn parse(text: &str) -> Result<[u8; 32], AddressError> {
    if text.len() > TEXT_LEN_MAX {
        return Err(AddressError::Malformed);
    }
    let mut bytes = [0; 32];
    match bs58::decode(text).onto(&mut bytes) {
        Ok(32) => {}
        _ => return Err(AddressError::Malformed),
    }
    // The system program, which nobody can spend from.
    if bytes == [0; 32] {
        return Err(AddressError::Zero);
    }
    Ok(bytes)
}

pub fn display(bytes: &[u8; 32]) -> String {
    bs58::encode(bytes).into_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, error) in [
            ("", AddressError::Malformed),
            ("11111111111111111111111111111111", AddressError::Zero),
            ("1111111111111111111111111111111", AddressError::Malformed),
            (
                "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt10",
                AddressError::Malformed,
            ),
            (
                "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v1",
                AddressError::Malformed,
            ),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_displayed_parses_back(bytes: [u8; 32]) {
            prop_assume!(bytes != [0; 32]);
            prop_assert_eq!(parse(&display(&bytes)), Ok(bytes));
        }

        #[test]
        fn garbage_never_panics(text in "\\PC*", base58 in "[1-9A-HJ-NP-Za-km-z]{0,50}") {
            let _ = parse(&text);
            let _ = parse(&base58);
        }
    }
}
