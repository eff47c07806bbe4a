//! What only PostgreSQL can do to us.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{ids, put, thing, things, with_things};
use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Mode;
use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::testing::{TestDb, fresh, migrated};
use till_store::timers::TimerRow;
use till_store::{Db, DbConfig, Dialect, Queries, StoreError, timers};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

async fn postgres() -> Option<TestDb> {
    let test = fresh(Dialect::Postgres).await?;
    with_things(&test.db).await;
    Some(test)
}

/// Ends every other session of this database, as a restart would.
async fn end_sessions(test: &TestDb) {
    let other = Db::open(&DbConfig::new(test.config.url.clone()))
        .await
        .unwrap();
    let mut tx = other.begin().await.unwrap();
    // Materialised, or the server may end sessions before it asks whose they are.
    let sql = "WITH others AS MATERIALIZED (SELECT pid FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()) \
               SELECT CAST(pid AS BIGINT) FROM others WHERE pg_terminate_backend(pid, 5000)";
    let ended: Vec<(i64,)> = tx.all(sql, &[]).await.unwrap();
    assert!(!ended.is_empty());
    drop(tx);
    other.close().await;
}

#[tokio::test]
async fn sessions_that_died_in_the_pool_are_passed_over() {
    let Some(test) = postgres().await else { return };
    let mut units = Vec::new();
    let mut readers = Vec::new();
    for _ in 0..4 {
        units.push(test.db.begin().await.unwrap());
        let mut reader = test.db.read().await.unwrap();
        things(&mut reader).await;
        readers.push(reader);
    }
    drop((units, readers));
    // Once around, so that all of them are back in the pool.
    test.db.begin().await.unwrap().commit().await.unwrap();
    for round in 0..3 {
        end_sessions(&test).await;
        let mut tx = test.db.begin().await.unwrap();
        put(&mut tx, &thing(&round.to_string(), round))
            .await
            .unwrap();
        tx.commit().await.unwrap();
        end_sessions(&test).await;
        assert_eq!(
            ids(&test.db).await.len(),
            usize::try_from(round).unwrap() + 1
        );
    }
    test.remove().await;
}

#[tokio::test]
async fn rows_are_written_although_sessions_died_in_the_pool() {
    let Some(test) = postgres().await else { return };
    test.db.migrate(0).await.unwrap();
    let scope = Scope::new("acct_a", Mode::Test);
    for round in 0..3 {
        let units = [
            test.db.begin().await.unwrap(),
            test.db.begin().await.unwrap(),
        ];
        drop(units);
        test.db.begin().await.unwrap().commit().await.unwrap();
        end_sessions(&test).await;
        let subject = round.to_string();
        let timer = TimerRow::new(&scope, TimerKind::ExpireInvoice, subject.as_str(), 1);
        test.db.write_rows(&[timers::rows(&[timer])]).await.unwrap();
    }
    let mut reader = test.db.read().await.unwrap();
    assert_eq!(timers::due(&mut reader, 1, 9).await.unwrap().len(), 3);
    drop(reader);
    test.remove().await;
}

#[tokio::test]
async fn a_session_lost_in_a_unit_is_unavailable_and_the_unit_is_gone() {
    let Some(test) = postgres().await else { return };
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    end_sessions(&test).await;
    assert_eq!(
        put(&mut tx, &thing("b", 2)).await,
        Err(StoreError::Unavailable)
    );
    drop(tx);
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("c", 3)).await.unwrap();
    end_sessions(&test).await;
    assert_eq!(tx.commit().await, Err(StoreError::Unavailable));
    assert!(ids(&test.db).await.is_empty());
    test.remove().await;
}

#[tokio::test]
async fn a_reader_that_loses_its_session_goes_on_with_another() {
    let Some(test) = postgres().await else { return };
    let mut reader = test.db.read().await.unwrap();
    assert!(things(&mut reader).await.is_empty());
    end_sessions(&test).await;
    assert!(things(&mut reader).await.is_empty());
    drop(reader);
    test.remove().await;
}

