//! The expiry timer follows the invoice. It fires once; an invoice that waits for a payment always has one, whatever
//! happened since.

use till_core::invoice::Status;
use till_core::timer::TimerKind;
use till_store::Write;
use till_store::timers::TimerRow;

use super::Follower;

pub(super) fn write(settled: &[Follower<'_>]) -> Write {
    let timers: Vec<TimerRow> = settled
        .iter()
        .filter(|done| done.status() == Status::AwaitingPayment)
        .map(|done| {
            let deadline = done.held.terms().deadline();
            let scope = &done.context.scope;
            TimerRow::new(scope, TimerKind::ExpireInvoice, done.held.id(), deadline)
        })
        .collect();
    till_store::timers::rows(&timers)
}
