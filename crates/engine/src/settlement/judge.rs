//! Whether a payment that reached its level is credited or held.

use std::collections::HashMap;

use till_core::asset::{Mode, Registry};
use till_core::invoice::{Facts, Terms, judge};
use till_core::money::Currency;
use till_core::payment::{Hold, Payment};
use till_store::payments::PaymentRow;

use super::facts::Held;
use crate::base::Context;

pub(super) fn pass_verdicts(context: &Context<'_>, terms: &Terms, held: &mut Held) {
    let payments = held.facts();
    let limit = manual_review_minor(context, held.invoice.is.currency);
    let risks: HashMap<&str, Hold> = held
        .payments
        .iter()
        .filter_map(|payment| Some((payment.is.id.as_str(), risk_of(&payment.is)?)))
        .collect();
    let risk = |payment: &Payment| risks.get(payment.id.as_str()).copied();
    let facts = Facts {
        terms,
        payments: &payments,
        cancelled_at: held.invoice.is.cancelled_at,
    };
    let verdicts = judge(&facts, limit, risk);
    held.give(&verdicts);
}

/// The limit is set in USD; an invoice in another currency is measured by the same figure of its own.
fn manual_review_minor(context: &Context<'_>, currency: Currency) -> Option<u64> {
    let text = context.merchant.row.manual_review_amount.as_deref()?;
    // Two decimals were checked when it was set; a currency without minor units rounds the limit down.
    let cents = till_core::money::parse(text, 2).ok()?.0;
    let scaled = cents.checked_mul(10u128.pow(currency.decimals()))? / 100;
    u64::try_from(scaled).ok()
}

/// Test mode matches documented addresses; the real lists join here when networks are watched.
fn risk_of(payment: &PaymentRow) -> Option<Hold> {
    let sender = payment.sender.as_deref()?;
    let family = Registry::builtin().network(&payment.network)?.family;
    if payment.scope.mode != Mode::Test {
        return None;
    }
    till_chains::test_screening()
        .iter()
        .find(|(listed, _, address)| *listed == family && *address == sender)
        .and_then(|(_, list, _)| Hold::parse(list))
}
