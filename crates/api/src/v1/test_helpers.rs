//! Helpers of test mode: simulated payments, the test clock, a reorganisation.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_core::time;
use till_engine::settlement;
use till_engine::test_mode::{self, Advance, Simulation};
use till_engine::view::{InvoiceView, PaymentView};
use till_http::read::{self, Read};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{Body, body};
use crate::handler::words::{Finality, Moment};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, Posted, Refusals, TestSecret, shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(simulate_payment))
        .routes(routes!(reverse_payment))
        .routes(routes!(clock, advance_clock))
}

const STEPS_MAX: usize = 4;

body! {
    pub struct SimulatePaymentRequest {
        /// Asset code, or a symbol together with `network`. Default: the invoice's first option.
        asset: Option<String> = read::text,
        /// CAIP-2 id; must agree with a full asset code.
        network: Option<String> = read::text,
        /// Whole tokens. Default: the option's amount due.
        amount: Option<String> = read::text,
        /// Levels to walk through, rising. Default: included, final.
        #[schema(value_type = Option<Vec<Finality>>)]
        finality_steps: Option<Vec<String>> = read::list(STEPS_MAX, read::text),
        /// Extension: who sends it, for screening and wallet payments.
        sender: Option<String> = read::text,
    }
}

impl Body for Simulation {
    fn read(bytes: Option<&[u8]>) -> Read<Simulation> {
        let request = SimulatePaymentRequest::read(bytes)?;
        Ok(Simulation {
            asset: request.asset,
            network: request.network,
            amount: request.amount,
            finality_steps: request.finality_steps,
            sender: request.sender,
        })
    }
}

/// Simulate a payment
///
/// A synthetic transfer to the invoice's deposit address, through the same door as real ones.
#[utoipa::path(
    post, path = "/v1/test_helpers/invoices/{id}/simulate_payment", tag = "Test helpers",
    operation_id = "simulatePayment",
    params(("id" = String, Path, description = "Invoice id"), IdempotencyKey),
    request_body(content = Option<SimulatePaymentRequest>),
    responses((status = 200, description = "The invoice afterwards", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn simulate_payment(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<TestSecret, Simulation>,
) -> Answered {
    let (id, simulation) = (id.as_str(), &posted.body);
    let simulate = posted.perform(&api, |tx, context| {
        async move {
            let row = test_mode::simulate_payment(tx, context, id, simulation).await?;
            settlement::render(context, &row)
        }
        .scope_boxed()
    });
    simulate.await
}

/// Undo a simulated payment, as a chain reorganisation would
#[utoipa::path(
    post, path = "/v1/test_helpers/payments/{id}/reverse", tag = "Test helpers", operation_id = "reversePayment",
    params(("id" = String, Path, description = "Payment id"), IdempotencyKey),
    responses((status = 200, description = "The reversed payment", body = PaymentView), Refusals),
    security(("secret_key" = []))
)]
async fn reverse_payment(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<TestSecret>,
) -> Answered {
    let id = id.as_str();
    let reverse = posted.perform(&api, |tx, context| {
        async move {
            let row = test_mode::reverse_payment(tx, context, id).await?;
            text(&PaymentView::of(&row))
        }
        .scope_boxed()
    });
    reverse.await
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
    responses((status = 200, description = "The clock", body = TestClock), Refusals),
    security(("secret_key" = []))
)]
async fn clock(State(api): State<Arc<Api>>, got: Got<TestSecret>) -> Answered {
    let now = test_mode::read_clock(&api.engine, got.scope()).await?;
    shown(&clock_at(now))
}

const ADVANCE_SECONDS_MAX: i64 = 400 * 366 * 24 * 3600;

body! {
    /// Exactly one of the two.
    pub struct AdvanceClockRequest {
        #[schema(minimum = 0)]
        advance_seconds: Option<i64> = read::integer(0..=ADVANCE_SECONDS_MAX),
        #[schema(value_type = Option<String>, format = DateTime)]
        advance_to: Option<Moment> = Moment::read,
    }
}

impl Body for Advance {
    fn read(bytes: Option<&[u8]>) -> Read<Advance> {
        let request = AdvanceClockRequest::read(bytes)?;
        match (request.advance_seconds, request.advance_to) {
            (Some(seconds), None) => Ok(Advance::Seconds(seconds)),
            (None, Some(to)) => Ok(Advance::To(to.0)),
            (Some(_), Some(_)) => {
                let message = "Send advance_seconds or advance_to, not both.";
                Err(Refusal::new(Code::ParameterInvalid, message).param("advance_to"))
            }
            (None, None) => {
                let message = "`advance_seconds` or `advance_to` is required.";
                Err(Refusal::new(Code::ParameterMissing, message).param("advance_seconds"))
            }
        }
    }
}

/// Move the test clock forward
///
/// When it answers, everything that fell due has happened, in order.
#[utoipa::path(
    post, path = "/v1/test_helpers/clock", tag = "Test helpers", operation_id = "advanceTestClock",
    params(IdempotencyKey), request_body = AdvanceClockRequest,
    responses((status = 200, description = "The clock afterwards", body = TestClock), Refusals),
    security(("secret_key" = []))
)]
async fn advance_clock(
    State(api): State<Arc<Api>>,
    posted: Posted<TestSecret, Advance>,
) -> Answered {
    let advance = &posted.body;
    let moved = posted.perform(&api, |tx, context| {
        async move { text(&clock_at(test_mode::set_goal(tx, context, advance).await?)) }
            .scope_boxed()
    });
    let moved = moved.await?;
    test_mode::reach_goal(&api.engine, posted.scope()).await?;
    Ok(moved)
}
