//! The gatherer: hands whatever requests are waiting to one unit of work, and never waits for more.

use scoped_futures::ScopedFutureExt as _;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use crate::context::{Answer, Effects, Engine};
use crate::create::{CreateInvoice, create_invoices};
use crate::fail::Fail;
use crate::idempotency;

const BATCH_MAX: usize = 64;
const WAITING_MAX: usize = 4_096;

struct Waiting {
    request: CreateInvoice,
    answer: oneshot::Sender<Result<Answer, Fail>>,
}

/// Where requests to create invoices queue up. Dropping the last handle ends the tasks behind it.
#[derive(Clone)]
pub struct Gatherer {
    queue: mpsc::Sender<Waiting>,
}

impl Gatherer {
    /// `lanes` units of work may run beside each other: one on SQLite, a few on PostgreSQL.
    pub fn start(engine: &Arc<Engine>, lanes: usize) -> Gatherer {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..lanes {
            tokio::spawn(lane(Arc::clone(engine), Arc::clone(&waiting)));
        }
        Gatherer { queue }
    }

    pub async fn create(&self, request: CreateInvoice) -> Result<Answer, Fail> {
        let (answer, answered) = oneshot::channel();
        let gone = |_| Fail::broken("the gatherer has stopped");
        self.queue
            .send(Waiting { request, answer })
            .await
            .map_err(|_| gone(()))?;
        answered.await.map_err(|_| gone(()))?
    }
}

async fn lane(engine: Arc<Engine>, waiting: Arc<Mutex<mpsc::Receiver<Waiting>>>) {
    loop {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        if waiting.lock().await.recv_many(&mut batch, BATCH_MAX).await == 0 {
            return;
        }
        let (requests, answers): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|waiting| (waiting.request, waiting.answer))
            .unzip();
        // A panic in one batch must not end the lane: its requests see a closed channel, the next go on.
        let engine = Arc::clone(&engine);
        let done = tokio::spawn(async move { create_all(&engine, requests).await }).await;
        if let Ok(results) = done {
            for (result, answer) in results.into_iter().zip(answers) {
                // The caller may have hung up; what was committed stays committed.
                drop(answer.send(result));
            }
        }
    }
}

/// Creates all of them together, and each alone when together does not go.
pub async fn create_all(
    engine: &Engine,
    requests: Vec<CreateInvoice>,
) -> Vec<Result<Answer, Fail>> {
    match create_together(engine, &requests).await {
        Ok(answers) => answers,
        Err(fail) if requests.len() == 1 => vec![retry_alone(engine, &requests, fail).await],
        Err(_) => {
            let mut answers = Vec::with_capacity(requests.len());
            for request in requests {
                let alone = [request];
                let answer = match create_together(engine, &alone).await {
                    Ok(mut answers) => answers
                        .pop()
                        .unwrap_or_else(|| Err(Fail::broken("no answer"))),
                    Err(fail) => retry_alone(engine, &alone, fail).await,
                };
                answers.push(answer);
            }
            answers
        }
    }
}

async fn create_together(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    let effects = Effects::default();
    let effects_ref = &effects;
    let answers = engine
        .db
        .write(move |tx| {
            async move {
                effects_ref.clear();
                create_invoices(engine, tx, requests, effects_ref).await
            }
            .scope_boxed()
        })
        .await?;
    engine.tell(&effects);
    let made = answers
        .iter()
        .flatten()
        .filter(|answer| !answer.replayed)
        .count();
    metrics::counter!("till_invoices_created_total").increment(made as u64);
    Ok(answers)
}

/// A key that another process bound meanwhile has its answer by now.
async fn retry_alone(
    engine: &Engine,
    request: &[CreateInvoice],
    fail: Fail,
) -> Result<Answer, Fail> {
    match fail {
        Fail::Store(error) if idempotency::is_key_taken(&error) => {
            match create_together(engine, request).await {
                Ok(mut answers) => answers
                    .pop()
                    .unwrap_or_else(|| Err(Fail::broken("no answer"))),
                Err(fail) => Err(fail),
            }
        }
        Fail::Store(till_store::StoreError::LockTimeout) => Err(idempotency::in_use().into()),
        fail => Err(fail),
    }
}
