//! The dashboard's own endpoints, for people who are signed in: cookies in place of keys.

mod api_keys;
mod changes;
mod entering;
mod home;
mod invites;
mod sessions;
mod signed;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::handler::Api;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .merge(sessions::routes())
        .merge(invites::routes())
        .merge(api_keys::routes())
        .merge(changes::routes())
        .merge(home::routes())
}
