//! Payments: the transfers that invoices received.

use std::sync::Arc;

use axum::extract::State;
use till_core::asset::Registry;
use till_engine::invoices;
use till_engine::view::PaymentView;
use till_http::query;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::params;
use crate::handler::words::{PaymentStatus, word_param};
use crate::handler::{Answered, Api, Got, List, Listing, PageParams, Refusals, Secret};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(list))
}

params! {
    pub struct PaymentFilter {
        /// Invoice id.
        invoice: Option<String> = query::text,
        /// Only those that stand there.
        #[param(inline)]
        status: Option<PaymentStatus> = word_param,
        /// Asset code.
        asset: Option<String> = query::text,
        /// As the network writes it.
        tx_hash: Option<String> = query::text,
    }
}

/// List payments, newest first
#[utoipa::path(
    get, path = "/v1/payments", tag = "Payments", operation_id = "listPayments",
    params(PageParams, PaymentFilter),
    responses((status = 200, description = "A page of payments", body = List<PaymentView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<PaymentFilter>>) -> Answered {
    let asked = got.filter().clone();
    let filter = invoices::PaymentFilter {
        invoice: asked.invoice,
        status: asked.status.map(|status| status.0),
        asset: asked
            .asset
            .map(|code| match Registry::builtin().asset(&code) {
                Some(asset) => asset.code.clone(),
                None => code,
            }),
        tx_hash: asked.tx_hash,
    };
    let pager = got.pager(&api, "payments").await?;
    let found = invoices::list_payments(&pager.reads, got.scope(), filter, &pager.page);
    pager.shown(found.await?).await
}
