//! Why a text is no address.

/// Why a text is not an address we may send money to, or why none can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it does not have the form of an address on this network")]
    Malformed,
    #[error("its checksum does not match, so a character is wrong; copy it again")]
    Checksum,
    #[error("it is the zero address, which nobody holds")]
    Zero,
    #[error("it belongs to another network")]
    WrongNetwork,
    #[error("it is a private key, which belongs to the merchant alone; treat it as leaked")]
    PrivateKey,
    #[error("it is not the extended public key of an account")]
    NotAnAccountKey,
    #[error("its salt does not have 32 bytes")]
    Salt,
    #[error("its path does not have the form 0/number")]
    Path,
    #[error("its number is too large for this network")]
    NumberTooLarge,
    #[error("no factory is known on this network")]
    NoFactory,
}
