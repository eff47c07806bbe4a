//! A merchant's client as the documentation asks for: whoever loses an answer asks again under the same key, wherever.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Res;
use crate::load::Client;

/// An answer that has not come by then is lost.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Somebody who was not answered by then is stuck.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// An answer, and which server gave it.
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub server: usize,
}

pub struct Api {
    key: String,
    servers: Vec<(SocketAddr, Option<Client>)>,
}

impl Api {
    pub fn new(addresses: &[SocketAddr], key: &str) -> Api {
        Api {
            key: key.to_owned(),
            servers: addresses.iter().map(|address| (*address, None)).collect(),
        }
    }

    pub fn get(&self, path: &str) -> Vec<u8> {
        let key = &self.key;
        format!("GET {path} HTTP/1.1\r\nhost: chaos\r\nauthorization: Bearer {key}\r\n\r\n").into()
    }

    pub fn post(&self, path: &str, name: &str, body: &Value) -> Vec<u8> {
        let (key, body) = (&self.key, body.to_string());
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: chaos\r\nauthorization: Bearer {key}\r\nidempotency-key: {name}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into()
    }

    /// Asks one server once.
    pub async fn ask(&mut self, server: usize, request: &[u8]) -> Res<Answer> {
        let (address, held) = &mut self.servers[server];
        let exchange = async {
            let mut client = match held.take() {
                Some(client) => client,
                None => Client::connect(*address).await?,
            };
            let (status, body) = client.exchange(request).await?;
            let body = serde_json::from_slice(body)?;
            *held = Some(client);
            Ok(Answer {
                status,
                body,
                server,
            })
        };
        match tokio::time::timeout(ANSWER_TIME, exchange).await {
            Ok(answered) => answered,
            Err(_) => Err("no answer".into()),
        }
    }

    /// Asks one server after the other, beginning with this one, until there is an answer that is not about their trouble.
    pub async fn insist(&mut self, first: usize, request: &[u8]) -> Res<Answer> {
        let begun = Instant::now();
        let mut server = first % self.servers.len();
        let mut last = String::new();
        while begun.elapsed() < PATIENCE {
            match self.ask(server, request).await {
                Ok(answer) if is_final(&answer) => return Ok(answer),
                Ok(answer) => last = format!("{}: {}", answer.status, answer.body),
                Err(error) => last = error.to_string(),
            }
            server = (server + 1) % self.servers.len();
            tokio::time::sleep(PAUSE).await;
        }
        Err(format!("no answer in {} s; the last was {last}", PATIENCE.as_secs()).into())
    }

    /// Everything that a list has, page by page.
    pub async fn list(&mut self, path: &str) -> Res<Vec<Value>> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let request = self.get(&format!("{path}{cursor}"));
            let mut page = self.insist(all.len(), &request).await?;
            let Some(data) = page.body["data"].as_array_mut() else {
                return Err(
                    format!("{path} was answered with {}: {}", page.status, page.body).into(),
                );
            };
            all.append(data);
            match page.body["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(all),
            }
        }
    }
}

fn is_final(answer: &Answer) -> bool {
    let is_under_way = answer.body["error"]["code"] == "idempotency_key_in_use";
    answer.status < 500 && answer.status != 429 && !is_under_way
}
