//! Whether a payment that reached its level is credited or held.

use std::collections::HashMap;

use till_core::asset::Registry;
use till_core::invoice::{Facts, Terms, judge};
use till_core::money::Currency;
use till_core::payment::{Hold, Payment, Verdict};
use till_store::payments::PaymentRow;
use till_store::screenings::ScreeningRow;

use super::facts::LockedInvoice;
use crate::base::Context;
use crate::screening::{self, Screened};

/// Judges what was not judged yet, and says what the lists said of the senders: who was judged stays on record.
pub(super) fn pass_verdicts(
    context: &Context<'_>,
    terms: &Terms,
    held: &mut LockedInvoice,
) -> Vec<ScreeningRow> {
    let payments = held.facts();
    let limit = manual_review_minor(context, held.invoice.is.currency);
    let screened: HashMap<&str, Vec<ScreeningRow>> = held
        .payments
        .iter()
        .filter(|payment| !is_settled(payment.is.verdict))
        .map(|payment| (payment.is.id.as_str(), screen(context, &payment.is)))
        .collect();
    let short: Vec<&str> = held
        .payments
        .iter()
        .filter(|payment| payment.is.short)
        .map(|payment| &*payment.is.id)
        .collect();
    let listed = |payment: &Payment| {
        let mut each = screened.get(&*payment.id)?.iter();
        each.find_map(|of_sender| screening::hold_of(&of_sender.screening))
    };
    let risk = |payment: &Payment| {
        let is_short = short.contains(&&*payment.id);
        listed(payment).or(is_short.then_some(Hold::ManualReview))
    };
    let facts = Facts {
        terms,
        payments: &payments,
        cancelled_at: held.invoice.is.cancelled_at,
    };
    let verdicts = judge(&facts, limit, risk);
    let mut screened = screened;
    let kept = verdicts
        .iter()
        .filter_map(|(payment, _)| screened.remove(&**payment))
        .flatten()
        .collect();
    held.give(&verdicts);
    kept
}

impl LockedInvoice {
    /// As it is once everything that came in is judged. Nothing is kept of it: settling judges anew.
    pub(crate) fn judged(&self, context: &Context<'_>) -> LockedInvoice {
        let mut judged = self.clone();
        let terms = judged.terms();
        drop(pass_verdicts(context, &terms, &mut judged));
        judged
    }
}

/// Whether nobody will ask for a verdict any more. What was only screened is judged when it counts.
fn is_settled(verdict: Option<Verdict>) -> bool {
    !matches!(verdict, None | Some(Verdict::Screened))
}

/// The limit is a figure of each invoice's own currency: nothing is converted.
fn manual_review_minor(context: &Context<'_>, currency: Currency) -> Option<u64> {
    let text = context.merchant.row.manual_review_amount.as_deref()?;
    // Two decimals were checked when it was set; a currency without minor units rounds the limit down.
    let cents = till_core::money::parse(text, 2).ok()?.0;
    let scaled = cents.checked_mul(10u128.pow(currency.decimals()))? / 100;
    u64::try_from(scaled).ok()
}

/// Every sender of every payment is held against the lists, with what registers on the chain said when it was seen. One that
/// they say nothing of is not held for it.
fn screen(context: &Context<'_>, payment: &PaymentRow) -> Vec<ScreeningRow> {
    let Some(network) = Registry::builtin().network(&payment.network) else {
        return Vec::new();
    };
    let answers = payment.registers.as_deref().map(screening::read);
    let answers = answers.unwrap_or_default();
    let of_sender = |address: &String| {
        let screened = Screened { network, address };
        let screening = screening::screen(context, screened, &answers);
        screening::kept(context, &payment.id, screened, &screening)
    };
    payment.senders.iter().map(of_sender).collect()
}
