//! How often an endpoint is asked: as often as anybody likes, until it says that this is too often.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Before each question, once one was refused. Shorter pauses than the first are none.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct Pace {
    pause: Mutex<Duration>,
    /// One after the other.
    turns: tokio::sync::Mutex<()>,
}

impl Pace {
    fn pause(&self) -> MutexGuard<'_, Duration> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it may be asked again.
    pub(super) async fn turn(&self) {
        let pause = *self.pause();
        if pause.is_zero() {
            return;
        }
        let _turn = self.turns.lock().await;
        tokio::time::sleep(pause).await;
    }

    pub(super) fn was_too_often(&self) {
        let mut pause = self.pause();
        *pause = (*pause * 2).clamp(FIRST, LONGEST);
    }

    pub(super) fn went_well(&self) {
        let mut pause = self.pause();
        let shorter = *pause - *pause / 64;
        *pause = match shorter < FIRST {
            true => Duration::ZERO,
            false => shorter,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::poll;

    use super::*;

    #[test]
    fn pauses_grow_while_it_is_too_often_and_wear_off_when_it_is_not() {
        let pace = Pace::default();
        let pause = || pace.pause().as_millis();
        pace.went_well();
        assert_eq!(pause(), 0);
        let mut grown = Vec::new();
        for _ in 0..7 {
            pace.was_too_often();
            grown.push(pause());
        }
        assert_eq!(grown, [20, 40, 80, 160, 320, 500, 500]);
        (0..60).for_each(|_| pace.went_well());
        assert!((100..300).contains(&pause()), "{}", pause());
        (0..300).for_each(|_| pace.went_well());
        assert_eq!(pause(), 0);
    }

    #[tokio::test]
    async fn who_is_asked_too_often_is_asked_one_after_the_other() {
        let pace = Pace::default();
        pace.turn().await;
        (0..7).for_each(|_| pace.was_too_often());
        let mut first = pin!(pace.turn());
        assert!(poll!(first.as_mut()).is_pending());
        assert!(pace.turns.try_lock().is_err(), "the first is at its pause");
        let mut second = pin!(pace.turn());
        assert!(poll!(second.as_mut()).is_pending());
        first.await;
        assert!(poll!(second.as_mut()).is_pending(), "its own pause");
        second.await;
    }
}
