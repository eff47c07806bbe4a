//! What is told of a change: the events that the difference between before and after calls for.

use till_core::event::{Announcement, EventType};
use till_core::invoice::Status;
use till_store::events::NewEvent;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;

use super::facts::Held;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox::{self, Told};
use crate::view::{InvoiceView, PaymentView, payer_payments};

/// Something to announce beside what the difference says: a review's outcome.
pub struct Extra {
    pub event: EventType,
    pub name: &'static str,
    pub json: String,
}

pub(super) struct Rendered<'a> {
    pub(super) before: &'a InvoiceRow,
    pub(super) held: &'a Held,
    pub(super) extra: Option<Extra>,
}

pub(super) fn events_of(
    context: &Context<'_>,
    rendered: &Rendered<'_>,
    announcements: &[Announcement],
) -> Result<Vec<NewEvent>, Fail> {
    if announcements.is_empty() && rendered.extra.is_none() {
        return Ok(Vec::new());
    }
    let held = rendered.held;
    let object = render(context, &held.row)?;
    let rows: Vec<PaymentRow> = held
        .payments
        .iter()
        .map(|payment| payment.row.clone())
        .collect();
    let payments = serde_json::to_string(&payer_payments(&rows)?).map_err(Fail::broken)?;
    let mut seq = rendered.before.stream_seq;
    let mut told_so_far = Vec::new();
    let mut push = |event: EventType, object: &str, extra: Option<(&str, &str)>| {
        let stream_seq = event.is_streamed().then(|| {
            seq += 1;
            seq
        });
        let told = Told {
            event,
            invoice: Some(&held.row.id),
            stream_seq,
            object,
            extra,
            payments: stream_seq.map(|_| payments.as_str()),
        };
        told_so_far.push(outbox::make(context, told));
    };
    if let Some(extra) = &rendered.extra {
        push(extra.event, &object, Some((extra.name, &extra.json)));
    }
    for announcement in announcements {
        if announcement.event == EventType::InvoiceStatus(Status::Detected)
            && held.row.status != "detected"
        {
            // Seen and settled in one step: the event still shows the invoice as it was when it was seen.
            let mut seen = rendered.before.clone();
            seen.status = Status::Detected.as_str().to_owned();
            (seen.closed_at, seen.summary) = (None, None);
            push(announcement.event, &render(context, &seen)?, None);
            continue;
        }
        let payment = match announcement.payment {
            Some(index) => {
                Some(serde_json::to_string(&PaymentView::of(&rows[index])?).map_err(Fail::broken)?)
            }
            None => None,
        };
        push(
            announcement.event,
            &object,
            payment.as_deref().map(|payment| ("payment", payment)),
        );
    }
    Ok(told_so_far)
}

pub fn render(context: &Context<'_>, row: &InvoiceRow) -> Result<String, Fail> {
    let key = context.merchant.row.publishable_key.as_deref();
    let view = InvoiceView::of(row, &context.engine.config.checkout_url, key)?;
    serde_json::to_string(&view).map_err(Fail::broken)
}
