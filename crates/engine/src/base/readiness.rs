//! Whether this process should be sent work.

use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub struct Readiness {
    cannot_write: AtomicBool,
    is_leaving: AtomicBool,
    lacks_key: AtomicBool,
}

impl Readiness {
    /// Whether what was asked to be written last, was.
    pub fn can_write(&self) -> bool {
        !self.cannot_write.load(Ordering::Relaxed)
    }

    pub fn wrote(&self, has_succeeded: bool) {
        self.cannot_write.store(!has_succeeded, Ordering::Relaxed);
    }

    /// Whether this process has the key that the others encrypt with.
    pub fn has_key(&self, has_key: bool) {
        self.lacks_key.store(!has_key, Ordering::Relaxed);
    }

    pub fn lacks_key(&self) -> bool {
        self.lacks_key.load(Ordering::Relaxed)
    }

    /// The server goes on for a while, but nobody new should come.
    pub fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    pub fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }
}
