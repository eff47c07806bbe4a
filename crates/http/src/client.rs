//! The client side: one request to a server that somebody named, and its whole answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use thiserror::Error;
use till_net::{Anywhere, DialError, Roots, TlsError};
use tokio::time::timeout;
use url::Url;

/// A page of a hundred objects is far below it.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
const USER_AGENT_VALUE: HeaderValue =
    HeaderValue::from_static(concat!("Till/", env!("CARGO_PKG_VERSION")));

#[derive(Debug, Error)]
pub enum CallError {
    /// Nothing of the request was answered; it may have arrived all the same.
    #[error("{0}")]
    Unreachable(String),
    #[error("no answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    #[error("the answer broke off or is too long")]
    CutOff,
    #[error("{0} cannot be sent in a header")]
    Header(String),
}

/// Connections are pooled inside.
pub struct HttpClient {
    pool: till_net::Client<Anywhere>,
    deadline: Duration,
}

/// A request with its headers; `body` is empty for a GET.
#[derive(Debug)]
pub struct Call<'c> {
    pub method: &'c str,
    pub url: &'c Url,
    pub headers: &'c [(&'c str, &'c str)],
    pub body: Bytes,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header's first value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl HttpClient {
    /// Trusts the system's certificates. A machine that has none can still call servers without TLS.
    pub fn new(deadline: Duration) -> Result<HttpClient, TlsError> {
        let tls = till_net::client_config(Roots::Optional, &[])?;
        let pool = till_net::client(Arc::new(Anywhere), tls, deadline);
        Ok(HttpClient { pool, deadline })
    }

    /// Redirects are answers like any other: they are not followed.
    pub async fn send(&self, call: Call<'_>) -> Result<Reply, CallError> {
        let request = request(call)?;
        let exchange = timeout(self.deadline, self.exchange(request)).await;
        exchange.unwrap_or(Err(CallError::Timeout(self.deadline)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Reply, CallError> {
        let unreachable = |error| CallError::Unreachable(till_net::describe::<DialError>(&error));
        let response = self.pool.request(request).await.map_err(unreachable)?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect();
        let body = body.await.map_err(|_| CallError::CutOff)?;
        Ok(Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.to_bytes(),
        })
    }
}

fn request(call: Call<'_>) -> Result<Request<Full<Bytes>>, CallError> {
    let unsendable = |what: &str| CallError::Header(what.to_owned());
    let mut request = Request::new(Full::new(call.body));
    *request.method_mut() =
        Method::from_bytes(call.method.as_bytes()).map_err(|_| unsendable(call.method))?;
    let uri = call.url.as_str().parse();
    *request.uri_mut() = uri.map_err(|_| unsendable("the address"))?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, USER_AGENT_VALUE);
    for (name, value) in call.headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable(name))?;
        let value = HeaderValue::from_str(value).map_err(|_| unsendable(name))?;
        headers.insert(key, value);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// The address of a server that gives one answer, and what it was asked.
    async fn server(answer: &'static str) -> (Url, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/events", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 4_096];
            let read = socket.read(&mut bytes).await.unwrap();
            socket.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(bytes[..read].to_vec()).unwrap()
        });
        (Url::parse(&url).unwrap(), asked)
    }

    fn get(url: &Url) -> Call<'_> {
        Call {
            method: "GET",
            url,
            headers: &[("authorization", "Bearer k")],
            body: Bytes::new(),
        }
    }

    #[tokio::test]
    async fn an_answer_is_given_whole_and_a_redirect_is_not_followed() {
        let answer =
            "HTTP/1.1 302 Found\r\nlocation: /x\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nno";
        let (url, asked) = server(answer).await;
        let client = HttpClient::new(Duration::from_secs(30)).unwrap();
        let reply = client.send(get(&url)).await.unwrap();
        assert_eq!((reply.status, &*reply.body), (302, &b"no"[..]));
        assert_eq!(
            (reply.header("retry-after"), reply.is_success()),
            (Some("7"), false)
        );
        let asked = asked.await.unwrap();
        assert!(asked.starts_with("GET /v1/events HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("authorization: Bearer k\r\n"), "{asked}");
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_and_a_server_that_is_not_there_are_told_apart() {
        let (url, _asked) = server("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nno").await;
        let client = HttpClient::new(Duration::from_secs(30)).unwrap();
        let cut = client.send(get(&url)).await.unwrap_err();
        assert!(matches!(cut, CallError::CutOff), "{cut}");
        let nobody = Url::parse("http://127.0.0.1:9/").unwrap();
        let unreachable = client.send(get(&nobody)).await.unwrap_err();
        assert!(
            unreachable.to_string().starts_with("connection failed"),
            "{unreachable}"
        );
    }
}
