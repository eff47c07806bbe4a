//! Time and randomness for tests: both go only where they are told.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::base::clock::{Clock, Entropy};

/// A clock that stands until it is moved.
#[derive(Debug, Default)]
pub struct StillClock(AtomicI64);

impl StillClock {
    pub fn at(now_ms: i64) -> StillClock {
        StillClock(AtomicI64::new(now_ms))
    }

    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for StillClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic_us(&self) -> u64 {
        self.now_ms().max(0).cast_unsigned() * 1_000
    }
}

/// The same bytes in every run: a counter, scrambled (splitmix64).
#[derive(Debug, Default)]
pub struct CountingEntropy {
    seed: u64,
    count: AtomicU64,
}

impl CountingEntropy {
    pub fn seeded(seed: u64) -> CountingEntropy {
        CountingEntropy {
            seed,
            count: AtomicU64::new(0),
        }
    }

    /// How many blocks of eight bytes were handed out.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Goes on as if at least so many had been handed out.
    pub fn skip_to(&self, count: u64) {
        self.count.fetch_max(count, Ordering::SeqCst);
    }
}

impl Entropy for CountingEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let count = self.count.fetch_add(1, Ordering::SeqCst);
            let mut z = (self.seed).wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
        }
    }
}
