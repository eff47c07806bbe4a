//! A receiver that does exactly what a test tells it to.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

pub struct Receiver {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Hands every connection to `handle`.
pub async fn serve<F, Fut>(handle: F) -> Receiver
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(handle(stream));
        }
    });
    Receiver {
        address,
        connections,
    }
}

/// Answers every request with the same bytes and keeps the connection open.
pub async fn answering(answer: impl Into<Vec<u8>>) -> Receiver {
    let answer: Arc<[u8]> = answer.into().into();
    serve(move |mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            let mut unread = Vec::new();
            while request(&mut stream, &mut unread).await.is_some() {
                if stream.write_all(&answer).await.is_err() {
                    break;
                }
            }
        }
    })
    .await
}

/// Answers 200 and keeps what was sent.
pub async fn recording() -> (Receiver, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&requests);
    let receiver = serve(move |mut stream| {
        let recorded = Arc::clone(&recorded);
        async move {
            let mut unread = Vec::new();
            while let Some(text) = request(&mut stream, &mut unread).await {
                recorded.lock().expect("not poisoned").push(text);
                let _ = stream.write_all(OK).await;
            }
        }
    })
    .await;
    (receiver, requests)
}

/// The next whole request, or nothing when the sender has hung up.
pub async fn request<S: AsyncRead + Unpin>(stream: &mut S, unread: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(length) = whole_request(unread) {
            let request: Vec<u8> = unread.drain(..length).collect();
            return Some(String::from_utf8(request).expect("requests are text"));
        }
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
}

fn whole_request(bytes: &[u8]) -> Option<usize> {
    let head_length = bytes.windows(4).position(|at| at == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..head_length]).expect("heads are text");
    let body_length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .expect("a request with a length")
        .parse()
        .expect("a number");
    let length = head_length + body_length;
    (bytes.len() >= length).then_some(length)
}
