//! The delivery log: listed, and an event replayed to the endpoint of today.

use serde::Deserialize;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::deliveries::{DeliveryRow, Message};

pub use till_store::deliveries::DeliveryFilter;

use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Context, Engine};
use crate::view::{DeliveryView, event_object};

pub async fn list(
    engine: &Engine,
    scope: &Scope,
    filter: DeliveryFilter,
    page: &Page,
) -> Result<Paged<DeliveryView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::deliveries::list(&mut reader, scope, filter, &page.and_one()).await?;
    Ok(page
        .cut(rows, |row| &row.id)
        .map(|row| DeliveryView::of(&row)))
}

/// Takes the addresses out of an event that its invoice does not hold any more.
async fn forget_lost(
    tx: &mut Tx,
    context: &Context<'_>,
    event: &str,
    invoice: &str,
) -> Result<(), Fail> {
    let scope = &context.scope;
    let Some(row) = till_store::invoices::find(tx, scope, invoice).await? else {
        return Ok(());
    };
    let Some(body) = till_store::events::body(tx, scope, event).await? else {
        return Ok(());
    };
    let object = event_object(&body).map_err(Fail::broken)?;
    let object: EventInvoice = serde_json::from_str(object).map_err(Fail::broken)?;
    let deposits = row.options.iter().filter_map(|it| it.deposit.as_ref());
    let held: Vec<&str> = deposits
        .filter(|deposit| deposit.is_held(context.now))
        .map(|deposit| &*deposit.address)
        .collect();
    let told = object.payment_options.into_iter();
    let lost = told.filter_map(|option| option.address);
    let kept = lost
        .filter(|address| !held.contains(&&**address))
        .fold(body.clone(), |body, address| {
            body.replace(&format!("\"address\":\"{address}\""), "\"address\":null")
        });
    if kept != body {
        till_store::events::set_body(tx, scope, event, &kept).await?;
    }
    Ok(())
}

/// What is read of the invoice in an event: where it was to be paid.
#[derive(Deserialize)]
struct EventInvoice {
    #[serde(default)]
    payment_options: Vec<EventPaymentOption>,
}

#[derive(Deserialize)]
struct EventPaymentOption {
    address: Option<String>,
}

/// The same event under the same id, as a new delivery, to the current URL. It asks for nothing at an address that its invoice has
/// lost since.
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
    if let Some(subject) = &old.subject {
        forget_lost(tx, context, &old.event, subject).await?;
    }
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
