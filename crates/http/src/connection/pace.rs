//! How fast a client takes what is written to it. One that takes nothing is given up soon; one that takes a little now
//! and then, to keep us waiting, a while later.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

#[derive(Clone, Copy, Debug)]
pub struct PaceLimits {
    /// How long a client may take nothing.
    pub stalled_time: Duration,
    /// How long it may take less than `slow_bytes`.
    pub slow_time: Duration,
    pub slow_bytes: u64,
}

type Timer = Option<Pin<Box<Sleep>>>;

/// Watches one socket's writes. Costs nothing while they do not have to wait.
pub struct Pace {
    limits: PaceLimits,
    stalled: Timer,
    /// Runs from the first write that had to wait, through those that went well.
    slow: Timer,
    bytes: u64,
    is_waiting: bool,
}

impl Pace {
    pub fn new(limits: PaceLimits) -> Pace {
        Pace {
            limits,
            stalled: None,
            slow: None,
            bytes: 0,
            is_waiting: false,
        }
    }

    /// What a write came to, or the end of our patience.
    pub fn judge(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.stalled = None;
                self.is_waiting = false;
                if let Some(slow) = &self.slow {
                    self.bytes += bytes as u64;
                    // Over without having waited at its end: the client had caught up.
                    if slow.is_elapsed() {
                        self.slow = None;
                    }
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => self.wait(cx),
        }
    }

    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let begins = !std::mem::replace(&mut self.is_waiting, true);
        // What is over when the waiting begins was not spent waiting.
        if begins && self.slow.as_ref().is_some_and(|slow| slow.is_elapsed()) {
            self.slow = None;
        }
        if self.slow.is_none() {
            self.bytes = 0;
        }
        if poll(&mut self.stalled, self.limits.stalled_time, cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        while poll(&mut self.slow, self.limits.slow_time, cx).is_ready() {
            if self.bytes < self.limits.slow_bytes {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.slow = None;
            self.bytes = 0;
        }
        Poll::Pending
    }
}

fn poll(timer: &mut Timer, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
    timer
        .get_or_insert_with(|| Box::pin(tokio::time::sleep(time)))
        .as_mut()
        .poll(cx)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);
    const SHORT: Duration = Duration::from_millis(20);

    fn pace(stalled_time: Duration, slow_time: Duration) -> Pace {
        Pace::new(PaceLimits {
            stalled_time,
            slow_time,
            slow_bytes: 100,
        })
    }

    /// Waits with a full socket until patience ends; how often it was looked at before.
    async fn wait(pace: &mut Pace) -> usize {
        let mut looks = 0;
        let ended = poll_fn(|cx| {
            looks += 1;
            pace.judge(cx, Poll::Pending)
        });
        assert_eq!(ended.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        looks
    }

    /// A socket that was full and then took so many bytes.
    async fn takes(pace: &mut Pace, bytes: usize) {
        poll_fn(|cx| {
            assert!(pace.judge(cx, Poll::Pending).is_pending());
            assert!(pace.judge(cx, Poll::Ready(Ok(bytes))).is_ready());
            Poll::Ready(())
        })
        .await;
    }

    #[tokio::test]
    async fn who_takes_nothing_is_ended() {
        wait(&mut pace(SHORT, LONG)).await;
    }

    #[tokio::test]
    async fn who_takes_a_little_now_and_then_is_ended_too() {
        let mut pace = pace(LONG, SHORT);
        for _ in 0..9 {
            takes(&mut pace, 11).await;
        }
        assert_eq!(wait(&mut pace).await, 2, "within the first stretch of time");
    }

    #[tokio::test]
    async fn who_takes_enough_is_given_another_stretch_of_time() {
        let mut pace = pace(LONG, SHORT);
        takes(&mut pace, 100).await;
        assert_eq!(wait(&mut pace).await, 3);
    }

    #[tokio::test]
    async fn who_caught_up_meanwhile_begins_anew() {
        let mut pace = pace(LONG, SHORT);
        takes(&mut pace, 1).await;
        let over = pace.slow.as_mut().unwrap();
        over.as_mut().await;
        // Nothing had to wait when the time was over, so nothing is held against the client.
        assert_eq!(wait(&mut pace).await, 2, "one whole stretch of time");
    }
}
