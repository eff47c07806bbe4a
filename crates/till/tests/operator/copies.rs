//! Copies: those that cannot be made, those that are not whole, and what lies where one goes.

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
    fs::remove_file(place.path("newer.db.sha256")).unwrap();
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

#[test]
fn a_copy_of_which_one_byte_changed_is_refused_and_nothing_is_made() {
    let place = Place::new();
    place.account(&[]);
    place.till(&["backup", "--to", "copy.db"]).ok();
    fs::remove_file(place.path("till.db")).unwrap();
    let whole = fs::read(place.path("copy.db")).unwrap();
    for part in 1..=24 {
        let mut damaged = whole.clone();
        let at = whole.len() * part / 25;
        damaged[at] ^= 1;
        fs::write(place.path("copy.db"), damaged).unwrap();
        let line = place.till(&["restore", "--from", "copy.db"]).fails(1);
        assert!(line.contains("copy.db is damaged"), "{at}: {line}");
        assert!(!place.files().iter().any(|it| it.starts_with("till.db")));
    }
    // Whoever lost the digest still has what SQLite knows of itself.
    fs::remove_file(place.path("copy.db.sha256")).unwrap();
    let mut damaged = whole.clone();
    damaged[2 * 4096..3 * 4096].fill(0xaa);
    fs::write(place.path("copy.db"), damaged).unwrap();
    let line = place.till(&["restore", "--from", "copy.db"]).fails(1);
    assert!(line.contains("copy.db is damaged"), "{line}");
    fs::write(place.path("copy.db"), &whole[..whole.len() / 2]).unwrap();
    place.till(&["restore", "--from", "copy.db"]).fails(1);
    assert!(!place.files().iter().any(|it| it.starts_with("till.db")));
    fs::write(place.path("copy.db"), whole).unwrap();
    let said = place.till(&["restore", "--from", "copy.db"]).ok().stdout;
    assert!(said.contains("digest was not beside it"), "{said}");
}

#[test]
fn a_database_that_is_damaged_is_found_by_check_and_never_copied() {
    let place = Place::new();
    place.account(&[]);
    assert!(place.till(&["check"]).ok().stdout.contains("ok database"));
    let mut damaged = fs::read(place.path("till.db")).unwrap();
    let last = damaged.len() - 4096;
    damaged[last - 40 * 4096..last].fill(0xaa);
    fs::write(place.path("till.db"), damaged).unwrap();
    let checked = place.till(&["check"]);
    assert_eq!(checked.status, Some(1), "{}", checked.stdout);
    let line = checked
        .stdout
        .lines()
        .find(|it| it.starts_with("FAIL database"));
    assert!(line.is_some_and(|it| it.contains("damaged") && it.contains("till restore")));
    place.till(&["backup", "--to", "copy.db"]).fails(1);
    assert!(!place.files().iter().any(|it| it.starts_with("copy.db")));
}

#[test]
fn a_copy_without_its_key_file_is_refused_with_what_to_do() {
    let place = Place::new();
    place.account(&[]);
    place.till(&["backup", "--to", "copy.db"]).ok();
    fs::remove_file(place.path("till.db")).unwrap();
    fs::rename(place.path("till.key"), place.path("kept.key")).unwrap();
    let refused = |why: &str| {
        let line = place.till(&["restore", "--from", "copy.db"]).fails(1);
        assert!(line.contains(why), "{line}");
        assert!(
            line.contains("put its file where secrets.key_file says"),
            "{line}"
        );
        assert!(!place.files().iter().any(|it| it.starts_with("till.db")));
    };
    refused("till.key cannot be read");
    place.write("till.key", &"ab".repeat(32));
    refused("none of the key files is the copy's");
    let with_it = [
        "restore",
        "--from",
        "copy.db",
        "--set",
        "secrets.key_file=kept.key",
    ];
    place.till(&with_it).ok();
    // Nor is one made that could not be restored.
    let line = place.till(&["backup", "--to", "again.db"]).fails(1);
    assert!(
        line.contains("none of the key files is the copy's"),
        "{line}"
    );
    assert!(!place.path("again.db").exists());
}

