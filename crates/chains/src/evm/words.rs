//! Numbers and bytes as nodes write them, read strictly.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("it is not what was asked for")]
    Shape,
    #[error("a number is malformed")]
    Number,
    #[error("bytes are malformed")]
    Bytes,
    #[error("it is about another transaction")]
    OtherTransaction,
    #[error("it contradicts itself")]
    Contradiction,
    #[error("an amount is larger than any supply")]
    Amount,
}

/// A number as nodes write it: `0x` and hexadecimal digits without leading zeros.
pub fn quantity(text: &str) -> Result<u64, DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Number)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    if !plain || padded {
        return Err(DecodeError::Number);
    }
    u64::from_str_radix(digits, 16).map_err(|_| DecodeError::Number)
}

/// No chain has so many blocks, and none will: whoever counts on from such a height leaves the numbers.
const HEIGHT_MAX: i64 = 1 << 53;
/// No block of this chain is made after the year 2242.
const SECONDS_MAX: i64 = 1 << 33;

/// The height of a block.
pub(super) fn height(text: &str) -> Result<i64, DecodeError> {
    at_most(HEIGHT_MAX, text)
}

/// When a block was made, in milliseconds.
pub(super) fn time_ms(text: &str) -> Result<i64, DecodeError> {
    Ok(at_most(SECONDS_MAX, text)? * 1_000)
}

fn at_most(most: i64, text: &str) -> Result<i64, DecodeError> {
    let number = i64::try_from(quantity(text)?).map_err(|_| DecodeError::Number)?;
    (number <= most)
        .then_some(number)
        .ok_or(DecodeError::Number)
}

pub(super) fn bytes<const N: usize>(text: &str) -> Result<[u8; N], DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Bytes)?;
    let mut bytes = [0; N];
    ::hex::decode_to_slice(digits, &mut bytes).map_err(|_| DecodeError::Bytes)?;
    Ok(bytes)
}

pub(super) fn any_bytes(text: &str) -> Result<Vec<u8>, DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Bytes)?;
    ::hex::decode(digits).map_err(|_| DecodeError::Bytes)
}
