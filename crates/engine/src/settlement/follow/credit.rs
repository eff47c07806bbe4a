//! Prepaid credit follows its payment: what one that left the chain had paid for is looked at, at once.

use till_core::timer::TimerKind;
use till_store::Write;
use till_store::timers::TimerRow;

use super::Follower;

pub(super) fn write(settled: &[Follower<'_>]) -> Write {
    let mut timers = Vec::new();
    for done in settled {
        for payment in &done.held.payments {
            let was_there = payment.stored().is_some_and(|was| was.gone_at.is_none());
            let row = &payment.is;
            if was_there && row.gone_at.is_some() && !row.credit_used.is_zero() {
                let (scope, kind) = (&done.context.scope, TimerKind::VoidCredit);
                timers.push(TimerRow::new(scope, kind, &row.id, done.at));
            }
        }
    }
    till_store::timers::rows(&timers)
}
