//! Events: what is announced about an invoice, worked out from the difference between before and after.

use crate::invoice::{Assessment, Standing, Status};
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
        }
    }

    pub fn parse(text: &str) -> Option<EventType> {
        EventType::all()
            .into_iter()
            .find(|event| event.as_str() == text)
    }

    /// Every type there is, for the delivery log's filter and the documentation.
    pub fn all() -> Vec<EventType> {
        let mut all = vec![EventType::InvoiceCreated];
        all.extend(Status::ALL.into_iter().map(EventType::InvoiceStatus));
        all.extend([
            EventType::InvoicePaymentReversed,
            EventType::InvoiceWrongAsset,
            EventType::InvoiceLatePayment,
            EventType::InvoiceReviewResolved,
            EventType::RefundClaimed,
            EventType::PaymentLinkCreated,
            EventType::PaymentLinkUpdated,
            EventType::PaymentLinkDeactivated,
        ]);
        all
    }

    /// Confirmations alone send nothing to the merchant's server.
    pub fn is_webhook(self) -> bool {
        self != EventType::InvoiceStatus(Status::Confirming)
    }

    /// The live stream tells the payer's page where the invoice stands, and nothing about other matters.
    pub fn is_streamed(self) -> bool {
        matches!(
            self,
            EventType::InvoiceCreated | EventType::InvoiceStatus(_)
        )
    }
}

/// Something to announce; `payment` is the index of the payment it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub event: EventType,
    pub payment: Option<usize>,
}

impl Announcement {
    pub fn status(status: Status) -> Announcement {
        Announcement {
            event: EventType::InvoiceStatus(status),
            payment: None,
        }
    }

    fn about(event: EventType, payment: usize) -> Announcement {
        Announcement {
            event,
            payment: Some(payment),
        }
    }
}

/// `before` has one entry per payment of `after`; none for a payment that is new.
pub fn announce(
    status_before: Status,
    before: &[Option<PaymentStatus>],
    after: &Assessment,
) -> Vec<Announcement> {
    let mut out = Vec::new();
    let unseen = matches!(status_before, Status::AwaitingPayment | Status::Expired);
    let skipped = after.status.is_paid()
        || matches!(after.status, Status::PartiallyPaid | Status::UnderReview);
    if unseen && skipped {
        out.push(Announcement::status(Status::Detected));
    }
    let mut credit_changed = false;
    for (index, (part, was)) in after.parts.iter().zip(before).enumerate() {
        let was_posted = was.is_some_and(PaymentStatus::is_posted);
        if was_posted && part.status == PaymentStatus::Reversed {
            out.push(Announcement::about(
                EventType::InvoicePaymentReversed,
                index,
            ));
        }
        if !was_posted && part.status == PaymentStatus::Refundable && !part.dust {
            match part.standing {
                // Made in time but settled after the invoice was cancelled: nobody else would tell of it.
                Standing::Late | Standing::Counted => {
                    out.push(Announcement::about(EventType::InvoiceLatePayment, index))
                }
                Standing::WrongAsset => {
                    out.push(Announcement::about(EventType::InvoiceWrongAsset, index))
                }
            }
        }
        credit_changed |=
            (*was == Some(PaymentStatus::Credited)) != (part.status == PaymentStatus::Credited);
    }
    // A further short payment or a further excess changes what is owed: the merchant must hear of it.
    let amount_changed =
        credit_changed && matches!(after.status, Status::PartiallyPaid | Status::Overpaid);
    if after.status != status_before || amount_changed {
        out.push(Announcement::status(after.status));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invoice::Part;
    use crate::ledger::Position;

    fn after(status: Status, parts: &[(PaymentStatus, Standing)]) -> Assessment {
        Assessment {
            status,
            parts: parts
                .iter()
                .map(|(status, standing)| Part {
                    status: *status,
                    position: Position::default(),
                    standing: *standing,
                    dust: false,
                })
                .collect(),
            received: vec![],
            remaining: None,
            overpaid: None,
            hold: None,
        }
    }

    #[track_caller]
    fn check(before: Status, was: &[Option<PaymentStatus>], after: &Assessment, expected: &[&str]) {
        let names: Vec<_> = announce(before, was, after)
            .iter()
            .map(|a| a.event.as_str())
            .collect();
        assert_eq!(names, expected);
    }

    use PaymentStatus as P;
    use Standing as S;

    #[test]
    fn a_payment_first_seen_final_is_detected_and_paid() {
        let paid = after(Status::Paid, &[(P::Credited, S::Counted)]);
        check(
            Status::AwaitingPayment,
            &[None],
            &paid,
            &["invoice.detected", "invoice.paid"],
        );
        check(
            Status::Detected,
            &[Some(P::Confirming)],
            &paid,
            &["invoice.paid"],
        );
    }

    #[test]
    fn a_reversal_is_told_before_the_status_it_leaves() {
        let gone = after(Status::AwaitingPayment, &[(P::Reversed, S::Counted)]);
        check(
            Status::Paid,
            &[Some(P::Credited)],
            &gone,
            &["invoice.payment_reversed", "invoice.awaiting_payment"],
        );
        check(
            Status::Detected,
            &[Some(P::Pending)],
            &gone,
            &["invoice.awaiting_payment"],
        );
    }

    #[test]
    fn a_late_payment_is_told_once_and_the_status_stays() {
        let late = after(Status::Cancelled, &[(P::Refundable, S::Late)]);
        check(
            Status::Cancelled,
            &[Some(P::Confirming)],
            &late,
            &["invoice.late_payment"],
        );
        check(Status::Cancelled, &[Some(P::Refundable)], &late, &[]);
    }

    #[test]
    fn a_payment_made_before_the_cancellation_and_settled_after_it_is_told_too() {
        let refundable = after(Status::Cancelled, &[(P::Refundable, S::Counted)]);
        check(
            Status::Cancelled,
            &[Some(P::Confirming)],
            &refundable,
            &["invoice.late_payment"],
        );
        check(
            Status::UnderReview,
            &[Some(P::Held)],
            &refundable,
            &["invoice.cancelled"],
        );
    }

    #[test]
    fn a_second_short_payment_is_told_though_the_status_stays() {
        let short = after(
            Status::PartiallyPaid,
            &[(P::Credited, S::Counted), (P::Credited, S::Counted)],
        );
        check(
            Status::PartiallyPaid,
            &[Some(P::Credited), None],
            &short,
            &["invoice.partially_paid"],
        );
        check(
            Status::PartiallyPaid,
            &[Some(P::Credited), Some(P::Credited)],
            &short,
            &[],
        );
    }

    #[test]
    fn confirming_is_streamed_but_never_a_webhook() {
        let confirming = EventType::InvoiceStatus(Status::Confirming);
        assert!(confirming.is_streamed() && !confirming.is_webhook());
        assert!(!EventType::InvoiceLatePayment.is_streamed());
    }
}
