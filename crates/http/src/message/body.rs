//! The body of a request: within its size, within its time, and JSON by its own declaration.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use till_core::error::{Code, Refusal};
use till_core::limits::BODY_BYTES_MAX;

pub const READ_TIME_LIMIT: Duration = Duration::from_secs(10);

/// The bytes of a JSON body, or nothing when there is none.
pub async fn read(
    headers: &HeaderMap,
    body: Body,
    time_limit: Duration,
) -> Result<Option<Bytes>, Refusal> {
    // What announces itself as too large is not waited for.
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > BODY_BYTES_MAX as u64) {
        return Err(too_large());
    }
    let bytes = tokio::time::timeout(time_limit, collect(body))
        .await
        .map_err(|_| too_slow())??;
    if bytes.is_empty() {
        return Ok(None);
    }
    content_type(headers)?;
    Ok(Some(bytes))
}

async fn collect(mut body: Body) -> Result<Bytes, Refusal> {
    let mut first = Bytes::new();
    // Most bodies come in one piece and are not copied.
    let mut joined: Option<BytesMut> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Refusal::new(
                Code::BodyInvalidJson,
                "The body broke off before its end or is not framed as HTTP says.",
            )
        })?;
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        let so_far = joined.as_ref().map_or(first.len(), BytesMut::len);
        if piece.len() > BODY_BYTES_MAX - so_far {
            return Err(too_large());
        }
        match &mut joined {
            Some(joined) => joined.extend_from_slice(&piece),
            None if first.is_empty() => first = piece,
            None => {
                let mut bytes = BytesMut::with_capacity(first.len() + piece.len());
                bytes.extend_from_slice(&first);
                bytes.extend_from_slice(&piece);
                joined = Some(bytes);
            }
        }
    }
    Ok(joined.map_or(first, BytesMut::freeze))
}

/// The client's doing, and no fault of the server's.
fn too_slow() -> Refusal {
    Refusal::new(
        Code::BodyInvalidJson,
        "The body did not arrive in time. Send it again.",
    )
    .status(StatusCode::REQUEST_TIMEOUT.as_u16())
}

fn too_large() -> Refusal {
    Refusal::new(
        Code::BodyTooLarge,
        format!("The body is larger than {BODY_BYTES_MAX} bytes."),
    )
}

/// Exactly one `application/json`. Its text is UTF-8 by definition: no other charset is taken.
fn content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let json = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().is_ok_and(is_json),
        _ => false,
    };
    json.then_some(()).ok_or_else(|| {
        Refusal::new(
            Code::ContentTypeInvalid,
            "Send the body with `Content-Type: application/json`.",
        )
        .param("Content-Type")
    })
}

fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let essence = parts.next().unwrap_or("");
    essence.eq_ignore_ascii_case("application/json")
        && parts.all(|part| match part.split_once('=') {
            Some((name, value)) => {
                !name.trim().eq_ignore_ascii_case("charset")
                    || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            None => part.is_empty(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use http::HeaderValue;
    use std::convert::Infallible;

    fn json_headers() -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))])
    }

    async fn read_all(headers: &HeaderMap, body: Body) -> Result<Option<Bytes>, Code> {
        read(headers, body, READ_TIME_LIMIT)
            .await
            .map_err(|refusal| refusal.code)
    }

    fn pieces(pieces: Vec<Bytes>) -> Body {
        Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)))
    }

    #[test]
    fn only_application_json_in_utf_8_is_json() {
        for good in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json ; x=y",
            "application/json;",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/problem+json",
            "application/json; charset=latin1",
            "application/json, text/plain",
            "application/json; x",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }

    #[tokio::test]
    async fn no_body_needs_no_content_type_and_any_body_does() {
        let none = HeaderMap::new();
        assert_eq!(read_all(&none, Body::empty()).await, Ok(None));
        assert_eq!(
            read_all(&none, "{}".into()).await,
            Err(Code::ContentTypeInvalid)
        );
        assert_eq!(
            read_all(&json_headers(), "{}".into()).await,
            Ok(Some("{}".into()))
        );
        let mut twice = json_headers();
        twice.append(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        assert_eq!(
            read_all(&twice, "{}".into()).await,
            Err(Code::ContentTypeInvalid)
        );
    }

    #[tokio::test]
    async fn pieces_are_joined_up_to_the_limit_and_not_beyond() {
        let quarter = Bytes::from(vec![b'a'; BODY_BYTES_MAX / 4]);
        let mut all = vec![quarter; 4];
        let body = read_all(&json_headers(), pieces(all.clone())).await;
        assert_eq!(body.unwrap().unwrap().len(), BODY_BYTES_MAX);
        all.push("b".into());
        assert_eq!(
            read_all(&json_headers(), pieces(all)).await,
            Err(Code::BodyTooLarge)
        );
        let single = Body::from(vec![b'a'; BODY_BYTES_MAX + 1]);
        assert_eq!(
            read_all(&json_headers(), single).await,
            Err(Code::BodyTooLarge)
        );
    }

    #[tokio::test]
    async fn an_announced_giant_is_refused_without_waiting() {
        let mut headers = json_headers();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("99999999999"));
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(read_all(&headers, never).await, Err(Code::BodyTooLarge));
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_given_up() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let refusal = read(&json_headers(), never, Duration::from_millis(5)).await;
        let refusal = refusal.unwrap_err();
        assert_eq!((refusal.code, refusal.status), (Code::BodyInvalidJson, 408));
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_no_json() {
        let broken = stream::iter([Ok(Bytes::from("{")), Err(std::io::Error::other("gone"))]);
        assert_eq!(
            read_all(&json_headers(), Body::from_stream(broken)).await,
            Err(Code::BodyInvalidJson)
        );
    }
}
