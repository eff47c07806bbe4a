//! The delivery log: listed, and an event replayed to the endpoint of today.

use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::deliveries::{DeliveryRow, Message};
use till_store::{ReadSource, Tx};

pub use till_store::deliveries::DeliveryFilter;

use crate::base::Context;
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::view::DeliveryView;

pub async fn list(
    reads: &ReadSource,
    scope: &Scope,
    filter: DeliveryFilter,
    page: &Page,
) -> Result<Paged<DeliveryView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::deliveries::list(&mut reader, scope, filter, &page.and_one()).await?;
    Ok(page
        .cut(rows, |row| &row.id)
        .map(|row| DeliveryView::of(&row)))
}

/// The same event under the same id, as a new delivery, to the current URL.
pub async fn replay(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<DeliveryView, Fail> {
    if !till_core::id::is(IdKind::Delivery, id) {
        return Err(missing("webhook delivery", id).into());
    }
    let Some(old) = till_store::deliveries::find(tx, &context.scope, id).await? else {
        let elsewhere = context.scope.in_other_mode();
        let found = till_store::deliveries::find(tx, &elsewhere, id).await?;
        return Err(missing_or_in_mode("webhook delivery", id, &context.scope, found).into());
    };
    let url = context
        .merchant
        .row
        .webhook_url
        .clone()
        .ok_or_else(|| Refusal::of(Code::WebhookUrlMissing))?;
    let new = DeliveryRow::pending(
        &context.scope,
        context.engine.ids.make(IdKind::Delivery),
        Message {
            event: old.event,
            event_type: old.event_type,
            subject: old.subject,
        },
        url,
        1,
        (context.real_now, context.real_now),
    );
    till_store::deliveries::insert(tx, std::slice::from_ref(&new)).await?;
    context.effects.delivery(&context.scope);
    Ok(DeliveryView::of(&new))
}
