//! A browser at the dashboard: it keeps its cookie and repeats its CSRF token.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use till_core::role::Role;
use till_engine::team::emails::Email;
use till_engine::team::invites::{self, LinkGiven, NewInvite};
use till_store::Tx;

use crate::authenticator::Authenticator;
pub use crate::authenticator::ORIGIN;
use crate::harness::{Call, Reply, Till, data, id, text};

#[derive(Clone)]
pub struct Browser {
    address: SocketAddr,
    /// `name=value` of the session's cookie.
    pub cookie: Option<String>,
    /// The same of the cookie by which it is known that asked for a link.
    pub known_as: Option<String>,
    pub csrf: Option<String>,
    pub account: Option<String>,
    pub mode: Option<&'static str>,
    /// The passkeys that are registered from here.
    pub authenticator: Authenticator,
}

fn fresh_key() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("browser-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Browser {
    pub fn new(till: &Till) -> Browser {
        Browser {
            address: till.server.address,
            cookie: None,
            known_as: None,
            csrf: None,
            account: None,
            mode: None,
            authenticator: Authenticator::new(),
        }
    }

    /// The same browser, asking about this mode.
    pub fn in_mode(&self, mode: &'static str) -> Browser {
        Browser {
            mode: Some(mode),
            ..self.clone()
        }
    }

    /// The same browser, asking about this organisation.
    pub fn at(&self, account: &str) -> Browser {
        Browser {
            account: Some(account.to_owned()),
            ..self.clone()
        }
    }

    pub fn call(&self, method: &str, path: &str) -> Call {
        let path = match path.starts_with("/v1") {
            true => path.to_owned(),
            false => format!("/v1/dashboard/{path}"),
        };
        let mut call = Call::new(self.address, method, &path).header("user-agent", "Browser/1");
        if method == "POST" {
            call = call.header("origin", ORIGIN).once(&fresh_key());
        }
        let cookies: Vec<&str> = [&self.cookie, &self.known_as]
            .into_iter()
            .filter_map(|cookie| cookie.as_deref())
            .collect();
        let cookies = cookies.join("; ");
        let sent = [
            (
                "cookie",
                Some(&*cookies).filter(|cookies| !cookies.is_empty()),
            ),
            (
                "till-csrf",
                self.csrf.as_deref().filter(|_| method == "POST"),
            ),
            ("till-account", self.account.as_deref()),
            ("till-mode", self.mode),
        ];
        for (name, value) in sent {
            if let Some(value) = value {
                call = call.header(name, value);
            }
        }
        call
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call("POST", path).json(&body).send().await
    }

    /// A POST without a body.
    pub async fn act(&self, path: &str) -> Reply {
        self.call("POST", path).send().await
    }

    /// A POST with these bytes; without a body where there are none.
    fn post_bytes(&self, path: &str, body: &[u8]) -> Call {
        let call = self.call("POST", path);
        match body.is_empty() {
            true => call,
            false => call.bytes(body),
        }
    }

    /// Registers a passkey, confirming that with an earlier one if there is one.
    pub async fn register_passkey(&mut self) -> Value {
        let has_one = !data(&self.get("passkeys").await.ok(200)).is_empty();
        let begun = match has_one {
            true => self.confirmed("passkeys/begin", Value::Null).await.ok(200),
            false => self.act("passkeys/begin").await.ok(200),
        };
        let credential = self.authenticator.create(&begun["options"]);
        let body = json!({ "ceremony": begun["id"], "credential": credential, "name": "Laptop" });
        self.post("passkeys", body).await.ok(201)
    }

    /// A passkey's yes to a POST of this path and body (null for none), by the id for `Till-Confirmation`.
    pub async fn confirm(&mut self, path: &str, body: &Value) -> String {
        let path = match path.starts_with("/v1") {
            true => path.to_owned(),
            false => format!("/v1/dashboard/{path}"),
        };
        let hash = hex::encode(Sha256::digest(bytes_of(body)));
        let asked = json!({ "path": path, "body_sha256": hash });
        let begun = self.post("confirmations", asked).await.ok(201);
        let id = id(&begun);
        let credential = self.authenticator.get(&begun["options"]);
        let body = json!({ "credential": credential });
        let reply = self.post(&format!("confirmations/{id}"), body).await;
        assert_eq!(reply.ok(200)["status"], "confirmed");
        self.take_cookie(&reply);
        id
    }

    /// Sends a POST (null for no body) together with a passkey's yes to it.
    pub async fn confirmed(&mut self, path: &str, body: Value) -> Reply {
        let id = self.confirm(path, &body).await;
        let call = self.post_bytes(path, &bytes_of(&body));
        call.header("till-confirmation", &id).send().await
    }

    /// Takes over the cookie that an answer sets, if it does.
    pub fn take_cookie(&mut self, reply: &Reply) {
        if let Some(cookie) = reply.header("set-cookie") {
            let pair = cookie.split(';').next().map(str::to_owned);
            match cookie.starts_with("till_browser=") {
                true => self.known_as = pair,
                false => self.cookie = pair,
            }
        }
    }

    /// Takes over the session that an answer gives: its cookie and its CSRF token.
    pub fn take_session(&mut self, reply: &Reply) -> Value {
        let session = reply.ok(200);
        self.take_cookie(reply);
        self.csrf = Some(text(&session["csrf_token"]));
        session
    }
}

fn bytes_of(body: &Value) -> Vec<u8> {
    match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    }
}

/// The token of an invitation made at the command line.
pub async fn invite(till: &Till, email: &str, role: Role, makes_operator: bool) -> String {
    let engine = till.engine();
    let (email, account) = (&Email::parse(email).unwrap(), &*till.account.id);
    let made = engine.db.write(move |tx: &mut Tx| {
        async move {
            let new = NewInvite {
                account,
                email,
                role,
                makes_operator,
                invited_by: None,
                link: LinkGiven::AtShell,
            };
            invites::create(tx, engine, &new).await
        }
        .scope_boxed()
    });
    made.await.unwrap().1.0
}

/// A new member of this role, signed in.
pub async fn member(till: &Till, email: &str, role: Role) -> Browser {
    let token = invite(till, email, role, false).await;
    let mut browser = Browser::new(till);
    let reply = browser
        .post("invites/accept", json!({ "token": token }))
        .await;
    browser.take_session(&reply);
    browser
}

/// The owner of the test's account, signed in.
pub async fn owner(till: &Till) -> Browser {
    member(till, "owner@example.com", Role::Owner).await
}
