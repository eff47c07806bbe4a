//! Events: what is announced about an invoice, worked out from the difference between before and after.

use std::collections::HashMap;

use crate::invoice::{Assessment, Part, Standing, Status};
use crate::payment::PaymentStatus;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    InvoiceCreated,
    InvoiceStatus(Status),
    InvoicePaymentReversed,
    InvoiceWrongAsset,
    InvoiceLatePayment,
    InvoiceReviewResolved,
    RefundClaimed,
    PaymentLinkCreated,
    PaymentLinkUpdated,
    PaymentLinkDeactivated,
    SubscriptionCreated,
    SubscriptionInvoiceCreated,
    SubscriptionRenewed,
    SubscriptionPastDue,
    SubscriptionPaused,
    SubscriptionResumed,
    SubscriptionUpdated,
    SubscriptionCancelled,
}

impl EventType {
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::InvoiceCreated => "invoice.created",
            EventType::InvoiceStatus(status) => match status {
                Status::AwaitingPayment => "invoice.awaiting_payment",
                Status::Detected => "invoice.detected",
                Status::Confirming => "invoice.confirming",
                Status::Paid => "invoice.paid",
                Status::PartiallyPaid => "invoice.partially_paid",
                Status::Overpaid => "invoice.overpaid",
                Status::PaidLate => "invoice.paid_late",
                Status::Expired => "invoice.expired",
                Status::UnderReview => "invoice.under_review",
                Status::Cancelled => "invoice.cancelled",
            },
            EventType::InvoicePaymentReversed => "invoice.payment_reversed",
            EventType::InvoiceWrongAsset => "invoice.wrong_asset",
            EventType::InvoiceLatePayment => "invoice.late_payment",
            EventType::InvoiceReviewResolved => "invoice.review_resolved",
            EventType::RefundClaimed => "refund.claimed",
            EventType::PaymentLinkCreated => "payment_link.created",
            EventType::PaymentLinkUpdated => "payment_link.updated",
            EventType::PaymentLinkDeactivated => "payment_link.deactivated",
            EventType::SubscriptionCreated => "subscription.created",
            EventType::SubscriptionInvoiceCreated => "subscription.invoice_created",
            EventType::SubscriptionRenewed => "subscription.renewed",
            EventType::SubscriptionPastDue => "subscription.past_due",
            EventType::SubscriptionPaused => "subscription.paused",
            EventType::SubscriptionResumed => "subscription.resumed",
            EventType::SubscriptionUpdated => "subscription.updated",
            EventType::SubscriptionCancelled => "subscription.cancelled",
        }
    }

    /// The types that webhooks deliver and `GET /v1/events` lists, in the order of the documentation.
    pub const WEBHOOKS: [EventType; 26] = [
        EventType::InvoiceCreated,
        EventType::InvoiceStatus(Status::AwaitingPayment),
        EventType::InvoiceStatus(Status::Detected),
        EventType::InvoiceStatus(Status::Paid),
        EventType::InvoiceStatus(Status::PartiallyPaid),
        EventType::InvoiceStatus(Status::Overpaid),
        EventType::InvoiceStatus(Status::PaidLate),
        EventType::InvoiceStatus(Status::Expired),
        EventType::InvoiceStatus(Status::UnderReview),
        EventType::InvoiceStatus(Status::Cancelled),
        EventType::InvoicePaymentReversed,
        EventType::InvoiceWrongAsset,
        EventType::InvoiceLatePayment,
        EventType::InvoiceReviewResolved,
        EventType::RefundClaimed,
        EventType::PaymentLinkCreated,
        EventType::PaymentLinkUpdated,
        EventType::PaymentLinkDeactivated,
        EventType::SubscriptionCreated,
        EventType::SubscriptionInvoiceCreated,
        EventType::SubscriptionRenewed,
        EventType::SubscriptionPastDue,
        EventType::SubscriptionPaused,
        EventType::SubscriptionResumed,
        EventType::SubscriptionUpdated,
        EventType::SubscriptionCancelled,
    ];
    /// Confirmations alone send nothing to the merchant's server.
    pub const CONFIRMING: EventType = EventType::InvoiceStatus(Status::Confirming);

    pub fn parse(text: &str) -> Option<EventType> {
        let mut all = EventType::WEBHOOKS
            .into_iter()
            .chain([EventType::CONFIRMING]);
        all.find(|event| event.as_str() == text)
    }

    pub fn is_webhook(self) -> bool {
        self != EventType::CONFIRMING
    }

    /// The live stream tells the payer's page where the invoice stands, and nothing about other matters.
    pub fn is_streamed(self) -> bool {
        matches!(
            self,
            EventType::InvoiceCreated | EventType::InvoiceStatus(_)
        )
    }
}

