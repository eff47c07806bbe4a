//! What names a block: as many bytes as its family has.

use std::fmt;

/// No family has more.
const BYTES_MAX: usize = 64;

/// A block's hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockHash {
    length: u8,
    /// Zero after the length.
    bytes: [u8; BYTES_MAX],
}

impl BlockHash {
    /// None for nothing, and for what is too long to be one.
    pub fn of(bytes: &[u8]) -> Option<BlockHash> {
        let length = u8::try_from(bytes.len()).ok().filter(|it| *it > 0)?;
        let mut all = [0; BYTES_MAX];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(BlockHash { length, bytes: all })
    }

    pub fn as_bytes(&self) -> &[u8] {
        let length = usize::from(self.length);
        self.bytes.get(..length).unwrap_or(&self.bytes)
    }

    /// As it is kept, and shown to people.
    pub fn text(&self) -> String {
        format!("0x{}", hex::encode(self.as_bytes()))
    }

    /// And back.
    pub fn parse(text: &str) -> Option<BlockHash> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        BlockHash::of(&hex::decode(digits).ok()?)
    }

    /// Where a family's blocks are named by 32 bytes, those.
    pub fn word(&self) -> Option<[u8; 32]> {
        self.as_bytes().try_into().ok()
    }
}

impl fmt::Debug for BlockHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text())
    }
}

impl From<[u8; 32]> for BlockHash {
    fn from(word: [u8; 32]) -> BlockHash {
        let mut bytes = [0; BYTES_MAX];
        bytes[..32].copy_from_slice(&word);
        BlockHash { length: 32, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_of_any_length_is_read_as_it_was_written() {
        for length in 1..=BYTES_MAX {
            let bytes: Vec<u8> = (1..).take(length).collect();
            let hash = BlockHash::of(&bytes).unwrap();
            assert_eq!(hash.as_bytes(), bytes);
            assert_eq!(BlockHash::parse(&hash.text()), Some(hash));
            assert_eq!(hash.word().is_some(), length == 32);
        }
        assert_eq!(BlockHash::of(&[]), None);
        assert_eq!(BlockHash::of(&[1; BYTES_MAX + 1]), None);
        assert_eq!(BlockHash::parse("0x12x"), None);
    }

    #[test]
    fn two_of_different_lengths_are_never_the_same() {
        let (short, long) = ([0; 31], [0; 32]);
        assert_ne!(BlockHash::of(&short), BlockHash::of(&long));
        assert_eq!(BlockHash::of(&long), Some(BlockHash::from(long)));
    }
}
