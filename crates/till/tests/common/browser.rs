//! A person at the dashboard of a running server: a cookie, a CSRF token and passkeys.

use std::io::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::authenticator::Authenticator;
use super::{Client, Reply, Server, read_reply, text};

#[derive(Clone)]
pub struct Browser {
    client: Client,
    origin: String,
    /// `name=value`.
    pub cookie: String,
    pub csrf: String,
    mode: Option<&'static str>,
    authenticator: Authenticator,
    sent: usize,
    name: String,
}

impl Browser {
    /// `name` tells the idempotency keys of several people apart.
    pub fn new(server: &Server, name: &str) -> Browser {
        let (_, port) = server.address.rsplit_once(':').expect("a port");
        let origin = format!("http://localhost:{port}");
        let mut authenticator = Authenticator::new();
        authenticator.origin.clone_from(&origin);
        Browser {
            client: server.client(""),
            origin,
            cookie: String::new(),
            csrf: String::new(),
            mode: None,
            authenticator,
            sent: 0,
            name: name.to_owned(),
        }
    }

    /// From now on it asks about this mode.
    pub fn set_mode(&mut self, mode: &'static str) {
        self.mode = Some(mode);
    }

    fn path(path: &str) -> String {
        match path.starts_with("/v1") {
            true => path.to_owned(),
            false => format!("/v1/dashboard/{path}"),
        }
    }

    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{more}");
        if !self.cookie.is_empty() {
            head += &format!("cookie: {}\r\n", self.cookie);
        }
        if let Some(mode) = self.mode {
            head += &format!("till-mode: {mode}\r\n");
        }
        head + "connection: close\r\n\r\n"
    }

    pub fn get(&self, path: &str) -> Value {
        let head = self.head("GET", &Browser::path(path), "");
        let mut stream = self.client.connect().unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        read_reply(&mut stream).unwrap().expect(200)
    }

    fn send(&mut self, path: &str, body: &str, confirmation: Option<&str>) -> Reply {
        self.sent += 1;
        let mut more = format!(
            "origin: {}\r\nidempotency-key: {}-{}\r\n",
            self.origin, self.name, self.sent
        );
        if !self.csrf.is_empty() {
            more += &format!("till-csrf: {}\r\n", self.csrf);
        }
        if let Some(id) = confirmation {
            more += &format!("till-confirmation: {id}\r\n");
        }
        if !body.is_empty() {
            more += "content-type: application/json\r\n";
        }
        more += &format!("content-length: {}\r\n", body.len());
        let head = self.head("POST", &Browser::path(path), &more);
        let mut stream = self.client.connect().unwrap();
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let reply = read_reply(&mut stream).unwrap();
        if let Some(cookie) = reply.header("set-cookie") {
            let pair = cookie.split(';').next().unwrap_or_default();
            if pair.starts_with("till_session=") {
                self.cookie = pair.to_owned();
            }
        }
        reply
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.send(path, &text_of(body), None)
    }

    /// Comes in with the token of a link, and keeps the session.
    pub fn enter(&mut self, path: &str, link: &str) -> Value {
        let (_, token) = link.rsplit_once('=').expect("a token");
        let session = self.post(path, &json!({ "token": token })).expect(200);
        self.csrf = text(&session, "/csrf_token").to_owned();
        session
    }

    pub fn register_passkey(&mut self) {
        let begun = self.post("passkeys/begin", &Value::Null).expect(200);
        let credential = self.authenticator.create(&begun["options"]);
        let body = json!({ "ceremony": begun["id"], "credential": credential, "name": "Laptop" });
        self.post("passkeys", &body).expect(201);
    }

    /// Sends a POST (null for no body) together with a passkey's yes to it.
    pub fn confirmed(&mut self, path: &str, body: &Value) -> Reply {
        let hash = hex::encode(Sha256::digest(text_of(body)));
        let asked = json!({ "path": Browser::path(path), "body_sha256": hash });
        let begun = self.post("confirmations", &asked).expect(201);
        let id = text(&begun, "/id").to_owned();
        let credential = self.authenticator.get(&begun["options"]);
        let answer = json!({ "credential": credential });
        self.post(&format!("confirmations/{id}"), &answer)
            .expect(200);
        self.send(path, &text_of(body), Some(&id))
    }
}

fn text_of(body: &Value) -> String {
    match body {
        Value::Null => String::new(),
        body => body.to_string(),
    }
}
