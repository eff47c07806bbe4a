//! The one file that asks the machine what time it is and for random bytes.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use till_engine::base::clock::{Clock, Entropy};

#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "here is where the context's time comes from"
    )]
    pub fn start() -> SystemClock {
        SystemClock {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "here is where the context's time comes from"
    )]
    fn now_ms(&self) -> i64 {
        // A clock set before 1970 reads as 1970: nothing was invoiced then.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }

    fn monotonic_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The operating system's generator, asked anew each time: nothing to seed, nothing to leak on a fork.
#[derive(Clone, Copy, Debug)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(
        clippy::disallowed_methods,
        reason = "here is where the id source's randomness comes from"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        // Going on without randomness would hand out keys that can be guessed.
        getrandom::fill(bytes).expect("the operating system gives randomness once it has started");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_reads_milliseconds_of_this_century() {
        let clock = SystemClock::start();
        let year_2020_ms = 1_577_836_800_000;
        assert!((year_2020_ms..2 * year_2020_ms).contains(&clock.now_ms()));
        let before = clock.monotonic_us();
        assert!(clock.monotonic_us() >= before);
    }

    #[test]
    fn random_bytes_differ_between_two_calls() {
        let (mut one, mut two) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut one);
        SystemEntropy.fill(&mut two);
        assert_ne!(one, two);
    }
}
