//! The expiry timer follows the invoice. It fires once; an invoice that waits for a payment, or for the rest of one,
//! always has one, whatever happened since.

use till_core::invoice::Status;
use till_core::timer::TimerKind;
use till_store::Write;
use till_store::timers::TimerRow;

use super::follower::Follower;

pub(super) fn write(settled: &[Follower<'_>]) -> Write {
    let timers: Vec<TimerRow> = settled
        .iter()
        .filter_map(|done| {
            let scope = &done.context.scope;
            let (kind, due_at) = (TimerKind::ExpireInvoice, due_at(done)?);
            Some(TimerRow::new(scope, kind, done.held.id(), due_at))
        })
        .collect();
    till_store::timers::rows(&timers)
}

fn due_at(done: &Follower<'_>) -> Option<i64> {
    let terms = done.held.terms();
    match done.status() {
        Status::AwaitingPayment => Some(terms.waits_until()),
        // One whose time is over waits for what is on its way, and is looked at when that arrives or goes: a timer would
        // be due again and again until then.
        Status::PartiallyPaid if !done.is_closed() => {
            let now = done.context.now;
            Some(terms.looks_at(now)).filter(|at| *at > now)
        }
        _ => None,
    }
}
