//! The team is told of a review that opens in live mode: by a timer that is due at once, because settling knows nothing of
//! people.

use till_core::invoice::Status;
use till_core::timer::TimerKind;
use till_store::Write;
use till_store::timers::TimerRow;

use super::follower::Follower;

pub(super) fn write(settled: &[Follower<'_>]) -> Write {
    let opened = settled.iter().filter(|done| has_opened(done));
    let timers: Vec<TimerRow> = opened
        .map(|done| {
            let (scope, kind) = (&done.context.scope, TimerKind::TellReview);
            TimerRow::new(scope, kind, done.held.id(), done.context.now)
        })
        .collect();
    till_store::timers::rows(&timers)
}

fn has_opened(done: &Follower<'_>) -> bool {
    let is_live = done.context.scope.mode.is_live();
    is_live && done.status() == Status::UnderReview && done.before() != Status::UnderReview
}