/// Something to announce; `payment` is the id of the payment it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub event: EventType,
    pub payment: Option<String>,
}

impl Announcement {
    pub fn status(status: Status) -> Announcement {
        Announcement {
            event: EventType::InvoiceStatus(status),
            payment: None,
        }
    }

    fn about(event: EventType, part: &Part) -> Announcement {
        Announcement {
            event,
            payment: Some(part.payment.clone()),
        }
    }
}

/// A payment as it stood before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stood<'a> {
    pub payment: &'a str,
    pub status: PaymentStatus,
    /// It was credited, though it may be held again since.
    pub credited: bool,
    /// It left the chain with this change, and may have come back elsewhere with the same change.
    pub left: bool,
}

impl Stood<'_> {
    /// The merchant knows that it is theirs, or that it is to be returned.
    fn was_told(&self) -> bool {
        self.credited || self.status == PaymentStatus::Refundable
    }

    /// The merchant knows, and nothing of this change takes that back.
    fn is_still_told(&self) -> bool {
        self.was_told() && !self.left
    }
}

/// What the difference between before and after calls for. A payment that did not stand before is new.
pub fn announce(
    status_before: Status,
    before: &[Stood<'_>],
    after: &Assessment,
) -> Vec<Announcement> {
    let before: HashMap<&str, &Stood<'_>> =
        before.iter().map(|stood| (stood.payment, stood)).collect();
    let stood = |part: &Part| before.get(part.payment.as_str()).copied();
    let status_changed = after.status != status_before;
    let mut out = Vec::new();
    if skipped_detected(status_before, after) {
        out.push(Announcement::status(Status::Detected));
    }
    for part in &after.parts {
        // Dust is announced to nobody, unless the invoice is not what it was without it.
        if is_undone(part, stood(part)) && (!part.dust || status_changed) {
            out.push(Announcement::about(EventType::InvoicePaymentReversed, part));
        }
        if is_news_to_return(part, stood(part)) && !part.dust {
            let event = match part.standing {
                // Made in time but settled after the invoice was cancelled: nobody else would tell of it.
                Standing::Late | Standing::Counted => EventType::InvoiceLatePayment,
                Standing::WrongAsset => EventType::InvoiceWrongAsset,
            };
            out.push(Announcement::about(event, part));
        }
    }
    let is_credit = |status: PaymentStatus| status == PaymentStatus::Credited;
    let credit_changed = after.parts.iter().any(|part| {
        let was = stood(part).filter(|stood| is_credit(stood.status));
        let has_left = was.is_some_and(|stood| stood.left);
        !part.dust && (has_left || was.is_some() != is_credit(part.status))
    });
    // A further short payment or a further excess changes what is owed: the merchant must hear of it.
    let retold = matches!(after.status, Status::PartiallyPaid | Status::Overpaid);
    if status_changed || (credit_changed && retold) {
        out.push(Announcement::status(after.status));
    }
    out
}

/// Seen and settled or confirmed in one step: whoever follows the invoice hears of the sighting first. What is held without
/// counting was never going to pay it.
fn skipped_detected(status_before: Status, after: &Assessment) -> bool {
    let unseen = matches!(status_before, Status::AwaitingPayment | Status::Expired);
    let would_pay =
        |part: &Part| part.standing == Standing::Counted && !part.dust && part.status.is_posted();
    let seen = match after.status {
        Status::UnderReview => after.parts.iter().any(would_pay),
        // First seen too late, then found in a block that was in time.
        status => status.is_paid() || matches!(status, Status::PartiallyPaid | Status::Confirming),
    };
    unseen && seen
}

/// It left the chain, and the merchant counts on it.
fn is_undone(part: &Part, stood: Option<&Stood<'_>>) -> bool {
    let is_gone = part.status == PaymentStatus::Reversed;
    stood.is_some_and(|stood| stood.was_told() && (is_gone || stood.left))
}

/// It is to be returned, and nothing has told of it: neither a credit nor a rejection.
fn is_news_to_return(part: &Part, stood: Option<&Stood<'_>>) -> bool {
    part.status == PaymentStatus::Refundable
        && !part.rejected
        && !stood.is_some_and(Stood::is_still_told)
}

#[cfg(test)]
mod tests;
