//! How long to wait before a unit of work is tried again.

const BACKOFF_MS_MIN: u64 = 4;
const BACKOFF_MS_MAX: u64 = 250;

/// Between half and the whole of a doubling delay, spread by how many retries there were before this one.
pub(super) fn backoff_ms(attempt: u32, retry: u64) -> u64 {
    let whole = (BACKOFF_MS_MIN << attempt.min(16)).min(BACKOFF_MS_MAX);
    let half = whole / 2;
    // Fibonacci hashing: neighbours land far apart.
    let spread = retry.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    half + spread % (half + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_stay_bounded_and_differ_between_those_who_collide() {
        for attempt in 1..=8 {
            let delays: Vec<u64> = (0..8).map(|retry| backoff_ms(attempt, retry)).collect();
            let whole = (BACKOFF_MS_MIN << attempt).min(BACKOFF_MS_MAX);
            assert!(
                delays.iter().all(|ms| (whole / 2..=whole).contains(ms)),
                "{delays:?}"
            );
            assert!(delays.iter().any(|ms| *ms != delays[0]), "{delays:?}");
        }
    }
}
