//! What is told of a change: the events that the difference between before and after calls for.

use till_core::event::{Announcement, EventType};
use till_core::invoice::{Status, Summary};
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;

use super::facts::LockedInvoice;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox::{self, EventContent};
use crate::view::{InvoiceView, PaymentView, payer_payments};

/// Something to announce beside what the difference says: a review's outcome.
pub struct Extra {
    pub event: EventType,
    pub name: &'static str,
    pub json: String,
}

/// `left` are the payments that went away on the way, as they were then.
pub(super) fn events_of(
    context: &Context<'_>,
    at: i64,
    held: &LockedInvoice,
    left: &[PaymentRow],
    announcements: &[Announcement],
    extra: Option<&Extra>,
) -> Result<Vec<EventRow>, Fail> {
    if announcements.is_empty() && extra.is_none() {
        return Ok(Vec::new());
    }
    let invoice = &held.invoice.is;
    let before = held.invoice.was.as_ref().unwrap_or(invoice);
    let object = render_held(context, held)?;
    let payments: Vec<&PaymentRow> = held.payments.iter().map(|payment| &payment.is).collect();
    let shown = serde_json::to_string(&payer_payments(&payments)).map_err(Fail::broken)?;
    let mut seq = before.stream_seq;
    let mut events = Vec::new();
    let mut push = |event: EventType, object: &str, extra: Option<(&str, &str)>| {
        let stream_seq = event.is_streamed().then(|| {
            seq += 1;
            seq
        });
        let told = EventContent {
            event,
            subject: &invoice.id,
            invoice: Some(&invoice.id),
            stream_seq,
            object,
            extra,
            payments: stream_seq.map(|_| shown.as_str()),
        };
        events.push(outbox::make_at(context, at, told));
    };
    if let Some(extra) = extra {
        push(extra.event, &object, Some((extra.name, &extra.json)));
    }
    for announcement in announcements {
        if announcement.event == EventType::InvoiceStatus(Status::Detected)
            && invoice.status != Status::Detected
        {
            // Seen and settled in one step: the event still shows the invoice as it was when it was seen.
            let mut seen = before.clone();
            seen.status = Status::Detected;
            let asked = std::mem::take(&mut seen.summary.asked);
            seen.closed_at = None;
            seen.summary = Summary {
                asked,
                ..Summary::default()
            };
            push(announcement.event, &render(context, &seen)?, None);
            continue;
        }
        let is_reversal = announcement.event == EventType::InvoicePaymentReversed;
        let left = left.iter().filter(|_| is_reversal);
        let about = left
            .chain(payments.iter().copied())
            .find(|payment| announcement.payment.as_ref() == Some(&payment.id));
        let payment = match about {
            Some(row) => Some(serde_json::to_string(&PaymentView::of(row)).map_err(Fail::broken)?),
            None => None,
        };
        let payment = payment.as_deref().map(|payment| ("payment", payment));
        push(announcement.event, &object, payment);
    }
    Ok(events)
}

pub fn render(context: &Context<'_>, row: &InvoiceRow) -> Result<String, Fail> {
    serde_json::to_string(&view(context, row)?).map_err(Fail::broken)
}

fn render_held(context: &Context<'_>, held: &LockedInvoice) -> Result<String, Fail> {
    let view = view(context, &held.invoice.is)?;
    let view = match held.is_of_ended {
        true => view.of_ended(),
        false => view,
    };
    serde_json::to_string(&view).map_err(Fail::broken)
}

fn view<'r>(context: &Context<'_>, row: &'r InvoiceRow) -> Result<InvoiceView<'r>, Fail> {
    let key = context.merchant.row.publishable_key.as_deref();
    let url = &context.engine.config.checkout_url;
    Ok(InvoiceView::of(row, url, key, context.now)?)
}
