//! The merchants' webhook receivers, in memory: they check what they get as the documentation says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bytes::Bytes;
use till_core::webhook::{EVENT_ID_HEADER, EVENT_TYPE_HEADER, SIGNATURE_HEADER, verify};
use till_engine::base::clock::Clock as _;
use till_engine::outbound::Outcome;
use till_engine::testing::StillClock;
use till_engine::workers::webhooks::Deliver;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Healthy,
    /// Takes it and says that it failed.
    Failing,
    /// Takes it and never answers.
    Silent,
    /// Nobody listens.
    Down,
}

#[derive(Debug, Default)]
struct Inbox {
    moods: BTreeMap<String, Mood>,
    secrets: BTreeMap<String, String>,
    /// What is written in everything that belongs here, and what is written elsewhere.
    marks: BTreeMap<String, String>,
    bodies: BTreeMap<String, Bytes>,
    acknowledged: BTreeSet<String>,
    /// The turn in which each event was first tried.
    tried: BTreeMap<String, usize>,
    wrongs: Vec<String>,
}

#[derive(Debug)]
pub struct Receiver {
    clock: Arc<StillClock>,
    inbox: Mutex<Inbox>,
    posts: AtomicU64,
    last: AtomicU64,
    /// How old a signature may be.
    tolerance_s: AtomicI64,
}

impl Receiver {
    pub fn new(clock: Arc<StillClock>) -> Receiver {
        Receiver {
            clock,
            inbox: Mutex::default(),
            posts: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
            tolerance_s: AtomicI64::new(5),
        }
    }

    pub fn tolerate(&self, seconds: i64) {
        self.tolerance_s.store(seconds, Ordering::SeqCst);
    }

    pub fn posts(&self) -> u64 {
        self.posts.load(Ordering::SeqCst)
    }

    /// Whoever posts stands still at the given post from now.
    pub fn stop_after(&self, posts: u64) {
        self.last
            .store(self.posts().saturating_add(posts), Ordering::SeqCst);
    }

    pub fn has_stopped(&self) -> bool {
        self.posts() >= self.last.load(Ordering::SeqCst)
    }

    pub fn set_mood(&self, url: &str, mood: Mood) {
        self.inbox.lock().unwrap().moods.insert(url.into(), mood);
    }

    pub fn all_healthy(&self) {
        self.inbox.lock().unwrap().moods.clear();
    }

    pub fn set_secret(&self, url: &str, secret: &str, mark: &str) {
        let mut inbox = self.inbox.lock().unwrap();
        inbox.secrets.insert(url.into(), secret.into());
        inbox.marks.insert(url.into(), mark.into());
    }

    pub fn acknowledged(&self) -> BTreeSet<String> {
        self.inbox.lock().unwrap().acknowledged.clone()
    }

    pub fn first_tries(&self) -> BTreeMap<String, usize> {
        self.inbox.lock().unwrap().tried.clone()
    }

    /// What was wrong with anything that arrived.
    pub fn wrongs(&self) -> Vec<String> {
        self.inbox.lock().unwrap().wrongs.clone()
    }

    fn take(&self, url: &str, headers: &[(&'static str, String)], body: Bytes) -> Option<Mood> {
        let mut inbox = self.inbox.lock().unwrap();
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let (id, kind) = (header(EVENT_ID_HEADER), header(EVENT_TYPE_HEADER));
        let turn = inbox.tried.len();
        inbox.tried.entry(id.clone()).or_insert(turn);
        let mood = inbox.moods.get(url).copied().unwrap_or(Mood::Healthy);
        if mood == Mood::Down {
            return None;
        }
        let mut wrong = |what: String| inbox.wrongs.push(format!("{url} got {kind} {id}: {what}"));
        let text = String::from_utf8_lossy(&body).into_owned();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if value["id"] != id.as_str() || value["type"] != kind.as_str() {
            wrong("the headers do not agree with the body".into());
        }
        if kind == "invoice.confirming" {
            wrong("confirmations alone send nothing".into());
        }
        let now_s = self.clock.now_ms() / 1_000;
        let tolerance_s = self.tolerance_s.load(Ordering::SeqCst);
        match inbox.secrets.get(url).cloned() {
            Some(secret) => {
                if let Err(error) = verify(
                    &header(SIGNATURE_HEADER),
                    &body,
                    &secret,
                    now_s,
                    tolerance_s,
                ) {
                    inbox.wrongs.push(format!("{url} got {id}: {error}"));
                }
            }
            None => inbox.wrongs.push(format!("nobody ever set the URL {url}")),
        }
        let mark = inbox.marks.get(url).cloned().unwrap_or_default();
        if !text.contains(&mark) {
            inbox
                .wrongs
                .push(format!("{url} got {id}, another merchant's event"));
        }
        let first = inbox
            .bodies
            .entry(id.clone())
            .or_insert_with(|| body.clone());
        if *first != body && !is_same_but_addresses(first, &body) {
            inbox
                .wrongs
                .push(format!("{url} got {id} with two different bodies"));
        }
        if mood == Mood::Healthy {
            inbox.acknowledged.insert(id);
        }
        Some(mood)
    }
}

impl Deliver for Receiver {
    async fn post(&self, url: &str, headers: &[(&'static str, String)], body: Bytes) -> Outcome {
        self.posts.fetch_add(1, Ordering::SeqCst);
        let mood = self.take(url, headers, body);
        if self.has_stopped() {
            // Received, and the sender will never know.
            std::future::pending::<()>().await;
        }
        let (status_code, error) = match mood {
            Some(Mood::Healthy) => (Some(200), None),
            Some(Mood::Failing) => (Some(500), Some("the answer was 500")),
            Some(Mood::Silent) => (None, Some("no answer in time")),
            _ => (None, Some("connection refused")),
        };
        Outcome {
            status_code,
            response_body: String::new(),
            error: error.map(str::to_owned),
            delivered: error.is_none(),
        }
    }
}

/// Whether two bodies of one event are the same but for addresses that one of them leaves out: its invoice did not have them
/// when it was sent, and may have them again.
fn is_same_but_addresses(first: &[u8], body: &[u8]) -> bool {
    let read = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    let (mut first, mut body) = (read(first), read(body));
    for path in [
        "/data/object/payment_options",
        "/data/invoice/payment_options",
    ] {
        let told = first.pointer_mut(path);
        let told = told.and_then(serde_json::Value::as_array_mut);
        let again = body.pointer_mut(path);
        let again = again.and_then(serde_json::Value::as_array_mut);
        for (told, again) in told.into_iter().flatten().zip(again.into_iter().flatten()) {
            if told["address"].is_null() || again["address"].is_null() {
                told["address"] = serde_json::Value::Null;
                again["address"] = serde_json::Value::Null;
            }
        }
    }
    first == body
}
