//! Looks that are taken soon, in a unit of work of their own.

use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::timers::TimerRow;

use crate::base::Context;
use crate::base::fail::Fail;

/// Has the customer's credit shared anew among all that it pays for.
pub(super) async fn share_again(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
) -> Result<(), Fail> {
    let (scope, kind) = (&context.scope, TimerKind::ShareCredit);
    let again = TimerRow::new(scope, kind, customer, context.now);
    Ok(till_store::timers::set(tx, &[again]).await?)
}
