//! The bloom of a block's or a transaction's logs: what it does not name is not there, what it names may be.

use alloy_primitives::BloomInput;

use super::words::{DecodeError, bytes};

const BYTES: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bloom(alloy_primitives::Bloom);

impl Bloom {
    pub fn parse(text: &str) -> Result<Bloom, DecodeError> {
        let bytes = bytes::<BYTES>(text)?;
        Ok(Bloom(bytes.into()))
    }

    #[cfg(test)]
    pub fn shown(&self) -> String {
        format!("0x{}", hex::encode(self.0.as_slice()))
    }

    pub fn add(&mut self, item: &[u8]) {
        self.0.accrue(BloomInput::Raw(item));
    }

    /// False is certain.
    pub fn may_have(&self, item: &[u8]) -> bool {
        self.0.contains_input(BloomInput::Raw(item))
    }
}
