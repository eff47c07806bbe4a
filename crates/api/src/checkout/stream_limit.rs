//! Limits how many live streams may be open, for one client and for one invoice.

use std::sync::{Arc, PoisonError};

use till_core::error::{Code, Refusal};

use crate::handler::{Api, Client};

const STREAMS_PER_INVOICE_MAX: usize = 200;

/// Counts as an open stream of its client and its invoice until it is dropped.
pub struct StreamPermit {
    api: Arc<Api>,
    counted: [String; 2],
}

impl StreamPermit {
    pub fn take(api: &Arc<Api>, client: Client, invoice: &str) -> Result<StreamPermit, Refusal> {
        // An address is no id: the two cannot be taken for each other.
        let counted = [client.0.to_string(), invoice.to_owned()];
        let limits = [api.config.streams_per_client, STREAMS_PER_INVOICE_MAX];
        let mut streams = api.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let full = counted
            .iter()
            .zip(limits)
            .any(|(of, max)| streams.get(of).is_some_and(|open| *open >= max));
        if full {
            let message = "Too many live streams are open.";
            return Err(Refusal::new(Code::RateLimited, message).retry_after(30));
        }
        for of in &counted {
            *streams.entry(of.clone()).or_default() += 1;
        }
        drop(streams);
        metrics::gauge!("till_streams_open").increment(1);
        Ok(StreamPermit {
            api: Arc::clone(api),
            counted,
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        metrics::gauge!("till_streams_open").decrement(1);
        let mut streams = self
            .api
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for of in &self.counted {
            if let Some(open) = streams.get_mut(of) {
                *open -= 1;
                if *open == 0 {
                    streams.remove(of);
                }
            }
        }
    }
}
