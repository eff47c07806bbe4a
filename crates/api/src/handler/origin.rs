//! Where requests with a session may come from: the dashboard's own pages.

use http::header::ORIGIN;
use http::request::Parts;
use http::{HeaderName, Method};
use till_core::error::{Code, Refusal};
use till_engine::DashboardConfig;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what pages of other origins make a browser send.
pub fn check(config: &DashboardConfig, parts: &Parts) -> Result<(), Refusal> {
    if !config.is_safe() {
        let message = "The dashboard is reached over plain http under a name other than localhost, where browsers do not keep a session. \
             Set `dashboard.url` to an https address.";
        return Err(Refusal::new(Code::FeatureUnavailable, message));
    }
    let all: Vec<_> = parts.headers.get_all(ORIGIN).iter().collect();
    let own = config.origin();
    let is_own = all.len() == 1 && all[0].as_bytes() == own.as_bytes();
    let site = parts.headers.get(FETCH_SITE).map(|site| site.as_bytes());
    let fits = match parts.method == Method::POST {
        true => is_own && site.is_none_or(|site| site == b"same-origin"),
        false => {
            (all.is_empty() || is_own)
                && !site.is_some_and(|site| site == b"cross-site" || site == b"same-site")
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Refusal::of(Code::OriginNotAllowed)),
    }
}
