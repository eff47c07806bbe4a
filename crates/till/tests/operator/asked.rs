//! Commands that ask chains, without any chain: what cannot be meant, what is not there, and what is never repeated.

use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;
use till_store::testing::one_migration_behind;

use crate::common::{Done, Place};

const ACCOUNT: &str = "acct_00000000000000000000000000";
const DESTINATION: &str = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";
const SOLANA: &str = "solana=FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";

fn recover(place: &Place, account: &str, more: &[&str]) -> Done {
    let args = ["recover", "--account", account, "--mode", "test"];
    place.till(&[&args[..], more].concat())
}

#[test]
fn what_cannot_be_meant_is_a_usage_error_wherever_it_is_typed() {
    let place = Place::new();
    let sweep = ["sweep", "--account", ACCOUNT, "--mode", "test"];
    for more in [["--min", "abc"], ["--network", "nonsense"]] {
        place.till(&[&sweep[..], &more].concat()).fails(2);
    }
    for command in ["list", "thaw"] {
        let args = ["network", command, "--network", "nonsense"];
        let line = place.till(&args).fails(2);
        assert!(line.contains("is no network of this version"), "{line}");
    }
    let line = recover(&place, ACCOUNT, &[]).fails(2);
    assert!(line.contains("give --destination"), "{line}");
    let line = recover(&place, ACCOUNT, &["--destination", "eip155=xyz"]).fails(2);
    assert!(line.contains("--destination eip155"), "{line}");
    let given = ["--destination", DESTINATION];
    let nonsense = [&given[..], &["--network", "nonsense"]].concat();
    recover(&place, ACCOUNT, &nonsense).fails(2);
    for account in ["", "  ", "acme", "acct_1", "inv_00000000000000000000000000"] {
        let line = recover(&place, account, &given).fails(2);
        assert!(line.contains("--account"), "{line}");
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn files_and_numbers_that_cannot_be_used_are_told_with_cause_and_remedy() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    let told = |args: &[&str], status: i32, words: &[&str]| {
        let line = place.till(args).fails(status);
        for word in words {
            assert!(line.contains(word), "{word}: {line}");
        }
    };
    let folder = "it is a folder: name a file in it";
    told(
        &["migrate", "--config", "folder"],
        1,
        &["configuration file folder", folder],
    );
    told(
        &["migrate", "--database", "sqlite:folder"],
        1,
        &["the database folder", folder],
    );
    let key = [
        "account",
        "create",
        "--name",
        "A",
        "--set",
        "secrets.key_file=folder",
    ];
    told(&key, 1, &["the key file folder", folder]);
    let huge = ["migrate", "--set", "server.drain_s=99999999999999999999"];
    told(&huge, 2, &["server.drain_s", "beyond all that can be set"]);
    let large = ["migrate", "--set", "server.drain_s=4294967297"];
    told(&large, 2, &["server.drain_s", "between 0 and 60"]);
    place.write("till.toml", "[server]\ndrain_s = 99999999999999999999\n");
    told(&["migrate", "--config", "till.toml"], 1, &["line 2"]);
}

#[test]
fn check_ticks_off_the_list_of_the_readme() {
    let readme = std::fs::read_to_string("../../README.md").unwrap();
    let items: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("- [ ] "))
        .collect();
    assert_eq!(items.len(), 8, "{items:?}");
    let place = Place::new();
    let checked = place.till(&["check"]).ok().stdout;
    for item in &items {
        let open = format!("[ ] {item} — ");
        assert!(
            checked.lines().any(|line| line.starts_with(&open)),
            "{item}: {checked}"
        );
    }
    let more = ["--set", "metrics.listen=127.0.0.1:0"];
    let checked = place.till(&[&["check"], &more[..]].concat()).ok().stdout;
    assert!(checked.contains("[x] metrics and alerts\n"), "{checked}");
    // Copies count, whoever made them, once there is a database.
    for made in [
        &["backup", "--to", "copy.db"][..],
        &["backup", "--made-elsewhere"],
    ] {
        let place = Place::new();
        place.account(&[]);
        let checked = place.till(&["check"]).ok().stdout;
        assert!(
            checked.contains("[ ] backups — no copy was made"),
            "{checked}"
        );
        place.till(made).ok();
        let checked = place.till(&["check"]).ok().stdout;
        assert!(checked.contains("[x] backups\n"), "{checked}");
    }
    // What is set and fails is not ticked off.
    let mail = [
        "--set",
        "mail.smtp_url=smtp://127.0.0.1:1",
        "--set",
        "mail.from=till@shop.example",
    ];
    let checked = place.till(&[&["check"], &mail[..]].concat());
    assert_eq!(checked.status, Some(1), "{}", checked.stdout);
    let lines: Vec<&str> = checked.stdout.lines().collect();
    let line = |start: &str| lines.iter().position(|it| it.starts_with(start));
    assert!(
        line("FAIL mail") < line("[ ] mail — it is set and fails"),
        "{lines:?}"
    );
    assert!(line("FAIL mail").is_some(), "{lines:?}");
}

