//! What a price feed on a chain says: Chainlink's aggregators.

use crate::evm::client;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// `latestRoundData()`.
const LATEST: [u8; 4] = [0xfe, 0xaf, 0x96, 0x8c];
/// `decimals()`.
const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];
const WORD: usize = 32;
/// Round, answer, start, update, and the round it was answered in.
const WORDS: usize = 5;
/// No feed has more.
const DECIMALS_MAX: u64 = 18;

/// The last price that a feed agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The price as a whole number, so many of whose digits are behind the point.
    pub digits: u128,
    pub decimals: u32,
    /// In milliseconds.
    pub updated_at: i64,
}

pub async fn latest(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    feed: &[u8; 20],
) -> Result<Round, RpcError> {
    let round = client::asked(rpc, endpoint, feed, &LATEST).await?;
    let decimals = client::asked(rpc, endpoint, feed, &DECIMALS).await?;
    let read = read(&round, &decimals);
    read.ok_or_else(|| RpcError::NotAnAnswer("it is no price".to_owned()))
}

/// A price that is zero, negative, of no round or of no time is none.
pub fn read(round: &[u8], decimals: &[u8]) -> Option<Round> {
    if round.len() != WORDS * WORD {
        return None;
    }
    let word = |at: usize| &round[at * WORD..(at + 1) * WORD];
    let (number, digits) = (word(0), small(word(1))?);
    let updated = i64::try_from(small(word(3))?).ok()?;
    let decimals = u64::try_from(small(decimals)?).ok()?;
    let is_of_a_round = number.iter().any(|byte| *byte != 0);
    let is_price = digits > 0 && updated > 0 && decimals <= DECIMALS_MAX && is_of_a_round;
    is_price.then_some(Round {
        digits,
        decimals: u32::try_from(decimals).ok()?,
        updated_at: updated.checked_mul(1_000)?,
    })
}

/// A word that holds a number below 2¹²⁷; a negative one is far above it.
fn small(word: &[u8]) -> Option<u128> {
    let word: [u8; WORD] = word.try_into().ok()?;
    let (high, low) = word.split_at(WORD / 2);
    let number = u128::from_be_bytes(low.try_into().ok()?);
    (high.iter().all(|byte| *byte == 0) && number < 1 << 127).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(number: u128) -> Vec<u8> {
        [vec![0; 16], number.to_be_bytes().to_vec()].concat()
    }

    fn round(words: [u128; 5]) -> Vec<u8> {
        words.into_iter().flat_map(word).collect()
    }

    #[test]
    fn a_round_is_read_as_the_feed_answers_it() {
        let told = round([7, 6_512_345_000_000, 1_700_000_000, 1_700_000_100, 7]);
        let expected = Round {
            digits: 6_512_345_000_000,
            decimals: 8,
            updated_at: 1_700_000_100_000,
        };
        assert_eq!(read(&told, &word(8)), Some(expected));
    }

    #[test]
    fn what_is_no_price_is_none() {
        let good = [7, 5, 1, 1_700_000_100, 7];
        let with = |at: usize, value: u128| {
            let mut words = good;
            words[at] = value;
            round(words)
        };
        for bad in [
            with(0, 0),
            with(1, 0),
            with(3, 0),
            with(3, u128::MAX),
            with(1, 1 << 127),
        ] {
            assert_eq!(read(&bad, &word(8)), None);
        }
        let mut negative = round(good);
        negative[WORD..2 * WORD].fill(0xff);
        assert_eq!(read(&negative, &word(8)), None);
        assert_eq!(read(&round(good), &word(19)), None);
        assert_eq!(read(&round(good), &[]), None);
        assert_eq!(read(&round(good)[1..], &word(8)), None);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(round: Vec<u8>, decimals: Vec<u8>) {
            let _ = read(&round, &decimals);
        }
    }
}
