//! What is told of one invoice is told in the order in which it happened, whichever server sends it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::future::join_all;
use till_engine::outbound::Outcome;
use till_engine::workers::webhooks::{self, Deliver};
use till_store::testing::migrated;
use till_store::{Dialect, Queries as _};
use tokio::sync::{Notify, watch};

use crate::world::{World, pay};

/// Notes the order in which first attempts arrive, and takes its time.
#[derive(Default)]
struct Receiver {
    seen: Mutex<Vec<String>>,
    arrived: Notify,
}

impl Deliver for Receiver {
    async fn post(&self, _: &str, headers: &[(&'static str, String)], _: Bytes) -> Outcome {
        let event = headers
            .iter()
            .find(|(name, _)| *name == till_core::webhook::EVENT_ID_HEADER)
            .map(|(_, id)| id.clone());
        let event = event.unwrap();
        let pauses = event.bytes().map(usize::from).sum::<usize>() % 40;
        {
            let mut seen = self.seen.lock().unwrap();
            if !seen.contains(&event) {
                seen.push(event);
            }
        }
        for _ in 0..pauses {
            tokio::task::yield_now().await;
        }
        self.arrived.notify_one();
        Outcome {
            delivered: true,
            status_code: Some(200),
            response_body: String::new(),
            error: None,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_first_try_the_events_of_each_invoice_in_their_order() {
    const INVOICES: usize = 80;
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    world
        .run_sql(
            "UPDATE merchants SET webhook_url = 'https://shop.example/'",
            &[],
        )
        .await;
    let receiver = Arc::new(Receiver::default());
    let servers = [world.beside(2), world.beside(3)];
    let (stop, stopping) = watch::channel(false);
    let running = servers.each_ref().map(|engine| {
        let (engine, receiver) = (Arc::clone(engine), Arc::clone(&receiver));
        tokio::spawn(webhooks::run(engine, receiver, stopping.clone()))
    });
    let invoices = world.invoices(&world.scope, INVOICES).await;
    // Each invoice's two steps are taken by the two servers: the second tells what follows from the first.
    join_all(invoices.iter().enumerate().map(|(n, invoice)| {
        let (first, second) = (&servers[n % 2], &servers[(n + 1) % 2]);
        let scope = &world.scope;
        async move {
            pay(first, scope, invoice, &["pending"]).await;
            pay(second, scope, invoice, &["final"]).await;
        }
    }))
    .await;
    let mut reader = world.db.read().await.unwrap();
    let sql = "SELECT event, subject, seq FROM deliveries WHERE attempt = 1";
    let written: Vec<(String, String, i64)> = reader.all(sql, &[]).await.unwrap();
    assert!(written.len() >= 3 * INVOICES, "{}", written.len());
    while receiver.seen.lock().unwrap().len() < written.len() {
        receiver.arrived.notified().await;
    }
    stop.send(true).unwrap();
    for server in running {
        server.await.unwrap();
    }
    let known: HashMap<&str, (&str, i64)> = written
        .iter()
        .map(|(event, subject, seq)| (event.as_str(), (subject.as_str(), *seq)))
        .collect();
    let seen = receiver.seen.lock().unwrap().clone();
    let mut last: HashMap<&str, i64> = HashMap::new();
    for event in &seen {
        let (subject, seq) = known[event.as_str()];
        let before = last.insert(subject, seq).unwrap_or(0);
        assert!(before < seq, "{subject}: {event} came too late");
    }
    drop(reader);
    test.remove().await;
}
