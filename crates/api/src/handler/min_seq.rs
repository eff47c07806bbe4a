//! `Till-Min-Seq`: how far the database was when a write was answered. Sent back with a GET of a list, a report or an export, it keeps
//! replicas that are not as far from answering.

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use till_core::error::Refusal;
use till_engine::Position;
use till_http::read::{Read, invalid};

use super::state::Api;

const HEADER: HeaderName = HeaderName::from_static("till-min-seq");
const PARAM: &str = "Till-Min-Seq";

/// What a GET asks for; nothing where it does not say.
pub fn asked(headers: &HeaderMap) -> Read<Option<Position>> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let position = value.to_str().ok().and_then(Position::parse);
    match position.filter(|_| values.next().is_none()) {
        Some(position) => Ok(Some(position)),
        None => Err(not_ours()),
    }
}

fn not_ours() -> Refusal {
    let message = format!("`{PARAM}` must be the number that an answer to a write had in it.");
    invalid(PARAM, message)
}

/// Whether an answer says how far the database is.
pub fn is_write(method: &Method) -> bool {
    matches!(
        *method,
        Method::POST | Method::PUT | Method::PATCH | Method::DELETE
    )
}

/// Tells a client whose write was done what to ask for. Where the primary fell silent since, it is told nothing.
pub async fn tell(api: &Api, status: StatusCode, headers: &mut HeaderMap) {
    if !status.is_success() {
        return;
    }
    let Some(position) = api.engine.db.position().await else {
        return;
    };
    let value = match position {
        Position::START => HeaderValue::from_static("0"),
        position => match HeaderValue::try_from(position.to_string()) {
            Ok(value) => value,
            Err(_) => return,
        },
    };
    headers.insert(HEADER, value);
}

#[cfg(test)]
mod tests {
    use till_core::error::Code;

    use super::*;

    fn of(values: &[&'static str]) -> Read<Option<Position>> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        asked(&headers)
    }

    #[test]
    fn it_is_one_number_or_not_there() {
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(of(&["0"]).unwrap(), Some(Position::START));
        assert_eq!(of(&["5042"]).unwrap(), Position::parse("5042"));
        for wrong in [&[""][..], &["-1"], &["1 2"], &["0/16B3"], &["1", "1"]] {
            let refusal = of(wrong).unwrap_err();
            assert_eq!(refusal.code, Code::ParameterInvalid, "{wrong:?}");
            assert_eq!(refusal.param.as_deref(), Some(PARAM), "{wrong:?}");
        }
    }
}
