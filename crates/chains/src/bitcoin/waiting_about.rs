//! What a provider is asked about that answers by address.

use super::script::KeyProgram;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitingAbout {
    Address(KeyProgram),
    Transaction([u8; 32]),
}
