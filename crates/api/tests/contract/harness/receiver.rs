//! A merchant's webhook endpoint: a real HTTP server that answers as it is told.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::PATIENCE;
use super::described::check_webhook;

#[derive(Clone, Debug)]
pub struct Received {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no header {name}")).1
    }

    pub fn json(&self) -> Value {
        let event = serde_json::from_slice(&self.body).expect("events are JSON");
        check_webhook(&event);
        event
    }

    pub fn event_type(&self) -> String {
        self.header("x-service-event-type").to_owned()
    }
}

#[derive(Clone)]
struct Behaviour {
    answer: Arc<Mutex<Vec<u8>>>,
    received: Arc<watch::Sender<Vec<Received>>>,
    open: Arc<watch::Sender<bool>>,
}

pub struct Receiver {
    address: SocketAddr,
    behaviour: Behaviour,
}

impl Receiver {
    pub async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let behaviour = Behaviour {
            answer: Arc::default(),
            received: Arc::new(watch::Sender::new(Vec::new())),
            open: Arc::new(watch::Sender::new(true)),
        };
        let receiver = Receiver {
            address,
            behaviour: behaviour.clone(),
        };
        receiver.answer(200, b"ok");
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, behaviour.clone()));
            }
        });
        receiver
    }

    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// What every request is answered from now on.
    pub fn answer(&self, status: u16, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\nlocation: http://{}/elsewhere\r\ncontent-length: {length}\r\n\r\n",
            self.address
        );
        *self.behaviour.answer.lock().unwrap() = [head.as_bytes(), body].concat();
    }

    /// Requests are taken but not answered until `release`.
    pub fn hold(&self) {
        self.behaviour.open.send_replace(false);
    }

    pub fn release(&self) {
        self.behaviour.open.send_replace(true);
    }

    pub fn received(&self) -> Vec<Received> {
        self.behaviour.received.borrow().clone()
    }

    /// The requests so far, once there are this many.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let mut watched = self.behaviour.received.subscribe();
        let arrived = watched.wait_for(|received| received.len() >= count);
        let arrived = tokio::time::timeout(PATIENCE, arrived).await;
        let seen = || {
            self.received()
                .iter()
                .map(Received::event_type)
                .collect::<Vec<_>>()
        };
        arrived
            .unwrap_or_else(|_| panic!("{count} webhooks did not arrive but {:?}", seen()))
            .expect("the receiver runs")
            .clone()
    }

    /// The request that carries this type of event, once it came.
    pub async fn wait_for_type(&self, event_type: &str) -> Received {
        let of_type = |received: &[Received]| {
            received
                .iter()
                .find(|one| one.event_type() == event_type)
                .cloned()
        };
        let mut watched = self.behaviour.received.subscribe();
        let arrived = watched.wait_for(|received| of_type(received).is_some());
        let arrived = tokio::time::timeout(PATIENCE, arrived).await;
        let arrived = arrived.unwrap_or_else(|_| panic!("no {event_type} arrived"));
        of_type(&arrived.expect("the receiver runs")).expect("just seen")
    }
}

async fn serve(mut socket: TcpStream, behaviour: Behaviour) {
    let mut unread = Vec::new();
    while let Some(request) = next(&mut socket, &mut unread).await {
        behaviour
            .received
            .send_modify(|received| received.push(request));
        let mut open = behaviour.open.subscribe();
        if open.wait_for(|open| *open).await.is_err() {
            return;
        }
        let answer = behaviour.answer.lock().unwrap().clone();
        if socket.write_all(&answer).await.is_err() {
            return;
        }
    }
}

async fn next(socket: &mut TcpStream, unread: &mut Vec<u8>) -> Option<Received> {
    loop {
        if let Some(request) = take(unread) {
            return Some(request);
        }
        if socket.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
}

fn take(bytes: &mut Vec<u8>) -> Option<Received> {
    let head_end = bytes.windows(4).position(|at| at == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("heads are text");
    let headers: Vec<(String, String)> = head
        .split("\r\n")
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    if bytes.len() < head_end + 4 + length {
        return None;
    }
    let rest = bytes.split_off(head_end + 4 + length);
    let body = bytes.split_off(head_end + 4);
    *bytes = rest;
    Some(Received { headers, body })
}
