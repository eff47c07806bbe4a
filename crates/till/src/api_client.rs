//! The API, as the commands for developers call it: over HTTP with a secret key, from whichever machine.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;
use till_engine::base::clock::Entropy as _;
use till_http::client::{Call, CallError, HttpClient};
use till_http::credentials::{KeyKind, KeyMode, KeyShape};
use url::Url;

use crate::failure::Failure;
use crate::system::SystemEntropy;

/// Moving a test clock over years takes its time.
const DEADLINE: Duration = Duration::from_secs(15 * 60);
const IDEMPOTENCY_KEY_BYTES: usize = 16;
/// In the answer to a write, and in what is read after it.
const MIN_SEQ: &str = "till-min-seq";

/// Whose API is called, and as whom.
#[derive(Clone, Debug, Args)]
pub struct ApiArgs {
    /// The server's address
    #[arg(
        long,
        env = "TILL_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:4242",
        hide_default_value = true,
        hide_env_values = true
    )]
    server: String,
    /// A secret key
    #[arg(
        long,
        env = "TILL_SECRET_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    key: String,
}

#[derive(Debug, Error)]
pub enum ApiError {
    #[error("{server}: {cause}")]
    Unreachable { server: String, cause: CallError },
    #[error("{code}: {message}")]
    Refused {
        status: u16,
        code: String,
        message: String,
    },
    #[error("{0} answered with something that is not Till's")]
    Strange(String),
}

impl ApiError {
    /// Whether the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            ApiError::Unreachable { .. } => true,
            ApiError::Refused { status, .. } => *status == 429 || *status >= 500,
            ApiError::Strange(_) => false,
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// One page of a list, its items as the server wrote them.
#[derive(Debug, Deserialize)]
pub struct ListPage {
    pub data: Vec<Box<RawValue>>,
    pub next_cursor: Option<String>,
}

pub struct ApiClient {
    http: HttpClient,
    server: Url,
    key: String,
    /// [`MIN_SEQ`] of the last write's answer.
    written: Mutex<Option<String>>,
}

impl ApiClient {
    pub fn new(args: &ApiArgs) -> Result<ApiClient, Failure> {
        let unusable = || {
            Failure::Usage("--server must be an address such as https://till.example".to_owned())
        };
        let server = Url::parse(&args.server).map_err(|_| unusable())?;
        if !matches!(server.scheme(), "http" | "https") || server.host().is_none() {
            return Err(unusable());
        }
        let shape = KeyShape::parse(&args.key);
        if shape.is_none_or(|shape| shape.kind != KeyKind::Secret) {
            let message = "--key must be a secret key, till_test_sk_… or till_live_sk_…";
            return Err(Failure::Usage(message.to_owned()));
        }
        let http =
            HttpClient::new(DEADLINE).map_err(|error| Failure::new(format!("TLS: {error}")))?;
        Ok(ApiClient {
            http,
            server,
            key: args.key.clone(),
            written: Mutex::default(),
        })
    }

    /// The same for commands that exist in test mode only.
    pub fn of_test_mode(args: &ApiArgs) -> Result<ApiClient, Failure> {
        let client = ApiClient::new(args)?;
        match client.is_of_test_mode() {
            true => Ok(client),
            false => Err(Failure::Usage(
                "this command is for test mode: use a secret test key, till_test_sk_…".to_owned(),
            )),
        }
    }

    pub fn is_of_test_mode(&self) -> bool {
        KeyShape::parse(&self.key).is_some_and(|shape| shape.mode == KeyMode::Test)
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ApiError> {
        let body = self.call("GET", path, query, None).await?;
        self.json(&body)
    }

    pub async fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<ListPage, ApiError> {
        let body = self.call("GET", path, query, None).await?;
        serde_json::from_slice(&body).map_err(|_| self.strange())
    }

    /// Posts under an idempotency key of its own. What is read afterwards has what it wrote, also at a replica.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        let body = self.call("POST", path, &[], Some(body)).await?;
        self.json(&body)
    }

