//! Many calls in one, through Multicall3, which stands at one address on every network: to ask for many balances, and to
//! empty many addresses.

use super::words::DecodeError;

/// Deployed by a transaction that anybody could send, so that it is the same everywhere.
pub const MULTICALL3: [u8; 20] = alloy_primitives::hex!("ca11bde05977b3631167028862be2a173976ca11");

/// `aggregate3((address,bool,bytes)[])`.
const AGGREGATE3: [u8; 4] = [0x82, 0xad, 0x56, 0xcb];
const WORD: usize = 32;

/// One of many calls. Should it fail, the others are made all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub to: [u8; 20],
    pub input: Vec<u8>,
}

/// What is sent to Multicall3 to make these calls in their order.
pub fn aggregate(calls: &[Call]) -> Vec<u8> {
    let mut places = Vec::new();
    let mut tuples = Vec::new();
    for call in calls {
        places.extend(number(calls.len() * WORD + tuples.len()));
        tuples.extend([0; 12]);
        tuples.extend(call.to);
        tuples.extend(number(1));
        tuples.extend(number(3 * WORD));
        tuples.extend(number(call.input.len()));
        tuples.extend(&call.input);
        tuples.resize(tuples.len().next_multiple_of(WORD), 0);
    }
    let mut data = AGGREGATE3.to_vec();
    data.extend(number(WORD));
    data.extend(number(calls.len()));
    data.extend(places);
    data.extend(tuples);
    data
}

/// What each call answered; nothing for one that failed.
pub fn answers(data: &[u8], calls: usize) -> Result<Vec<Option<&[u8]>>, DecodeError> {
    let list = part(data, word(data, 0)?)?;
    if word(list, 0)? != calls {
        return Err(DecodeError::Contradiction);
    }
    let tuples = part(list, WORD)?;
    let read = |index: usize| {
        let tuple = part(tuples, word(tuples, index * WORD)?)?;
        let bytes = part(tuple, word(tuple, WORD)?)?;
        let length = word(bytes, 0)?;
        let answer = part(bytes, WORD)?.get(..length).ok_or(DecodeError::Bytes)?;
        match word(tuple, 0)? {
            0 => Ok(None),
            1 => Ok(Some(answer)),
            _ => Err(DecodeError::Contradiction),
        }
    };
    (0..calls).map(read).collect()
}

fn number(value: usize) -> [u8; WORD] {
    let mut word = [0; WORD];
    word[24..].copy_from_slice(&(value as u64).to_be_bytes());
    word
}

fn part(data: &[u8], at: usize) -> Result<&[u8], DecodeError> {
    data.get(at..).ok_or(DecodeError::Bytes)
}

fn word(data: &[u8], at: usize) -> Result<usize, DecodeError> {
    let end = at.checked_add(WORD).ok_or(DecodeError::Bytes)?;
    let word = data.get(at..end).ok_or(DecodeError::Bytes)?;
    let (high, low) = word.split_at(24);
    let low = low.try_into().map_err(|_| DecodeError::Bytes)?;
    match high.iter().all(|byte| *byte == 0) {
        true => usize::try_from(u64::from_be_bytes(low)).map_err(|_| DecodeError::Number),
        false => Err(DecodeError::Number),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the contract would answer.
    fn told(answers: &[Option<Vec<u8>>]) -> Vec<u8> {
        let mut places = Vec::new();
        let mut tuples = Vec::new();
        for answer in answers {
            places.extend(number(answers.len() * WORD + tuples.len()));
            let bytes = answer.clone().unwrap_or_default();
            tuples.extend(number(usize::from(answer.is_some())));
            tuples.extend(number(2 * WORD));
            tuples.extend(number(bytes.len()));
            tuples.extend(&bytes);
            tuples.resize(tuples.len().next_multiple_of(WORD), 0);
        }
        let mut data = number(WORD).to_vec();
        data.extend(number(answers.len()));
        data.extend(places);
        data.extend(tuples);
        data
    }

    #[test]
    fn a_call_is_written_as_contracts_read_it() {
        let call = Call {
            to: [0x11; 20],
            input: vec![0xab; 33],
        };
        let expected = [
            "82ad56cb",
            &format!("{:064x}", 0x20),
            &format!("{:064x}", 1),
            &format!("{:064x}", 0x20),
            &format!("{:0>64}", "11".repeat(20)),
            &format!("{:064x}", 1),
            &format!("{:064x}", 0x60),
            &format!("{:064x}", 33),
            &"ab".repeat(33),
            &"00".repeat(31),
        ];
        assert_eq!(hex::encode(aggregate(&[call])), expected.concat());
    }

    proptest! {
        #[test]
        fn answers_are_read_as_they_were_given(answers: Vec<Option<Vec<u8>>>, cut: usize) {
            let data = told(&answers);
            let read = super::answers(&data, answers.len()).unwrap();
            let expected: Vec<_> = answers.iter().map(Option::as_deref).collect();
            prop_assert_eq!(read, expected);
            prop_assert!(super::answers(&data, answers.len() + 1).is_err());
            let _ = super::answers(&data[..cut % data.len()], answers.len());
        }

        #[test]
        fn garbage_never_panics(data: Vec<u8>, calls in 0usize..5) {
            let _ = super::answers(&data, calls);
        }
    }
}
