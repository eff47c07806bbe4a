//! Whether anybody still waits for what was asked: nothing is written for a caller who was told that it was not.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    GivenUp,
    Answered,
}

/// Shared by a request and its caller.
#[derive(Clone, Debug, Default)]
pub struct PendingRequest(Arc<Mutex<State>>);

/// A request that is being written: its caller cannot give it up meanwhile.
pub(super) struct RequestGuard(OwnedMutexGuard<State>);

impl PendingRequest {
    /// None when the caller gave up.
    pub(super) async fn hold(&self) -> Option<RequestGuard> {
        let state = Arc::clone(&self.0).lock_owned().await;
        (*state != State::GivenUp).then_some(RequestGuard(state))
    }

    /// Gives the request up, after what is being written for it, if anything is. False when it has its answer.
    pub(super) async fn give_up(&self) -> bool {
        let mut state = self.0.lock().await;
        if *state == State::Waiting {
            *state = State::GivenUp;
        }
        *state == State::GivenUp
    }
}

impl RequestGuard {
    pub(super) fn answered(mut self) {
        *self.0 = State::Answered;
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn what_was_given_up_is_not_written() {
        let wanted = PendingRequest::default();
        assert!(wanted.give_up().await);
        assert!(wanted.hold().await.is_none());
    }

    #[tokio::test]
    async fn what_is_being_written_can_be_given_up_only_if_that_fails() {
        let wanted = PendingRequest::default();
        let held = wanted.hold().await.unwrap();
        let mut giving_up = Box::pin(wanted.give_up());
        assert!((&mut giving_up).now_or_never().is_none(), "it waits");
        drop(held);
        assert!(giving_up.await);
        assert!(wanted.hold().await.is_none());
    }

    #[tokio::test]
    async fn what_was_written_has_its_answer() {
        let wanted = PendingRequest::default();
        wanted.hold().await.unwrap().answered();
        assert!(!wanted.give_up().await);
    }
}
