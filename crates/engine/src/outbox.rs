//! Events: what is told of a change, written together with it, and sent to the merchant's server.

use till_core::event::EventType;
use till_core::id::IdKind;
use till_store::deliveries::{DeliveryRow, Message};
use till_store::events::EventRow;
use till_store::{Tx, Write};

use crate::base::Context;
use crate::base::fail::Fail;
use crate::view::event_body;

/// What an event says, apart from when and to whom.
#[derive(Clone, Copy, Debug)]
pub struct EventContent<'a> {
    pub event: EventType,
    /// The id of what it is about.
    pub subject: &'a str,
    /// The invoice that the event names, if it is about one.
    pub invoice: Option<&'a str>,
    /// Its place on the invoice's live stream, if it is told there.
    pub stream_seq: Option<i64>,
    /// What it is about, as JSON.
    pub object: &'a str,
    /// Something beside the object: its name, and itself as JSON.
    pub extra: Option<(&'a str, &'a str)>,
    /// The payments for the live stream, as JSON.
    pub payments: Option<&'a str>,
}

pub fn make(context: &Context<'_>, told: EventContent<'_>) -> EventRow {
    make_at(context, context.now, told)
}

/// The same for what happened at `at`, in business time.
pub fn make_at(context: &Context<'_>, at: i64, told: EventContent<'_>) -> EventRow {
    let id = context.engine.ids.make(IdKind::Event);
    let body = event_body(
        &id,
        told.event.as_str(),
        context.is_live(),
        at,
        told.invoice,
        told.object,
        told.extra,
    );
    EventRow {
        id,
        scope: context.scope.clone(),
        event_type: told.event,
        subject: Some(told.subject.to_owned()),
        stream_seq: told.stream_seq,
        created_at: at,
        body,
        payments: told.payments.map(str::to_owned),
    }
}

/// An event's first delivery, if it is one for the merchant's server and the merchant has one.
pub fn delivery(context: &Context<'_>, event: &EventRow) -> Option<DeliveryRow> {
    delivery_in_turn(context, event, event.subject.clone())
}

fn delivery_in_turn(
    context: &Context<'_>,
    event: &EventRow,
    subject: Option<String>,
) -> Option<DeliveryRow> {
    let url = match event.event_type.is_webhook() {
        true => context.merchant.row.webhook_url.clone()?,
        false => return None,
    };
    context.effects.delivery(&context.scope);
    Some(DeliveryRow::pending(
        &context.scope,
        context.engine.ids.make(IdKind::Delivery),
        Message {
            event: event.id.clone(),
            event_type: event.event_type.as_str().to_owned(),
            subject,
        },
        url,
        1,
        (context.real_now, context.real_now),
    ))
}

/// Events and their deliveries, to be written with their cause.
pub fn writes(context: &Context<'_>, events: &[EventRow]) -> Result<[Write; 2], Fail> {
    let deliveries: Vec<DeliveryRow> = events
        .iter()
        .filter_map(|event| delivery(context, event))
        .collect();
    Ok([
        till_store::events::rows(events),
        till_store::deliveries::rows(&deliveries)?,
    ])
}

/// One that is told of something else because of what happened to an invoice: it is sent in the order of that invoice's own.
pub fn writes_after(
    context: &Context<'_>,
    invoice: &str,
    event: &EventRow,
) -> Result<[Write; 2], Fail> {
    let delivery = delivery_in_turn(context, event, Some(invoice.to_owned()));
    Ok([
        till_store::events::rows(std::slice::from_ref(event)),
        till_store::deliveries::rows(delivery.as_slice())?,
    ])
}

pub async fn record(tx: &mut Tx, context: &Context<'_>, events: &[EventRow]) -> Result<(), Fail> {
    Ok(tx.write_all(&writes(context, events)?).await?)
}