#[test]
fn an_endpoint_that_cannot_be_used_is_refused_without_repeating_it() {
    let place = Place::new();
    for rpc in [
        "https://node.example/secret",
        "eip155:999999=https://node.example/secret",
        "eip155:84532=ftp://node.example/secret",
        "eip155:84532=secret",
        "secret",
    ] {
        let args = ["--destination", DESTINATION, "--rpc", rpc];
        let line = recover(&place, ACCOUNT, &args).fails(2);
        assert!(line.contains("--rpc"), "{line}");
        assert!(!line.contains("secret"), "{line}");
    }
    let args = ["--destination", DESTINATION, "--set", "https://a/secret"];
    let line = recover(&place, ACCOUNT, &args).fails(2);
    assert!(!line.contains("secret"), "{line}");
}

#[test]
fn a_network_that_cannot_be_asked_is_refused_and_not_passed_over() {
    let place = Place::new();
    let recover = |more: &[&str]| {
        let given = ["--destination", DESTINATION, "--count", "1"];
        recover(&place, ACCOUNT, &[&given[..], more].concat()).fails(1)
    };
    let line = recover(&["--rpc", "eip155:8453=https://node.example"]);
    assert!(line.contains("is not a network of test mode"), "{line}");
    let line = recover(&["--network", "eip155:8453"]);
    assert!(line.contains("is not a network of test mode"), "{line}");
    let line = recover(&["--network", "eip155:84532"]);
    assert!(line.contains("eip155:84532 has no endpoint"), "{line}");
}

#[test]
fn a_family_without_addresses_is_named_beside_those_that_have_some() {
    let place = Place::new();
    let both = ["--destination", SOLANA, "--destination", DESTINATION];
    let done = recover(&place, ACCOUNT, &[&both[..], &["--count", "2"]].concat()).ok();
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
    assert!(done.stdout.starts_with("eip155 0"), "{}", done.stdout);
    let told = "solana has no deposit addresses in this mode";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    let line = recover(&place, ACCOUNT, &["--destination", SOLANA]).fails(1);
    assert!(line.contains(told), "{line}");
}

#[test]
fn where_nobody_can_be_asked_the_first_are_listed_and_it_is_said_that_there_may_be_more() {
    let place = Place::new();
    let done = recover(&place, ACCOUNT, &["--destination", DESTINATION]).ok();
    assert_eq!(done.stdout.lines().count(), 100, "{}", done.stdout);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains("--count"), "{}", done.stderr);
}

#[test]
fn ending_a_freeze_where_there_is_no_database_says_so_and_makes_nothing() {
    let place = Place::new();
    let thaw = ["network", "thaw", "--network", "eip155:84532"];
    let line = place.till(&thaw).fails(1);
    assert!(line.contains("there is no database"), "{line}");
    assert!(place.files().is_empty(), "{:?}", place.files());

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        one_migration_behind(&place.path("till.db"))
            .await
            .close()
            .await
    });
    let line = place.till(&thaw).fails(1);
    assert!(line.contains("run `till migrate`"), "{line}");
    assert_eq!(place.till(&["network", "list"]).fails(1), line);
    place.till(&["migrate"]).ok();
    let said = place.till(&thaw).ok().stdout;
    assert_eq!(said, "eip155:84532 was not frozen\n");
    let said = place.till(&["network", "thaw"]).ok().stdout;
    assert_eq!(said, "no network is frozen\n");
    let keys = place.files().into_iter().filter(|it| it.ends_with(".key"));
    assert_eq!(keys.count(), 0);
}

#[test]
fn ending_a_freeze_wants_the_key_file_that_the_database_was_written_with() {
    let place = Place::new();
    place.account(&[]);
    let thaw = ["network", "thaw", "--network", "eip155:84532"];
    place.till(&thaw).ok();
    std::fs::remove_file(place.path("till.key")).unwrap();
    let line = place.till(&thaw).fails(1);
    assert!(line.contains("key file"), "{line}");
    assert!(!place.path("till.key").exists());
}

#[test]
fn a_thaw_that_names_no_network_ends_every_freeze_and_says_each() {
    let place = Place::new();
    place.account(&[]);
    let url = format!("sqlite:{}", place.path("till.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut conn = SqliteConnection::connect(&url).await.unwrap();
        let frozen = "INSERT INTO networks (id, epoch, cursor_height, frozen_at, frozen_from, frozen_reason) VALUES \
             ('eip155:11155111', 1, 9, 1, 8, 'replaced'), ('eip155:84532', 1, 9, 1, 8, 'replaced'), ('eip155:8453', 1, 9, NULL, NULL, NULL)";
        let done = sqlx::raw_sql(frozen).execute(&mut conn).await;
        done.unwrap();
        conn.close().await.unwrap();
    });
    // A height is one network's own.
    let height = ["network", "thaw", "--rescan-from", "5"];
    assert_eq!(place.till(&height).status, Some(2));
    let said = place.till(&["network", "thaw"]).ok().stdout;
    let both = "eip155:11155111 is watched again\neip155:84532 is watched again\n";
    assert_eq!(said, both);
    let said = place.till(&["network", "thaw"]).ok().stdout;
    assert_eq!(said, "no network is frozen\n");
}
