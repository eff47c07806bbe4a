//! The event types, for the page about webhooks.

use super::pieces::{h2, p, table};

/// Event types, when they are sent, and what `data` holds.
const EVENTS: &[(&[&str], &str, &str)] = &[
    (
        &["invoice.created"],
        "an invoice was created",
        "`object`: the invoice",
    ),
    (
        &["invoice.awaiting_payment"],
        "nothing counts any more of what had arrived: the invoice can be paid again",
        "`object`: the invoice",
    ),
    (
        &["invoice.detected"],
        "a payment was seen for the first time; it is not yet certain",
        "`object`: the invoice",
    ),
    (
        &["invoice.paid"],
        "the amount due has arrived and is final: deliver now",
        "`object`: the invoice",
    ),
    (
        &["invoice.partially_paid"],
        "less than the amount due has arrived; `amount_remaining` says what is missing",
        "`object`: the invoice",
    ),
    (
        &["invoice.overpaid"],
        "more than the amount due has arrived; the excess can be refunded",
        "`object`: the invoice",
    ),
    (
        &["invoice.paid_late"],
        "the rest of a partly paid invoice arrived after its time had run out",
        "`object`: the invoice",
    ),
    (
        &["invoice.expired"],
        "the time to pay, or to pick a network, has passed without a payment",
        "`object`: the invoice",
    ),
    (
        &["invoice.under_review"],
        "a payment is held until someone decides",
        "`object`: the invoice",
    ),
    (
        &["invoice.cancelled"],
        "the invoice was cancelled, or its review ended with a rejection",
        "`object`: the invoice",
    ),
    (
        &["invoice.payment_reversed"],
        "a reorganisation of the chain undid a credited payment; an event with the new status follows",
        "`object`: the invoice, `payment`: the payment, now `reversed`",
    ),
    (
        &["invoice.wrong_asset"],
        "a token that the invoice did not ask for arrived at its address; it can be refunded",
        "`object`: the invoice, `payment`: the payment",
    ),
    (
        &["invoice.late_payment"],
        "a payment arrived for an invoice that is expired or cancelled; it can be refunded",
        "`object`: the invoice, `payment`: the payment",
    ),
    (
        &["invoice.review_resolved"],
        "a held payment was accepted or rejected; an event with the new status is sent as well",
        "`object`: the invoice, `review`: `decision`, `reason` and `via`",
    ),
    (
        &["refund.claimed"],
        "the payer chose where to receive a refund",
        "`object`: the refund",
    ),
    (
        &[
            "payment_link.created",
            "payment_link.updated",
            "payment_link.deactivated",
        ],
        "a payment link was created, changed, or switched off",
        "`object`: the payment link",
    ),
    (
        &["subscription.created"],
        "a subscription was created",
        "`object`: the subscription",
    ),
    (
        &["subscription.invoice_created"],
        "an invoice for a period was created: the first, a renewal, or a fresh one for another attempt",
        "`object`: the subscription, `invoice`: the invoice",
    ),
    (
        &["subscription.renewed"],
        "a period was paid, by its invoice or by prepaid credit alone",
        "`object`: the subscription, `invoice`: the invoice, absent when credit paid",
    ),
    (
        &["subscription.past_due"],
        "the grace period ended with the renewal still unpaid; further attempts follow",
        "`object`: the subscription",
    ),
    (
        &["subscription.paused", "subscription.resumed"],
        "the subscription was paused or resumed",
        "`object`: the subscription",
    ),
    (
        &["subscription.updated"],
        "the subscription was set to end with its period",
        "`object`: the subscription",
    ),
    (
        &["subscription.cancelled"],
        "the subscription has ended; `cancellation_reason` is `requested` or `unpaid`",
        "`object`: the subscription",
    ),
];

pub(super) fn event_types() -> String {
    let rows: Vec<_> = EVENTS
        .iter()
        .map(|(types, when, data)| {
            let names = types.iter().map(|name| format!("`{name}`"));
            let names: Vec<String> = names.collect();
            vec![names.join(" "), (*when).to_owned(), (*data).to_owned()]
        })
        .collect();
    [
        h2("events", "Event types"),
        table(
            "Event types",
            &["Type", "Sent when", "`data` holds"],
            &rows,
        ),
        p(
            "A growing number of confirmations alone sends nothing. Invoices made from a payment link \
           send the same invoice events, and name the link in `payment_link`.",
        ),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_of_the_contract_is_described_once() {
        let types: Vec<_> = EVENTS
            .iter()
            .flat_map(|row| row.0.iter().copied())
            .collect();
        let expected = [
            "invoice.created",
            "invoice.awaiting_payment",
            "invoice.detected",
            "invoice.paid",
            "invoice.partially_paid",
            "invoice.overpaid",
            "invoice.paid_late",
            "invoice.expired",
            "invoice.under_review",
            "invoice.cancelled",
            "invoice.payment_reversed",
            "invoice.wrong_asset",
            "invoice.late_payment",
            "invoice.review_resolved",
            "refund.claimed",
            "payment_link.created",
            "payment_link.updated",
            "payment_link.deactivated",
            "subscription.created",
            "subscription.invoice_created",
            "subscription.renewed",
            "subscription.past_due",
            "subscription.paused",
            "subscription.resumed",
            "subscription.updated",
            "subscription.cancelled",
        ];
        assert_eq!(types, expected);
        let text = event_types();
        for name in types {
            assert!(text.contains(&format!("`{name}`")), "{name}");
        }
    }
}