#[tokio::test]
async fn a_row_held_too_long_is_a_lock_timeout_and_one_to_skip() {
    let Some(test) = postgres().await else { return };
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    put(&mut tx, &thing("b", 2)).await.unwrap();
    tx.commit().await.unwrap();

    let mut holder = test.db.begin().await.unwrap();
    let sql = format!(
        "SELECT id FROM things WHERE id = 'a'{}",
        holder.for_update()
    );
    holder.all::<(String,)>(&sql, &[]).await.unwrap();

    let mut skipping = test.db.begin().await.unwrap();
    let sql = format!(
        "SELECT id FROM things ORDER BY id{}",
        skipping.skip_locked()
    );
    assert_eq!(
        skipping.all::<(String,)>(&sql, &[]).await.unwrap(),
        [("b".into(),)]
    );
    drop(skipping);

    let mut waiting = test.db.begin().await.unwrap();
    let update = waiting
        .run("UPDATE things SET note = 'n' WHERE id = 'a'", &[])
        .await;
    assert!(update.unwrap_err().waited_for("things"));
    drop((waiting, holder));
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_is_resolved_by_running_the_loser_again() {
    let Some(test) = postgres().await else { return };
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("a", 0)).await.unwrap();
    put(&mut tx, &thing("b", 0)).await.unwrap();
    tx.commit().await.unwrap();
    let meet = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    let units = [["a", "b"], ["b", "a"]].map(|order| {
        let (db, meet) = (test.db.clone(), meet.clone());
        let runs = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        tokio::spawn(async move {
            let done: Result<(), StoreError> = db
                .write(|tx| {
                    let (meet, first) = (
                        meet.clone(),
                        runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0,
                    );
                    async move {
                        let sql = "UPDATE things SET at = at + 1 WHERE id = $1";
                        tx.run(sql, &[order[0].into()]).await?;
                        if first {
                            meet.wait().await;
                        }
                        tx.run(sql, &[order[1].into()]).await.map(drop)
                    }
                    .scope_boxed()
                })
                .await;
            done
        })
    });
    for unit in units {
        unit.await.unwrap().unwrap();
    }
    let after: Vec<i64> = things(&mut test.db.read().await.unwrap())
        .await
        .iter()
        .map(|thing| thing.at)
        .collect();
    assert_eq!(after, [2, 2]);
    test.remove().await;
}

#[tokio::test]
async fn readers_are_not_starved_by_writers() {
    let Some(test) = postgres().await else { return };
    let mut units = Vec::new();
    for _ in 0..test.config.writers_max {
        units.push(test.db.begin().await.unwrap());
    }
    assert!(ids(&test.db).await.is_empty());
    assert_eq!(
        test.db.begin().await.err(),
        Some(StoreError::Unavailable),
        "no connection in time"
    );
    drop(units);
    test.remove().await;
}

#[tokio::test]
async fn sessions_are_bounded_in_time_and_durable() {
    let Some(test) = postgres().await else { return };
    let mut tx = test.db.begin().await.unwrap();
    for (setting, value) in [
        ("lock_timeout", "2s"),
        ("statement_timeout", "30s"),
        ("idle_in_transaction_session_timeout", "5s"),
        ("transaction_isolation", "read committed"),
        ("synchronous_commit", "on"),
    ] {
        let sql = "SELECT current_setting($1)";
        assert_eq!(
            tx.one::<(String,)>(sql, &[setting.into()]).await.unwrap(),
            Some((value.into(),)),
            "{setting}"
        );
    }
    drop(tx);
    test.remove().await;
}

