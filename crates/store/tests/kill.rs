//! A process killed at any instant loses nothing that it acknowledged.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{ids, put, thing, with_things};
use till_store::testing::fresh;
use till_store::{Db, DbConfig, Dialect};

const CHILD_URL: &str = "TILL_TEST_KILL_URL";

/// Not a test by itself: what the process to be killed runs. Writes for ever, from many tasks at once, and
/// says what was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_writes_until_it_is_killed() {
    let Ok(url) = std::env::var(CHILD_URL) else {
        return;
    };
    let db = Db::open(&DbConfig::new(url)).await.unwrap();
    let writers = (0..16).map(|writer| {
        let db = db.clone();
        tokio::spawn(async move {
            for n in 0.. {
                let id = format!("{writer}-{n}");
                let mut tx = db.begin().await.unwrap();
                put(&mut tx, &thing(&format!("{id}-a"), 1)).await.unwrap();
                put(&mut tx, &thing(&format!("{id}-b"), 1)).await.unwrap();
                tx.commit().await.unwrap();
                println!("\nacknowledged {id}");
            }
        })
    });
    futures::future::join_all(writers).await;
}

async fn kill_one_that_writes(dialect: Dialect) {
    let Some(test) = fresh(dialect).await else {
        return;
    };
    with_things(&test.db).await;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_process_that_writes_until_it_is_killed",
            "--nocapture",
        ])
        .env(CHILD_URL, &test.config.url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    for line in lines.map_while(Result::ok) {
        if let Some(id) = line.strip_prefix("acknowledged ") {
            acknowledged.push(id.to_owned());
        }
        if acknowledged.len() == 300 {
            // What it still says before it dies is read to the end of the pipe.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(acknowledged.len() >= 300, "it was killed while it wrote");

    let there = ids(&test.db).await;
    for id in &acknowledged {
        assert!(
            there.contains(&format!("{id}-a")) && there.contains(&format!("{id}-b")),
            "{id} is lost"
        );
    }
    assert!(there.len().is_multiple_of(2), "half a unit is there");
    let mut tx = test.db.begin().await.unwrap();
    put(&mut tx, &thing("after", 2)).await.unwrap();
    tx.commit().await.unwrap();
    test.remove().await;
}

#[tokio::test]
async fn what_a_killed_process_acknowledged_is_there_on_sqlite() {
    kill_one_that_writes(Dialect::Sqlite).await;
}

#[tokio::test]
async fn what_a_killed_process_acknowledged_is_there_on_postgres() {
    kill_one_that_writes(Dialect::Postgres).await;
}
