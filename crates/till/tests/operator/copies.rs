//! Copies that cannot be made, and databases that something of the one before lies beside.

use std::fs;

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::common::Place;

fn change(place: &Place, file: &str, sql: &'static str) {
    let url = format!("sqlite:{}?mode=rwc", place.path(file).display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut conn = SqliteConnection::connect(&url).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await;
        done.unwrap();
        conn.close().await.unwrap();
    });
}

#[test]
fn a_database_that_cannot_be_migrated_says_why_and_stays_what_it_is() {
    let place = Place::new();
    // A table of somebody else's is where the schema wants one.
    change(&place, "till.db", "CREATE TABLE accounts (id TEXT)");
    let line = place.till(&["migrate"]).fails(1);
    assert!(line.contains("the database cannot be migrated"), "{line}");
    change(&place, "till.db", "INSERT INTO accounts VALUES ('theirs')");
    let again = place.till(&["migrate"]).fails(1);
    assert_eq!(again, line);
}

#[test]
fn a_copy_that_cannot_be_restored_says_why_and_leaves_nothing() {
    let place = Place::new();
    place.account(&[]);
    place.till(&["backup", "--to", "newer.db"]).ok();
    fs::remove_file(place.path("till.db")).unwrap();
    let newer = "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9998, 'a', '', 0), (9999, 'b', '', 0)";
    change(&place, "newer.db", newer);
    place.write("empty.db", "");
    for (file, why) in [
        ("newer.db", "the database is at version 9999"),
        ("newer.db", "run a newer program"),
        ("empty.db", "no copy that `till backup` made"),
        ("nowhere.db", "there is no such file"),
    ] {
        let line = place.till(&["restore", "--from", file]).fails(1);
        assert!(line.contains(why), "{file}: {line}");
        let left = place.files();
        assert!(!left.iter().any(|it| it.starts_with("till.db")), "{left:?}");
    }
    place.write("till.db.restoring", "");
    let line = place.till(&["restore", "--from", "newer.db"]).fails(1);
    assert!(line.contains("till.db.restoring is of a restore"), "{line}");
}

#[test]
fn a_log_that_was_left_behind_is_kept_and_named() {
    let place = Place::new();
    place.account(&[]);
    place.till(&["backup", "--to", "copy.db"]).ok();
    fs::rename(place.path("till.db"), place.path("broken.db")).unwrap();
    for suffix in ["-wal", "-shm"] {
        let beside = format!("till.db{suffix}");
        place.write(&beside, "what was committed last");
        let line = place.till(&["restore", "--from", "copy.db"]).fails(1);
        assert!(line.contains(&beside) && line.contains("move it"), "{line}");
        let kept = fs::read_to_string(place.path(&beside)).unwrap();
        assert_eq!(kept, "what was committed last");
        assert!(!place.path("till.db").exists());
        fs::remove_file(place.path(&beside)).unwrap();
    }
    place.till(&["restore", "--from", "copy.db"]).ok();
}

#[test]
fn a_copy_that_cannot_be_made_says_why_and_leaves_nothing() {
    let place = Place::new();
    place.account(&[]);
    let line = place.till(&["backup", "--to", "nowhere/copy.db"]).fails(1);
    assert!(line.contains("there is no folder nowhere"), "{line}");
    // No file may grow beyond this, as on a disk that is full.
    let till = env!("CARGO_BIN_EXE_till");
    let script = format!("trap '' XFSZ; ulimit -f 200; exec {till} backup --to copy.db");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path(""));
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("copy.db: "), "{said}");
    assert!(!place.path("copy.db").exists());
    place.till(&["backup", "--to", "copy.db"]).ok();
}
