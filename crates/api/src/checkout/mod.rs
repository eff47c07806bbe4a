//! What payers' pages ask: with a publishable key, from any origin, some of it only so often. And the pages
//! themselves, for merchants who do not put them on a host of their own.

mod assets;
mod claims;
mod demo;
mod exchanges;
mod invoices;
mod links;
mod origins;
mod page_config;
mod pages;
mod plain;
mod stream;
mod stream_limit;

use std::sync::Arc;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;

use crate::handler::Api;

/// The endpoints that payers' browsers call from other origins.
pub fn routes() -> OpenApiRouter<Arc<Api>> {
    origins::answer_preflights(asked_by_browsers())
}

/// Whether pages of any origin may call what is at a path.
pub fn is_for_any_origin() -> impl Fn(&str) -> bool {
    origins::is_one_of(&asked_by_browsers())
}

fn asked_by_browsers() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .merge(assets::routes())
        .merge(claims::routes())
        .merge(exchanges::routes())
        .merge(invoices::routes())
        .merge(links::routes())
        .merge(stream::routes())
}

/// The pages that payers open, and what only they ask for. The demonstration's test money exists there alone.
pub fn page_routes(is_demo: bool) -> Router<Arc<Api>> {
    let routes = pages::routes()
        .merge(page_config::routes())
        .merge(plain::routes());
    match is_demo {
        true => routes.merge(demo::routes()),
        false => routes,
    }
}
