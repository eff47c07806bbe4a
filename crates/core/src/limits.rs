//! Every limit of the API, once. The unit stands in the name; `MIN` and `MAX` are inclusive.
//!
//! Lengths and sizes that are compared with `len()` are `usize`; counts and durations are `u32`, which
//! widens without loss to whatever a clock or a database column needs.

// Requests
pub const BODY_BYTES_MAX: usize = 256 * 1024;
pub const HEADER_BYTES_MAX: usize = 32 * 1024;
pub const HEADERS_MAX: usize = 100;
pub const PAGE_LIMIT_MIN: u32 = 1;
pub const PAGE_LIMIT_DEFAULT: u32 = 10;
pub const PAGE_LIMIT_MAX: u32 = 100;
pub const IDEMPOTENCY_KEY_CHARS_MIN: usize = 1;
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
pub const IDEMPOTENCY_RETENTION_DAYS: u32 = 30;

// Invoices, and what other resources share with them
pub const ASSETS_MAX: usize = 20;
pub const DESCRIPTION_CHARS_MAX: usize = 500;
pub const CUSTOMER_REF_CHARS_MAX: usize = 200;
pub const METADATA_PAIRS_MAX: usize = 20;
pub const METADATA_KEY_CHARS_MAX: usize = 40;
pub const METADATA_VALUE_CHARS_MAX: usize = 500;
pub const REVIEW_REASON_CHARS_MIN: usize = 1;
pub const REVIEW_REASON_CHARS_MAX: usize = 500;

/// How long after its time an invoice that is paid in part keeps its address and its link's unit for the rest.
pub const PARTIAL_LIFE_H: u32 = 24;

// Checkout
pub const NOTIFY_ADDRESSES_MAX: u32 = 3;
pub const WALLET_BINDINGS_MAX: u32 = 5;
/// A transaction hash without its `0x`.
pub const TX_HASH_HEX_CHARS: usize = 64;

// Payment links
pub const LINK_SLUG_CHARS: usize = 22;
pub const LINK_QUANTITY_MIN: u32 = 1;
pub const LINK_QUANTITY_MAX: u32 = 1_000_000;
pub const LINK_OPEN_INVOICES_MAX: u32 = 50;
/// Across all links of one account.
pub const ACCOUNT_OPEN_LINK_INVOICES_MAX: u32 = 200;

// Refunds
pub const CLAIM_LIFE_DAYS: u32 = 30;

// Merchant settings
/// Addresses that payers' pages link to.
pub const PAGE_LINK_CHARS_MAX: usize = 2048;
pub const DISPLAY_NAME_CHARS_MAX: usize = 100;
pub const UNDERPAY_TOLERANCE_BPS_MAX: u32 = 10_000;

// Plans, customers and subscriptions
pub const PLAN_INTERVAL_COUNT_MIN: u32 = 1;
pub const PLAN_INTERVAL_COUNT_DEFAULT: u32 = 1;
pub const PLAN_INTERVAL_DAYS_MAX: u32 = 365;
pub const PLAN_INTERVAL_WEEKS_MAX: u32 = 52;
pub const PLAN_INTERVAL_MONTHS_MAX: u32 = 12;
pub const PLAN_INTERVAL_YEARS_MAX: u32 = 1;
pub const TRIAL_DAYS_DEFAULT: u32 = 0;
pub const TRIAL_DAYS_MAX: u32 = 365;
pub const GRACE_DAYS_DEFAULT: u32 = 3;
pub const GRACE_DAYS_MAX: u32 = 30;
pub const ATTEMPTS_MIN: u32 = 1;
pub const ATTEMPTS_DEFAULT: u32 = 4;
pub const ATTEMPTS_MAX: u32 = 7;
/// A renewal invoice is created this long before the period, or the trial, ends.
pub const RENEWAL_LEAD_H: u32 = 24;
// The contract bounds neither names nor addresses; these keep a row small, and an email address
// cannot be longer on the wire (RFC 5321).
pub const PLAN_NAME_CHARS_MAX: usize = 200;
pub const CUSTOMER_NAME_CHARS_MAX: usize = 200;
pub const EMAIL_CHARS_MAX: usize = 254;

// Reconciliation
pub const RECONCILIATION_PERIOD_DAYS_DEFAULT: u32 = 30;
pub const RECONCILIATION_PERIOD_DAYS_MAX: u32 = 366;

// Webhooks
pub const WEBHOOK_URL_CHARS_MAX: usize = 2048;
pub const WEBHOOK_ANSWER_MS_MAX: u32 = 10_000;
/// Attempts of one delivery are spread over about this long.
pub const WEBHOOK_RETRY_H: u32 = 72;
pub const RESPONSE_EXCERPT_BYTES_MAX: usize = 1024;
pub const SIGNATURE_TOLERANCE_S: u32 = 300;
/// After a roll the old secret signs beside the new one for this long.
pub const SECRET_OVERLAP_H: u32 = 24;

/// Length as the limits count it: Unicode scalar values, neither bytes nor graphemes.
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_scalar_values_and_not_bytes_or_graphemes() {
        assert_eq!(chars(""), 0);
        assert_eq!(chars("till"), 4);
        assert_eq!(chars("é"), 1);
        assert_eq!(chars("e\u{301}"), 2);
        assert_eq!(chars("🧾"), 1);
        assert_eq!(chars("👩‍🚀"), 3);
    }

    #[test]
    fn every_default_lies_within_its_bounds() {
        const {
            assert!(PAGE_LIMIT_MIN <= PAGE_LIMIT_DEFAULT && PAGE_LIMIT_DEFAULT <= PAGE_LIMIT_MAX);
            assert!(ATTEMPTS_MIN <= ATTEMPTS_DEFAULT && ATTEMPTS_DEFAULT <= ATTEMPTS_MAX);
            assert!(GRACE_DAYS_DEFAULT <= GRACE_DAYS_MAX);
            assert!(RECONCILIATION_PERIOD_DAYS_DEFAULT <= RECONCILIATION_PERIOD_DAYS_MAX);
            assert!(PLAN_INTERVAL_COUNT_DEFAULT <= PLAN_INTERVAL_YEARS_MAX);
        }
    }

    #[test]
    fn the_largest_metadata_fits_into_a_body() {
        // Four bytes for the longest UTF-8 form of a character, twelve when it is escaped as a
        // surrogate pair.
        const {
            let pair = METADATA_KEY_CHARS_MAX + METADATA_VALUE_CHARS_MAX;
            let escaped = METADATA_PAIRS_MAX * pair * 12;
            assert!(escaped + DESCRIPTION_CHARS_MAX * 12 < BODY_BYTES_MAX);
        }
    }
}
