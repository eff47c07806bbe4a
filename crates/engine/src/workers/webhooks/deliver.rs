//! How a webhook is taken to its receiver.

use std::future::Future;

use bytes::Bytes;

use crate::outbound::{Outcome, Sender};

/// What takes a webhook to where it goes. The simulator's receiver is one too.
pub trait Deliver: Send + Sync + 'static {
    fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> impl Future<Output = Outcome> + Send;
}

impl Deliver for Sender {
    async fn post(&self, url: &str, headers: &[(&'static str, String)], body: Bytes) -> Outcome {
        Sender::post(self, url, headers, body).await
    }
}
