//! Is it up, can it work, and how is it doing.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde::Serialize;
use till_core::error::{Code, Refusal};
use utoipa::ToSchema;

use till_engine::watch::NetworkStatus;
use till_http::answer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::face::errors::ErrorEnvelope;
use crate::face::{Answered, Api, shown};

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

/// Readiness: the database answers and has the schema this program knows.
///
/// Names the networks that are watched and how they stand.
#[utoipa::path(
    get, path = "/readyz", tag = "Health", operation_id = "readyz",
    responses((status = 200, description = "The service can take traffic", body = Readiness), (status = 503, description = "It cannot", body = ErrorEnvelope))
)]
async fn readyz(State(api): State<Arc<Api>>) -> Answered {
    if *api.stopping.borrow() {
        return Err(Refusal::new(Code::ServiceUnavailable, "The server is shutting down").into());
    }
    match api.engine.db.schema_current().await {
        Ok(true) => shown(&Readiness {
            status: "ready",
            networks: till_engine::watch::statuses(&api.engine).await?,
        }),
        Ok(false) => {
            let message = "The database's schema is not this version's: run till migrate";
            Err(Refusal::new(Code::ServiceUnavailable, message).into())
        }
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Err(Refusal::new(Code::ServiceUnavailable, "The database does not answer").into())
        }
    }
}

/// In Prometheus' text form, where the operator asked for it.
pub async fn metrics(State(api): State<Arc<Api>>) -> Answered {
    let Some(render) = &api.config.metrics else {
        return Err(Refusal::of(Code::RouteNotFound).into());
    };
    let kind = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((kind, render()).into_response())
}
