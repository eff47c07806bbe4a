//! The limits that requests are held to.

use till_core::limits::{
    ACCOUNT_OPEN_LINK_INVOICES_MAX, ASSETS_MAX, ATTEMPTS_DEFAULT, ATTEMPTS_MAX, ATTEMPTS_MIN,
    BODY_BYTES_MAX, CLAIM_LIFE_DAYS, CUSTOMER_NAME_CHARS_MAX, CUSTOMER_REF_CHARS_MAX,
    DESCRIPTION_CHARS_MAX, DISPLAY_NAME_CHARS_MAX, EMAIL_CHARS_MAX, GRACE_DAYS_DEFAULT,
    GRACE_DAYS_MAX, HEADER_BYTES_MAX, HEADERS_MAX, IDEMPOTENCY_KEY_CHARS_MAX,
    IDEMPOTENCY_KEY_CHARS_MIN, IDEMPOTENCY_RETENTION_DAYS, LINK_OPEN_INVOICES_MAX,
    LINK_QUANTITY_MAX, LINK_QUANTITY_MIN, LINK_SLUG_CHARS, METADATA_KEY_CHARS_MAX,
    METADATA_PAIRS_MAX, METADATA_VALUE_CHARS_MAX, NOTIFY_ADDRESSES_MAX, PAGE_LIMIT_DEFAULT,
    PAGE_LIMIT_MAX, PAGE_LIMIT_MIN, PLAN_INTERVAL_DAYS_MAX, PLAN_INTERVAL_MONTHS_MAX,
    PLAN_INTERVAL_WEEKS_MAX, PLAN_INTERVAL_YEARS_MAX, PLAN_NAME_CHARS_MAX,
    RECONCILIATION_PERIOD_DAYS_DEFAULT, RECONCILIATION_PERIOD_DAYS_MAX, RESPONSE_EXCERPT_BYTES_MAX,
    REVIEW_REASON_CHARS_MAX, REVIEW_REASON_CHARS_MIN, SIGNATURE_TOLERANCE_S, TRIAL_DAYS_DEFAULT,
    TRIAL_DAYS_MAX, WALLET_BINDINGS_MAX, WEBHOOK_ANSWER_MS_MAX, WEBHOOK_RETRY_H,
    WEBHOOK_URL_CHARS_MAX,
};

use crate::document::docs::pieces::{h2, table};

pub(super) fn chapter() -> String {
    let rows = [
        ("Request body", format!("{} KiB", BODY_BYTES_MAX / 1024)),
        (
            "Page of a list",
            format!(
                "`limit` {PAGE_LIMIT_MIN} to {PAGE_LIMIT_MAX}, {PAGE_LIMIT_DEFAULT} unless asked for"
            ),
        ),
        (
            "`Idempotency-Key`",
            format!(
                "{IDEMPOTENCY_KEY_CHARS_MIN} to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters, remembered for \
                 {IDEMPOTENCY_RETENTION_DAYS} days"
            ),
        ),
        ("Description", format!("{DESCRIPTION_CHARS_MAX} characters")),
        (
            "`customer_ref`",
            format!("{CUSTOMER_REF_CHARS_MAX} characters"),
        ),
        (
            "`metadata`",
            format!(
                "{METADATA_PAIRS_MAX} pairs, keys of {METADATA_KEY_CHARS_MAX} and values of {METADATA_VALUE_CHARS_MAX} characters"
            ),
        ),
        ("Assets of an invoice", ASSETS_MAX.to_string()),
        (
            "Reason of a review's decision",
            format!("{REVIEW_REASON_CHARS_MIN} to {REVIEW_REASON_CHARS_MAX} characters"),
        ),
        (
            "Quantity of a payment link",
            format!("{LINK_QUANTITY_MIN} to {LINK_QUANTITY_MAX}"),
        ),
        (
            "Unpaid invoices of payment links",
            format!(
                "{LINK_OPEN_INVOICES_MAX} for a link, {ACCOUNT_OPEN_LINK_INVOICES_MAX} for an account"
            ),
        ),
        (
            "Addresses for receipts",
            format!("{NOTIFY_ADDRESSES_MAX} for an invoice"),
        ),
        (
            "Wallets of payers",
            format!("{WALLET_BINDINGS_MAX} for an invoice and network"),
        ),
        ("A refund's claim link", format!("{CLAIM_LIFE_DAYS} days")),
        (
            "A plan's interval",
            format!(
                "{PLAN_INTERVAL_DAYS_MAX} days, {PLAN_INTERVAL_WEEKS_MAX} weeks, {PLAN_INTERVAL_MONTHS_MAX} months or \
                 {PLAN_INTERVAL_YEARS_MAX} year"
            ),
        ),
        (
            "Trial",
            format!("{TRIAL_DAYS_MAX} days, {TRIAL_DAYS_DEFAULT} unless set"),
        ),
        (
            "Grace",
            format!("{GRACE_DAYS_MAX} days, {GRACE_DAYS_DEFAULT} unless set"),
        ),
        (
            "Attempts to be paid for a period",
            format!("{ATTEMPTS_MIN} to {ATTEMPTS_MAX}, {ATTEMPTS_DEFAULT} unless set"),
        ),
        (
            "Period of a reconciliation",
            format!(
                "{RECONCILIATION_PERIOD_DAYS_MAX} days, {RECONCILIATION_PERIOD_DAYS_DEFAULT} unless set"
            ),
        ),
        ("Webhook URL", format!("{WEBHOOK_URL_CHARS_MAX} characters")),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .chain(sizes())
        .chain(webhooks())
        .chain(payers())
        .map(|(what, limit)| vec![what.to_owned(), limit])
        .collect();
    [
        h2("limits", "Limits"),
        table("What requests are held to", &["Of", "At most"], &rows),
    ]
    .concat()
}

fn sizes() -> [(&'static str, String); 5] {
    let header_kib = HEADER_BYTES_MAX / 1024;
    [
        (
            "Headers of a request",
            format!("{HEADERS_MAX}, {header_kib} KiB together"),
        ),
        (
            "`display_name`",
            format!("{DISPLAY_NAME_CHARS_MAX} characters"),
        ),
        (
            "Name of a plan",
            format!("{PLAN_NAME_CHARS_MAX} characters"),
        ),
        (
            "Name of a customer",
            format!("{CUSTOMER_NAME_CHARS_MAX} characters"),
        ),
        ("Mail address", format!("{EMAIL_CHARS_MAX} characters")),
    ]
}

fn webhooks() -> [(&'static str, String); 4] {
    [
        (
            "An answer to a webhook",
            format!("{} seconds", WEBHOOK_ANSWER_MS_MAX / 1000),
        ),
        (
            "What is kept of that answer",
            format!("{} KiB", RESPONSE_EXCERPT_BYTES_MAX / 1024),
        ),
        (
            "Retries of a webhook",
            format!("for about {WEBHOOK_RETRY_H} hours"),
        ),
        (
            "Age of a webhook's signature",
            format!("{SIGNATURE_TOLERANCE_S} seconds"),
        ),
    ]
}

fn payers() -> [(&'static str, String); 3] {
    [
        (
            "A payment link's slug",
            format!("{LINK_SLUG_CHARS} characters, always"),
        ),
        (
            "Look-ups, receipts, picks, wallets and orders of payers",
            "per key and client address, as `limits.checkout_per_minute` of the server says; then 429".to_owned(),
        ),
        (
            "Unpaid orders of one client at a payment link",
            "as `limits.open_link_invoices_per_client` of the server says".to_owned(),
        ),
    ]
}
