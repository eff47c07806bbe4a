//! Confirmations: a passkey's yes to one request, by its path and the hash of its body.

use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_store::Tx;
use till_store::confirmations::Spent;

use super::unit::TeamContext;
use crate::base::fail::Fail;

/// Uses up the confirmation that the request carries, or refuses: last of all, so that nobody is asked for a
/// passkey in vain.
pub async fn spend(tx: &mut Tx, context: &TeamContext<'_>) -> Result<(), Fail> {
    let (asked, now) = (context.asked, context.now);
    if till_store::passkeys::count_of(tx, &asked.user).await? == 0 {
        return Err(Refusal::of(Code::PasskeyRequired).into());
    }
    let wanted = Refusal::of(Code::StepUpRequired);
    let Some(id) = &asked.confirmation.id else {
        return Err(wanted.into());
    };
    let request = Spent {
        id,
        session: &asked.session,
        account: asked.account.as_deref().unwrap_or_default(),
        mode: asked.mode.map_or("", Mode::as_str),
        path: &asked.confirmation.path,
        body_hash: &asked.confirmation.body_hash,
    };
    match till_store::confirmations::spend(tx, &request, now).await? {
        true => Ok(()),
        false => Err(wanted.into()),
    }
}
