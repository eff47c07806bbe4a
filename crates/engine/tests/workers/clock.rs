//! The test clock, moved over more than one step.

use std::task::Poll;

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::scope::Credential;
use till_engine::once::Once;
use till_engine::test_mode::{Advance, reach_goal, set_goal};
use till_engine::{Answer, Engine, Fail};
use till_store::both_engines;

use crate::world::{LIFE_MS, NOW, World};

const INVOICES: usize = 150;

async fn advance(engine: &Engine, world: &World, key: &str, seconds: i64) -> Result<Answer, Fail> {
    let (key, path) = (key.to_owned(), "/v1/test_helpers/clock");
    let once = Once::new(
        Actor::key("key_1"),
        Credential::Merchant,
        key,
        "POST",
        path,
        b"",
    );
    let advance = &Advance::Seconds(seconds);
    let moved = engine.once(&world.scope, &once, |tx, context| {
        async move {
            let now = set_goal(tx, context, advance).await?;
            Ok(Answer::new(200, now.to_string()))
        }
        .scope_boxed()
    });
    let moved = moved.await?;
    reach_goal(engine, &world.scope).await?;
    Ok(moved)
}

/// As many as take several steps, one millisecond after the other.
async fn invoices(world: &World) -> Vec<String> {
    let mut invoices = Vec::new();
    for _ in 0..INVOICES {
        invoices.push(world.invoice().await);
        world.clock.advance(1);
    }
    invoices
}

async fn clock(world: &World) -> i64 {
    let mut reader = world.db.read().await.unwrap();
    let row = till_store::accounts::merchant(&mut reader, &world.scope)
        .await
        .unwrap()
        .unwrap();
    till_engine::base::clock::Clock::now_ms(&*world.clock) + row.clock_offset_ms
}

both_engines! {
    async fn everything_on_the_way_happens_at_its_own_time_and_in_its_order(db: Db) {
        let world = World::new(db).await;
        let invoices = invoices(&world).await;
        let target = NOW + 150 + 2 * LIFE_MS;
        let answer = advance(&world.engine, &world, "a", 2 * LIFE_MS / 1_000).await.unwrap();
        assert_eq!((answer.body, clock(&world).await), (target.to_string().into(), target));
        for (n, invoice) in (0..).zip(&invoices) {
            let row = world.row(&world.scope, invoice).await;
            assert_eq!((row.status.as_str(), row.closed_at), ("expired", Some(NOW + n + LIFE_MS)));
        }
        let mut reader = world.db.read().await.unwrap();
        let sql = "SELECT subject FROM events WHERE type = 'invoice.expired' ORDER BY id";
        let told: Vec<(String,)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
        assert_eq!(told.into_iter().map(|(subject,)| subject).collect::<Vec<_>>(), invoices);
    }

    async fn killed_on_its_way_it_goes_on_from_there_under_the_same_key(db: Db) {
        let world = World::new(db).await;
        let invoices = invoices(&world).await;
        let target = NOW + 150 + LIFE_MS + 1_000;
        let mut work = Box::pin(advance(&world.engine, &world, "a", LIFE_MS / 1_000 + 1));
        // Within the second of the three steps.
        world.db.stop_after(30);
        std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Pending if world.db.has_stopped() => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => panic!("it was not killed"),
        })
        .await;
        drop(work);
        world.db.stop_after(u64::MAX);
        let shown = clock(&world).await;
        assert!((NOW + LIFE_MS..target).contains(&shown), "{shown}");
        let timers = world.timers().await;
        assert!((1..INVOICES).contains(&timers.len()), "{}", timers.len());
        assert!(timers.iter().all(|(_, due_at, _)| *due_at > shown), "what the clock shows has happened");
        let engine = world.beside(2);
        let answer = advance(&engine, &world, "a", LIFE_MS / 1_000 + 1).await.unwrap();
        assert!(answer.replayed);
        assert_eq!((answer.body, clock(&world).await), (target.to_string().into(), target));
        for invoice in &invoices {
            assert_eq!(world.event_types(invoice).await, ["invoice.created", "invoice.expired"]);
        }
        assert!(world.timers().await.is_empty());
    }

    async fn two_at_once_add_up(db: Db) {
        let world = World::new(db).await;
        invoices(&world).await;
        let start = clock(&world).await;
        let (one, two) = tokio::join!(advance(&world.engine, &world, "a", 3_600), advance(&world.engine, &world, "b", 60));
        one.unwrap();
        two.unwrap();
        assert_eq!(clock(&world).await, start + 3_660_000);
        assert!(world.timers().await.is_empty());
    }

    async fn a_timer_that_fails_does_not_stop_the_clock(db: Db) {
        let world = World::new(db).await;
        let invoices = invoices(&world).await;
        world.run_sql("UPDATE invoices SET options = 'unreadable' WHERE id = $1", &[invoices[70].as_str().into()]).await;
        advance(&world.engine, &world, "a", 7_200).await.unwrap();
        let left = world.timers().await;
        assert_eq!(left.into_iter().map(|(subject, _, failures)| (subject, failures)).collect::<Vec<_>>(), [(invoices[70].clone(), 1)]);
        assert_eq!(world.status(&invoices[149]).await, "expired");
    }
}
