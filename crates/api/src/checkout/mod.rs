//! What payers' pages ask: with a publishable key, from any origin, some of it only so often.

mod claims;
mod exchanges;
mod invoices;
mod links;
mod origins;
mod places;
mod stream;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::face::Api;

/// The endpoints that payers' browsers call from other origins.
pub fn routes() -> OpenApiRouter<Arc<Api>> {
    let routes = OpenApiRouter::new()
        .merge(claims::routes())
        .merge(exchanges::routes())
        .merge(invoices::routes())
        .merge(links::routes())
        .merge(stream::routes());
    origins::allow_any(routes)
}
