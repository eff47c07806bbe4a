//! Units that wait for SQLite's writer commit together, and only that.

mod common;

use std::time::Duration;

use common::{ids, put, run, thing, with_things};
use futures::future::join_all;
use till_core::asset::Mode;
use till_core::scope::Scope;
use till_store::events::{self, EventRow};
use till_store::testing::{TestDb, fresh, migrated};
use till_store::{Db, DbConfig, Dialect, Queries, StoreError};

async fn sqlite() -> TestDb {
    let test = fresh(Dialect::Sqlite)
        .await
        .expect("SQLite is always there");
    with_things(&test.db).await;
    test
}

/// Units that are started while `tx` has the writer: all wait for it when this returns.
async fn queue<F, R>(
    db: &Db,
    count: usize,
    work: impl Fn(usize, Db) -> F,
) -> Vec<tokio::task::JoinHandle<R>>
where
    F: Future<Output = R> + Send + 'static,
    R: Send + 'static,
{
    let mut handles = Vec::new();
    for n in 0..count {
        handles.push(tokio::spawn(work(n, db.clone())));
        // On a runtime of one thread each gets as far as the queue before the next is made.
        tokio::task::yield_now().await;
    }
    handles
}

async fn put_one(n: usize, db: Db) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    put(&mut tx, &thing(&format!("unit {n:02}"), 1)).await?;
    tx.commit().await
}

#[tokio::test]
async fn those_who_wait_share_a_commit() {
    let test = sqlite().await;
    let before = test.db.commits();
    let mut tx = test.db.begin().await.unwrap();
    let waiting = queue(&test.db, 30, put_one).await;
    put(&mut tx, &thing("first", 1)).await.unwrap();
    tx.commit().await.unwrap();
    for unit in join_all(waiting).await {
        unit.unwrap().unwrap();
    }
    assert_eq!(ids(&test.db).await.len(), 31);
    assert_eq!(test.db.commits() - before, 1);
    test.remove().await;
}

#[tokio::test]
async fn one_after_another_commit_one_by_one() {
    let test = sqlite().await;
    let before = test.db.commits();
    for n in 0..5 {
        put_one(n, test.db.clone()).await.unwrap();
        assert_eq!(
            ids(&test.db).await.len(),
            n + 1,
            "an acknowledged unit is visible to readers"
        );
    }
    assert_eq!(test.db.commits() - before, 5);
    test.remove().await;
}

#[tokio::test]
async fn what_is_not_yet_committed_is_not_read() {
    let test = sqlite().await;
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    assert!(ids(&test.db).await.is_empty());
    tx.commit().await.unwrap();
    assert_eq!(ids(&test.db).await, ["a"]);
    test.remove().await;
}

#[tokio::test]
async fn a_unit_that_fails_in_a_group_takes_nobody_with_it() {
    let test = sqlite().await;
    let before = test.db.commits();
    let mut tx = test.db.begin().await.unwrap();
    let waiting = queue(&test.db, 30, |n, db| async move {
        let mut tx = db.begin().await?;
        put(&mut tx, &thing(&format!("unit {n:02}"), 1)).await?;
        match n % 3 {
            0 => tx.commit().await,
            1 => put(&mut tx, &thing("first", 1)).await.map(drop),
            _ => Ok(()),
        }
    })
    .await;
    put(&mut tx, &thing("first", 1)).await.unwrap();
    tx.commit().await.unwrap();
    for (n, unit) in join_all(waiting).await.into_iter().enumerate() {
        assert_eq!(unit.unwrap().is_err(), n % 3 == 1);
    }
    let expected = (0..30).step_by(3).map(|n| format!("unit {n:02}"));
    assert_eq!(
        ids(&test.db).await,
        ["first".to_owned()]
            .into_iter()
            .chain(expected)
            .collect::<Vec<_>>()
    );
    assert_eq!(test.db.commits() - before, 1);
    test.remove().await;
}

