//! Confirmations: a passkey's yes to one request, by its path and the hash of its body.

use till_core::asset::Mode;
use till_store::Tx;

use super::unit::TeamContext;
use crate::base::asker;
use crate::base::fail::Fail;

/// Uses up the confirmation that the request carries, or refuses: last of all, so that nobody is asked for a
/// passkey in vain.
pub async fn spend(tx: &mut Tx, context: &TeamContext<'_>) -> Result<(), Fail> {
    let asked = context.asked;
    let of = (
        asked.account.as_deref().unwrap_or_default(),
        asked.mode.map_or("", Mode::as_str),
    );
    let by = (&*asked.user, &*asked.session);
    asker::spend(tx, by, of, &asked.confirmation, context.now).await
}
