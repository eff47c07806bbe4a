//! The address a payer left, encrypted at rest.

use till_core::error::Refusal;
use till_core::scope::Scope;
use till_store::notices::NoticeRow;

use crate::base::Engine;
use crate::base::vault::VaultError;

/// An address as it is kept.
pub struct Sealed {
    pub email: Vec<u8>,
    /// Tells whether two addresses of one invoice are the same.
    pub tag: Vec<u8>,
}

pub fn seal(engine: &Engine, scope: &Scope, invoice: &str, email: &str) -> Result<Sealed, Refusal> {
    let purpose = purpose(scope, invoice);
    Ok(Sealed {
        email: engine.vault.seal(&engine.ids, &purpose, email.as_bytes())?,
        tag: engine.vault.tag(&purpose, email.as_bytes()).into(),
    })
}

/// The address of a notice, in the clear.
pub fn open(engine: &Engine, scope: &Scope, notice: &NoticeRow) -> Result<String, VaultError> {
    let plain = engine
        .vault
        .open(&purpose(scope, &notice.invoice), &notice.email)?;
    String::from_utf8(plain).map_err(|_| VaultError::DoesNotOpen)
}

pub fn is_same(engine: &Engine, scope: &Scope, email: &str, notice: &NoticeRow) -> bool {
    engine.vault.is_tag(
        &purpose(scope, &notice.invoice),
        email.as_bytes(),
        &notice.email_tag,
    )
}

/// Bound to the invoice: neither can a ciphertext be moved to another, nor do tags tell that two invoices
/// have the same payer.
pub(crate) fn purpose(scope: &Scope, invoice: &str) -> String {
    format!(
        "notice_email/{}/{}/{invoice}",
        scope.account,
        scope.mode.as_str()
    )
}