/// Lists are read in the order of their ids, and cursors compare them: with a locale's order the engines would differ.
#[tokio::test]
async fn every_text_column_sorts_by_its_bytes() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let sql = "SELECT table_name || '.' || column_name FROM information_schema.columns \
               WHERE table_schema = current_schema() AND data_type = 'text' \
               AND table_name <> 'schema_migrations' AND collation_name IS DISTINCT FROM 'C'";
    let mut reader = test.db.read().await.unwrap();
    let by_locale: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    assert_eq!(by_locale, []);
    let sql = "SELECT count(*) FROM information_schema.columns \
               WHERE table_schema = current_schema() AND collation_name = 'C'";
    let (by_bytes,): (i64,) = reader.one(sql, &[]).await.unwrap().unwrap();
    assert!(by_bytes > 200, "{by_bytes}");
    drop(reader);
    test.remove().await;
}

/// A way to the test's server. Shut, it takes everything and passes nothing on, as a machine that stands still does.
struct Way {
    address: SocketAddr,
    is_open: watch::Sender<bool>,
}

impl Way {
    async fn new(server: String, is_open: bool) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let is_open = watch::Sender::new(is_open);
        let opens = is_open.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(pass_on(from_client, to_server, opens.clone()));
                tokio::spawn(pass_on(from_server, to_client, opens.clone()));
            }
        });
        Way { address, is_open }
    }
}

async fn pass_on(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut opens: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let is_over = opens.wait_for(|is_open| *is_open).await.is_err();
        if is_over || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

/// The database of a test by two ways, the first open and the second shut.
async fn by_two_ways(test: &TestDb) -> (Db, Way, Way) {
    let url = &test.config.url;
    let (scheme, rest) = url.split_once("://").unwrap();
    let (user, rest) = rest.split_once('@').unwrap();
    let (server, path) = rest.split_once('/').unwrap();
    let one = Way::new(server.to_owned(), true).await;
    let two = Way::new(server.to_owned(), false).await;
    let url = format!("{scheme}://{user}@{},{}/{path}", one.address, two.address);
    let db = Db::open(&DbConfig::new(url)).await.unwrap();
    (db, one, two)
}

/// Far more than it takes to ask the servers and change to another.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_was_asked_of_a_server_that_fell_silent_ends_when_another_takes_over() {
    let Some(test) = postgres().await else { return };
    let (db, one, two) = by_two_ways(&test).await;
    let mut asking = db.begin().await.unwrap();
    put(&mut asking, &thing("a", 1)).await.unwrap();
    let mut committing = db.begin().await.unwrap();
    put(&mut committing, &thing("b", 2)).await.unwrap();
    let mut reader = db.read().await.unwrap();
    assert!(things(&mut reader).await.is_empty());
    one.is_open.send_replace(false);
    two.is_open.send_replace(true);
    let c = thing("c", 3);
    let asked = timeout(SOON, put(&mut asking, &c));
    let committed = timeout(SOON, committing.commit());
    let read = timeout(SOON, things(&mut reader));
    let (asked, committed, read) = tokio::join!(asked, committed, read);
    assert_eq!(asked.unwrap(), Err(StoreError::Unavailable));
    assert_eq!(committed.unwrap(), Err(StoreError::Unavailable));
    // To read is to ask again.
    assert!(read.unwrap().is_empty());
    let mut tx = db.begin().await.unwrap();
    put(&mut tx, &thing("d", 4)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids(&test.db).await, ["d"]);
    drop((asking, reader));
    test.remove().await;
}

#[tokio::test]
async fn a_unit_that_a_silent_server_does_not_begin_is_begun_at_another() {
    let Some(test) = postgres().await else { return };
    let (db, one, two) = by_two_ways(&test).await;
    // Left in the pool, where it looks well.
    db.begin().await.unwrap().commit().await.unwrap();
    one.is_open.send_replace(false);
    two.is_open.send_replace(true);
    let mut tx = timeout(SOON, db.begin()).await.unwrap().unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids(&test.db).await, ["a"]);
    test.remove().await;
}
