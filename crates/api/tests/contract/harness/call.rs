//! A client that says exactly what it is told to, and judges answers by the contract.

use std::net::SocketAddr;

use serde_json::Value;
use till_core::error::{Code, Refusal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::PATIENCE;
use super::described::check_answer;

/// One request on a connection of its own.
#[derive(Clone)]
pub struct Call {
    address: SocketAddr,
    method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Call {
    pub fn new(address: SocketAddr, method: &str, path: &str) -> Call {
        Call {
            address,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Sets a header, in place of the one of that name if there is one.
    pub fn header(self, name: &str, value: &str) -> Call {
        self.without(name).and_header(name, value)
    }

    pub fn and_header(mut self, name: &str, value: &str) -> Call {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Call {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub fn key(self, key: &str) -> Call {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub fn no_key(self) -> Call {
        self.without("authorization")
    }

    pub fn once(self, key: &str) -> Call {
        self.header("idempotency-key", key)
    }

    pub fn json(self, body: &Value) -> Call {
        self.bytes(body.to_string().as_bytes())
    }

    pub fn bytes(mut self, body: &[u8]) -> Call {
        self.body = Some(body.to_vec());
        self.header("content-type", "application/json")
    }

    pub fn no_body(mut self) -> Call {
        self.body = None;
        self.without("content-type")
    }

    pub fn text(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: till\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        } else if self.method == "POST" {
            head.push_str("content-length: 0\r\n");
        }
        head.push_str("connection: close\r\n\r\n");
        [head.as_bytes(), self.body.as_deref().unwrap_or_default()].concat()
    }

    pub async fn send(self) -> Reply {
        let said = raw(self.address, &self.text()).await;
        let reply = Reply::parse(&said, &self.path);
        let is_plain = reply.header("content-encoding").is_none() && !reply.body.is_empty();
        if is_plain && reply.header("content-type") == Some("application/json") {
            check_answer(&self.method, &self.path, reply.status, &reply.json());
        }
        reply
    }

    /// Sends and hangs up without listening.
    pub async fn send_and_leave(self) {
        let mut socket = TcpStream::connect(self.address).await.expect("a server");
        socket.write_all(&self.text()).await.expect("it listens");
    }

    /// Sends all but the last byte, which is given back.
    pub async fn send_all_but_one(self) -> (TcpStream, u8) {
        let mut text = self.text();
        let last = text.pop().expect("a request has bytes");
        let mut socket = TcpStream::connect(self.address).await.expect("a server");
        socket.write_all(&text).await.expect("it listens");
        (socket, last)
    }

    /// The open connection, for streams.
    pub async fn open(self) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).await.expect("a server");
        socket.write_all(&self.text()).await.expect("it listens");
        socket
    }
}

/// Everything the server says to these bytes until it hangs up.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let exchange = async {
        let mut socket = TcpStream::connect(address).await.expect("a server");
        socket.write_all(bytes).await.expect("it hears us out");
        let mut said = Vec::new();
        socket.read_to_end(&mut said).await.expect("it answers");
        said
    };
    tokio::time::timeout(PATIENCE, exchange)
        .await
        .expect("an answer in time")
}

/// The chunks put together; none when the last is missing.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}

#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub path: String,
}

impl Reply {
    pub fn parse(said: &[u8], path: &str) -> Reply {
        let end = said
            .windows(4)
            .position(|at| at == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("{path}: no head in {:?}", String::from_utf8_lossy(said)));
        let head = String::from_utf8(said[..end].to_vec()).expect("heads are text");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let status = status.and_then(|status| status.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: Vec<(String, String)> = lines.map(header).collect();
        let mut body = said[end + 4..].to_vec();
        if headers.iter().any(|(_, value)| value == "chunked") && !path.ends_with("/events") {
            body = unchunked(&body).unwrap_or_else(|| panic!("{path}: the answer broke off"));
        }
        Reply {
            status: status.expect("a status"),
            headers,
            body,
            path: path.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is said twice");
        value
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "{}: {error}: {}",
                self.path,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    /// A success of this status.
    pub fn ok(&self, status: u16) -> Value {
        let json = self.json();
        assert_eq!(self.status, status, "{}: {json}", self.path);
        assert_eq!(self.header("content-type"), Some("application/json"));
        let id = self.header("x-request-id").expect("a request id");
        assert!(id.starts_with("req_"), "{id}");
        json
    }

    pub fn is_replay(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("").into()
    }

    /// An error in the one shape, with this status, code and param. Answers with its message.
    pub fn refused<'p>(
        &self,
        status: u16,
        code: &str,
        param: impl Into<Option<&'p str>>,
    ) -> String {
        let json = self.json();
        let told = format!("{}: {json}", self.path);
        let error = json["error"]
            .as_object()
            .unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            (self.status, error["code"].as_str()),
            (status, Some(code)),
            "{told}"
        );
        assert_eq!(error["param"].as_str(), param.into(), "{told}");
        let mut names: Vec<_> = error.keys().map(String::as_str).collect();
        names.sort_unstable();
        let six = ["code", "doc_url", "message", "param", "request_id", "type"];
        assert_eq!(names, six, "{told}");
        assert_eq!(json.as_object().map(|outer| outer.len()), Some(1), "{told}");
        let known = Code::parse(code).unwrap_or_else(|| panic!("{code} is not in the catalogue"));
        let class = Refusal::of(known).status(status).error_type();
        assert_eq!(error["type"], class.as_str(), "{told}");
        assert_eq!(
            error["request_id"].as_str(),
            self.header("x-request-id"),
            "{told}"
        );
        let doc_url = error["doc_url"].as_str().unwrap_or_default();
        assert!(doc_url.ends_with(&format!("/docs/errors/{code}")), "{told}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{told}");
        message.to_owned()
    }
}
