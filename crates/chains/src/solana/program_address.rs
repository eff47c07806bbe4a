//! Addresses that no key can sign for, computed from a program and seeds.

use alloy_primitives::{U256, uint};
use sha2::{Digest, Sha256};

/// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
pub const TOKEN_PROGRAM: [u8; 32] =
    alloy_primitives::hex!("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");
/// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
pub const ASSOCIATED_TOKEN_PROGRAM: [u8; 32] =
    alloy_primitives::hex!("8c97258f4e2489f1bb3d1029148e0d830b5a1399daff1084048e7bd8dbe9f859");

/// The token account of the deposit address, for mints of the original token program.
pub fn deposit_token_account(
    program: &[u8; 32],
    destination: &[u8; 32],
    salt: &[u8; 32],
    mint: &[u8; 32],
) -> Option<[u8; 32]> {
    let owner = find_program_address(&[b"deposit", destination, salt], program)?;
    find_program_address(&[&owner, &TOKEN_PROGRAM, mint], &ASSOCIATED_TOKEN_PROGRAM)
}

/// The first address, counting the extra seed byte down from 255, that is not a public key. None is a
/// chance of 2^-256.
pub fn find_program_address(seeds: &[&[u8]], program: &[u8; 32]) -> Option<[u8; 32]> {
    (0..=u8::MAX)
        .rev()
        .map(|bump| hash(seeds, &[bump], program))
        .find(|address| !is_public_key(address))
}

fn hash(seeds: &[&[u8]], bump: &[u8], program: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for seed in seeds {
        hasher.update(seed);
    }
    hasher.update(bump);
    hasher.update(program);
    hasher.update(b"ProgramDerivedAddress");
    hasher.finalize().into()
}

/// 2^255 - 19.
const FIELD: U256 = uint!(0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed_U256);
/// The curve's d.
const D: U256 =
    uint!(37095705934669439343138083508754565189542113879843219016388785533085940283555_U256);

/// Whether the bytes decompress to a point of ed25519. Nothing secret goes in, so plain integers will do
/// and no curve library is needed: y is on the curve when (y² - 1) / (dy² + 1) is a square.
pub fn is_public_key(bytes: &[u8; 32]) -> bool {
    // The top bit is the sign of x and no part of y.
    let mut y = *bytes;
    y[31] &= 0x7f;
    let y = U256::from_le_bytes(y);
    let square = y.mul_mod(y, FIELD);
    let one = U256::from(1);
    let u = square.add_mod(FIELD - one, FIELD);
    let v = D.mul_mod(square, FIELD).add_mod(one, FIELD);
    // u/v and uv differ by the square v², and Euler's criterion tells squares from others.
    let symbol = u.mul_mod(v, FIELD).pow_mod((FIELD - one) >> 1, FIELD);
    symbol == one || symbol.is_zero()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;

    use super::*;
    use crate::solana::address::{display, parse};

    #[test]
    fn the_programs_are_the_published_ones() {
        assert_eq!(
            display(&TOKEN_PROGRAM),
            "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        );
        assert_eq!(
            display(&ASSOCIATED_TOKEN_PROGRAM),
            "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
        );
    }

    #[test]
    fn addresses_agree_with_the_vectors_of_the_solana_sdk() {
        let program = parse("BPFLoaderUpgradeab1e11111111111111111111111").unwrap();
        let key = parse("SeedPubey1111111111111111111111111111111111").unwrap();
        let check = |seeds: &[&[u8]], expected| {
            let address = hash(seeds, &[], &program);
            assert!(!is_public_key(&address), "{expected}");
            assert_eq!(display(&address), expected);
        };
        check(&[b"", &[1]], "BwqrghZA2htAcqq8dzP1WDAhTXYTYWj7CHxF5j7TDBAe");
        check(
            &["☉".as_bytes(), &[0]],
            "13yWmRpaTR4r5nAktwLqMpRNr28tnVUZw26rTvPSSB19",
        );
        check(
            &[b"Talking", b"Squirrels"],
            "2fnQrngrQT4SeLcdToJAD96phoEjNL2man2kfRLCASVk",
        );
        check(
            &[&key, &[1]],
            "976ymqVnfE32QFe6NfGDctSvVa36LWnvYxhU6G2232YL",
        );
    }

    #[test]
    fn a_token_account_agrees_with_the_vector_of_the_token_library() {
        let mint = parse("7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z").unwrap();
        let owner = parse("B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj").unwrap();
        let seeds: [&[u8]; 3] = [&owner, &TOKEN_PROGRAM, &mint];
        let account = find_program_address(&seeds, &ASSOCIATED_TOKEN_PROGRAM).unwrap();
        assert_eq!(
            display(&account),
            "DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n"
        );
    }

    #[test]
    fn public_keys_of_rfc_8032_are_on_the_curve() {
        for key in [
            hex!("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
            hex!("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
            hex!("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
        ] {
            assert!(is_public_key(&key));
        }
    }

    #[test]
    fn about_half_of_all_hashes_are_no_public_keys() {
        let off = (0..200u8)
            .filter(|n| !is_public_key(&hash(&[&[*n]], &[], &[7; 32])))
            .count();
        assert!((70..130).contains(&off), "{off}");
    }

    #[test]
    fn every_input_decides_the_token_account() {
        let [program, destination, salt, mint] = [[1; 32], [2; 32], [3; 32], [4; 32]];
        let right = deposit_token_account(&program, &destination, &salt, &mint);
        assert!(right.is_some());
        for other in [
            deposit_token_account(&[9; 32], &destination, &salt, &mint),
            deposit_token_account(&program, &[9; 32], &salt, &mint),
            deposit_token_account(&program, &destination, &[9; 32], &mint),
            deposit_token_account(&program, &destination, &salt, &[9; 32]),
        ] {
            assert_ne!(other, right);
        }
    }
}
