//! The cookies of the dashboard.

use axum::response::Response;
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use till_engine::DashboardConfig;
use till_engine::team::tokens::Token;

/// The value of the cookie of this name; an empty one is none.
fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(COOKIE).iter();
    let mut pairs = all
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(of, _)| *of == name);
    found
        .map(|(_, value)| value)
        .filter(|value| !value.is_empty())
}

fn session_name(config: &DashboardConfig) -> &'static str {
    match config.is_https() {
        true => "__Host-till_session",
        false => "till_session",
    }
}

/// The token of the session that a request carries.
pub fn session<'h>(config: &DashboardConfig, headers: &'h HeaderMap) -> Option<&'h str> {
    value(headers, session_name(config))
}

fn browser_name(config: &DashboardConfig) -> &'static str {
    match config.is_https() {
        true => "__Host-till_browser",
        false => "till_browser",
    }
}

/// The token by which a browser is known that asked for a link.
pub fn browser<'h>(config: &DashboardConfig, headers: &'h HeaderMap) -> Option<&'h str> {
    value(headers, browser_name(config))
}

/// Answers with it; it lasts as long as any link does that is bound to it.
pub fn with_browser(config: &DashboardConfig, response: Response, token: &Token) -> Response {
    let name = browser_name(config);
    set(response, cookie(config, name, &token.0, "; Max-Age=3600"))
}

fn cookie(config: &DashboardConfig, name: &str, value: &str, rest: &str) -> Option<HeaderValue> {
    // Safari drops secure cookies of http://localhost.
    let secure = match config.is_https() {
        true => "; Secure",
        false => "",
    };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{rest}");
    HeaderValue::from_str(&text).ok()
}

fn set(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Answers with a session's token.
pub fn with_session(config: &DashboardConfig, response: Response, token: &Token) -> Response {
    set(response, cookie(config, session_name(config), &token.0, ""))
}

/// Answers without one.
pub fn without_session(config: &DashboardConfig, response: Response) -> Response {
    set(
        response,
        cookie(config, session_name(config), "", "; Max-Age=0"),
    )
}
