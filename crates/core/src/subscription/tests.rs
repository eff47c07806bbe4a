//! What a subscription is and what falls due, as rows and as properties.

use proptest::prelude::*;

use super::*;
use crate::time::DAY_MS;

const DAY: i64 = DAY_MS;

fn paid_until(end: i64) -> Facts {
    Facts {
        paid_until: Some(end),
        served_until: Some(end),
        charge: None,
        late_at: None,
        max_attempts: 4,
        is_paused: false,
        is_cancelled: false,
        cancel_at_period_end: false,
    }
}

fn charged(end: i64, attempt: u32, grace_end: i64, is_closed: bool) -> Facts {
    Facts {
        charge: Some(Charge {
            attempt,
            is_closed,
            retry_at: None,
        }),
        late_at: Some(grace_end),
        ..paid_until(end)
    }
}

#[test]
fn what_is_paid_is_active_and_renewed_a_day_before_it_ends() {
    let facts = paid_until(30 * DAY);
    assert_eq!(status(&facts, 31 * DAY), Status::Active);
    assert_eq!(next(&facts, 0), Some((29 * DAY, NextStep::Charge)));
}

#[test]
fn an_unpaid_renewal_is_past_due_when_its_grace_ends() {
    let facts = charged(30 * DAY, 1, 33 * DAY, false);
    assert_eq!(status(&facts, 33 * DAY - 1), Status::Active);
    assert_eq!(next(&facts, 30 * DAY), Some((33 * DAY, NextStep::Look)));
    assert_eq!(status(&facts, 33 * DAY), Status::PastDue);
    assert_eq!(next(&facts, 33 * DAY), None, "somebody may still pay it");
}

#[test]
fn a_renewal_that_could_not_be_invoiced_is_past_due_as_well() {
    let facts = Facts {
        late_at: Some(33 * DAY),
        ..paid_until(30 * DAY)
    };
    assert_eq!(status(&facts, 33 * DAY - 1), Status::Active);
    assert_eq!(status(&facts, 33 * DAY), Status::PastDue);
    assert_eq!(next(&facts, 33 * DAY), Some((29 * DAY, NextStep::Charge)));
}

#[test]
fn a_closed_attempt_is_followed_by_another_until_there_were_enough() {
    for attempt in 1..4 {
        let facts = charged(30 * DAY, attempt, 33 * DAY, true);
        assert_eq!(next(&facts, 34 * DAY), Some((34 * DAY, NextStep::Retry)));
    }
    let facts = charged(30 * DAY, 4, 33 * DAY, true);
    assert_eq!(
        next(&facts, 34 * DAY),
        Some((34 * DAY, NextStep::End(Reason::Unpaid)))
    );
}

#[test]
fn what_follows_a_skipped_attempt_comes_at_its_time() {
    let skipped = |attempt| Facts {
        charge: Some(Charge {
            attempt,
            is_closed: true,
            retry_at: Some(35 * DAY),
        }),
        ..charged(30 * DAY, attempt, 33 * DAY, true)
    };
    assert_eq!(status(&skipped(1), 31 * DAY), Status::Active);
    assert_eq!(
        next(&skipped(1), 31 * DAY),
        Some((33 * DAY, NextStep::Look))
    );
    assert_eq!(
        next(&skipped(1), 33 * DAY),
        Some((35 * DAY, NextStep::Retry))
    );
    assert_eq!(
        next(&skipped(1), 36 * DAY),
        Some((36 * DAY, NextStep::Retry))
    );
    let last = Some((35 * DAY, NextStep::End(Reason::Unpaid)));
    assert_eq!(next(&skipped(4), 33 * DAY), last);
}

#[test]
fn what_was_never_paid_is_incomplete_and_not_past_due() {
    let facts = Facts {
        paid_until: None,
        served_until: None,
        ..charged(0, 1, 3 * DAY, false)
    };
    assert_eq!(status(&facts, 9 * DAY), Status::Incomplete);
    assert_eq!(next(&facts, DAY), None);
    let unpaid = Facts {
        charge: None,
        ..facts
    };
    assert_eq!(next(&unpaid, DAY), Some((DAY, NextStep::Charge)));
}

