//! A clock that begins in the past and catches up, for a demo whose shop has been open for a while.

use std::sync::atomic::{AtomicI64, Ordering};

use till_engine::base::clock::Clock;

use crate::system::SystemClock;

#[derive(Debug)]
pub struct PastClock {
    real: SystemClock,
    behind_ms: AtomicI64,
}

impl PastClock {
    pub fn start() -> PastClock {
        PastClock {
            real: SystemClock::start(),
            behind_ms: AtomicI64::new(0),
        }
    }

    /// Reads as long ago as this from now on.
    pub fn stand_back(&self, behind_ms: i64) {
        self.behind_ms.store(behind_ms, Ordering::SeqCst);
    }
}

impl Clock for PastClock {
    fn now_ms(&self) -> i64 {
        let behind_ms = self.behind_ms.load(Ordering::SeqCst);
        self.real.now_ms().saturating_sub(behind_ms)
    }

    fn monotonic_us(&self) -> u64 {
        self.real.monotonic_us()
    }
}

#[cfg(test)]
mod tests {
    use till_core::time::DAY_MS;

    use super::*;

    #[test]
    fn the_clock_stands_back_as_far_as_it_is_told_and_catches_up() {
        let clock = PastClock::start();
        let now = clock.now_ms();
        clock.stand_back(DAY_MS);
        assert!(clock.now_ms() < now);
        clock.stand_back(0);
        assert!(clock.now_ms() >= now);
    }
}
