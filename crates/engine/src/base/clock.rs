//! Time and randomness, as things that are handed in.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use till_core::id::{IdKind, Sequence, make};
pub use till_core::time::Clock;

pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// Notices that the system's clock was set, or stood still while the machine slept, beside one that only goes forward.
#[derive(Debug, Default)]
pub struct Jumps(Mutex<Option<i64>>);

/// Less is what two readings that are not taken at once may differ by, and what NTP corrects all the time.
const JUMP_MS: i64 = 2_000;

impl Jumps {
    /// How far the clock was set since the last look, in milliseconds, forward or back; nothing where it was not.
    pub fn look(&self, clock: &dyn Clock) -> Option<i64> {
        let ahead = clock
            .machine_ms()
            .saturating_sub(whole_ms(clock.monotonic_us()));
        let mut before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let jumped = before.map(|before| ahead.saturating_sub(before));
        *before = Some(ahead);
        jumped.filter(|jumped| jumped.saturating_abs() >= JUMP_MS)
    }
}

/// Clocks further apart than this are not both right.
pub const APART_MAX_MS: i64 = 60_000;

/// The time of a clock that all servers share, kept between two looks at it by one that only goes forward: setting the machine's
/// clock changes nothing.
#[derive(Debug)]
pub struct Followed {
    /// How far the shared clock is ahead of the one that only goes forward.
    ahead_ms: AtomicI64,
}

const FOLLOWS_NONE: i64 = i64::MIN;

impl Default for Followed {
    fn default() -> Followed {
        Followed {
            ahead_ms: AtomicI64::new(FOLLOWS_NONE),
        }
    }
}

impl Followed {
    /// The shared time; none before it was first told.
    pub fn now_ms(&self, monotonic_us: u64) -> Option<i64> {
        let ahead_ms = self.ahead_ms.load(Ordering::Relaxed);
        (ahead_ms != FOLLOWS_NONE).then(|| ahead_ms.saturating_add(whole_ms(monotonic_us)))
    }

    /// Goes by what the shared clock showed.
    pub fn tell(&self, shared_ms: i64, at_us: u64) {
        let ahead_ms = shared_ms.saturating_sub(whole_ms(at_us));
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
    }
}

fn whole_ms(us: u64) -> i64 {
    i64::try_from(us / 1_000).unwrap_or(i64::MAX)
}

/// Makes ids that rise strictly within this process.
#[derive(Clone)]
pub struct Ids {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    sequence: Arc<Mutex<Sequence>>,
}

impl Ids {
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Ids {
        Ids {
            clock,
            entropy,
            sequence: Arc::default(),
        }
    }

    pub fn make(&self, kind: IdKind) -> String {
        let random = u64::from_le_bytes(self.random());
        // The lock guards two numbers: a panic elsewhere cannot have left them half-written.
        let (ms, step) = self
            .sequence
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next(self.clock.now_ms());
        make(kind, ms, step, random)
    }

    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

    use super::*;

    #[derive(Default)]
    struct TwoClocks {
        now_ms: AtomicI64,
        monotonic_us: AtomicU64,
    }

    impl Clock for TwoClocks {
        fn now_ms(&self) -> i64 {
            self.now_ms.load(Ordering::Relaxed)
        }

        fn monotonic_us(&self) -> u64 {
            self.monotonic_us.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn the_shared_time_goes_on_by_the_clock_that_only_goes_forward() {
        let shared = Followed::default();
        assert_eq!(shared.now_ms(5_000_000), None);
        shared.tell(1_700_000_000_000, 5_000_000);
        assert_eq!(shared.now_ms(6_000_000), Some(1_700_000_001_000));
        // It drifts, or this machine was paused.
        shared.tell(1_700_000_050_250, 6_000_000);
        assert_eq!(shared.now_ms(6_000_000), Some(1_700_000_050_250));
    }

    #[test]
    fn a_clock_that_is_set_is_noticed_once_and_one_that_runs_is_not() {
        let (clocks, jumps) = (TwoClocks::default(), Jumps::default());
        let after = |system_ms: i64, passed_ms: u64| {
            clocks.now_ms.fetch_add(system_ms, Ordering::Relaxed);
            clocks
                .monotonic_us
                .fetch_add(passed_ms * 1_000, Ordering::Relaxed);
            jumps.look(&clocks)
        };
        assert_eq!(after(1_700_000_000_000, 0), None);
        assert_eq!(after(5_000, 5_000), None);
        assert_eq!(after(5_400, 5_000), None);
        assert_eq!(after(3_605_000, 5_000), Some(3_600_000));
        assert_eq!(after(5_000, 5_000), None);
        assert_eq!(after(-3_595_000, 5_000), Some(-3_600_000));
        assert_eq!(after(5_000, 5_000), None);
    }
}
