//! The gatherer: hands whatever requests are waiting to one unit of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use till_store::StoreError;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::base::fail::Fail;
use crate::base::{Answer, Engine};
use crate::invoices::create::{CreateInvoice, create_invoices};
use crate::invoices::wanted::Held;

const BATCH_MAX: usize = 64;
const WAITING_MAX: usize = 4_096;
/// So few are worth waiting a moment for more.
const FEW: usize = 16;
const MOMENT: Duration = Duration::from_millis(1);
/// How long a request waits to be written. What is being written by then is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long that may take. Both together are less than the time in which HTTP wants an answer: nothing is to be
/// written for whoever was told that it was not.
const WRITING_TIME_MAX: Duration = Duration::from_secs(20);

struct WaitingRequest {
    request: CreateInvoice,
    answer: oneshot::Sender<Result<Answer, Fail>>,
}

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
        for _ in 0..lanes {
            tokio::spawn(lane(
                Arc::clone(engine),
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
    engine: Arc<Engine>,
    waiting: Arc<Mutex<mpsc::Receiver<WaitingRequest>>>,
    under_way: Arc<AtomicUsize>,
) {
    loop {
        let batch = gather(&mut *waiting.lock().await, &under_way).await;
        if batch.is_empty() {
            return;
        }
        let _under_way = UnderWay::begin(&under_way);
        let batch = batch
            .into_iter()
            .filter(|waiting| !waiting.answer.is_closed());
        let (requests, answers): (Vec<_>, Vec<_>) = batch
            .map(|waiting| (waiting.request, waiting.answer))
            .unzip();
        // A panic in one batch must not end the lane: its requests see a closed channel, the next go on.
        let engine = Arc::clone(&engine);
        let done = tokio::spawn(async move { create_all(&engine, &requests).await }).await;
        if let Ok(results) = done {
            for (result, answer) in results.into_iter().zip(answers) {
                // The caller may have hung up; what was committed stays committed.
                drop(answer.send(result));
            }
        }
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

/// Creates all of them together, and each alone when together does not go because of one of them.
pub async fn create_all(engine: &Engine, requests: &[CreateInvoice]) -> Vec<Result<Answer, Fail>> {
    if requests.len() > 1
        && let Some(held) = hold_all(requests).await
    {
        match in_time(create_together(engine, requests)).await {
            Ok(answers) => {
                held.into_iter().for_each(Held::answered);
                return answers;
            }
            Err(fail) if fail.is_outage() => return vec![Err(fail); requests.len()],
            Err(_) => {}
        }
    }
    let mut answers = Vec::with_capacity(requests.len());
    for request in requests {
        answers.push(create_alone(engine, request).await);
    }
    answers
}

/// None when somebody gave up meanwhile.
async fn hold_all(requests: &[CreateInvoice]) -> Option<Vec<Held>> {
    let mut held = Vec::with_capacity(requests.len());
    for request in requests {
        held.push(request.wanted.hold().await?);
    }
    Some(held)
}

async fn create_alone(engine: &Engine, request: &CreateInvoice) -> Result<Answer, Fail> {
    let create = async || {
        let answers = create_together(engine, std::slice::from_ref(request)).await?;
        let answer = answers.into_iter().next();
        answer.unwrap_or_else(|| Err(Fail::broken("no answer")))
    };
    let Some(held) = request.wanted.hold().await else {
        return Err(StoreError::Unavailable.into());
    };
    let create = async {
        match create().await {
            // Another process bound the key meanwhile: its answer is there by now.
            Err(Fail::Again) => create().await,
            done => done,
        }
    };
    let answer = in_time(create).await;
    held.answered();
    answer
}

async fn in_time<T>(writing: impl Future<Output = Result<T, Fail>>) -> Result<T, Fail> {
    let late = |_| Err(StoreError::Unavailable.into());
    timeout(WRITING_TIME_MAX, writing)
        .await
        .unwrap_or_else(late)
}

async fn create_together(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    let answers = create_invoices(engine, requests).await?;
    let made = answers
        .iter()
        .flatten()
        .filter(|answer| !answer.replayed)
        .count();
    metrics::counter!("till_invoices_created_total").increment(made as u64);
    Ok(answers)
}
