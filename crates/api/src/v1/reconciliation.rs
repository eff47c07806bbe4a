//! Reconciliation: the report, the ledger's balances, and the report as a table.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures::stream;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use till_engine::books::{self, BalancesView, BooksRequest, Form, Pieces, ReportView};
use till_http::query;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::params;
use crate::handler::words::Moment;
use crate::handler::{Answered, Api, Got, Refusals, Secret, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(report))
        .routes(routes!(balances))
        .routes(routes!(export))
}

params! {
    pub struct PeriodParams {
        /// The first moment, as an RFC 3339 date-time or a date (midnight UTC). Default: 30 days before `to`.
        #[param(value_type = Option<String>)]
        from: Option<Moment> = Moment::param,
        /// The moment after the last. Default: now. At most 366 days after `from`.
        #[param(value_type = Option<String>)]
        to: Option<Moment> = Moment::param,
        /// Only this asset.
        asset: Option<String> = query::text,
    }
}

impl PeriodParams {
    fn asked(&self) -> BooksRequest {
        BooksRequest {
            from: self.from.map(|at| at.0),
            to: self.to.map(|at| at.0),
            asset: self.asset.clone(),
        }
    }
}

/// Compare ledger, chain and invoices of a period
#[utoipa::path(
    get, path = "/v1/reconciliation", tag = "Reconciliation", operation_id = "reconcile",
    params(PeriodParams),
    responses((status = 200, description = "The report", body = ReportView), Refusals),
    security(("secret_key" = []))
)]
async fn report(State(api): State<Arc<Api>>, got: Got<Secret, PeriodParams>) -> Answered {
    streamed(&api, &got, Form::Json, "application/json").await
}

/// The ledger's balances over a period
#[utoipa::path(
    get, path = "/v1/reconciliation/balances", tag = "Reconciliation", operation_id = "ledgerBalances",
    params(PeriodParams),
    responses((status = 200, description = "The balances", body = BalancesView), Refusals),
    security(("secret_key" = []))
)]
async fn balances(State(api): State<Arc<Api>>, got: Got<Secret, PeriodParams>) -> Answered {
    let (reads, asked) = (got.reads(&api).await, got.query.asked());
    shown(&books::balances(&api.engine, &reads, got.scope(), &asked).await?)
}

/// The report as CSV
#[utoipa::path(
    get, path = "/v1/reconciliation/export", tag = "Reconciliation", operation_id = "exportReconciliation",
    params(PeriodParams),
    responses((status = 200, description = "The report, a row for each figure and discrepancy", body = String, content_type = "text/csv"), Refusals),
    security(("secret_key" = []))
)]
async fn export(State(api): State<Arc<Api>>, got: Got<Secret, PeriodParams>) -> Answered {
    let kind = "text/csv; charset=utf-8; header=present";
    let mut response = streamed(&api, &got, Form::Csv, kind).await?;
    response.headers_mut().insert(
        CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"reconciliation.csv\""),
    );
    Ok(response)
}

/// The report in pieces. What goes wrong before the first is answered as an error; afterwards the answer breaks off.
async fn streamed(
    api: &Api,
    got: &Got<Secret, PeriodParams>,
    form: Form,
    kind: &'static str,
) -> Answered {
    let (reads, asked) = (got.reads(api).await, got.query.asked());
    let pieces = Pieces::of(&api.engine, &reads, got.scope(), &asked, form).await?;
    let body = stream::try_unfold(pieces, |mut pieces| async move {
        match pieces.next().await {
            Ok(piece) => Ok(piece.map(|piece| (piece, pieces))),
            Err(fail) => {
                tracing::error!(
                    ?fail,
                    "a reconciliation report was cut off because reading it failed; the caller has to request it again"
                );
                Err(io::Error::other("the report broke off"))
            }
        }
    });
    let mut response = Response::new(Body::from_stream(body));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}
