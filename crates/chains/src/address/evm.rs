//! EVM addresses as text, with their checksum.

use alloy_primitives::Address;

use crate::AddressError;

/// Lower case carries no checksum and is taken as it is; any capital letter claims EIP-55 and must be right.
pub fn parse(text: &str) -> Result<[u8; 20], AddressError> {
    let digits = text.strip_prefix("0x").ok_or(AddressError::Malformed)?;
    let mut bytes = [0; 20];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| AddressError::Malformed)?;
    if bytes == [0; 20] {
        return Err(AddressError::Zero);
    }
    let capitals = digits.bytes().any(|byte| byte.is_ascii_uppercase());
    if capitals && display(&bytes) != text {
        return Err(AddressError::Checksum);
    }
    Ok(bytes)
}

/// EIP-55.
pub fn display(bytes: &[u8; 20]) -> String {
    Address::from(*bytes).to_checksum(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_published_checksums_are_accepted() {
        for text in [
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0xde709f2102306220921060314715629080e2fb77",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            assert_eq!(display(&parse(text).unwrap()), text);
        }
    }

    #[test]
    fn a_wrong_checksum_is_refused() {
        let wrong = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed";
        assert_eq!(parse(wrong), Err(AddressError::Checksum));
        let upper = "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED";
        assert_eq!(parse(upper), Err(AddressError::Checksum));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let zero = format!("0x{}", "0".repeat(40));
        assert_eq!(parse(&zero), Err(AddressError::Zero));
        for text in [
            "",
            "0x",
            "0X52908400098527886E0F7030069857D2E4169EE7",
            "52908400098527886E0F7030069857D2E4169EE7",
            "0x52908400098527886E0F7030069857D2E4169EE",
            "0x52908400098527886E0F7030069857D2E4169EE70",
            "0x52908400098527886E0F7030069857D2E4169EG7",
            " 0x52908400098527886E0F7030069857D2E4169EE7",
        ] {
            assert_eq!(parse(text), Err(AddressError::Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_displayed_parses_back(bytes: [u8; 20]) {
            prop_assume!(bytes != [0; 20]);
            let text = display(&bytes);
            prop_assert_eq!(parse(&text), Ok(bytes));
            prop_assert_eq!(parse(&text.to_lowercase()), Ok(bytes));
        }

        #[test]
        fn garbage_never_panics(text in "\\PC*") {
            let _ = parse(&text);
            let _ = parse(&format!("0x{text}"));
        }
    }
}
