//! What an answer must look like to be one: JSON-RPC 2.0, about the question that was asked.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::RpcError;

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<ErrorObject>,
    /// How java-tron says, beside all rules, that it is asked too often.
    #[serde(rename = "Error")]
    busy: Option<String>,
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    #[serde(default)]
    message: String,
}

/// Null is a value here: "no such transaction" is an answer, no answer is not.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The text of the result in an answer to the question with this number.
pub fn open(id: u64, body: &[u8]) -> Result<Box<RawValue>, RpcError> {
    let not = |what: &str| Err(RpcError::NotAnAnswer(what.to_owned()));
    let Ok(text) = std::str::from_utf8(body) else {
        return not("it is not text");
    };
    let Ok(envelope) = serde_json::from_str::<Envelope>(text) else {
        return not("it is not JSON-RPC");
    };
    if envelope.jsonrpc.is_some_and(|version| version != "2.0") {
        return not("it is not JSON-RPC 2.0");
    }
    let answered = envelope.id.as_ref().map(|id| id.get());
    let ours = answered == Some(id.to_string().as_str());
    if let (Some(busy), None, None) = (&envelope.busy, &envelope.id, &envelope.result) {
        return Err(RpcError::too_often(busy.clone()));
    }
    match (envelope.error, envelope.result) {
        // A server that could not read the question cannot repeat its number.
        (Some(error), _) if ours || matches!(answered, None | Some("null")) => {
            Err(RpcError::Refused {
                code: error.code,
                message: error.message,
            })
        }
        _ if !ours => not("it answers another question"),
        (None, Some(result)) => Ok(result),
        _ => not("it has no result"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(body: &str, expected: Result<&str, &str>) {
        let opened = open(7, body.as_bytes());
        let shown = opened
            .as_ref()
            .map(|result| result.get())
            .map_err(ToString::to_string);
        assert_eq!(shown, expected.map_err(str::to_owned), "{body}");
    }

    #[test]
    fn a_result_is_taken_only_with_its_own_number() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#,
            Ok("{\"a\":1}"),
        );
        check(r#"{"id":7,"result":null,"error":null}"#, Ok("null"));
        let other = "not an answer: it answers another question";
        for id in ["8", "\"7\"", "7.0", "null", "[7]", "70"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#);
            check(&body, Err(other));
        }
        check(r#"{"jsonrpc":"2.0","result":null}"#, Err(other));
        check(r#"{"id":8,"error":{"code":1,"message":"x"}}"#, Err(other));
    }

    #[test]
    fn an_error_object_is_a_refusal_also_beside_a_result() {
        let refused = "refused with -32005: too many";
        let error = r#""error":{"code":-32005,"message":"too many","data":{"x":1}}"#;
        for rest in ["\"id\":7", "\"id\":null", "\"id\":7,\"result\":[]"] {
            check(&format!("{{{rest},{error}}}"), Err(refused));
        }
        check(&format!("{{{error}}}"), Err(refused));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let garbage = "not an answer: it is not JSON-RPC";
        for body in [
            "",
            "<html><body>Bad gateway</body></html>",
            r#"{"jsonrpc":"2.0","id":7,"result":{"a"#,
            r#"{"id":7,"result":null,"result":{"a":1}}"#,
            r#"{"id":7,"result":1} trailing"#,
            r#"{"id":7,"error":"rate limited"}"#,
            "null",
            "7",
        ] {
            check(body, Err(garbage));
        }
        let often = "asked too often: class org.tron: rate limit";
        check(r#"{"Error":"class org.tron: rate limit"}"#, Err(often));
        let both = r#"{"id":7,"result":1,"Error":"class org.tron: rate limit"}"#;
        check(both, Ok("1"));
        check(r#"{"id":7}"#, Err("not an answer: it has no result"));
        check(
            r#"{"id":7,"error":null}"#,
            Err("not an answer: it has no result"),
        );
        check(
            r#"{"jsonrpc":"1.0","id":7,"result":1}"#,
            Err("not an answer: it is not JSON-RPC 2.0"),
        );
        assert!(open(7, b"{\"id\":7,\"result\":\"\xff\"}").is_err());
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
        assert!(open(7, &gzip).is_err());
        let deep = format!("{{\"id\":7,\"result\":{}", "[".repeat(100_000));
        assert!(open(7, deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(body: Vec<u8>, text in "\\{(\"(id|result|error)\":[0-9\\[\\]{}\",null]*,?){0,4}\\}?") {
            let _ = open(7, &body);
            let _ = open(7, text.as_bytes());
        }
    }
}
