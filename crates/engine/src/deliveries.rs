//! The delivery log: replaying an event to the endpoint of today.

use till_core::error::{Code, Refusal};
use till_core::id::Kind;
use till_store::Tx;
use till_store::deliveries::{DeliveryRow, NewDelivery};

use crate::context::Context;
use crate::fail::{Fail, missing};

/// The same event under the same id, as a new delivery, to the current URL.
pub async fn replay(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<DeliveryRow, Fail> {
    let gone = || Fail::from(missing("webhook delivery", id));
    if !till_core::id::is(Kind::Delivery, id) {
        return Err(gone());
    }
    let old = till_store::deliveries::find(tx, &context.scope, id)
        .await?
        .ok_or_else(gone)?;
    let url = context
        .merchant
        .row
        .webhook_url
        .clone()
        .ok_or_else(|| Refusal::of(Code::WebhookUrlMissing))?;
    let new = NewDelivery {
        id: context.engine.ids.make(Kind::Delivery),
        scope: context.scope.clone(),
        event: old.event,
        event_type: old.event_type,
        invoice: old.invoice,
        url,
        attempt: 1,
        created_at: context.real_now,
        due_at: context.real_now,
        fence: 0,
    };
    till_store::deliveries::insert(tx, std::slice::from_ref(&new)).await?;
    context.effects.delivery(&context.scope);
    let made = till_store::deliveries::find(tx, &context.scope, &new.id).await?;
    made.ok_or_else(|| Fail::broken("a delivery vanished while it was made"))
}
