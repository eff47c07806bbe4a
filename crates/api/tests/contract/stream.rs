//! The live stream of an invoice.

use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_engine::merchants::accounts::KeyKind;
use till_engine::shell;
use till_store::{Queries as _, Tx};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::harness::{Call, PATIENCE, Setup, Till, World, id, text};

/// A stream being read, event by event.
pub struct Follower {
    socket: TcpStream,
    /// Received, still in chunks.
    raw: Vec<u8>,
    /// Taken out of its chunks, not yet an event.
    text: String,
}

pub async fn follow(till: &Till, invoice: &str, query: &str) -> Follower {
    let path = format!("/v1/invoices/{invoice}/events{query}");
    follow_with(till.call("GET", &path)).await
}

pub async fn follow_with(call: Call) -> Follower {
    let mut follower = Follower {
        socket: call.open().await,
        raw: Vec::new(),
        text: String::new(),
    };
    let head_end = loop {
        if let Some(at) = follower.raw.windows(4).position(|at| at == b"\r\n\r\n") {
            break at;
        }
        assert!(
            follower.read().await,
            "{:?}",
            String::from_utf8_lossy(&follower.raw)
        );
    };
    let head = String::from_utf8(follower.raw.drain(..head_end + 4).collect()).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert!(head.contains("x-request-id: req_"), "{head}");
    follower
}

impl Follower {
    /// The next event's id and data; nothing when the server ended the stream.
    pub async fn next(&mut self) -> Option<(i64, Value)> {
        loop {
            let block = self.next_block().await?;
            if let Some(event) = read_event(&block) {
                return Some(event);
            }
        }
    }

    /// The next event or comment, as it is written.
    pub async fn next_block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                return Some(self.text.drain(..end + 2).collect());
            }
            if !self.unchunk() && !self.read().await {
                return None;
            }
        }
    }

    /// The next thing that is no event; an event is a failure.
    async fn next_comment(&mut self) -> Option<String> {
        let block = self.next_block().await?;
        Some(block.trim().to_owned())
    }

    pub async fn types(&mut self, count: usize) -> Vec<String> {
        let mut types = Vec::new();
        for _ in 0..count {
            types.push(text(
                &self.next().await.expect("the stream goes on").1["type"],
            ));
        }
        types
    }

    /// Whether more came.
    async fn read(&mut self) -> bool {
        let read = tokio::time::timeout(PATIENCE, self.socket.read_buf(&mut self.raw)).await;
        read.expect("the stream says something")
            .expect("an orderly end")
            > 0
    }

    /// Moves a whole chunk from `raw` to `text`, if there is one.
    fn unchunk(&mut self) -> bool {
        let Some(line) = self.raw.windows(2).position(|at| at == b"\r\n") else {
            return false;
        };
        let size = std::str::from_utf8(&self.raw[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).expect("a chunk's size");
        if self.raw.len() < line + 2 + size + 2 || size == 0 {
            return false;
        }
        let chunk: Vec<u8> = self.raw.drain(..line + 2 + size + 2).collect();
        self.text
            .push_str(std::str::from_utf8(&chunk[line + 2..line + 2 + size]).unwrap());
        true
    }
}

fn read_event(block: &str) -> Option<(i64, Value)> {
    let field = |name: &str| {
        let mut found = block
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.next()
    };
    let data: Value = serde_json::from_str(field("data")?).expect("data is JSON");
    let id = field("id").and_then(|id| id.parse().ok()).expect("an id");
    assert_eq!(data["type"], field("event").expect("an event"));
    assert_eq!(data["id"], id);
    crate::harness::described::check_streamed(&data);
    Some((id, data))
}

fn quick() -> Setup {
    Setup {
        heartbeat: Duration::from_millis(50),
        ..Setup::default()
    }
}

async fn rename(world: &World, from: &str, to: &str) {
    let sql = &format!("ALTER TABLE {from} RENAME TO {to}");
    let renamed = world
        .db
        .write(|tx: &mut Tx| async move { tx.run(sql, &[]).await }.scope_boxed());
    renamed.await.unwrap();
}

