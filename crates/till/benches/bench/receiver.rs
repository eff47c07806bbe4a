//! A webhook receiver that does nothing but count the events it sees.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use till_core::webhook::EVENT_ID_HEADER;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Res;
use super::load::{content_length, head_end, header, per_second};

#[derive(Default)]
struct Seen {
    /// An event that is sent twice counts once.
    events: HashSet<Vec<u8>>,
    first: Option<Instant>,
    last: Option<Instant>,
}

#[derive(Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl Receiver {
    pub async fn start() -> Res<Receiver> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Receiver {
            address: listener.local_addr()?,
            seen: Arc::default(),
        };
        let seen = Arc::clone(&receiver.seen);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A sender that hangs up ends its connection and nothing else.
                tokio::spawn(answer(socket, Arc::clone(&seen)));
            }
        });
        Ok(receiver)
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Events per second, from the first until all have come or `time` is over.
    pub async fn drain(&self, events: usize, time: Duration) -> u64 {
        let begun = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let over = seen.first.is_some_and(|first| first.elapsed() > time)
                || begun.elapsed() > time * 2;
            if over || seen.events.len() >= events {
                return match (seen.first, seen.last) {
                    (Some(first), Some(last)) => per_second(seen.events.len(), last - first),
                    _ => 0,
                };
            }
        }
    }
}

async fn answer(mut socket: TcpStream, seen: Arc<Mutex<Seen>>) -> Res<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        while let Some(head) = head_end(&buffer) {
            let whole = head + content_length(&buffer[..head]).unwrap_or(0);
            if buffer.len() < whole {
                break;
            }
            let event = header(&buffer[..head], EVENT_ID_HEADER.as_bytes()).unwrap_or_default();
            let now = Instant::now();
            {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.events.insert(event.to_vec());
                seen.first.get_or_insert(now);
                seen.last = Some(now);
            }
            buffer.drain(..whole);
            socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .await?;
        }
        if socket.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}
