//! Addresses of 20 bytes, between their bytes and the form that a family shows them in.

use till_core::asset::Family;

use crate::address::{evm, tron};

/// Nothing for what is no address of the family, and for families whose addresses are something else.
pub fn raw(family: Family, address: &str) -> Option<[u8; 20]> {
    match family {
        Family::Evm => evm::parse(address).ok(),
        Family::Tron => tron::parse(address).ok(),
        Family::Bitcoin | Family::Solana => None,
    }
}

/// The address of a wallet; nothing for families whose addresses are something else.
pub fn wallet_address(family: Family, address: &[u8; 20]) -> Option<String> {
    let has_such = matches!(family, Family::Evm | Family::Tron);
    has_such.then(|| shown(family, address))
}

pub fn shown(family: Family, address: &[u8; 20]) -> String {
    match family {
        Family::Tron => tron::display(address),
        _ => evm::display(address),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_the_same_bytes_again(address: [u8; 20]) {
            prop_assume!(address != [0; 20]);
            for family in [Family::Evm, Family::Tron] {
                prop_assert_eq!(raw(family, &shown(family, &address)), Some(address));
            }
        }
    }
}
