//! The catalogue against the contract, code by code.

use std::collections::HashSet;

use super::*;

/// The contract's codes, section by section, written out so that neither side can drift.
const CONTRACT: &[(Section, &[&str])] = &[
    (
        Section::Requests,
        &[
            "body_invalid_json",
            "body_too_large",
            "content_type_invalid",
            "method_not_allowed",
            "parameter_invalid",
            "parameter_missing",
            "parameter_unknown",
            "resource_missing",
            "route_not_found",
        ],
    ),
    (
        Section::Keys,
        &[
            "api_key_missing",
            "api_key_invalid",
            "authorization_header_invalid",
            "secret_key_in_url",
            "publishable_key_not_allowed",
            "api_key_permission_denied",
            "livemode_disabled",
            "mode_not_configured",
            "test_mode_only",
        ],
    ),
    (
        Section::Idempotency,
        &[
            "idempotency_key_required",
            "idempotency_key_invalid",
            "idempotency_key_reused",
            "idempotency_key_in_use",
        ],
    ),
    (
        Section::Invoices,
        &[
            "currency_unsupported",
            "asset_unavailable",
            "price_unavailable",
            "deposit_addresses_exhausted",
            "invoice_not_awaiting_payment",
            "invoice_not_cancellable",
            "review_not_open",
            "review_requires_dashboard",
        ],
    ),
    (
        Section::Checkout,
        &[
            "asset_not_offered",
            "wallet_unsupported",
            "sender_invalid",
            "wallet_binding_limit",
            "unique_amount_unavailable",
            "checkout_session_invalid",
            "email_invalid",
            "notify_limit_reached",
            "notify_session_mismatch",
            "feature_unavailable",
        ],
    ),
    (
        Section::Refunds,
        &[
            "amount_invalid",
            "amount_required",
            "asset_not_received",
            "nothing_received",
            "refund_exceeds_received",
            "refund_not_ready",
            "refund_already_sent",
            "network_unavailable",
            "claim_expired",
            "claim_cancelled",
            "claim_already_sent",
            "claim_already_submitted",
        ],
    ),
    (
        Section::PaymentLinks,
        &[
            "amount_too_small",
            "amount_too_large",
            "payment_link_inactive",
            "payment_link_expired",
            "payment_link_sold_out",
            "payment_link_fully_reserved",
            "payment_link_busy",
        ],
    ),
    (
        Section::Subscriptions,
        &[
            "plan_archived",
            "subscription_state",
            "subscription_invoice_failed",
        ],
    ),
    (
        Section::Settings,
        &[
            "destination_immutable",
            "live_change_requires_dashboard",
            "webhook_url_forbidden",
            "webhook_url_missing",
        ],
    ),
    (
        Section::Server,
        &["rate_limited", "internal_error", "service_unavailable"],
    ),
    (
        Section::Dashboard,
        &[
            "account_disabled",
            "cannot_change_self",
            "csrf_failed",
            "no_organization",
            "operator_conflict",
            "origin_not_allowed",
            "permission_denied",
            "role_not_assignable",
            "second_factor_required",
            "step_up_required",
            "address_invalid",
            "destination_invalid",
            "network_invalid",
            "network_not_enabled",
            "no_change",
            "already_member",
            "application_approved",
            "application_pending",
            "application_not_approved",
            "application_not_reviewable",
            "change_pending",
            "change_not_pending",
            "destinations_not_ready",
            "last_owner",
            "mfa_not_pending",
            "passkey_already_registered",
            "passkey_required",
            "totp_already_enabled",
            "totp_not_set_up",
            "ceremony_expired",
            "invite_invalid",
            "magic_link_invalid",
            "passkey_failed",
            "session_expired",
            "session_missing",
            "signup_link_invalid",
            "too_many_attempts",
            "too_many_signups",
        ],
    ),
    (Section::Demo, &["already_paid", "invoice_cancelled"]),
];

fn with_status(status: u16) -> Vec<&'static str> {
    let of_status = Code::ALL.iter().filter(|code| code.status() == status);
    of_status.map(|code| code.as_str()).collect()
}

#[test]
fn the_catalogue_is_exactly_the_contract() {
    let ours: Vec<_> = Code::ALL
        .iter()
        .map(|code| (code.section(), code.as_str()))
        .collect();
    let theirs: Vec<_> = CONTRACT
        .iter()
        .flat_map(|(section, codes)| codes.iter().map(|code| (*section, *code)))
        .collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 109);
}

#[test]
fn every_section_is_listed_once_and_in_the_order_of_the_codes() {
    let contract: Vec<_> = CONTRACT.iter().map(|(section, _)| *section).collect();
    assert_eq!(Section::ALL, contract);
}

#[test]
fn the_type_follows_from_the_status_except_for_reused_keys() {
    for &code in Code::ALL {
        let expected = match (code, code.status()) {
            (Code::IdempotencyKeyReused | Code::IdempotencyKeyInUse, 409) => ErrorType::Idempotency,
            (_, 400 | 404 | 405 | 409 | 413 | 415) => ErrorType::InvalidRequest,
            (_, 401) => ErrorType::Authentication,
            (_, 403) => ErrorType::Permission,
            (_, 429) => ErrorType::RateLimit,
            (_, 500 | 503) => ErrorType::Api,
            (_, other) => panic!("{code:?} has the status {other}, which has no type"),
        };
        assert_eq!(code.kind(), expected, "{code:?}");
    }
}

