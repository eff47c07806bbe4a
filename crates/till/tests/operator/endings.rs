//! How a server ends: killed, and told to, with everybody else being difficult.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Client, Place, Server, comes_true_within, text};

/// A receiver of webhooks that reads and never answers.
struct Hanging {
    url: String,
    requests: Receiver<(String, TcpStream)>,
}

impl Hanging {
    fn start() -> Hanging {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (send, requests) = channel();
        thread::spawn(move || {
            for mut socket in listener.incoming().map_while(Result::ok) {
                let mut head = vec![0; 16 * 1024];
                let size = socket.read(&mut head).unwrap_or_default();
                let head = String::from_utf8_lossy(&head[..size]).into_owned();
                if send.send((head, socket)).is_err() {
                    return;
                }
            }
        });
        Hanging { url, requests }
    }

    /// The next event that is sent here, by its id, and the connection it came on.
    fn next(&self, within: Duration) -> (String, TcpStream) {
        let (head, socket) = self
            .requests
            .recv_timeout(within)
            .expect("a webhook in time");
        let mut lines = head.lines();
        let id = lines.find_map(|line| line.strip_prefix("x-service-event-id: "));
        (id.expect("its event's id").to_owned(), socket)
    }
}

/// A server whose account is told of everything at this receiver.
fn telling(place: &Place, key: &str, receiver: &Hanging, more: &[&str]) -> Server {
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .args(["--set", "webhooks.allow_private_addresses=true"])
        .args(more);
    let server = Server::start(&mut command);
    let url = json!({ "webhook_url": receiver.url });
    let set = server
        .client(key)
        .post("/v1/merchant/settings", "url", &url);
    set.unwrap().expect(200);
    server
}

fn create(client: &Client, once: &str) -> Value {
    let body = json!({ "amount": "5", "currency": "USD" });
    client
        .post("/v1/invoices", once, &body)
        .unwrap()
        .expect(201)
}

#[test]
fn what_a_killed_server_was_sending_goes_out_again_within_20_seconds() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key");
    let receiver = Hanging::start();
    let mut server = telling(&place, key, &receiver, &[]);
    create(&server.client(key), "one");
    let (sent, _held) = receiver.next(Duration::from_secs(60));
    server.signal("KILL");
    server.wait();
    let again = telling(&place, key, &receiver, &[]);
    let (sent_again, _held) = receiver.next(Duration::from_secs(20));
    assert_eq!(sent_again, sent);
    drop(again);
}

#[test]
fn told_to_stop_a_server_ends_within_25_seconds_whatever_the_others_do() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key");
    let receiver = Hanging::start();
    let mut server = telling(&place, key, &receiver, &[]);
    let client = server.client(key);
    let made = create(&client, "one");
    let _held = receiver.next(Duration::from_secs(60));
    for number in 0..60 {
        create(&client, &format!("more-{number}"));
    }
    // A stream that nobody reads, a request that is never finished, and answers that nobody takes.
    let path = format!("/v1/invoices/{}/events", text(&made, "/id"));
    let mut stream = client.connect().unwrap();
    let ask = client.head("GET", &path, "accept: text/event-stream\r\n");
    stream.write_all(ask.as_bytes()).unwrap();
    let mut unfinished = client.connect().unwrap();
    let head = client.post_head("/v1/invoices", "unfinished", 100);
    unfinished.write_all(head.as_bytes()).unwrap();
    let mut slow = client.connect().unwrap();
    slow.set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let list = client.head("GET", "/v1/invoices?limit=100", "");
    let list = list.replacen("connection: close\r\n", "", 1);
    // Until nothing goes through any more, or enough was asked for to fill every buffer on the way.
    for _ in 0..400 {
        if slow.write_all(list.as_bytes()).is_err() {
            break;
        }
    }
    server.signal("TERM");
    let ended = comes_true_within(Duration::from_secs(25), || server.has_ended());
    assert!(ended, "it is still there");
    drop((stream, unfinished, slow));
}
