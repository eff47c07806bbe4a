//! Whether this process should be sent work.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use till_store::installation::Amount;

use crate::base::clock::APART_MAX_MS;

#[derive(Debug, Default)]
pub struct Readiness {
    cannot_write: AtomicBool,
    /// When as much as a request writes was last written; nothing before the first time.
    whole_at: AtomicI64,
    is_leaving: AtomicBool,
    lacks_key: AtomicBool,
    /// By how much this machine's clock and the database's differ.
    clock_off_ms: AtomicI64,
}

impl Readiness {
    /// Whether what was asked to be written last, was.
    pub fn can_write(&self) -> bool {
        !self.cannot_write.load(Ordering::Relaxed)
    }

    /// A little that could be written says nothing after more could not.
    pub fn wrote(&self, has_succeeded: bool, amount: Amount, now_ms: i64) {
        match (has_succeeded, amount) {
            (true, Amount::Little) => {}
            (true, Amount::Request | Amount::Requests) => {
                self.whole_at.store(now_ms, Ordering::Relaxed);
                self.cannot_write.store(false, Ordering::Relaxed);
            }
            (false, _) => self.cannot_write.store(true, Ordering::Relaxed),
        }
    }

    /// Whether as much as a request writes is to be tried again.
    pub fn is_whole_due(&self, now_ms: i64, every_ms: i64) -> bool {
        let age_ms = now_ms.saturating_sub(self.whole_at.load(Ordering::Relaxed));
        !(0..every_ms).contains(&age_ms)
    }

    /// Whether this process has the key that the others encrypt with.
    pub fn has_key(&self, has_key: bool) {
        self.lacks_key.store(!has_key, Ordering::Relaxed);
    }

    pub fn lacks_key(&self) -> bool {
        self.lacks_key.load(Ordering::Relaxed)
    }

    pub fn clock_is_off_by(&self, ms: i64) {
        self.clock_off_ms.store(ms, Ordering::Relaxed);
    }

    /// By how many seconds the machine's clock and the database's differ, where that is too much. Nobody can tell which one is
    /// wrong, so nothing falls due here until they agree.
    pub fn clock_off_s(&self) -> Option<i64> {
        let off_ms = self.clock_off_ms.load(Ordering::Relaxed);
        (off_ms > APART_MAX_MS).then_some(off_ms / 1_000)
    }

    /// The server goes on for a while, but nobody new should come.
    pub fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    pub fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }
}
