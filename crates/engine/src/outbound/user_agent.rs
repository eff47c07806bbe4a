//! The name that every request to another server carries.

use http::header::HeaderValue;

pub(super) const USER_AGENT_VALUE: HeaderValue =
    HeaderValue::from_static(concat!("Till/", env!("CARGO_PKG_VERSION")));