on_every_engine! {
    memory

    async fn every_past_event_comes_first_and_then_each_as_it_happens(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        let mut stream = follow(&till, &invoice, "").await;
        assert_eq!(stream.types(3).await, ["invoice.created", "invoice.detected", "invoice.partially_paid"]);
        till.simulate(&invoice, json!({ "amount": "15", "finality_steps": ["pending", "included", "safe", "final"] })).await;
        assert_eq!(stream.types(1).await, ["invoice.paid"]);
        till.simulate(&invoice, json!({ "amount": "1" })).await;
        let (number, event) = stream.next().await.unwrap();
        assert_eq!((number, &event["type"]), (5, &json!("invoice.overpaid")));
    }

    async fn confirmations_are_on_the_stream_and_numbers_have_no_gaps(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let mut stream = follow(&till, &invoice, "").await;
        till.simulate(&invoice, json!({ "finality_steps": ["pending", "included", "safe", "final"] })).await;
        let payment = id(&till.payments_of(&invoice).await[0]);
        // The reversal itself is not the payer's business; where the invoice stands is.
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await.ok(200);
        let mut seen = Vec::new();
        for number in 1..=6 {
            let (own, event) = stream.next().await.unwrap();
            assert_eq!(own, number);
            seen.push(text(&event["type"]));
        }
        assert_eq!(seen, ["invoice.created", "invoice.detected", "invoice.confirming", "invoice.paid", "invoice.awaiting_payment", "invoice.cancelled"]);
    }

    async fn an_event_shows_the_payers_view_and_nothing_private(world: World) {
        let till = world.till().await;
        till.set(json!({ "display_name": "Laden" })).await;
        let body = json!({ "amount": "25.00", "currency": "USD", "description": "Cheese", "customer_ref": "secret-ref", "metadata": { "secret": "secret-value" }, "return_url": "https://laden.example/{invoice}" });
        let invoice = id(&till.create(body).await);
        till.simulate(&invoice, json!({ "sender": till_chains::test_screening()[0].2 })).await;
        let mut stream = follow(&till, &invoice, "").await;
        let mut last = Value::Null;
        for _ in 0..3 {
            last = stream.next().await.unwrap().1;
            let shown = last.to_string();
            assert!(!shown.contains("secret"), "{shown}");
            let mut names: Vec<_> = last.as_object().unwrap().keys().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, ["created_at", "id", "invoice", "invoice_id", "type"]);
            let view = &last["invoice"];
            for private in ["metadata", "customer_ref", "customer", "subscription", "review"] {
                assert!(view.get(private).is_none(), "{private}");
            }
            assert_eq!(last["invoice_id"], invoice.as_str());
            assert_eq!((&view["id"], &view["object"]), (&json!(invoice), &json!("checkout_invoice")));
            assert_eq!(view["description"], "Cheese");
            assert_eq!(view["merchant"], json!({ "display_name": "Laden" }));
            assert_eq!(view["return_url"], format!("https://laden.example/{invoice}"));
            assert!(view["payment_options"][0]["address_derivation"].is_object());
        }
        assert_eq!((&last["type"], &last["invoice"]["status"]), (&json!("invoice.under_review"), &json!("under_review")));
        let payment = &last["invoice"]["payments"][0];
        let mut names: Vec<_> = payment.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["amount", "asset", "finality", "status", "tx_hash"]);
    }

    async fn a_stream_resumes_where_it_was_left(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let path = format!("/v1/invoices/{invoice}/events");
        let mut by_query = follow(&till, &invoice, "?last_event_id=1").await;
        assert_eq!(by_query.next().await.unwrap().0, 2);
        let mut by_header = follow_with(till.call("GET", &path).header("last-event-id", "2")).await;
        assert_eq!(by_header.next().await.unwrap().0, 3);
        // A browser that reconnects repeats its URL and adds the header: the header is the newer.
        let both = till.call("GET", &format!("{path}?last_event_id=0")).header("last-event-id", "2");
        assert_eq!(follow_with(both).await.next().await.unwrap().0, 3);
        let mut at_the_end = follow(&till, &invoice, "?last_event_id=3").await;
        till.simulate(&invoice, json!({ "amount": "1" })).await;
        assert_eq!(at_the_end.next().await.unwrap().0, 4);
        for wrong in ["-1", "x", "1.5", "", "99999999999999999999"] {
            let reply = till.get(&format!("{path}?last_event_id={wrong}")).await;
            reply.refused(400, "parameter_invalid", "last_event_id");
        }
        for wrong in ["-1", "x", "evt_1"] {
            let reply = till.call("GET", &path).header("last-event-id", wrong).send().await;
            reply.refused(400, "parameter_invalid", "Last-Event-ID");
        }
    }

    async fn a_number_beyond_the_end_begins_at_the_start(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let path = format!("/v1/invoices/{invoice}/events");
        let payer = &till.account.test.publishable_key;
        let beyond = [
            till.call("GET", &format!("{path}?last_event_id=99999")),
            till.call("GET", &path).header("last-event-id", "4"),
            till.call("GET", &format!("{path}?key={payer}&last_event_id=9223372036854775807")).no_key(),
            till.call("GET", &path).key(payer).header("last-event-id", "50"),
        ];
        for call in beyond {
            let mut stream = follow_with(call).await;
            assert_eq!(stream.next().await.unwrap().0, 1);
            assert_eq!(stream.next().await.unwrap().0, 2);
        }
    }

    async fn payers_may_follow_with_the_publishable_key_in_the_query(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let key = &till.account.test.publishable_key;
        let path = format!("/v1/invoices/{invoice}/events");
        let by_query = till.call("GET", &format!("{path}?key={key}&last_event_id=0")).no_key();
        assert_eq!(follow_with(by_query).await.next().await.unwrap().0, 1);
        assert_eq!(follow_with(till.call("GET", &path).key(key)).await.next().await.unwrap().0, 1);
        let wrong = till.call("GET", &format!("{path}?key=till_test_pk_wrong")).no_key();
        wrong.send().await.refused(401, "api_key_invalid", None);
        let other = till.another_account().await;
        let foreign = format!("{path}?key={}", other.account.test.publishable_key);
        till.call("GET", &foreign).no_key().send().await.refused(404, "resource_missing", None);
        let twice = till.call("GET", &format!("{path}?key={key}&key={key}")).no_key().send().await;
        assert!(matches!(twice.status, 400 | 401), "{}", twice.status);
        // Pages of other origins may follow, too: the checkout can be hosted anywhere.
        let preflight = till.call("OPTIONS", &path).no_key().header("origin", "https://pay.example").send().await;
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")));
    }

    async fn a_stream_on_which_nothing_happens_reads_nothing(world: World) {
        let till = world.till_with(quick()).await;
        let invoice = id(&till.invoice().await);
        let mut stream = follow(&till, &invoice, "").await;
        assert_eq!(stream.types(1).await, ["invoice.created"]);
        assert_eq!(stream.next_comment().await.unwrap(), ": heartbeat");
        // Whoever reads them now is told that there are none.
        rename(&world, "events", "events_away").await;
        for _ in 0..3 {
            assert_eq!(stream.next_comment().await.unwrap(), ": heartbeat");
        }
        till.engine().hub.nudge(&invoice);
        while stream.next_comment().await.unwrap() != ": waiting" {}
        rename(&world, "events_away", "events").await;
        till.simulate(&invoice, json!({})).await;
        assert_eq!(stream.types(2).await, ["invoice.detected", "invoice.paid"]);
    }

    async fn a_database_that_is_away_is_no_reason_to_end_a_stream_and_a_key_that_was_rolled_is(world: World) {
        let till = world.till_with(quick()).await;
        let invoice = id(&till.invoice().await);
        let key = &till.account.test.publishable_key;
        let path = format!("/v1/invoices/{invoice}/events");
        let mut by_rolled = follow_with(till.call("GET", &path).key(key)).await;
        let mut stream = follow(&till, &invoice, "").await;
        for stream in [&mut by_rolled, &mut stream] {
            assert_eq!(stream.types(1).await, ["invoice.created"]);
            assert_eq!(stream.next_comment().await.unwrap(), ": heartbeat");
        }
        shell::roll_key(till.engine(), &till.scope(), KeyKind::Publishable).await.unwrap();
        world.clock.age_s(10);
        while by_rolled.next_comment().await.is_some() {}
        world.db.close().await;
        world.clock.age_s(10);
        for _ in 0..3 {
            assert_eq!(stream.next_comment().await.unwrap(), ": heartbeat");
        }
    }

    async fn a_key_that_was_rolled_ends_its_streams_at_once(world: World) {
        // No heartbeat comes in the time of this test.
        let till = world.till_with(Setup { heartbeat: PATIENCE, ..Setup::default() }).await;
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/invoices/{invoice}/events");
        let mut by_rolled = follow_with(till.call("GET", &path).key(&till.account.test.publishable_key)).await;
        let mut stream = follow(&till, &invoice, "").await;
        for stream in [&mut by_rolled, &mut stream] {
            assert_eq!(stream.types(1).await, ["invoice.created"]);
        }
        shell::roll_key(till.engine(), &till.scope(), KeyKind::Publishable).await.unwrap();
        assert!(by_rolled.next().await.is_none());
        till.simulate(&invoice, json!({})).await;
        assert_eq!(stream.types(2).await, ["invoice.detected", "invoice.paid"]);
    }

    async fn nothing_is_told_to_a_key_that_was_rolled(world: World) {
        let till = world.till_with(Setup { heartbeat: PATIENCE, ..Setup::default() }).await;
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/invoices/{invoice}/events");
        let mut by_rolled = follow_with(till.call("GET", &path).key(&till.account.test.publishable_key)).await;
        assert_eq!(by_rolled.types(1).await, ["invoice.created"]);
        shell::roll_key(till.engine(), &till.scope(), KeyKind::Publishable).await.unwrap();
        world.clock.age_s(1);
        till.simulate(&invoice, json!({})).await;
        assert!(by_rolled.next().await.is_none(), "no event of the payment");
    }

    async fn streams_end_when_the_server_does(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let mut stream = follow(&till, &invoice, "").await;
        assert_eq!(stream.types(1).await, ["invoice.created"]);
        till.server.shut_down().await;
        assert!(stream.next().await.is_none());
    }
}

on_every_engine! { postgres
    async fn what_happens_on_one_server_is_streamed_by_the_other(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        let invoice = id(&first.invoice().await);
        let mut stream = follow(&second, &invoice, "").await;
        assert_eq!(stream.types(1).await, ["invoice.created"]);
        first.simulate(&invoice, json!({ "amount": "10" })).await;
        assert_eq!(stream.types(2).await, ["invoice.detected", "invoice.partially_paid"]);
        first.simulate(&invoice, json!({ "amount": "15" })).await;
        assert_eq!(stream.next().await.unwrap().0, 4);
    }
}
