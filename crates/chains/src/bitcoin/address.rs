//! Bitcoin addresses as text.

use bitcoin::address::{NetworkUnchecked, ParseError};
use bitcoin::{Address, AddressType, Network, base58};
use till_core::asset::Mode;

use crate::AddressError;

/// BIP173 allows 90 characters; nothing longer is an address.
const TEXT_LEN_MAX: usize = 90;

/// Any address money can be sent to today, in its canonical spelling.
pub fn parse(mode: Mode, text: &str) -> Result<String, AddressError> {
    if text.len() > TEXT_LEN_MAX {
        return Err(AddressError::Malformed);
    }
    let address: Address<NetworkUnchecked> = text.parse().map_err(why)?;
    let network = match mode {
        Mode::Live => Network::Bitcoin,
        Mode::Test => Network::Testnet,
    };
    let address = address
        .require_network(network)
        .map_err(|_| AddressError::WrongNetwork)?;
    // Witness programs without rules are valid to write and anyone's to spend.
    match address.address_type() {
        Some(
            AddressType::P2pkh
            | AddressType::P2sh
            | AddressType::P2wpkh
            | AddressType::P2wsh
            | AddressType::P2tr,
        ) => Ok(address.to_string()),
        _ => Err(AddressError::Malformed),
    }
}

fn why(error: ParseError) -> AddressError {
    match error {
        ParseError::Base58(base58::Error::IncorrectChecksum(_)) => AddressError::Checksum,
        ParseError::UnknownHrp(_) => AddressError::WrongNetwork,
        _ => AddressError::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIVE: [&str; 5] = [
        "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
        "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3",
        "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
    ];
    const TEST: [&str; 2] = [
        "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
        "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
    ];

    #[test]
    fn an_address_is_taken_only_in_its_own_mode() {
        for text in LIVE {
            assert_eq!(parse(Mode::Live, text).as_deref(), Ok(text));
            assert_eq!(parse(Mode::Test, text), Err(AddressError::WrongNetwork));
        }
        for text in TEST {
            assert_eq!(parse(Mode::Test, text).as_deref(), Ok(text));
            assert_eq!(parse(Mode::Live, text), Err(AddressError::WrongNetwork));
        }
    }

    #[test]
    fn capital_bech32_is_written_small() {
        let upper = LIVE[2].to_uppercase();
        assert_eq!(parse(Mode::Live, &upper).as_deref(), Ok(LIVE[2]));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "bc1",
            "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv",
            "bc1qCR8te4kr609gcawutmrza0j4xv80jy8z306fyu",
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3",
            // Witness version 16, which no rule protects yet, and an anchor, which anyone may take.
            "bc1sw50qgdz25j",
            "bc1pfeessrawgf",
            "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
        ] {
            assert!(parse(Mode::Live, text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "\\PC*", tail in "[02-9ac-hj-np-z]{0,80}") {
            let _ = parse(Mode::Live, &text);
            let _ = parse(Mode::Live, &format!("bc1{tail}"));
            let _ = parse(Mode::Test, &format!("tb1{tail}"));
        }
    }
}