#[tokio::test]
async fn a_group_whose_transaction_is_lost_is_never_acknowledged() {
    let test = sqlite().await;
    put_one(0, test.db.clone()).await.unwrap();
    let mut tx = test.db.begin().await.unwrap();
    let waiting = queue(&test.db, 3, |n, db| async move {
        if n != 1 {
            return put_one(n + 1, db).await;
        }
        // What a full disk does: SQLite rolls back the transaction, not the statement.
        let mut tx = db.begin().await?;
        tx.run(
            "INSERT OR ROLLBACK INTO things (id, at, data) VALUES ('unit 00', 1, '')",
            &[],
        )
        .await
        .map(drop)
    })
    .await;
    put(&mut tx, &thing("first", 1)).await.unwrap();
    assert_eq!(tx.commit().await, Err(StoreError::Busy));
    let done: Vec<_> = join_all(waiting)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(done[0], Err(StoreError::Busy));
    assert!(matches!(done[1], Err(StoreError::Unique { .. })));
    assert_eq!(done[2], Ok(()));
    assert_eq!(ids(&test.db).await, ["unit 00", "unit 03"]);
    test.remove().await;
}

#[tokio::test]
async fn a_commit_that_fails_fails_for_all_of_its_group_and_for_nobody_else() {
    let test = sqlite().await;
    let sql = "CREATE TABLE late (id TEXT REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)";
    run(&test.db, sql.into()).await;
    let mut tx = test.db.begin().await.unwrap();
    let waiting = queue(&test.db, 2, put_one).await;
    tx.run("INSERT INTO late (id) VALUES ('nobody')", &[])
        .await
        .unwrap();
    assert!(tx.commit().await.is_err());
    for unit in join_all(waiting).await {
        assert!(unit.unwrap().is_err());
    }
    assert!(ids(&test.db).await.is_empty());
    put_one(7, test.db.clone()).await.unwrap();
    assert_eq!(ids(&test.db).await, ["unit 07"]);
    test.remove().await;
}

#[tokio::test]
async fn an_abandoned_unit_frees_the_file_for_other_processes() {
    let test = sqlite().await;
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    drop(tx);
    let other = Db::open(&DbConfig::new(test.config.url.clone()))
        .await
        .unwrap();
    put_one(1, other.clone()).await.unwrap();
    other.close().await;
    assert_eq!(ids(&test.db).await, ["unit 01"]);
    test.remove().await;
}

