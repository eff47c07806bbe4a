//! Transaction hashes as people paste them: the form alone tells which families may have it.

use till_core::asset::{Family, Network};

/// 64 bytes are at most 88 characters of base58.
const SIGNATURE_LEN_MAX: usize = 88;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TxHashForm {
    /// `0x` and 64 hexadecimal digits, in lower case.
    Evm(String),
    /// 64 hexadecimal digits, in lower case: TRON or Bitcoin.
    Plain(String),
    /// A signature of 64 bytes in base58.
    Solana(String),
}

impl TxHashForm {
    pub fn as_str(&self) -> &str {
        match self {
            TxHashForm::Evm(hash) | TxHashForm::Plain(hash) | TxHashForm::Solana(hash) => hash,
        }
    }

    /// The 32 bytes of a hash; a signature has none.
    pub fn bytes(&self) -> Option<[u8; 32]> {
        let digits = match self {
            TxHashForm::Evm(hash) => hash.strip_prefix("0x")?,
            TxHashForm::Plain(hash) => hash,
            TxHashForm::Solana(_) => return None,
        };
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).ok()?;
        Some(bytes)
    }

    /// As a network of this family writes it; none where it can be no transaction of one. Explorers of TRON show
    /// hashes with `0x`, too.
    pub fn on(&self, family: Family) -> Option<String> {
        match (self, family) {
            (TxHashForm::Evm(hash), Family::Tron) => hash.strip_prefix("0x").map(str::to_owned),
            (form, family) if form.fits(family) => Some(form.as_str().to_owned()),
            _ => None,
        }
    }

    pub fn fits(&self, family: Family) -> bool {
        matches!(
            (self, family),
            (TxHashForm::Evm(_), Family::Evm)
                | (TxHashForm::Plain(_), Family::Tron | Family::Bitcoin)
                | (TxHashForm::Solana(_), Family::Solana)
        )
    }
}

pub fn normalise_tx_hash(text: &str) -> Option<TxHashForm> {
    if let Some(digits) = text.strip_prefix("0x") {
        return is_hash(digits).then(|| TxHashForm::Evm(text.to_ascii_lowercase()));
    }
    if is_hash(text) {
        return Some(TxHashForm::Plain(text.to_ascii_lowercase()));
    }
    if text.len() > SIGNATURE_LEN_MAX {
        return None;
    }
    match bs58::decode(text).onto(&mut [0; 64]) {
        Ok(64) => Some(TxHashForm::Solana(text.to_owned())),
        _ => None,
    }
}

/// A hash as networks of the family write it.
pub fn tx_hash_of(family: Family, hash: &[u8; 32]) -> String {
    match family {
        Family::Evm => format!("0x{}", hex::encode(hash)),
        _ => hex::encode(hash),
    }
}

/// A block's hash as it is kept, in the form that people of the family know.
pub fn shown_block_hash(family: Family, kept: &str) -> &str {
    match family {
        Family::Bitcoin => kept.strip_prefix("0x").unwrap_or(kept),
        Family::Evm | Family::Tron | Family::Solana => kept,
    }
}

pub fn is_tx_hash(network: &Network, text: &str) -> bool {
    normalise_tx_hash(text).is_some_and(|form| form.fits(network.family))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use till_core::asset::Registry;

    use super::*;

    #[test]
    fn a_hash_is_known_by_its_form() {
        let digits = "AB".repeat(32);
        let lower = digits.to_lowercase();
        assert_eq!(
            normalise_tx_hash(&format!("0x{digits}")),
            Some(TxHashForm::Evm(format!("0x{lower}")))
        );
        assert_eq!(normalise_tx_hash(&digits), Some(TxHashForm::Plain(lower)));
        let signature = bs58::encode([7; 64]).into_string();
        assert_eq!(
            normalise_tx_hash(&signature),
            Some(TxHashForm::Solana(signature.clone()))
        );
        for text in ["", "0x", "0x12", &digits[1..], &signature[1..]] {
            assert_eq!(normalise_tx_hash(text), None, "{text}");
        }
    }

    #[test]
    fn a_hash_fits_only_its_own_networks() {
        let registry = Registry::builtin();
        let plain = "ab".repeat(32);
        let evm = format!("0x{plain}");
        let signature = bs58::encode([7; 64]).into_string();
        for network in registry.networks() {
            let fitting = match network.family {
                Family::Evm => &evm,
                Family::Tron | Family::Bitcoin => &plain,
                Family::Solana => &signature,
            };
            for text in [&evm, &plain, &signature] {
                assert_eq!(
                    is_tx_hash(network, text),
                    text == fitting,
                    "{} {text}",
                    network.id
                );
            }
        }
    }

    #[test]
    fn a_block_of_bitcoin_is_shown_as_its_explorers_show_it() {
        assert_eq!(shown_block_hash(Family::Bitcoin, "0x00ab"), "00ab");
        assert_eq!(shown_block_hash(Family::Evm, "0x00ab"), "0x00ab");
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(text in "(0x)?[0-9a-fA-F]{64}") {
            let once = normalise_tx_hash(&text).unwrap();
            let digits = text.trim_start_matches("0x").to_lowercase();
            prop_assert_eq!(once.bytes().map(hex::encode), Some(digits));
            prop_assert_eq!(normalise_tx_hash(once.as_str()), Some(once));
        }

        #[test]
        fn garbage_never_panics(text in "\\PC*", base58 in "[1-9A-HJ-NP-Za-km-z]{60,100}") {
            let _ = normalise_tx_hash(&text);
            let _ = normalise_tx_hash(&base58);
        }
    }
}
