//! The dashboard's pages as this program carries them. All addresses below `/dashboard` are one page, which finds out by
//! itself what to show there; what it has to know of the server before it asks anything stands in its head.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use http::HeaderMap;
use till_engine::{Engine, Signup};

use crate::handler::{Answered, Api};

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/dashboard", get(page))
        .route("/dashboard/", get(page))
        .route("/dashboard/{*below}", get(page))
        .route("/dashboard/assets/{name}", get(asset))
}

/// Where the server puts what the page has to know.
const MARK: &str = "<!--server-->";
/// Where the build left the page's files.
const BUILT: &str = "\"./assets/";

async fn page(State(api): State<Arc<Api>>) -> Response {
    api.config.pages.dashboard.page(|index| {
        let config = &api.engine.config.dashboard;
        let path = config.url.strip_prefix(config.origin().as_str());
        // A proxy may have put the dashboard elsewhere, and pages lie at any depth.
        let assets = format!(
            "\"{}/assets/",
            path.unwrap_or_default().trim_end_matches('/')
        );
        index
            .replace(BUILT, &assets)
            .replacen(MARK, &known(&api.engine), 1)
    })
}

/// The configured address, for browsers that opened another one, and which ways in there are.
fn known(engine: &Engine) -> String {
    let config = &engine.config.dashboard;
    let signup = match config.signup {
        Signup::Closed => "closed",
        Signup::Invite => "invite",
        Signup::Open => "open",
    };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let said = [
        ("url", config.url.as_str()),
        ("signup", signup),
        ("mail", yes(engine.mailer.is_some())),
        ("demo", yes(engine.config.demo)),
    ];
    let line = |(name, value): (&str, &str)| {
        let value = value.replace('&', "&amp;").replace('"', "&quot;");
        format!("<meta name=\"till-{name}\" content=\"{value}\">\n")
    };
    said.into_iter().map(line).collect()
}

/// A script or a style.
async fn asset(
    State(api): State<Arc<Api>>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Answered {
    api.config.pages.dashboard.asset(&name, &request)
}
