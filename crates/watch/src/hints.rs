//! Hints that something is new on a chain, which start the next round early.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Wakes the watcher early. Hints that arrive before the next round are merged into one.
#[derive(Default)]
pub struct Hints(Notify);

impl Hints {
    pub(crate) fn hint(&self) {
        self.0.notify_one();
    }

    /// Waits for a hint, or takes one that came since the last wait: for at least `least` and at most `most`. Returns
    /// whether there was one.
    pub async fn wait(&self, least: Duration, most: Duration) -> bool {
        sleep(least.min(most)).await;
        let rest = most.saturating_sub(least);
        timeout(rest, self.0.notified()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn a_hint_ends_a_wait_also_when_it_came_before() {
        let hints = Hints::default();
        hints.hint();
        assert!(hints.wait(Duration::ZERO, LONG).await);
        let waiting = hints.wait(Duration::ZERO, LONG);
        let hinted = async {
            tokio::task::yield_now().await;
            hints.hint();
        };
        let (is_hinted, ()) = tokio::join!(waiting, hinted);
        assert!(is_hinted);
        let short = Duration::from_millis(20);
        assert!(!hints.wait(Duration::ZERO, short).await, "nothing came");
    }

    #[tokio::test]
    async fn many_hints_are_one_and_none_shortens_the_least_wait() {
        let hints = Hints::default();
        (0..1_000).for_each(|_| hints.hint());
        assert!(hints.wait(Duration::ZERO, LONG).await);
        let again = hints.wait(Duration::ZERO, LONG);
        let short = Duration::from_millis(20);
        assert!(timeout(short, again).await.is_err(), "there was one hint");
        hints.hint();
        let least = hints.wait(LONG, LONG * 3);
        assert!(timeout(short, least).await.is_err(), "it is not yet time");
    }
}
