//! When a failed delivery is tried again.

const S: i64 = 1_000;
const MIN: i64 = 60 * S;
const H: i64 = 60 * MIN;

/// What is waited after each failed attempt: short at first, for a receiver that restarts, and
/// twice a day at the end, for one that is down over a weekend. Together 72.7 hours.
const DELAYS_MS: [i64; 15] = [
    5 * S,
    30 * S,
    2 * MIN,
    10 * MIN,
    30 * MIN,
    H,
    2 * H,
    3 * H,
    4 * H,
    6 * H,
    8 * H,
    12 * H,
    12 * H,
    12 * H,
    12 * H,
];

/// A tenth is enough to keep deliveries that failed together from coming back together; for the
/// long waits five minutes are, so that the total stays near 72 hours whatever the draw.
const JITTER_DIVISOR: i64 = 10;
const JITTER_MS_MAX: i64 = 5 * MIN;

/// The wait before the next attempt, given the number of the attempt that failed (the first is 1)
/// and a random number. `None` when the delivery is given up.
pub fn retry_delay_ms(attempt: u32, jitter: u64) -> Option<i64> {
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    let delay_ms = *DELAYS_MS.get(index)?;
    let span_ms = (delay_ms / JITTER_DIVISOR).min(JITTER_MS_MAX);
    let drawn_ms = (jitter % (2 * span_ms.unsigned_abs() + 1)).cast_signed();
    Some(delay_ms - span_ms + drawn_ms)
}

/// How long an event has been failing when this attempt at it fails, as far as the schedule goes.
fn failing_ms(attempt: u32) -> i64 {
    let before = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    DELAYS_MS.iter().take(before).sum()
}

/// Whether an event has failed for a day with this attempt, and had not before it.
pub fn fails_for_a_day(attempt: u32) -> bool {
    failing_ms(attempt) >= 24 * H && failing_ms(attempt.saturating_sub(1)) < 24 * H
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total_ms(jitter_of: impl Fn(i64) -> u64) -> i64 {
        (1..)
            .zip(DELAYS_MS)
            .map(|(attempt, nominal_ms)| {
                let span_ms = (nominal_ms / JITTER_DIVISOR).min(JITTER_MS_MAX);
                retry_delay_ms(attempt, jitter_of(span_ms)).expect("within the schedule")
            })
            .sum()
    }

    #[test]
    fn retries_span_about_72_hours_whatever_the_jitter() {
        let earliest_ms = total_ms(|_| 0);
        let nominal_ms = total_ms(i64::unsigned_abs);
        let latest_ms = total_ms(|span_ms| 2 * span_ms.unsigned_abs());
        assert_eq!(nominal_ms, DELAYS_MS.iter().sum::<i64>());
        assert!(earliest_ms < nominal_ms && nominal_ms < latest_ms);
        assert!(earliest_ms >= 70 * H, "{earliest_ms}");
        assert!(latest_ms <= 74 * H, "{latest_ms}");
    }

    #[test]
    fn any_random_number_stays_within_a_tenth_of_the_nominal_wait() {
        for (attempt, nominal_ms) in (1..).zip(DELAYS_MS) {
            for jitter in [0, 1, 12_345, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
                let delay_ms = retry_delay_ms(attempt, jitter).expect("within the schedule");
                assert!((delay_ms - nominal_ms).abs() <= nominal_ms / 10);
            }
        }
    }

    #[test]
    fn each_wait_is_at_least_as_long_as_the_one_before() {
        assert!(DELAYS_MS.is_sorted());
        assert_eq!(DELAYS_MS.first(), Some(&(5 * S)));
    }

    #[test]
    fn after_the_last_attempt_the_delivery_is_given_up() {
        assert!(retry_delay_ms(15, 0).is_some());
        assert_eq!(retry_delay_ms(16, 0), None);
        assert_eq!(retry_delay_ms(u32::MAX, 0), None);
    }

    #[test]
    fn there_is_no_attempt_before_the_first() {
        assert_eq!(retry_delay_ms(0, 0), None);
    }

    #[test]
    fn one_attempt_of_an_event_is_the_first_after_a_day() {
        let first: Vec<u32> = (0..40)
            .filter(|attempt| fails_for_a_day(*attempt))
            .collect();
        assert_eq!(first, [12]);
    }
}
