//! A browser at the dashboard: it keeps its cookie and repeats its CSRF token.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::role::Role;
use till_engine::team::emails::Email;
use till_engine::team::invites::{self, NewInvite};
use till_store::Tx;

use crate::harness::{Call, Reply, Till, text};

pub const ORIGIN: &str = "http://localhost:4242";

#[derive(Clone)]
pub struct Browser {
    address: SocketAddr,
    /// `name=value` of the session's cookie.
    pub cookie: Option<String>,
    pub csrf: Option<String>,
    pub account: Option<String>,
    pub mode: Option<&'static str>,
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
            csrf: None,
            account: None,
            mode: None,
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
        let sent = [
            ("cookie", self.cookie.as_deref()),
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

    /// Takes over the session that an answer gives: its cookie and its CSRF token.
    pub fn take_session(&mut self, reply: &Reply) -> Value {
        let session = reply.ok(200);
        if let Some(cookie) = reply.header("set-cookie") {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        self.csrf = Some(text(&session["csrf_token"]));
        session
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
