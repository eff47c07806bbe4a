//! Whoever goes away, at whatever moment, hurts nobody else.

mod common;

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use common::{ids, put, thing, with_things};
use futures::future::{join_all, poll_fn};
use till_store::{Db, Queries, StoreError, both_engines};

/// How far a unit got before it was dropped.
#[derive(Default)]
struct Log {
    acknowledged: BTreeSet<String>,
    /// Asked to commit, never heard: may or may not be there.
    in_doubt: BTreeSet<String>,
}

/// Polls a future `polls` times and drops it if it is not done by then, with whatever it asked for under way.
async fn at_most<T>(polls: u64, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        match future.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if polled >= polls => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

fn mixed(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// Two rows, so that half a unit would show.
async fn unit(db: Db, id: String, log: Arc<Mutex<Log>>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    put(&mut tx, &thing(&format!("{id} a"), 1)).await?;
    let _: Vec<(String,)> = tx.all("SELECT id FROM things", &[]).await?;
    put(&mut tx, &thing(&format!("{id} b"), 1)).await?;
    log.lock().unwrap().in_doubt.insert(id.clone());
    tx.commit().await?;
    let mut log = log.lock().unwrap();
    log.in_doubt.remove(&id);
    log.acknowledged.insert(id);
    Ok(())
}

async fn many_come_and_some_go(db: Db, round: u64, cancelled_by: Cancel) {
    let log = Arc::new(Mutex::new(Log::default()));
    let tasks = (0..200).map(|n| {
        let seed = mixed(round * 1000 + n);
        let unit = unit(db.clone(), format!("{round} {n:03}"), Arc::clone(&log));
        tokio::spawn(async move {
            if seed.is_multiple_of(3) {
                return Some(unit.await);
            }
            match cancelled_by {
                Cancel::Polls => at_most(1 + seed / 7 % 9, unit).await,
                Cancel::Abort => {
                    let task = tokio::spawn(unit);
                    for _ in 0..seed / 7 % 200 {
                        tokio::task::yield_now().await;
                    }
                    task.abort();
                    task.await.ok()
                }
            }
        })
    });
    let done = join_all(tasks).await;
    let mut finished = 0;
    for unit in done {
        if let Some(outcome) = unit.unwrap() {
            outcome.expect("nobody suffers from another's going away");
            finished += 1;
        }
    }
    assert!(
        (40..200).contains(&finished),
        "{finished} finished: some must be cut off, some not"
    );

    // One more, behind whatever is still being undone.
    let mut tx = db.begin().await.unwrap();
    put(&mut tx, &thing(&format!("{round} last"), 2))
        .await
        .unwrap();
    tx.commit().await.unwrap();

    // Of this round only: PostgreSQL may finish an earlier round's commit, asked for and never heard of, as late as now.
    let mut there: BTreeSet<String> = ids(&db)
        .await
        .into_iter()
        .filter(|id| id.starts_with(&format!("{round} ")))
        .collect();
    let log = log.lock().unwrap();
    assert!(there.remove(&format!("{round} last")));
    for id in &log.acknowledged {
        assert!(
            there.remove(&format!("{id} a")) && there.remove(&format!("{id} b")),
            "{id} was acknowledged"
        );
    }
    for id in &log.in_doubt {
        assert_eq!(
            there.remove(&format!("{id} a")),
            there.remove(&format!("{id} b")),
            "{id} is half there"
        );
    }
    assert!(there.is_empty(), "never committed: {there:?}");
}

#[derive(Clone, Copy)]
enum Cancel {
    /// Dropped after a number of polls: at every point at which it waits, sooner or later.
    Polls,
    /// Dropped by another task at some moment.
    Abort,
}

both_engines! { fresh
    async fn exactly_the_acknowledged_are_there_when_futures_are_dropped(db: Db) {
        with_things(&db).await;
        for round in 0..5 {
            many_come_and_some_go(db.clone(), round, Cancel::Polls).await;
        }
    }

    async fn exactly_the_acknowledged_are_there_when_tasks_are_aborted(db: Db) {
        with_things(&db).await;
        for round in 0..5 {
            many_come_and_some_go(db.clone(), round, Cancel::Abort).await;
        }
    }

    async fn a_unit_whose_statement_was_cut_off_is_not_committed(db: Db) {
        with_things(&db).await;
        let mut cut_off = 0;
        // SQLite is sometimes done before it is asked twice, on a busy machine nearly always.
        for _ in 0..5_000 {
            let mut tx = db.begin().await.unwrap();
            put(&mut tx, &thing("a", 1)).await.unwrap();
            if at_most(1, put(&mut tx, &thing("b", 1))).await.is_none() {
                cut_off += 1;
                assert!(tx.commit().await.is_err());
            }
            if cut_off == 10 {
                break;
            }
        }
        assert!(cut_off > 0);
        assert!(ids(&db).await.is_empty());
    }

    async fn a_commit_whose_caller_went_away_strands_nobody(db: Db) {
        with_things(&db).await;
        for polls in 1..5 {
            let mut tx = db.begin().await.unwrap();
            put(&mut tx, &thing(&format!("gone {polls}"), polls as i64)).await.unwrap();
            at_most(polls, tx.commit()).await;
            let mut tx = db.begin().await.unwrap();
            put(&mut tx, &thing(&format!("stays {polls}"), polls as i64)).await.unwrap();
            tx.commit().await.unwrap();
            assert!(ids(&db).await.contains(&format!("stays {polls}")));
        }
    }
}
