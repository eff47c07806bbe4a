//! Brings a customer up to date: whatever is due about its subscriptions and credit is done now, in the same unit of
//! work. So what a merchant asks for does not depend on whether a worker has come by.

use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::timers::Due;

use super::find::find;
use super::hold::lock_all;
use super::resolve::resolve;
use super::share::share_credit;
use super::step::step;
use crate::base::Context;
use crate::base::fail::Fail;

/// How many timers are run at most, for one may set another. After that the workers go on.
const ROUNDS_MAX: usize = 64;

/// Brings the customer of a subscription up to date, for a caller that holds nothing yet.
pub async fn look_first(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<(), Fail> {
    let seen = find(tx, &context.scope, id).await?;
    lock_all(tx, context, &seen.customer, &[]).await?;
    Box::pin(bring_up_to_date(tx, context, &seen.customer)).await
}

/// Runs every timer that is due about the customer's subscriptions and credit.
pub(super) async fn bring_up_to_date(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
) -> Result<(), Fail> {
    let (scope, now) = (&context.scope, context.now);
    for _ in 0..ROUNDS_MAX {
        let due = till_store::timers::due_of_customer(tx, scope, customer, now).await?;
        if due.is_empty() {
            return Ok(());
        }
        let free = till_store::timers::lock_free(tx, &due).await?;
        lock_all(tx, context, customer, &due).await?;
        // The first alone: what it does may make the others needless, or call for something else first.
        let first = due.iter().find(|timer| free.contains(timer));
        if let Some(first) = first
            && !till_store::timers::take(tx, std::slice::from_ref(first))
                .await?
                .is_empty()
        {
            look(tx, context, first).await?;
        }
    }
    Ok(())
}

/// Runs one timer. Each future is boxed: all that they call would not fit on a thread's stack.
async fn look(tx: &mut Tx, context: &Context<'_>, timer: &Due) -> Result<(), Fail> {
    match TimerKind::parse(&timer.kind) {
        Some(TimerKind::ShareCredit) => Box::pin(share_credit(tx, context, &timer.subject)).await,
        Some(TimerKind::ResolveCharge) => Box::pin(resolve(tx, context, &timer.subject)).await,
        Some(TimerKind::StepSubscription) => Box::pin(step(tx, context, &timer.subject)).await,
        _ => Err(Fail::broken(format!("a look of kind {}", timer.kind))),
    }
}
