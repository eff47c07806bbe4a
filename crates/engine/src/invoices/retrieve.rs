//! Retrieving invoices, many at once: requests that wait together are answered by one statement.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::Reader;
use till_store::invoices::InvoiceRow;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::invoices::find::missing_invoice;

const BATCH_MAX: usize = 64;
const WAITING_MAX: usize = 4_096;

type RetrievedInvoice = Option<Arc<InvoiceRow>>;

struct WaitingLookup {
    scope: Scope,
    id: String,
    answer: oneshot::Sender<Result<RetrievedInvoice, Fail>>,
}

/// Where requests for invoices queue up. Nobody waits for company: a statement begins as soon as one is free,
/// with whoever is there. Dropping it ends the tasks behind it.
pub struct Retrievals {
    engine: Arc<Engine>,
    queue: mpsc::Sender<WaitingLookup>,
}

impl Retrievals {
    /// `lanes` statements may run beside each other.
    pub fn start(engine: &Arc<Engine>, lanes: usize) -> Retrievals {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..lanes {
            tokio::spawn(lane(Arc::clone(engine), Arc::clone(&waiting)));
        }
        Retrievals {
            engine: Arc::clone(engine),
            queue,
        }
    }

    /// The invoice as it is committed now, or why there is none.
    pub async fn find(&self, scope: &Scope, id: &str) -> Result<Arc<InvoiceRow>, Fail> {
        if till_core::id::is(IdKind::Invoice, id)
            && let Some(row) = self.ask(scope, id).await?
        {
            return Ok(row);
        }
        // Boxed to keep the future small: a missing invoice is rare.
        Err(Box::pin(self.missing(scope, id)).await)
    }

    async fn missing(&self, scope: &Scope, id: &str) -> Fail {
        let refusal = async {
            let mut reader = self.engine.db.read().await?;
            missing_invoice(&mut reader, scope, id).await
        };
        refusal.await.map_or_else(|fail| fail, Fail::from)
    }

    async fn ask(&self, scope: &Scope, id: &str) -> Result<RetrievedInvoice, Fail> {
        let (answer, answered) = oneshot::channel();
        let waiting = WaitingLookup {
            scope: scope.clone(),
            id: id.to_owned(),
            answer,
        };
        let gone = || Fail::broken("nobody looks invoices up any more");
        self.queue.send(waiting).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

async fn lane(engine: Arc<Engine>, waiting: Arc<Mutex<mpsc::Receiver<WaitingLookup>>>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    // Kept from one batch to the next while they follow each other: giving a connection back and taking one
    // anew costs about what a row does.
    let mut kept: Option<Reader> = None;
    loop {
        let mut queue = match waiting.try_lock() {
            Ok(queue) if !queue.is_empty() => queue,
            nothing_to_do => {
                drop(nothing_to_do);
                kept = None;
                waiting.lock().await
            }
        };
        if queue.recv_many(&mut batch, BATCH_MAX).await == 0 {
            return;
        }
        drop(queue);
        // A panic in one batch must not end the lane: its requests are answered, the next go on.
        let found = std::panic::AssertUnwindSafe(look_up(&engine, &mut kept, &batch))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| vec![Err(Fail::broken("a look-up panicked")); batch.len()]);
        if found.iter().any(Result::is_err) {
            kept = None;
        }
        for (waiting, found) in batch.drain(..).zip(found) {
            // The caller may have hung up.
            drop(waiting.answer.send(found));
        }
    }
}

async fn look_up(
    engine: &Engine,
    kept: &mut Option<Reader>,
    batch: &[WaitingLookup],
) -> Vec<Result<RetrievedInvoice, Fail>> {
    let asked: Vec<(&Scope, &str)> = batch
        .iter()
        .map(|waiting| (&waiting.scope, waiting.id.as_str()))
        .collect();
    let read = async {
        let reader = match kept {
            Some(reader) => reader,
            None => kept.insert(engine.db.read().await?),
        };
        till_store::invoices::find_many(reader, &asked).await
    };
    let rows: Vec<Arc<InvoiceRow>> = match read.await {
        Ok(rows) => rows.into_iter().map(Arc::new).collect(),
        Err(error) => return vec![Err(error.into()); batch.len()],
    };
    let rows: HashMap<(&Scope, &str), &Arc<InvoiceRow>> = rows
        .iter()
        .map(|row| ((&row.scope, &*row.id), row))
        .collect();
    let found = |(scope, id): &(&Scope, &str)| {
        let row = rows.get(&(*scope, *id));
        Ok(row.map(|row| Arc::clone(row)))
    };
    asked.iter().map(found).collect()
}
