//! Is it up, can it work, and how is it doing.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{StatusCode, header};
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_engine::base::Stopping;
use till_engine::{Engine, Fail};
use utoipa::ToSchema;

use till_engine::watch::NetworkStatus;
use till_http::answer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::errors::ErrorEnvelope;
use crate::handler::{Answered, Api, Failure, shown};

/// Whoever asks whether a server is ready does not wait for as long as a payer would.
const READY_TIME: Duration = Duration::from_secs(3);

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// How the server is.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    status: &'static str,
}

/// What the server can do now.
#[derive(Serialize, ToSchema)]
pub struct Readiness {
    /// `ready`.
    status: &'static str,
    /// The networks that are watched. One that stands still does not keep the others from working.
    networks: Vec<NetworkStatus>,
}

/// Liveness: the process serves HTTP. Asks nothing of anybody.
#[utoipa::path(
    get, path = "/healthz", tag = "Health", operation_id = "healthz",
    responses((status = 200, description = "The process is up", body = Health))
)]
async fn healthz() -> Response {
    answer::json(StatusCode::OK, &Health { status: "ok" })
}

/// Readiness: the database answers, takes what is written, and has the schema this program knows.
///
/// Names the networks that are watched and how they stand.
#[utoipa::path(
    get, path = "/readyz", tag = "Health", operation_id = "readyz",
    responses((status = 200, description = "The service can take traffic", body = Readiness), (status = 503, description = "It cannot", body = ErrorEnvelope))
)]
async fn readyz(State(api): State<Arc<Api>>) -> Answered {
    let mut ready = ready(&api.engine, &api.stopping).await?;
    let networks = ready.networks.into_iter();
    ready.networks = networks.map(NetworkStatus::without_providers).collect();
    shown(&ready)
}

async fn ready(engine: &Engine, stopping: &Stopping) -> Result<Readiness, Failure> {
    if *stopping.borrow() || engine.readiness.is_leaving() {
        return Err(Refusal::new(Code::ServiceUnavailable, "The server is shutting down.").into());
    }
    if let Some(why) = engine.db.unwritable() {
        let message = format!("Nothing can be written: {why}.");
        return Err(Refusal::new(Code::ServiceUnavailable, message).into());
    }
    if !engine.readiness.can_write() {
        let message = "Nothing can be written to the database: is its disk full?";
        return Err(Refusal::new(Code::ServiceUnavailable, message).into());
    }
    if engine.readiness.lacks_key() {
        let message = "The key that the other servers encrypt with is missing here; add it to `secrets.key_file`.";
        return Err(Refusal::new(Code::ServiceUnavailable, message).into());
    }
    if let Some(seconds) = engine.readiness.clock_off_s() {
        let message = format!(
            "This server's clock and the database's differ by {seconds} s: set both by NTP."
        );
        return Err(Refusal::new(Code::ServiceUnavailable, message).into());
    }
    let silent = || {
        let message = "The database does not answer; check that it runs and can be reached.";
        Refusal::new(Code::ServiceUnavailable, message)
    };
    let Ok(asked) = tokio::time::timeout(READY_TIME, ask_database(engine)).await else {
        tracing::warn!(
            "not ready: the database did not answer in time; check that it runs and is not overloaded"
        );
        return Err(silent().into());
    };
    match asked {
        Ok(Some(networks)) => Ok(Readiness {
            status: "ready",
            networks,
        }),
        Ok(None) => {
            let message = "The database's schema is not this version's: run till migrate.";
            Err(Refusal::new(Code::ServiceUnavailable, message).into())
        }
        Err(fail) => {
            tracing::warn!(
                ?fail,
                "not ready: the database gave an error; check that it runs and can be reached"
            );
            Err(silent().into())
        }
    }
}

/// How the networks stand; nothing where the schema is another version's.
async fn ask_database(engine: &Engine) -> Result<Option<Vec<NetworkStatus>>, Fail> {
    if !engine.db.schema_fits().await? {
        return Ok(None);
    }
    Ok(Some(till_engine::watch::statuses(engine).await?))
}

/// Renders the metrics in Prometheus' text form.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

/// What the operator's own listener answers: metrics, and the same health as the public one, for processes that have
/// no other.
pub struct Operator {
    pub engine: Arc<Engine>,
    pub stopping: Stopping,
    pub metrics: Metrics,
}

pub fn operator_routes(operator: Operator) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(operator_readyz))
        .route("/metrics", get(metrics))
        .with_state(Arc::new(operator))
}

async fn operator_readyz(State(operator): State<Arc<Operator>>) -> Answered {
    shown(&ready(&operator.engine, &operator.stopping).await?)
}

/// In Prometheus' text form.
async fn metrics(State(operator): State<Arc<Operator>>) -> Response {
    let kind = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    (kind, (operator.metrics)()).into_response()
}