#[test]
fn the_statuses_are_those_of_the_contract() {
    assert_eq!(
        with_status(401),
        [
            "api_key_missing",
            "api_key_invalid",
            "authorization_header_invalid",
            "ceremony_expired",
            "invite_invalid",
            "magic_link_invalid",
            "passkey_failed",
            "session_expired",
            "session_missing",
            "signup_link_invalid",
        ]
    );
    assert_eq!(
        with_status(403),
        [
            "publishable_key_not_allowed",
            "api_key_permission_denied",
            "test_mode_only",
            "destination_immutable",
            "live_change_requires_dashboard",
            "account_disabled",
            "cannot_change_self",
            "csrf_failed",
            "no_organization",
            "operator_conflict",
            "origin_not_allowed",
            "permission_denied",
            "role_not_assignable",
            "second_factor_required",
            "step_up_required",
        ]
    );
    assert_eq!(with_status(404), ["resource_missing", "route_not_found"]);
    assert_eq!(with_status(405), ["method_not_allowed"]);
    assert_eq!(with_status(413), ["body_too_large"]);
    assert_eq!(with_status(415), ["content_type_invalid"]);
    assert_eq!(
        with_status(429),
        ["rate_limited", "too_many_attempts", "too_many_signups"]
    );
    assert_eq!(with_status(500), ["internal_error"]);
    assert_eq!(with_status(503), ["service_unavailable"]);
    assert_eq!(
        with_status(400),
        [
            "body_invalid_json",
            "parameter_invalid",
            "parameter_missing",
            "parameter_unknown",
            "secret_key_in_url",
            "idempotency_key_required",
            "idempotency_key_invalid",
            "currency_unsupported",
            "asset_unavailable",
            "asset_not_offered",
            "wallet_unsupported",
            "sender_invalid",
            "checkout_session_invalid",
            "email_invalid",
            "amount_invalid",
            "amount_required",
            "asset_not_received",
            "network_unavailable",
            "amount_too_small",
            "amount_too_large",
            "webhook_url_forbidden",
            "address_invalid",
            "destination_invalid",
            "network_invalid",
            "network_not_enabled",
            "no_change",
        ]
    );
    // Whatever is left answers 409: 109 codes less the 61 named above.
    assert_eq!(with_status(409).len(), 48);
}

#[test]
fn wire_strings_are_the_snake_case_of_their_names_and_round_trip() {
    for &code in Code::ALL {
        let mut snake = String::new();
        for letter in format!("{code:?}").chars() {
            if letter.is_ascii_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        assert_eq!(code.as_str(), snake);
        assert_eq!(Code::parse(code.as_str()), Some(code));
    }
    assert_eq!(Code::parse(""), None);
    assert_eq!(Code::parse("Parameter_Invalid"), None);
    assert_eq!(Code::parse("parameter_invalid "), None);
}

#[test]
fn no_code_and_no_summary_appears_twice() {
    let wires: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let summaries: HashSet<_> = Code::ALL.iter().map(|code| code.summary()).collect();
    assert_eq!(wires.len(), Code::ALL.len());
    assert_eq!(summaries.len(), Code::ALL.len());
}

#[test]
fn summaries_and_remedies_are_sentences_with_balanced_code_marks() {
    for &code in Code::ALL {
        for text in [code.summary(), code.remedy()] {
            assert!(text.starts_with(|c: char| c.is_uppercase()), "{text}");
            assert!(text.ends_with('.'), "{text}");
            assert!(!text.contains("  "), "{text}");
            assert_eq!(text.matches('`').count() % 2, 0, "{text}");
        }
        assert!(!code.summary().contains(". "), "{}", code.summary());
    }
}

#[test]
fn types_are_spelled_as_on_the_wire() {
    let kinds = [
        (ErrorType::InvalidRequest, "invalid_request_error"),
        (ErrorType::Authentication, "authentication_error"),
        (ErrorType::Permission, "permission_error"),
        (ErrorType::Idempotency, "idempotency_error"),
        (ErrorType::RateLimit, "rate_limit_error"),
        (ErrorType::Api, "api_error"),
    ];
    for (kind, wire) in kinds {
        assert_eq!(kind.as_str(), wire);
    }
}

#[test]
fn a_refusal_starts_from_its_code_and_keeps_what_is_added() {
    let plain = Refusal::of(Code::ResourceMissing);
    assert_eq!(plain.status, 404);
    assert_eq!(plain.message, Code::ResourceMissing.summary());
    assert_eq!((plain.param, plain.retry_after_s), (None, None));

    let in_body = Refusal::new(Code::ResourceMissing, "No such plan.")
        .param("plan")
        .in_body();
    assert_eq!(in_body.status, 400);
    assert_eq!(
        in_body.to_string(),
        "resource_missing: No such plan. (plan)"
    );

    let demo = Refusal::of(Code::TestModeOnly).status(409);
    assert_eq!((demo.code, demo.status), (Code::TestModeOnly, 409));
    assert_eq!(demo.error_type(), ErrorType::InvalidRequest);
    let elsewhere = Refusal::of(Code::TestModeOnly);
    assert_eq!(elsewhere.error_type(), ErrorType::Permission);

    let limited = Refusal::of(Code::RateLimited).retry_after(7);
    assert_eq!((limited.status, limited.retry_after_s), (429, Some(7)));
}
