//! The dashboard's own endpoints, for people who are signed in: cookies in place of keys.

mod api_keys;
mod applications;
mod changes;
mod confirmations;
mod credential;
mod entering;
mod home;
mod invites;
mod inviting;
mod members;
mod operating;
mod operator;
mod organizations;
mod pages;
mod passkeys;
mod sessions;
mod sign_in;
mod signed;
mod totp;
mod user;

use std::sync::Arc;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;

use crate::handler::Api;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .merge(sessions::routes())
        .merge(sign_in::routes())
        .merge(user::routes())
        .merge(totp::routes())
        .merge(organizations::routes())
        .merge(invites::routes())
        .merge(passkeys::routes())
        .merge(confirmations::routes())
        .merge(members::routes())
        .merge(inviting::routes())
        .merge(applications::routes())
        .merge(operator::routes())
        .merge(operating::routes())
        .merge(api_keys::routes())
        .merge(changes::routes())
        .merge(home::routes())
}

/// The pages that people open.
pub fn page_routes() -> Router<Arc<Api>> {
    pages::routes()
}