    /// What an endpoint answers, as it is written.
    pub async fn get_text(&self, path: &str, query: &[(&str, &str)]) -> Result<String, ApiError> {
        let body = self.call("GET", path, query, None).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// The same of a request that changes something.
    pub async fn post_text(&self, path: &str, body: &Value) -> Result<String, ApiError> {
        let body = self.call("POST", path, &[], Some(body)).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn json(&self, body: &[u8]) -> Result<Value, ApiError> {
        serde_json::from_slice(body).map_err(|_| self.strange())
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Bytes, ApiError> {
        let mut url = self.server.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let (authorization, once) = (format!("Bearer {}", self.key), idempotency_key());
        let written = self.written.lock();
        let written = written.unwrap_or_else(PoisonError::into_inner).clone();
        let mut headers = vec![("authorization", &*authorization)];
        if method == "POST" {
            headers.extend([
                ("idempotency-key", &*once),
                ("content-type", "application/json"),
            ]);
        } else if let Some(written) = &written {
            headers.push((MIN_SEQ, written));
        }
        let sent = Call {
            method,
            url: &url,
            headers: &headers,
            body: body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string())),
        };
        let reply = self.http.send(sent).await;
        let reply = reply.map_err(|cause| ApiError::Unreachable {
            server: till_net::place(&self.server),
            cause,
        })?;
        if let Some(written) = reply.header(MIN_SEQ) {
            let mut last = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(written.to_owned());
        }
        match reply.is_success() {
            true => Ok(reply.body),
            false => Err(self.refusal(reply.status, &reply.body)),
        }
    }

    fn refusal(&self, status: u16, body: &[u8]) -> ApiError {
        let envelope: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let error = &envelope["error"];
        match (error["code"].as_str(), error["message"].as_str()) {
            (Some(code), Some(message)) => ApiError::Refused {
                status,
                code: code.to_owned(),
                message: message.to_owned(),
            },
            // A proxy in between says so in words of its own.
            _ if status >= 500 => ApiError::Refused {
                status,
                code: status.to_string(),
                message: "the server is not available".to_owned(),
            },
            _ => self.strange(),
        }
    }

    fn strange(&self) -> ApiError {
        ApiError::Strange(till_net::place(&self.server))
    }
}

fn idempotency_key() -> String {
    let mut random = [0; IDEMPOTENCY_KEY_BYTES];
    SystemEntropy.fill(&mut random);
    hex::encode(random)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn args(server: &str, key: &str) -> ApiArgs {
        ApiArgs {
            server: server.to_owned(),
            key: key.to_owned(),
        }
    }

    #[test]
    fn only_secret_keys_and_web_addresses_are_taken() {
        let server = "https://till.example";
        assert!(ApiClient::new(&args(server, "till_live_sk_x")).is_ok());
        assert!(ApiClient::of_test_mode(&args(server, "till_test_sk_x")).is_ok());
        for (server, key) in [
            (server, "till_test_pk_x"),
            (server, "sk_x"),
            ("till.example", "till_test_sk_x"),
            ("ftp://till.example", "till_test_sk_x"),
        ] {
            let refused = ApiClient::new(&args(server, key)).err();
            assert_eq!(refused.map(|it| it.status()), Some(2), "{server} {key}");
        }
        let live = ApiClient::of_test_mode(&args(server, "till_live_sk_x")).err();
        assert_eq!(live.map(|it| it.status()), Some(2));
    }

    /// Answers so many requests alike, and gives the last of them.
    async fn answer(listener: TcpListener, requests: usize) -> String {
        let mut asked = String::new();
        for _ in 0..requests {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 4_096];
            let read = socket.read(&mut bytes).await.unwrap();
            asked = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let head = "HTTP/1.1 200 OK\r\ntill-min-seq: 5042\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            socket.write_all(head.as_bytes()).await.unwrap();
        }
        asked
    }

    #[tokio::test]
    async fn what_is_read_after_a_write_has_what_it_wrote() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let asked = tokio::spawn(answer(listener, 2));
        let client = ApiClient::new(&args(&server, "till_test_sk_x")).unwrap();
        client.post("/v1/invoices", &Value::Null).await.unwrap();
        client.get("/v1/events", &[]).await.unwrap();
        let asked = asked.await.unwrap();
        assert!(
            asked.starts_with("GET ") && asked.contains("till-min-seq: 5042\r\n"),
            "{asked}"
        );
    }

    #[test]
    fn what_passes_is_told_from_what_does_not() {
        let client = ApiClient::new(&args("http://127.0.0.1", "till_test_sk_x")).unwrap();
        let body = br#"{"error":{"code":"resource_missing","message":"No such event."}}"#;
        let refused = client.refusal(404, body);
        assert_eq!(refused.to_string(), "resource_missing: No such event.");
        assert!(!refused.is_passing());
        assert!(client.refusal(502, b"<html>").is_passing());
        assert!(!client.refusal(404, b"<html>").is_passing());
    }
}
