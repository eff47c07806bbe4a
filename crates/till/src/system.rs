//! The one file that asks the machine what time it is and for random bytes.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use till_engine::base::clock::{Clock, Entropy, Followed};

/// The machine's clock, until it is told of one that all servers share.
#[derive(Debug)]
pub struct SystemClock {
    started_us: u64,
    shared: Followed,
}

/// How long the machine has been up, with the time in which it slept.
fn up_us() -> u64 {
    let up = clock_gettime(ClockId::Boottime);
    let whole_us = u64::try_from(up.tv_sec).unwrap_or(0) * 1_000_000;
    whole_us + u64::try_from(up.tv_nsec / 1_000).unwrap_or(0)
}

impl SystemClock {
    pub fn start() -> SystemClock {
        SystemClock {
            started_us: up_us(),
            shared: Followed::default(),
        }
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let shared = self.shared.now_ms(self.monotonic_us());
        shared.unwrap_or_else(|| self.machine_ms())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "here is where the context's time comes from"
    )]
    fn machine_ms(&self) -> i64 {
        // A clock set before 1970 reads as 1970: nothing was invoiced then.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }

    fn monotonic_us(&self) -> u64 {
        up_us().saturating_sub(self.started_us)
    }

    fn follow(&self, shared_ms: i64) {
        self.shared.tell(shared_ms, self.monotonic_us());
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
    fn the_clock_goes_by_the_shared_one_once_it_is_told() {
        let clock = SystemClock::start();
        clock.follow(1_577_836_800_000);
        let since_ms = clock.now_ms() - 1_577_836_800_000;
        assert!((0..60_000).contains(&since_ms), "{since_ms}");
        assert!(clock.machine_ms() > clock.now_ms());
    }

    #[test]
    fn random_bytes_differ_between_two_calls() {
        let (mut one, mut two) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut one);
        SystemEntropy.fill(&mut two);
        assert_ne!(one, two);
    }
}
