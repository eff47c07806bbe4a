//! The gatherer: hands whatever requests are waiting to one unit of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use till_store::StoreError;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::base::fail::Fail;
use crate::base::{Answer, Engine};
use crate::invoices::create::CreateInvoice;
pub use crate::invoices::create_batch::create_all;
use crate::invoices::create_batch::create_group;
use crate::invoices::locked_accounts::{LockedAccounts, WaitingRequest, answer_all, join, split};

const BATCH_MAX: usize = 64;
const WAITING_MAX: usize = 4_096;
/// So few are worth waiting a moment for more.
const FEW: usize = 16;
const MOMENT: Duration = Duration::from_millis(1);
/// How long a request waits to be written. What is being written by then is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where requests to create invoices queue up. Dropping the last handle ends the tasks behind it.
#[derive(Clone)]
pub struct Gatherer {
    queue: mpsc::Sender<WaitingRequest>,
}

impl Gatherer {
    /// `lanes` groups may be under way beside each other: while one is written, the next is worked out.
    pub fn start(engine: &Arc<Engine>, lanes: usize) -> Gatherer {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let under_way = Arc::new(AtomicUsize::new(0));
        let aside = LockedAccounts::new(engine);
        for _ in 0..lanes {
            tokio::spawn(lane(
                Arc::clone(&aside),
                Arc::clone(&waiting),
                Arc::clone(&under_way),
            ));
        }
        Gatherer { queue }
    }

    /// The invoice's answer, or a failure after which nothing more will come of the request.
    pub async fn create(&self, request: CreateInvoice) -> Result<Answer, Fail> {
        let wanted = request.wanted.clone();
        let asking = self.ask(request);
        tokio::pin!(asking);
        match timeout(PATIENCE, &mut asking).await {
            Ok(answer) => answer,
            Err(_) if wanted.give_up().await => Err(StoreError::Unavailable.into()),
            Err(_) => asking.await,
        }
    }

    async fn ask(&self, request: CreateInvoice) -> Result<Answer, Fail> {
        let (answer, answered) = oneshot::channel();
        let gone = |_| Fail::broken("the gatherer has stopped");
        self.queue
            .send(WaitingRequest { request, answer })
            .await
            .map_err(|_| gone(()))?;
        answered.await.map_err(|_| gone(()))?
    }
}

async fn lane(
    aside: Arc<LockedAccounts>,
    waiting: Arc<Mutex<mpsc::Receiver<WaitingRequest>>>,
    under_way: Arc<AtomicUsize>,
) {
    loop {
        let batch = gather(&mut *waiting.lock().await, &under_way).await;
        if batch.is_empty() {
            return;
        }
        let _under_way = UnderWay::begin(&under_way);
        // A panic in one batch must not end the lane: its requests see a closed channel, the next go on.
        drop(tokio::spawn(write(Arc::clone(&aside), batch)).await);
    }
}

/// Writes them together. When that fails it may be the fault of one: then each account goes on by itself, and the lane
/// is free for the next.
async fn write(aside: Arc<LockedAccounts>, batch: Vec<WaitingRequest>) {
    let batch = aside.without_locked(batch);
    let (requests, answers) = split(batch);
    if requests.is_empty() {
        return;
    }
    metrics::histogram!("till_invoice_group_size")
        .record(u32::try_from(requests.len()).unwrap_or(u32::MAX));
    match create_group(&aside.engine, &requests).await {
        Ok(results) => answer_all(answers, results),
        Err(fail) if fail.is_outage() => answer_all(answers, vec![Err(fail); requests.len()]),
        // There is nobody else whose fault it could be.
        Err(fail @ Fail::Refused(_)) if requests.len() == 1 => answer_all(answers, vec![Err(fail)]),
        Err(_) => aside.take(join(requests, answers)),
    }
}

/// Whoever is there. Those who are few wait a moment for more if others are being written anyway, for whom
/// they would have to wait all the same: one group instead of two.
async fn gather(
    queue: &mut mpsc::Receiver<WaitingRequest>,
    under_way: &AtomicUsize,
) -> Vec<WaitingRequest> {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    queue.recv_many(&mut batch, BATCH_MAX).await;
    if !batch.is_empty() && batch.len() < FEW && under_way.load(Ordering::Relaxed) > 0 {
        sleep(MOMENT).await;
        while batch.len() < BATCH_MAX
            && let Ok(waiting) = queue.try_recv()
        {
            batch.push(waiting);
        }
    }
    batch
}

/// Counts a group as under way as long as it lives.
struct UnderWay<'c>(&'c AtomicUsize);

impl UnderWay<'_> {
    fn begin(count: &AtomicUsize) -> UnderWay<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        UnderWay(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
