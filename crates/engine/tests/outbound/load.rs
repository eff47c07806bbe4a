//! How much one sender can deliver. Run by hand in the release profile; the runner prints how long
//! the 50,000 deliveries took:
//! `cargo nextest run --release -p till-engine --run-ignored only fifty_thousand`

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::development_sender;
use crate::receiver::{OK, answering};

const DELIVERIES: usize = 50_000;
const CONCURRENCY: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a load, for whoever changes the sender"]
async fn fifty_thousand_deliveries_to_one_endpoint_share_few_connections() {
    let receiver = answering(OK).await;
    let url: Arc<str> = receiver.url().into();
    let sender = Arc::new(development_sender());
    let body = Bytes::from(vec![b'x'; 1024]);
    let started = Arc::new(AtomicUsize::new(0));
    let mut lanes = JoinSet::new();
    for _ in 0..CONCURRENCY {
        let (sender, url, body) = (Arc::clone(&sender), Arc::clone(&url), body.clone());
        let started = Arc::clone(&started);
        lanes.spawn(async move {
            while started.fetch_add(1, Ordering::Relaxed) < DELIVERIES {
                let headers = [
                    ("x-service-signature", format!("t=1,v1={}", "a".repeat(64))),
                    ("x-service-event-id", "evt_1".to_owned()),
                    ("x-service-event-type", "invoice.paid".to_owned()),
                ];
                let outcome = sender.post(&url, &headers, body.clone()).await;
                assert!(outcome.delivered, "{outcome:?}");
            }
        });
    }
    lanes.join_all().await;
    assert!(receiver.connections() <= 2 * CONCURRENCY);
}
