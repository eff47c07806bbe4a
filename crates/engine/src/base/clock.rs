//! Time and randomness, as things that are handed in.

use std::sync::{Arc, Mutex, PoisonError};

use till_core::id::{IdKind, Sequence, make};
pub use till_core::time::Clock;

pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
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