#[test]
fn of_the_copies_in_a_folder_the_newest_stay() {
    let place = Place::new();
    place.account(&[]);
    let keep = ["backup", "--to", "copies", "--keep", "2"];
    let line = place.till(&keep).fails(1);
    assert!(line.contains("there is no folder copies"), "{line}");
    fs::create_dir(place.path("copies")).unwrap();
    let others = [
        "till-20200101T000000Z.db",
        "till-20200102T000000Z.db",
        "notes.txt",
    ];
    for name in others {
        place.write(&format!("copies/{name}"), "");
    }
    let said = place.till(&keep).ok().stdout;
    assert!(said.contains("1 older"), "{said}");
    let left = others.map(|name| place.path("copies").join(name).exists());
    assert_eq!(left, [false, true, true]);
    let line = place.till(&["backup", "--to", "copies"]).fails(2);
    assert!(line.contains("is a folder"), "{line}");
}

#[test]
fn postgres_is_left_to_its_own_tools_with_the_lines_to_run() {
    let place = Place::new();
    let url = "postgres://till:hunter2@db.example/shop?sslmode=require&password=hunter2";
    for command in [&["backup", "--to", "a.db"], &["restore", "--from", "a.db"]] {
        let done = place.till(&[&command[..], &["--database", url]].concat());
        assert_eq!(done.status, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains("nothing was done"), "{}", done.stderr);
        let database = "--dbname='postgres://till@db.example/shop?sslmode=require'";
        for line in [
            format!("pg_dump --format=custom --file=till.dump {database}"),
            format!("pg_restore --no-owner --exit-on-error {database} till.dump"),
        ] {
            assert!(done.stdout.contains(&line), "{}", done.stdout);
        }
        assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
    }
}

#[test]
fn commands_in_the_wrong_folder_make_nothing_there() {
    const ID: &str = "acct_00000000000000000000000000";
    const DESTINATION: &str = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";
    let place = Place::new();
    for args in [
        &["account", "list"][..],
        &["account", "disable", "--account", ID],
        &["account", "enable", "--account", ID],
        &["account", "destinations", "--account", ID],
        &[
            "account",
            "add-destination",
            "--account",
            ID,
            "--mode",
            "test",
            "--destination",
            DESTINATION,
        ],
        &["key", "list", "--account", ID],
        &[
            "key",
            "create",
            "--account",
            ID,
            "--mode",
            "test",
            "--kind",
            "secret",
        ],
        &[
            "key",
            "roll",
            "--account",
            ID,
            "--mode",
            "test",
            "--kind",
            "secret",
        ],
        &["key-file", "rotate"],
        &[
            "checkout",
            "export",
            "--account",
            ID,
            "--mode",
            "test",
            "--to",
            "pay",
        ],
        &["operator", "create", "--email", "ada@example.com"],
        &["screening", "status"],
        &["network", "list"],
        &["network", "thaw", "--network", "eip155:84532"],
        &["sweep", "--account", ID, "--mode", "test"],
        &["backup", "--to", "copy.db"],
        &["restore", "--pass-over"],
    ] {
        let done = place.till(args);
        assert_eq!(
            done.status,
            Some(1),
            "{args:?}: {}{}",
            done.stdout,
            done.stderr
        );
        assert!(place.files().is_empty(), "{args:?}: {:?}", place.files());
    }
    place.till(&["check"]).ok();
    assert!(place.files().is_empty(), "{:?}", place.files());
    // A database without anything in it has no key to rotate, and gets none.
    place.till(&["migrate"]).ok();
    let line = place.till(&["key-file", "rotate"]).fails(1);
    assert!(
        line.contains("nothing is encrypted in this database yet"),
        "{line}"
    );
    // Nor is anybody's address encrypted in it before it has one.
    let operator = ["operator", "create", "--email", "ada@example.com"];
    let line = place.till(&operator).fails(1);
    assert!(line.contains("no key to encrypt with yet"), "{line}");
    assert!(!place.path("till.key").exists());
    place.account(&[]);
    place.till(&operator).ok();
}
