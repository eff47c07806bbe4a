//! A payout that a merchant recorded is followed until its block is final, or it is clear that it was not made.

use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS};

/// Once a block has shown a payout for so long it is final on every network that is asked.
const FINAL_MS: i64 = HOUR_MS;
/// What no block has after so long was not sent.
const MISSING_MS: i64 = 3 * DAY_MS;

/// What the chain says about a payout's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayoutAnswer {
    /// It paid the refund.
    Shown,
    /// It paid something else, or failed.
    Otherwise,
    /// No block has it.
    Absent,
    /// Too few nodes answered, or said the same.
    Unknown,
}

/// What is known of a payout, in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedPayout {
    pub recorded_at: i64,
    /// Since when every answer has shown it.
    pub shown_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayoutStep {
    /// It is looked at again.
    Look {
        at: i64,
        shown_at: Option<i64>,
    },
    Paid,
    NotPaid,
}

pub fn follow_payout(known: FollowedPayout, answer: PayoutAnswer, now: i64) -> PayoutStep {
    let look = |shown_at| PayoutStep::Look {
        at: now.saturating_add(pause_ms(now - known.recorded_at)),
        shown_at,
    };
    let is_old = |since: i64, age_ms: i64| now >= since.saturating_add(age_ms);
    match (answer, known.shown_at) {
        (PayoutAnswer::Shown, Some(since)) if is_old(since, FINAL_MS) => PayoutStep::Paid,
        (PayoutAnswer::Shown, since) => look(since.or(Some(now))),
        (PayoutAnswer::Otherwise, _) => PayoutStep::NotPaid,
        (PayoutAnswer::Absent, _) if is_old(known.recorded_at, MISSING_MS) => PayoutStep::NotPaid,
        (PayoutAnswer::Absent, _) => look(None),
        (PayoutAnswer::Unknown, since) => look(since),
    }
}

/// How long to wait for the next look, by the age of what is looked at.
fn pause_ms(age_ms: i64) -> i64 {
    match age_ms {
        ..600_000 => MINUTE_MS,
        600_000..7_200_000 => 10 * MINUTE_MS,
        _ => HOUR_MS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PayoutAnswer::{Absent, Otherwise, Shown, Unknown};

    const AT: i64 = 1_800_000_000_000;

    fn known(shown_at: Option<i64>) -> FollowedPayout {
        FollowedPayout {
            recorded_at: AT,
            shown_at,
        }
    }

    #[test]
    fn a_payout_is_looked_at_until_its_block_is_final() {
        let look = |at, shown_at| PayoutStep::Look { at, shown_at };
        let now = AT + MINUTE_MS;
        assert_eq!(
            follow_payout(known(None), Absent, now),
            look(now + MINUTE_MS, None)
        );
        assert_eq!(
            follow_payout(known(None), Unknown, now),
            look(now + MINUTE_MS, None)
        );
        assert_eq!(
            follow_payout(known(None), Shown, now),
            look(now + MINUTE_MS, Some(now))
        );
        let final_at = now + FINAL_MS;
        let before = follow_payout(known(Some(now)), Shown, final_at - 1);
        assert_eq!(before, look(final_at - 1 + 10 * MINUTE_MS, Some(now)));
        assert_eq!(
            follow_payout(known(Some(now)), Shown, final_at),
            PayoutStep::Paid
        );
        // A block that left the chain with it is no start to count from.
        let gone = follow_payout(known(Some(now)), Absent, final_at);
        assert_eq!(gone, look(final_at + 10 * MINUTE_MS, None));
    }

    #[test]
    fn what_pays_something_else_or_is_in_no_block_for_days_was_not_paid() {
        assert_eq!(
            follow_payout(known(None), Otherwise, AT),
            PayoutStep::NotPaid
        );
        let days = AT + MISSING_MS;
        assert_eq!(
            follow_payout(known(None), Absent, days),
            PayoutStep::NotPaid
        );
        let early = follow_payout(known(None), Absent, days - 1);
        assert!(matches!(early, PayoutStep::Look { .. }));
        // Nodes that are down say nothing about anybody.
        let unknown = follow_payout(known(None), Unknown, 2 * days);
        assert!(matches!(unknown, PayoutStep::Look { shown_at: None, .. }));
    }
}
