//! Writing requests to create invoices: together if that goes, each alone if it does not.

use std::time::Duration;

use till_store::StoreError;
use tokio::time::timeout;

use crate::base::fail::Fail;
use crate::base::{Answer, Engine};
use crate::invoices::create::{CreateInvoice, create_invoices};
use crate::invoices::pending_request::RequestGuard;

/// How long writing may take. Together with the time that a request waits for it this is less than the time in which
/// HTTP wants an answer: nothing is to be written for whoever was told that it was not.
const WRITING_TIME_MAX: Duration = Duration::from_secs(20);

/// Creates all of them together, and each alone when together does not go because of one of them.
pub async fn create_all(engine: &Engine, requests: &[CreateInvoice]) -> Vec<Result<Answer, Fail>> {
    if requests.len() > 1 {
        match create_group(engine, requests).await {
            Ok(answers) => return answers,
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

/// All of them or none; a failure may be the fault of one.
pub(super) async fn create_group(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    // Somebody gave up meanwhile.
    let held = hold_all(requests).await.ok_or(Fail::Again)?;
    let answers = in_time(create_together(engine, requests)).await?;
    held.into_iter().for_each(RequestGuard::answered);
    Ok(answers)
}

/// None when somebody gave up meanwhile.
async fn hold_all(requests: &[CreateInvoice]) -> Option<Vec<RequestGuard>> {
    let mut held = Vec::with_capacity(requests.len());
    for request in requests {
        held.push(request.wanted.hold().await?);
    }
    Some(held)
}

pub(super) async fn create_alone(engine: &Engine, request: &CreateInvoice) -> Result<Answer, Fail> {
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