#[tokio::test]
async fn a_unit_dropped_outside_the_runtime_is_undone_by_the_next() {
    let test = sqlite().await;
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    std::thread::spawn(move || drop(tx)).join().unwrap();
    put_one(1, test.db.clone()).await.unwrap();
    assert_eq!(ids(&test.db).await, ["unit 01"]);
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_without_a_pause_leaves_room_for_another_process() {
    let test = sqlite().await;
    let busy: Vec<_> = (0..8)
        .map(|lane| {
            let db = test.db.clone();
            tokio::spawn(async move {
                for n in 0.. {
                    put_one(1_000_000 * (lane + 1) + n, db.clone())
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    let patient = DbConfig {
        patience: Duration::from_secs(30),
        ..test.config.clone()
    };
    let patient = Db::open(&patient).await.unwrap();
    for n in 0..5 {
        put_one(n, patient.clone()).await.unwrap();
    }
    for lane in busy {
        lane.abort();
        lane.await.ok();
    }
    patient.close().await;
    test.remove().await;
}

#[tokio::test]
async fn a_file_held_by_another_process_is_busy_and_then_free() {
    let test = sqlite().await;
    let other = Db::open(&DbConfig::new(test.config.url.clone()))
        .await
        .unwrap();
    let hasty = DbConfig {
        patience: Duration::from_millis(100),
        ..test.config.clone()
    };
    let hasty = Db::open(&hasty).await.unwrap();
    let mut held = other.begin().await.unwrap();
    put(&mut held, &thing("held", 1)).await.unwrap();
    assert_eq!(hasty.begin().await.err(), Some(StoreError::Busy));
    assert_eq!(put_one(2, hasty.clone()).await, Err(StoreError::Busy));
    held.commit().await.unwrap();
    put_one(1, test.db.clone()).await.unwrap();
    assert_eq!(ids(&test.db).await, ["held", "unit 01"]);
    hasty.close().await;
    other.close().await;
    test.remove().await;
}

#[tokio::test]
async fn rows_that_are_written_at_once_take_nobody_with_them_when_they_fail() {
    let test = migrated(Dialect::Sqlite)
        .await
        .expect("SQLite is always there");
    let db = &test.db;
    let scope = Scope::new("acct_a", Mode::Test);
    let one = |id: &str| [event(id)];
    db.write_rows(&[events::rows(&one("evt_0"))]).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let waiting = queue(db, 3, |n, db| async move {
        let event = [event(&format!("evt_{n}"))];
        if n == 1 {
            // Of these two the second is there already: neither may stay.
            let twice = [event, [self::event("evt_0")]].concat();
            return db.write_rows(&[events::rows(&twice)]).await;
        }
        let mut tx = db.begin().await?;
        tx.write(&events::rows(&[self::event(&format!("evt_unit_{n}"))]))
            .await?;
        tx.commit().await
    })
    .await;
    tx.write(&events::rows(&one("evt_first"))).await.unwrap();
    tx.commit().await.unwrap();
    let mut done = Vec::new();
    for unit in join_all(waiting).await {
        done.push(unit.unwrap().is_ok());
    }
    assert_eq!(done, [true, false, true]);
    let mut reader = db.read().await.unwrap();
    let sql = "SELECT id FROM events WHERE account = $1 ORDER BY id";
    let ids: Vec<(String,)> = reader.all(sql, &[(&scope.account).into()]).await.unwrap();
    let ids: Vec<&str> = ids.iter().map(|(id,)| id.as_str()).collect();
    assert_eq!(ids, ["evt_0", "evt_first", "evt_unit_0", "evt_unit_2"]);
    drop(reader);
    test.remove().await;
}

fn event(id: &str) -> EventRow {
    EventRow {
        id: id.to_owned(),
        scope: Scope::new("acct_a", Mode::Test),
        event_type: till_core::event::EventType::InvoiceCreated,
        subject: None,
        stream_seq: None,
        created_at: 1,
        body: "{}".to_owned(),
        payments: None,
    }
}

/// The log is copied into the database by somebody else than the writer, who need not stop for it.
#[tokio::test]
async fn the_log_is_copied_while_the_writer_rests() {
    let test = sqlite().await;
    let file = test.config.url.strip_prefix("sqlite:").unwrap();
    let length = || std::fs::metadata(file).unwrap().len();
    let before = length();
    // What is written stands in the log beside it until somebody copies it.
    for n in 0..40 {
        put_one(n, test.db.clone()).await.unwrap();
    }
    let grown = async {
        while length() == before {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), grown)
        .await
        .expect("copied within seconds");
    test.remove().await;
}

#[tokio::test]
async fn a_log_that_is_written_without_a_pause_begins_anew() {
    let test = sqlite().await;
    let mut config = test.config.clone();
    config.log_pages_max = 200;
    test.db.clone().close().await;
    let db = Db::open(&config).await.unwrap();
    let file = test.config.url.strip_prefix("sqlite:").unwrap();
    // The log's file keeps the length that the log once had.
    let log = || std::fs::metadata(format!("{file}-wal")).unwrap().len();
    let (bytes, count_max) = (40 * 1024, 4_000);
    let mut count = 0;
    while count < 100 || log() * 2 > count * bytes {
        assert!(count < count_max, "{} bytes of log", log());
        let mut large = thing(&format!("unit {count:04}"), 1);
        large.data = vec![7; usize::try_from(bytes).unwrap()];
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &large).await.unwrap();
        tx.commit().await.unwrap();
        count += 1;
    }
    assert_eq!(u64::try_from(ids(&db).await.len()).unwrap(), count);
    db.close().await;
    test.remove().await;
}

#[tokio::test]
async fn closing_keeps_what_was_complete() {
    let test = sqlite().await;
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    let (committed, ()) = tokio::join!(tx.commit(), test.db.clone().close());
    committed.unwrap();
    let again = Db::open(&DbConfig::new(test.config.url.clone()))
        .await
        .unwrap();
    assert_eq!(ids(&again).await, ["a"]);
    again.close().await;
    test.remove().await;
}
