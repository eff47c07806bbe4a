//! Prepaid credit follows its payment and what it pays for: where a top-up has more left than before, where a payment left
//! the chain or came back, and where an invoice of a subscription is not paid any more, or not in full, or asks for more than before, all that
//! its customer's credit pays for is looked at, at once.

use std::collections::BTreeMap;

use till_core::invoice::Status;
use till_core::money::Units;
use till_core::timer::TimerKind;
use till_store::Write;
use till_store::payments::PaymentRow;
use till_store::timers::TimerRow;

use super::follower::Follower;
use crate::settlement::facts::Tracked;

pub(super) fn write(settled: &[Follower<'_>]) -> Write {
    let timers: BTreeMap<&str, TimerRow> = settled.iter().filter_map(timer).collect();
    let timers: Vec<TimerRow> = timers.into_values().collect();
    till_store::timers::rows(&timers)
}

fn timer<'s>(done: &Follower<'s>) -> Option<(&'s str, TimerRow)> {
    let invoice = &done.held.invoice.is;
    let customer = invoice.customer.as_deref()?;
    let payments = || done.held.payments.iter();
    let has_moved = match invoice.subscription {
        None => payments().any(has_more),
        Some(_) => needs_other_credit(done),
    };
    // Whatever left the chain or came back is followed by a look, though nothing may come of it: after that look everybody keeps
    // what they have.
    let has_moved = has_moved || payments().any(has_left_or_returned);
    let (scope, kind) = (&done.context.scope, TimerKind::ShareCredit);
    let timer = || TimerRow::new(scope, kind, customer, done.context.now);
    has_moved.then(|| (customer, timer()))
}

fn has_more(payment: &Tracked<PaymentRow>) -> bool {
    let stored = payment.stored();
    let before = stored.map_or(Units::ZERO, |was| was.position.prepaid_credit);
    payment.is.position.prepaid_credit > before
}

/// It is not on the chain any more, or is again; or the books have just taken that in, which for what is back comes later, when it is
/// final.
fn has_left_or_returned(payment: &Tracked<PaymentRow>) -> bool {
    let Some(was) = payment.stored() else {
        return false;
    };
    let is_seen_otherwise = was.gone_at.is_some() != payment.is.gone_at.is_some();
    let total = |of: &PaymentRow| of.position.total();
    is_seen_otherwise || (was.entries > 0 && total(was) != total(&payment.is))
}

fn needs_other_credit(done: &Follower<'_>) -> bool {
    let (before, now) = (done.before(), done.status());
    let is_unpaid = matches!(now, Status::AwaitingPayment | Status::PartiallyPaid);
    let has_changed = before != now && (is_unpaid || (before.is_paid() && !now.is_paid()));
    has_changed || (now == Status::PartiallyPaid && asks_for_something_else(done))
}

/// A payment that was on its way is not any more, say, and what it would have paid is asked for again.
fn asks_for_something_else(done: &Follower<'_>) -> bool {
    let stored = done.held.invoice.stored();
    let now = &done.held.invoice.is.summary.remaining;
    stored.is_some_and(|stored| stored.summary.remaining != *now)
}
