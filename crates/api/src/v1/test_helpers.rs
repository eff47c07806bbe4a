//! Helpers of test mode: simulated payments, the test clock, a reorganisation.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_core::time;
use till_engine::test_mode::{self, Advance, Simulation};
use till_engine::view::{InvoiceView, PaymentView};
use till_engine::{Answer, settlement};
use utoipa::ToSchema;

use crate::face::answers::{Answered, answered, no_body};
use crate::face::callers::{Got, Id, Posted, TestSecret};
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer::{self, Failure};
use till_http::fields::{Field, Fields, Kind, may};
use till_http::read;

const SIMULATE: &[Field] = &[
    may("asset", Kind::Text),
    may("network", Kind::Text),
    may("amount", Kind::Text),
    may("finality_steps", Kind::List(&Kind::Text)),
    may("sender", Kind::Text),
];

/// Simulate a payment
///
/// A synthetic transfer to the invoice's deposit address, through the same door as real ones.
#[utoipa::path(
    post, path = "/v1/test_helpers/invoices/{id}/simulate_payment", tag = "Test helpers",
    operation_id = "simulatePayment",
    params(("id" = String, Path, description = "Invoice id"), words::IdempotencyKey),
    request_body(content = Option<words::SimulatePaymentRequest>),
    responses((status = 200, description = "The invoice afterwards", body = InvoiceView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn simulate_payment(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<TestSecret>,
) -> Answered {
    let read = read_simulation(posted.body.as_deref());
    let simulation = posted.read(&api, read).await?;
    let (id, simulation) = (id.as_str(), &simulation);
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = test_mode::simulate_payment(tx, context, id, simulation).await?;
                Ok(Answer::new(200, settlement::render(context, &row)?))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

fn read_simulation(body: Option<&[u8]>) -> Result<Simulation, Failure> {
    const STEPS_MAX: usize = 4;
    let mut fields = Fields::of(body, SIMULATE)?;
    Ok(Simulation {
        asset: fields.optional("asset", read::text)?,
        network: fields.optional("network", read::text)?,
        amount: fields.optional("amount", read::text)?,
        finality_steps: fields.optional("finality_steps", read::list(STEPS_MAX, read::text))?,
        sender: fields.optional("sender", read::text)?,
    })
}

/// Undo a simulated payment, as a chain reorganisation would
#[utoipa::path(
    post, path = "/v1/test_helpers/payments/{id}/reverse", tag = "Test helpers", operation_id = "reversePayment",
    params(("id" = String, Path, description = "Payment id"), words::IdempotencyKey),
    responses((status = 200, description = "The reversed payment", body = PaymentView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn reverse_payment(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<TestSecret>,
) -> Answered {
    posted.read(&api, no_body(posted.body.as_deref())).await?;
    let id = id.as_str();
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = test_mode::reverse_payment(tx, context, id).await?;
                Answer::json(200, &PaymentView::of(&row))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

/// An account's test clock.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestClock {
    #[schema(example = "test_clock", pattern = "^test_clock$")]
    object: &'static str,
    /// Business time of this account in test mode.
    #[schema(format = DateTime)]
    now: String,
}

fn clock_at(now: i64) -> TestClock {
    TestClock {
        object: "test_clock",
        now: time::show(now),
    }
}

/// Read the test clock
#[utoipa::path(
    get, path = "/v1/test_helpers/clock", tag = "Test helpers", operation_id = "retrieveTestClock",
    responses((status = 200, description = "The clock", body = TestClock), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn clock(State(api): State<Arc<Api>>, got: Got<TestSecret>) -> Answered {
    got.query(&[])?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let merchant = till_store::accounts::merchant(&mut reader, got.scope()).await;
    let merchant = merchant
        .map_err(|error| fail(error.into()))?
        .ok_or_else(|| Refusal::of(Code::ModeNotConfigured))?;
    Ok(answer::json(
        StatusCode::OK,
        &clock_at(api.engine.clock.now_ms() + merchant.clock_offset_ms),
    ))
}

const ADVANCE: &[Field] = &[
    may("advance_seconds", Kind::Integer),
    may("advance_to", Kind::Text),
];

/// Move the test clock forward
///
/// When it answers, everything that fell due has happened, in order.
#[utoipa::path(
    post, path = "/v1/test_helpers/clock", tag = "Test helpers", operation_id = "advanceTestClock",
    params(words::IdempotencyKey), request_body = words::AdvanceClockRequest,
    responses((status = 200, description = "The clock afterwards", body = TestClock), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn advance_clock(State(api): State<Arc<Api>>, posted: Posted<TestSecret>) -> Answered {
    let read = read_advance(posted.body.as_deref());
    let advance = &posted.read(&api, read).await?;
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let now = test_mode::advance_clock(tx, context, advance).await?;
                Answer::json(200, &clock_at(now))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

fn read_advance(body: Option<&[u8]>) -> Result<Advance, Failure> {
    const SECONDS_MAX: i64 = 400 * 366 * 24 * 3600;
    let mut fields = Fields::of(body, ADVANCE)?;
    let seconds = fields.optional("advance_seconds", read::integer(0..=SECONDS_MAX))?;
    let to = fields.optional("advance_to", |at, value| {
        let text = read::text(at, value)?;
        time::parse(&text)
            .ok_or_else(|| read::invalid(at, format!("`{at}` must be an RFC 3339 date-time.")))
    })?;
    match (seconds, to) {
        (Some(seconds), None) => Ok(Advance::Seconds(seconds)),
        (None, Some(to)) => Ok(Advance::To(to)),
        (Some(_), Some(_)) => {
            let message = "Send advance_seconds or advance_to, not both.";
            Err(Refusal::new(Code::ParameterInvalid, message)
                .param("advance_to")
                .into())
        }
        (None, None) => {
            let message = "`advance_seconds` or `advance_to` is required.";
            Err(Refusal::new(Code::ParameterMissing, message)
                .param("advance_seconds")
                .into())
        }
    }
}