#[test]
fn nothing_is_charged_while_paused_or_after_the_end() {
    for facts in [paid_until(30 * DAY), charged(30 * DAY, 1, 33 * DAY, true)] {
        let paused = Facts {
            is_paused: true,
            ..facts
        };
        assert_eq!(
            (status(&paused, 40 * DAY), next(&paused, 40 * DAY)),
            (Status::Paused, None)
        );
        let ended = Facts {
            is_cancelled: true,
            ..facts
        };
        assert_eq!(
            (status(&ended, 40 * DAY), next(&ended, 40 * DAY)),
            (Status::Cancelled, None)
        );
        let ending = Facts {
            cancel_at_period_end: true,
            is_paused: true,
            ..facts
        };
        assert_eq!(
            next(&ending, 0),
            Some((30 * DAY, NextStep::End(Reason::Requested)))
        );
    }
}

#[test]
fn every_row_of_the_table_is_decided() {
    use ChangeNeeded::{Do, Unchanged};
    use Status::{Active, Cancelled, Incomplete, PastDue, Paused};
    let code =
        |asked: Result<ChangeNeeded, Refusal>| asked.map_err(|refusal| refusal.code.as_str());
    let conflict = Err("subscription_state");
    for (status, paused, resumed) in [
        (Active, Ok(Do), Ok(Unchanged)),
        (PastDue, Ok(Do), Ok(Unchanged)),
        (Incomplete, conflict, Ok(Unchanged)),
        (Paused, conflict, Ok(Do)),
        (Cancelled, conflict, conflict),
    ] {
        assert_eq!(code(pause(status)), paused, "{status:?}");
        assert_eq!(code(resume(status)), resumed, "{status:?}");
    }
    for status in [Active, PastDue, Paused] {
        assert_eq!(code(cancel(status, When::Now, false, None)), Ok(Do));
        assert_eq!(code(cancel(status, When::Now, true, None)), Ok(Do));
        assert_eq!(code(cancel(status, When::PeriodEnd, false, None)), Ok(Do));
        assert_eq!(
            code(cancel(status, When::PeriodEnd, true, None)),
            Ok(Unchanged)
        );
    }
    assert_eq!(code(cancel(Incomplete, When::Now, false, None)), Ok(Do));
    assert_eq!(
        code(cancel(Incomplete, When::PeriodEnd, false, None)),
        conflict
    );
    let requested = Some(Reason::Requested);
    assert_eq!(
        code(cancel(Cancelled, When::Now, false, requested)),
        Ok(Unchanged)
    );
    assert_eq!(
        code(cancel(Cancelled, When::PeriodEnd, true, requested)),
        Ok(Unchanged)
    );
    assert_eq!(
        code(cancel(Cancelled, When::PeriodEnd, false, requested)),
        conflict
    );
    assert_eq!(
        code(cancel(Cancelled, When::Now, true, requested)),
        conflict
    );
    assert_eq!(
        code(cancel(Cancelled, When::Now, false, Some(Reason::Unpaid))),
        conflict
    );
}

#[test]
fn the_periods_of_a_rhythm_join_without_a_gap() {
    let rhythm = Rhythm {
        unit: Unit::Month,
        count: 1,
        zone: Zone::utc(),
        anchor: crate::time::parse("2027-01-31T10:00:00Z").unwrap(),
        first: 5,
    };
    assert_eq!(rhythm.period(5).0, rhythm.anchor);
    for number in 5..200 {
        assert_eq!(rhythm.period(number).1, rhythm.period(number + 1).0);
    }
    let show = |at| crate::time::show(at);
    assert_eq!(show(rhythm.period(6).0), "2027-02-28T10:00:00Z");
    assert_eq!(show(rhythm.period(7).0), "2027-03-31T10:00:00Z");
}

proptest! {
    /// Whatever the facts: what falls due changes something, so that acting on it cannot go on for ever.
    #[test]
    fn after_a_look_there_is_nothing_left_to_look_at(
        end in 0..100i64, attempt in 1..7u32, grace in 0..50i64, closed: bool, paused: bool, ending: bool, now in 0..200i64,
    ) {
        let facts = Facts {
            is_paused: paused,
            cancel_at_period_end: ending,
            ..charged(end * DAY, attempt, (end + grace) * DAY, closed)
        };
        if let Some((at, NextStep::Look)) = next(&facts, now * DAY) {
            prop_assert!(at > now * DAY);
            prop_assert_eq!(next(&facts, at), None);
        }
    }
}
