//! Finds a subscription by its id, or says what is wrong with the id.

use till_core::error::Refusal;
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::Queries;
use till_store::subscriptions::SubscriptionRow;

use crate::base::fail::{Fail, missing, missing_or_in_mode};

pub(super) async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<SubscriptionRow, Fail> {
    if till_core::id::is(IdKind::Subscription, id)
        && let Some(row) = till_store::subscriptions::find(q, scope, id).await?
    {
        return Ok(row);
    }
    Err(missing_subscription(q, scope, id).await?.into())
}

async fn missing_subscription(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Refusal, Fail> {
    if !till_core::id::is(IdKind::Subscription, id) {
        return Ok(missing("subscription", id));
    }
    let other = till_store::subscriptions::find(q, &scope.in_other_mode(), id).await?;
    Ok(missing_or_in_mode("subscription", id, scope, other))
}
