//! Why a text is no address.

/// Why a text is not an address we may send money to, or why none can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("not an address of this network")]
    Malformed,
    #[error("the checksum does not match: a character is wrong")]
    Checksum,
    #[error("nobody holds the zero address")]
    Zero,
    #[error("an address of another network")]
    WrongNetwork,
    #[error("a private key: it belongs to the merchant alone and must be treated as leaked")]
    PrivateKey,
    #[error("not the extended public key of an account")]
    NotAnAccountKey,
    #[error("not a salt of 32 bytes")]
    Salt,
    #[error("not a path of the form 0/number")]
    Path,
    #[error("the address number is too large for this network")]
    NumberTooLarge,
    #[error("no factory is known on this network")]
    NoFactory,
}
