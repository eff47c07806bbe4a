//! Addresses for test mode, documented so that anyone can try things without owning anything.

use alloy_primitives::keccak256;
use till_core::asset::Family;

use crate::AddressError;
use crate::bitcoin::account::BitcoinAccount;

/// The destination that a new test account starts with: the documented example, for Bitcoin a key below it, because
/// there the key alone makes the addresses and no two accounts may have the same.
pub fn example_destination_of(family: Family, account: &str) -> Result<String, AddressError> {
    let example = example_destination(family);
    match family {
        Family::Bitcoin => {
            let example = BitcoinAccount::parse(example)?;
            Ok(example.descendant(&example_path(account))?.canonical())
        }
        _ => Ok(example.to_owned()),
    }
}

/// Where below the example key a test account's own is: `keccak256("till/example-account/v1" ‖ 0 ‖ account)`, its
/// first 16 bytes as four numbers, big end first, each without its highest bit.
pub fn example_path(account: &str) -> [u32; 4] {
    let hash = keccak256(format!("till/example-account/v1\0{account}")).0;
    std::array::from_fn(|at| {
        let bytes: [u8; 4] = std::array::from_fn(|byte| hash[4 * at + byte]);
        u32::from_be_bytes(bytes) & 0x7fff_ffff
    })
}

/// The documented examples. Whoever sends real money there loses it.
pub fn example_destination(family: Family) -> &'static str {
    match family {
        // From EIP-55, and the same 20 bytes in TRON's form.
        Family::Evm => "0x52908400098527886E0F7030069857D2E4169EE7",
        Family::Tron => "THVmXun9u721tBiYcT3VfLQKcwYBmoY1xX",
        // m/84'/1'/0' of the mnemonic in BIP84's test vectors.
        Family::Bitcoin => {
            "tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M"
        }
        // The first public key in RFC 8032's test vectors.
        Family::Solana => "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
    }
}

/// Family, list and address of what the test screening lists hold. Each address is cut from
/// `keccak256("till/test-screening/v1" ‖ 0 ‖ list ‖ 0 ‖ namespace)`: nobody can have its key.
pub fn test_screening() -> &'static [(Family, &'static str, &'static str)] {
    &[
        (
            Family::Evm,
            "sanctions",
            "0xaE0CF0b1a09f16Ff1eBab390fDb66F839Cc2F29B",
        ),
        (
            Family::Evm,
            "blacklist",
            "0x7c0d84B81976D7Ad27c9Cb906E00B55A0c3D555F",
        ),
        (
            Family::Tron,
            "sanctions",
            "TYxFvQSRiYtC1KygVbMVj9W37znvzb9zpy",
        ),
        (
            Family::Tron,
            "blacklist",
            "TC3GV6fzT21V7WpZaJLVkwWFrvTPCbsVhA",
        ),
        (
            Family::Bitcoin,
            "sanctions",
            "tb1qvxftc0q5cdwlzzxl2vc8gcqc2gpfl2ad8mfcsc",
        ),
        (
            Family::Bitcoin,
            "blacklist",
            "tb1q4xwrqkyhd7ype6yzne4n949p363tucpynaceu0",
        ),
        (
            Family::Solana,
            "sanctions",
            "AKhp6Mnk5mnhBU1BUzSn7wwYHNVSDcw6yAj2JnBgrDSK",
        ),
        (
            Family::Solana,
            "blacklist",
            "BR8qrz69PQJq7TEPdPTqc5DTmPdfH9e5CDVF4FPi9nHH",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;
    use bitcoin::{Address, KnownHrp, WitnessProgram, WitnessVersion};
    use till_core::asset::{Mode, Registry};

    use super::*;
    use crate::solana::program_address::is_public_key;
    use crate::{evm, parse_address, parse_destination, solana, tron};

    fn screened(list: &str, family: Family) -> String {
        let text = format!("till/test-screening/v1\0{list}\0{}", family.namespace());
        let hash = keccak256(text).0;
        let mut short = [0; 20];
        short.copy_from_slice(&hash[..20]);
        match family {
            Family::Evm => evm::address::display(&short),
            Family::Tron => tron::address::display(&short),
            Family::Bitcoin => {
                let program = WitnessProgram::new(WitnessVersion::V0, &short).unwrap();
                Address::from_witness_program(program, KnownHrp::Testnets).to_string()
            }
            Family::Solana => solana::address::display(&hash),
        }
    }

    #[test]
    fn every_family_has_one_address_on_each_list_made_by_the_rule() {
        let mut expected = Vec::new();
        for family in Family::ALL {
            for list in ["sanctions", "blacklist"] {
                expected.push((family, list, screened(list, family)));
            }
        }
        let listed: Vec<_> = test_screening()
            .iter()
            .map(|(family, list, address)| (*family, *list, (*address).to_owned()))
            .collect();
        assert_eq!(listed, expected);
    }

    #[test]
    fn screened_addresses_are_payable_in_test_mode() {
        for (family, _, address) in test_screening() {
            let mut networks = Registry::builtin().networks().iter();
            let network = networks
                .find(|network| network.family == *family && network.mode == Mode::Test)
                .unwrap();
            assert_eq!(parse_address(network, address).as_deref(), Ok(*address));
        }
    }

    #[test]
    fn every_test_account_has_a_bitcoin_key_of_its_own_below_the_example() {
        let of = |account| example_destination_of(Family::Bitcoin, account).unwrap();
        let ada = of("acct_0000000000000000000000000a");
        assert_eq!(
            example_path("acct_0000000000000000000000000a"),
            [874_743_838, 448_128_268, 923_904_930, 319_218_333]
        );
        assert_eq!(
            ada,
            "tpubDD2frKMotzqSSTaRAxAsLZTnx3ECCTEcdRY2MP9yJS6GJet3CPjN4SHMp4fmMYrwg4jHWYshQH1j74PyWjxEmST3sXTK8w4Cy5Ji1sFo5Vx"
        );
        assert_ne!(ada, of("acct_0000000000000000000000000b"));
        let parsed = parse_destination(Family::Bitcoin, Mode::Test, &ada);
        assert_eq!(parsed, Ok(ada));
        let evm = example_destination_of(Family::Evm, "acct_0000000000000000000000000a");
        assert_eq!(evm.as_deref(), Ok(example_destination(Family::Evm)));
    }

    #[test]
    fn example_destinations_are_canonical() {
        for family in Family::ALL {
            let text = example_destination(family);
            let parsed = parse_destination(family, Mode::Test, text);
            assert_eq!(parsed.as_deref(), Ok(text));
        }
        assert_eq!(
            evm::address::parse(example_destination(Family::Evm)),
            tron::address::parse(example_destination(Family::Tron))
        );
        let key = solana::address::parse(example_destination(Family::Solana)).unwrap();
        assert!(is_public_key(&key));
        assert_eq!(
            key,
            hex!("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        );
    }
}
