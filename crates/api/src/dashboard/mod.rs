//! The dashboard's own endpoints, for people who are signed in: cookies in place of keys.

mod applications;
mod cookies;
mod entering;
mod invites;
mod inviting;
mod members;
mod operating;
mod operator;
mod organizations;
mod origin;
mod sessions;
mod signed;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::handler::Api;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .merge(sessions::routes())
        .merge(invites::routes())
        .merge(organizations::routes())
        .merge(members::routes())
        .merge(inviting::routes())
        .merge(applications::routes())
        .merge(operator::routes())
        .merge(operating::routes())
}
