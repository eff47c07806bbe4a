//! What anybody may look up at a fixed place: the public keys that check the signatures of digests.

use std::sync::Arc;

use axum::extract::{Request, State};
use till_engine::digests::key;
use till_engine::view::LedgerKeysView;
use till_http::query::Query;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::{Answered, Api, Refusals, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(ledger_keys))
}

/// The keys that sign digests of the journal
///
/// Public halves, earlier ones too. No key is needed to ask for them.
#[utoipa::path(
    get, path = "/.well-known/till-ledger.json", tag = "Reconciliation", operation_id = "ledgerKeys",
    responses((status = 200, description = "The public keys", body = LedgerKeysView), Refusals)
)]
async fn ledger_keys(State(api): State<Arc<Api>>, request: Request) -> Answered {
    Query::of(request.uri().query(), &[])?;
    shown(&LedgerKeysView::of(&key::all(&api.engine).await?))
}
