//! What an account can be paid in. Merchants' servers ask, and pages that offer a choice.

use std::sync::Arc;

use axum::extract::State;
use till_engine::merchants::assets;
use till_engine::view::AssetView;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::{Answered, Api, Got, KeyParam, List, Listing, PageParams, Payer, Refusals};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// List the assets of this mode
///
/// A stablecoin is priced in its own currency only; a volatile asset in any currency that there is a price in.
#[utoipa::path(
    get, path = "/v1/assets", tag = "Assets", operation_id = "listAssets",
    params(PageParams, KeyParam),
    responses((status = 200, description = "A page of assets", body = List<AssetView>), Refusals),
    security(("secret_key" = []), ("publishable_key" = []), ("publishable_key_query" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Payer, Listing>) -> Answered {
    let pager = got.pager_at_primary(&api, "assets")?;
    pager
        .shown(assets::list(&api.engine, got.scope(), &pager.page).await?)
        .await
}
