//! Why an answer of a Bitcoin node is none.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("it is not of the shape that was asked for")]
    Shape,
    #[error("it is another block")]
    OtherBlock,
    #[error("it is another transaction")]
    OtherTransaction,
    #[error("its header does not carry the work that its network asks for")]
    Work,
    #[error("its transactions are not those that its header names")]
    MerkleRoot,
    #[error("it does not name the outputs that are spent")]
    PreviousOutputs,
}
