//! A merchant's endpoint that writes down what it is told.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::ledger::{Ledger, Told};
use crate::Res;
use crate::load::{content_length, head_end};

/// Its URL.
pub async fn start(ledger: Arc<Ledger>) -> Res<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/hooks", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // A sender that hangs up ends its connection and nothing else.
            tokio::spawn(answer(socket, Arc::clone(&ledger)));
        }
    });
    Ok(url)
}

async fn answer(mut socket: TcpStream, ledger: Arc<Ledger>) -> Res<()> {
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        while let Some(head) = head_end(&buffer) {
            let whole = head + content_length(&buffer[..head]).unwrap_or(0);
            if buffer.len() < whole {
                break;
            }
            let event: Value = serde_json::from_slice(&buffer[head..whole])?;
            let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
            let told = Told {
                event: text("id"),
                kind: text("type"),
            };
            ledger.told(&text("invoice_id"), told);
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
