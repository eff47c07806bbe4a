//! Whether a payment that reached its level is credited or held.

use std::collections::HashMap;

use till_core::asset::Registry;
use till_core::invoice::{Facts, Terms, judge};
use till_core::money::Currency;
use till_core::payment::{Hold, Payment};
use till_store::payments::PaymentRow;

use super::facts::Held;
use crate::base::Context;
use crate::screening::{self, Screened};

pub(super) fn pass_verdicts(context: &Context<'_>, terms: &Terms, held: &mut Held) {
    let payments = held.facts();
    let limit = manual_review_minor(context, held.invoice.is.currency);
    let risks: HashMap<&str, Hold> = held
        .payments
        .iter()
        .filter_map(|payment| {
            let risk = risk_of(context, &payment.is)?;
            Some((payment.is.id.as_str(), risk))
        })
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

/// The sender of every payment is held against the lists. One that they say nothing of is not held for it.
fn risk_of(context: &Context<'_>, payment: &PaymentRow) -> Option<Hold> {
    let address = payment.sender.as_deref()?;
    let network = Registry::builtin().network(&payment.network)?;
    let screened = Screened { network, address };
    screening::hold_of(&screening::screen(context, screened))
}
