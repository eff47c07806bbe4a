//! What test mode offers: simulated payments, a clock to turn, reorganisations, screening addresses.

use super::page::Page;
use super::pieces::{h2, list, p, sample, table};

/// What is asked of `simulate_payment`, and what comes of it.
const SCENARIOS: &[(&str, &str)] = &[
    ("`{}`", "`detected`, then `paid`"),
    (
        "`amount` below the amount due",
        "`partially_paid`; `amount_remaining` says what is missing",
    ),
    (
        "a second payment of `amount_remaining`",
        "`paid`: payments add up",
    ),
    (
        "`amount` short by no more than `underpay_tolerance_bps`",
        "`paid`",
    ),
    (
        "`amount` above the amount due",
        "`overpaid`; a refund with an empty body returns exactly the excess",
    ),
    (
        "`asset` of another option",
        "`paid` on that option's network",
    ),
    (
        "`finality_steps` of `pending`, `included`, `safe`, `final`",
        "the payment passes through every level; the invoice is credited at the one the network asks for",
    ),
    (
        "`finality_steps` of `pending` alone",
        "`detected`, and nothing more",
    ),
    (
        "an amount worth `manual_review_amount` or more",
        "`under_review` with the hold `manual_review`",
    ),
    (
        "any payment after the invoice was cancelled",
        "the invoice stays `cancelled`; `invoice.late_payment` is sent, and the payment can be refunded",
    ),
];

/// `addresses` are those the test screening lists match, as (family, list, address).
pub(super) fn page(addresses: &[(&str, &str, &str)]) -> Page {
    let body = [
        keys(),
        payments(),
        clock(),
        reversal(),
        screening(addresses),
        events(),
        demo(),
    ];
    Page::new("/testing", "Testing", body.concat())
}

fn keys() -> String {
    p(
        "Keys that begin with `till_test_` see test objects on test networks only, and take the same \
       way through the server as live ones. The helpers below exist in test mode alone and need a \
       secret test key; every other key is answered with `test_mode_only`.",
    )
}

fn payments() -> String {
    let call = r#"curl "$TILL_URL/v1/test_helpers/invoices/$INVOICE/simulate_payment" \
  -H "Authorization: Bearer $TILL_SECRET_KEY" \
  -H "Idempotency-Key: $(uuidgen)" \
  -H "Content-Type: application/json" \
  -d '{}'"#;
    let fields = [
        "`asset`: an asset code, or a symbol together with `network`. The invoice's first option if omitted.",
        "`network`: a CAIP-2 identifier, which must agree with `asset` when that is a full code.",
        "`amount`: whole tokens as a decimal string. The option's `amount_due` if omitted.",
        "`finality_steps`: some of `pending`, `included`, `safe`, `final`, in this order. \
         `included` and `final` if omitted.",
    ];
    let rows: Vec<_> = SCENARIOS
        .iter()
        .map(|(request, outcome)| vec![(*request).to_owned(), (*outcome).to_owned()])
        .collect();
    [
        h2("payments", "Simulate a payment"),
        sample("bash", "Simulating a payment with curl", call),
        p(
            "A made-up transfer to the invoice's own deposit address runs through attribution, \
           confirmation, status, live stream and webhooks, without touching a chain. Each call is one \
           payment; a retry with the same `Idempotency-Key` is not another. The answer is the invoice. \
           Every field of the body may be left out:",
        ),
        list(fields.iter().map(ToString::to_string)),
        table(
            "What can be played through",
            &["Request", "Outcome"],
            &rows,
        ),
        p("A token that the invoice did not ask for cannot be simulated with the standard test assets."),
    ]
    .concat()
}

fn clock() -> String {
    [
        h2("clock", "Turn the clock"),
        p(
            "`POST /v1/test_helpers/clock` with `advance_seconds` or `advance_to` moves the account's \
           test clock forward. When it answers, everything that fell due in between has happened, in \
           order: invoices expired, links and claims ran out, subscriptions renewed, grace periods \
           ended. `GET` on the same path reads the clock. Test time never runs backwards.",
        ),
        p(
            "Webhook attempts, signatures, the overlap of rolled secrets, rate limits and \
           idempotency keys stay on real time.",
        ),
        sample(
            "json",
            "A test clock",
            r#"{ "object": "test_clock", "now": "2026-01-31T00:00:00Z" }"#,
        ),
    ]
    .concat()
}

fn reversal() -> String {
    [
        h2("reversal", "Undo a payment"),
        p(
            "`POST /v1/test_helpers/payments/{id}/reverse` plays a reorganisation of the chain that \
           undoes a simulated payment, and answers with the payment. If it was credited, \
           `invoice.payment_reversed` is sent, followed by the status the invoice now has.",
        ),
    ]
    .concat()
}

fn screening(addresses: &[(&str, &str, &str)]) -> String {
    let rows: Vec<_> = addresses
        .iter()
        .map(|(family, screening_list, address)| {
            vec![
                format!("`{address}`"),
                (*family).to_owned(),
                format!("`{screening_list}`"),
            ]
        })
        .collect();
    let found = if rows.is_empty() {
        p("This server has no such addresses.")
    } else {
        table(
            "Addresses that the test lists match",
            &["Address", "Network family", "List"],
            &rows,
        )
    };
    [
        h2("screening", "Be found on a screening list"),
        p(
            "In test mode the screening lists match the addresses below and no others. A refund \
           claimed to one of them becomes `in_review`, and a payment sent from one of them is held: \
           its invoice becomes `under_review`.",
        ),
        found,
    ]
    .concat()
}

fn events() -> String {
    [
        h2("events", "Events on your own machine"),
        p(
            "`till listen --forward-to http://127.0.0.1:3000/webhooks` sends an account's test events to a server that nobody else \
           can reach, signed with a secret that it prints. `till trigger invoice.paid` makes an event happen by the calls that \
           cause it, and says so of the one that no call causes (`invoice.wrong_asset`); what takes time moves the test clock, and asks for `--advance-clock`. Both take the server \
           and a secret test key from `TILL_URL` and `TILL_SECRET_KEY`.",
        ),
    ]
    .concat()
}

fn demo() -> String {
    [
        h2("demo", "The demo server"),
        p(
            "`till demo` runs everything in memory with one account in test mode, and prints its keys. \
           It takes one simulated payment per invoice (`already_paid`), none after a cancellation \
           (`invoice_cancelled`), and answers `test_mode_only` with status 409.",
        ),
    ]
    .concat()
}
