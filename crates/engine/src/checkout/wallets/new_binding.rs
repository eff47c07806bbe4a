//! What a payer asks for when connecting a wallet.

/// A request to bind a wallet, its values unjudged.
#[derive(Clone, Copy, Debug)]
pub struct NewBinding<'r> {
    pub invoice: &'r str,
    pub asset: &'r str,
    pub sender: &'r str,
    /// The wallet's signature that it is the payer's.
    pub proof: Option<&'r str>,
}
