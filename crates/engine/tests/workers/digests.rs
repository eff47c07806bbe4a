//! Digests of the journal: when they are made, what they cover, and that a change is noticed.

use futures::future::join_all;
use till_core::digest::Sum;
use till_core::page::Page;
use till_core::time::{DAY_MS, day_of, show_day};
use till_engine::digests::{self, Canonical, Checked, Checks, Entries, Export, check_open_days};
use till_engine::rotation;
use till_engine::view::DigestView;
use till_engine::workers::digests::make_due;
use till_store::digests::Span;
use till_store::testing::migrated;
use till_store::{Dialect, Queries as _, Val};

use crate::world::{NOW, World, account, pay};

const TODAY: i64 = NOW.div_euclid(DAY_MS);

/// Each of these on both engines.
macro_rules! on_both {
    ($($body:ident: $sqlite:ident, $postgres:ident;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $sqlite() {
                $body(Dialect::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $postgres() {
                $body(Dialect::Postgres).await;
            }
        )+
    };
}

on_both! {
    a_day_gets_one_digest_once_it_is_over:
        a_day_gets_one_digest_once_it_is_over_on_sqlite,
        a_day_gets_one_digest_once_it_is_over_on_postgres;
    what_is_late_belongs_to_the_next_digest:
        what_is_late_belongs_to_the_next_digest_on_sqlite,
        what_is_late_belongs_to_the_next_digest_on_postgres;
    an_export_follows_the_digests_and_ends_with_open_days:
        an_export_follows_the_digests_and_ends_with_open_days_on_sqlite,
        an_export_follows_the_digests_and_ends_with_open_days_on_postgres;
    several_servers_at_once_make_one_digest:
        several_servers_at_once_make_one_digest_on_sqlite,
        several_servers_at_once_make_one_digest_on_postgres;
    what_is_posted_while_digests_are_made_is_in_exactly_one:
        what_is_posted_while_digests_are_made_is_in_exactly_one_on_sqlite,
        what_is_posted_while_digests_are_made_is_in_exactly_one_on_postgres;
    a_digest_that_was_begun_is_finished_by_another_server:
        a_digest_that_was_begun_is_finished_by_another_server_on_sqlite,
        a_digest_that_was_begun_is_finished_by_another_server_on_postgres;
    every_change_by_hand_is_noticed:
        every_change_by_hand_is_noticed_on_sqlite,
        every_change_by_hand_is_noticed_on_postgres;
    digests_and_late_entries_are_append_only:
        digests_and_late_entries_are_append_only_on_sqlite,
        digests_and_late_entries_are_append_only_on_postgres;
    the_key_survives_a_rotation_and_earlier_ones_stay_known:
        the_key_survives_a_rotation_and_earlier_ones_stay_known_on_sqlite,
        the_key_survives_a_rotation_and_earlier_ones_stay_known_on_postgres;
}

async fn paid(world: &World) {
    let invoice = world.invoice().await;
    pay(&world.engine, &world.scope, &invoice, &["final"]).await;
}

/// The first of them first.
async fn made(world: &World) -> Vec<DigestView> {
    let page = Page {
        limit: 100,
        before: None,
    };
    let list = digests::list(&world.engine, &world.scope, &page).await;
    let mut items = list.unwrap().items;
    // By the clock of these tests they are all of one moment.
    items.sort_by(|one, other| one.day.cmp(&other.day));
    items
}

async fn days(world: &World) -> Vec<(String, u64)> {
    let made = made(world).await.into_iter();
    made.map(|digest| (digest.day, digest.entries)).collect()
}

async fn checked(world: &World) -> Vec<Checked> {
    let range = (i64::MIN, i64::MAX);
    let begun = Checks::begin(&world.engine, &world.scope, range).await;
    let (mut checks, mut all) = (begun.unwrap(), Vec::new());
    while let Some(one) = checks.next().await.unwrap() {
        all.push(one);
    }
    let open = check_open_days(&world.engine, &world.scope, range).await;
    all.extend(open.unwrap());
    all
}

#[track_caller]
fn fit(checked: &[Checked]) {
    let misfit = checked.iter().find(|one| one.misfit.is_some());
    assert_eq!(misfit, None);
}

async fn first_misfit(world: &World) -> Option<String> {
    let mut checked = checked(world).await.into_iter();
    let misfit = checked.find(|one| one.misfit.is_some());
    misfit.map(|one| show_day(one.day))
}

async fn count(world: &World, table: &str) -> i64 {
    let mut reader = world.db.read().await.unwrap();
    let sql = format!("SELECT COUNT(*) FROM {table}");
    let counted: Option<(i64,)> = reader.one(&sql, &[]).await.unwrap();
    counted.unwrap().0
}

async fn a_day_gets_one_digest_once_it_is_over(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    paid(&world).await;
    paid(&world).await;
    make_due(&world.engine).await.unwrap();
    assert!(made(&world).await.is_empty(), "the day is not over");
    fit(&checked(&world).await);
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    assert_eq!(days(&world).await, [(show_day(TODAY), 2)]);
    assert_eq!(count(&world, "undigested_entries").await, 0);
    // A day without entries has none; a day with some follows the one before.
    world.clock.advance(DAY_MS);
    paid(&world).await;
    world.clock.advance(2 * DAY_MS);
    make_due(&world.engine).await.unwrap();
    make_due(&world.engine).await.unwrap();
    let all = made(&world).await;
    assert_eq!(
        days(&world).await,
        [(show_day(TODAY), 2), (show_day(TODAY + 2), 1)]
    );
    assert_eq!(all[0].previous, "0".repeat(64));
    assert_eq!(all[1].previous, all[0].root);
    assert!(all[0].id.starts_with("dig_"), "{}", all[0].id);
    assert_eq!(all[1].first_entry, all[1].last_entry);
    fit(&checked(&world).await);
    test.remove().await;
}

async fn what_is_late_belongs_to_the_next_digest(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let (first, second) = (world.invoice().await, world.invoice().await);
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    // A server whose clock is a day behind posts for yesterday.
    let behind = world.with_clock(2, NOW + 1_000);
    pay(&behind, &world.scope, &first, &["final"]).await;
    fit(&checked(&world).await);
    make_due(&world.engine).await.unwrap();
    assert_eq!(days(&world).await, [(show_day(TODAY), 1)]);
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    let late = (show_day(TODAY + 1), 2);
    assert_eq!(days(&world).await, [(show_day(TODAY), 1), late.clone()]);
    fit(&checked(&world).await);
    // Without anything else it is in the digest of the last day that is over.
    pay(&behind, &world.scope, &second, &["final"]).await;
    world.clock.advance(3 * DAY_MS);
    make_due(&world.engine).await.unwrap();
    let last = (show_day(TODAY + 4), 1);
    assert_eq!(
        days(&world).await,
        [(show_day(TODAY), 1), late, last.clone()]
    );
    fit(&checked(&world).await);
    assert_eq!(count(&world, "late_entries").await, 2);
    test.remove().await;
}

async fn exported(world: &World, days: (i64, i64)) -> (Vec<Canonical>, i64) {
    let begun = Export::begin(&world.engine, &world.scope, days).await;
    let (mut export, mut all) = (begun.unwrap(), Vec::new());
    while let Some(some) = export.next().await.unwrap() {
        all.extend(some);
    }
    (all, export.late)
}

async fn an_export_follows_the_digests_and_ends_with_open_days(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let (first, second) = (world.invoice().await, world.invoice().await);
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    let behind = world.with_clock(2, NOW + 1_000);
    pay(&behind, &world.scope, &first, &["final"]).await;
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    pay(&behind, &world.scope, &second, &["final"]).await;
    paid(&world).await;
    let (lines, late) = exported(&world, (TODAY, TODAY + 2)).await;
    assert_eq!((lines.len(), late), (4, 1), "what waits is left out");
    // The digests cover the lines one after the other, and the last line has none.
    let mut rest = lines.as_slice();
    for digest in made(&world).await {
        let (its, others) = rest.split_at(usize::try_from(digest.entries).unwrap());
        let mut sum = Sum::after(&digest.previous).unwrap();
        for line in its {
            sum.add(&line.entry, &line.text);
        }
        assert_eq!(sum.end().root, digest.root);
        rest = others;
    }
    assert_eq!(rest.len(), 1);
    assert!(lines[1].text.contains(&show_day(TODAY)), "late ones first");
    let (middle, _) = exported(&world, (TODAY + 1, TODAY + 1)).await;
    assert_eq!(middle, lines[1..3]);
    let (open, _) = exported(&world, (TODAY + 2, TODAY + 9)).await;
    assert_eq!(open, lines[3..]);
    test.remove().await;
}

async fn several_servers_at_once_make_one_digest(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let other = account(&world.engine).await;
    for _ in 0..3 {
        paid(&world).await;
        let invoice = world.invoices(&other, 1).await.remove(0);
        pay(&world.engine, &other, &invoice, &["final"]).await;
        world.clock.advance(DAY_MS);
    }
    let servers: Vec<_> = (2..8).map(|number| world.beside(number)).collect();
    let making = servers.iter().map(|server| async {
        let server = std::sync::Arc::clone(server);
        tokio::spawn(async move { make_due(&server).await }).await
    });
    for done in join_all(making).await {
        done.unwrap().unwrap();
    }
    let expected: Vec<_> = (0..3).map(|day| (show_day(TODAY + day), 1)).collect();
    assert_eq!(days(&world).await, expected);
    assert_eq!(count(&world, "ledger_digests").await, 6);
    assert_eq!(count(&world, "ledger_keys").await, 1);
    fit(&checked(&world).await);
    test.remove().await;
}

async fn what_is_posted_while_digests_are_made_is_in_exactly_one(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let invoices = world.invoices(&world.scope, 24).await;
    paid(&world).await;
    world.clock.advance(DAY_MS);
    // Four servers whose clocks are behind post for yesterday while two others make its digest.
    let posting = invoices.chunks(6).zip(10..).map(|(some, number)| {
        let (server, scope) = (world.with_clock(number, NOW + 1_000), world.scope.clone());
        let some = some.to_vec();
        tokio::spawn(async move {
            for invoice in &some {
                pay(&server, &scope, invoice, &["final"]).await;
            }
        })
    });
    let making = (20..22).map(|number| {
        let server = world.beside(number);
        tokio::spawn(async move {
            for _ in 0..20 {
                make_due(&server).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    });
    for done in join_all(posting.chain(making)).await {
        done.unwrap();
    }
    fit(&checked(&world).await);
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    fit(&checked(&world).await);
    let covered: u64 = days(&world).await.iter().map(|(_, entries)| entries).sum();
    assert_eq!(covered, 25);
    assert_eq!(count(&world, "undigested_entries").await, 0);
    test.remove().await;
}

async fn a_digest_that_was_begun_is_finished_by_another_server(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    paid(&world).await;
    world.clock.advance(DAY_MS);
    // Whichever step it dies after: another goes on, and nothing is missing or counted twice.
    for steps in 1..200 {
        let mortal = world.beside(100 + steps);
        world.db.stop_after(steps);
        let died = tokio::select! {
            done = make_due(&mortal) => { done.unwrap(); false }
            () = async { while !world.db.has_stopped() { tokio::task::yield_now().await; } } => true,
        };
        world.db.stop_after(u64::MAX);
        make_due(&world.engine).await.unwrap();
        fit(&checked(&world).await);
        assert_eq!(count(&world, "undigested_entries").await, 0);
        if !died {
            break;
        }
        paid(&world).await;
        world.clock.advance(DAY_MS);
    }
    let made = days(&world).await;
    assert!(made.len() > 5, "{made:?}");
    assert!(made.iter().all(|(_, entries)| *entries == 1), "{made:?}");
    test.remove().await;
}

/// Lets go of what the database refuses.
async fn without_triggers(world: &World, dialect: Dialect) {
    let tables = ["journal", "ledger_digests", "late_entries"];
    for table in tables {
        match dialect {
            Dialect::Postgres => {
                let sql = format!("DROP TRIGGER {table}_no_update ON {table}");
                world.run_sql(&sql, &[]).await;
            }
            _ => {
                for what in ["update", "delete"] {
                    let sql = format!("DROP TRIGGER {table}_no_{what}");
                    world.run_sql(&sql, &[]).await;
                }
            }
        }
    }
}

/// Does something to the journal, sees that it is noticed and where, and undoes it.
async fn noticed(world: &World, change: &str, day: i64, undo: &str, args: &[Val]) {
    world.run_sql(change, args).await;
    let found = first_misfit(world).await;
    assert_eq!(found, Some(show_day(day)), "{change}");
    world.run_sql(undo, args).await;
    assert_eq!(first_misfit(world).await, None, "{undo}");
}

async fn every_change_by_hand_is_noticed(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    for _ in 0..3 {
        paid(&world).await;
        paid(&world).await;
        world.clock.advance(2 * DAY_MS);
    }
    make_due(&world.engine).await.unwrap();
    without_triggers(&world, dialect).await;
    let middle = made(&world).await[1].clone();
    let entry = [Val::from(&middle.last_entry)];
    for (column, value) in [
        ("amount", "'1'"),
        ("kind", "'reversal'"),
        ("asset", "'USDT@eip155:1'"),
        ("debit", "'held'"),
        ("credit", "'refundable'"),
        ("invoice", "NULL"),
        ("subject", "'pay_x'"),
        ("reverses", "'jrn_x'"),
        ("step", "77"),
        ("line", "5"),
        ("created_at", "created_at - 1"),
        ("mode", "'live'"),
    ] {
        let kept = format!(
            "CREATE TABLE kept AS SELECT * FROM journal WHERE entry = '{}'",
            middle.last_entry
        );
        world.run_sql(&kept, &[]).await;
        world
            .run_sql(
                &format!("UPDATE journal SET {column} = {value} WHERE entry = $1"),
                &entry,
            )
            .await;
        assert_eq!(
            first_misfit(&world).await,
            Some(middle.day.clone()),
            "{column}"
        );
        world
            .run_sql("DELETE FROM journal WHERE entry = $1", &entry)
            .await;
        assert_eq!(
            first_misfit(&world).await,
            Some(middle.day.clone()),
            "removed"
        );
        world
            .run_sql("INSERT INTO journal SELECT * FROM kept", &[])
            .await;
        world.run_sql("DROP TABLE kept", &[]).await;
        assert_eq!(first_misfit(&world).await, None);
    }
    let put_in = |at: i64| {
        format!(
            "INSERT INTO journal SELECT 'jrn_x', line, account, mode, kind, invoice, 'pay_x', step, reverses, asset, \
             debit, credit, amount, {at} FROM journal WHERE entry = $1"
        )
    };
    let remove = "DELETE FROM journal WHERE entry = 'jrn_x' AND entry <> $1";
    let at = |day: i64| (TODAY + day) * DAY_MS + 5;
    // On a day with a digest, on one without, long before, and on one that is not over.
    noticed(&world, &put_in(at(2)), TODAY + 2, remove, &entry).await;
    noticed(&world, &put_in(at(1)), TODAY + 2, remove, &entry).await;
    noticed(&world, &put_in(5), TODAY, remove, &entry).await;
    noticed(&world, &put_in(at(9)), TODAY + 9, remove, &entry).await;
    // The digests themselves.
    let day = TODAY + 2;
    let set = |column: &str, value: &str| {
        format!("UPDATE ledger_digests SET {column} = {value} WHERE last_entry = $1")
    };
    for (column, bad, good) in [
        ("signature", "0".repeat(128), &middle.signature),
        ("previous", "1".repeat(64), &middle.previous),
        ("root", "1".repeat(64), &middle.root),
        ("key_id", "x".to_owned(), &middle.key_id),
    ] {
        let bad = set(column, &format!("'{bad}'"));
        let good = set(column, &format!("'{good}'"));
        noticed(&world, &bad, day, &good, &entry).await;
    }
    // The one before may go, and the next does not follow any more.
    let first = Val::from(&made(&world).await[0].last_entry);
    world
        .run_sql("DELETE FROM ledger_digests WHERE last_entry = $1", &[first])
        .await;
    assert_eq!(first_misfit(&world).await, Some(show_day(day)));
    test.remove().await;
}

async fn digests_and_late_entries_are_append_only(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let invoice = world.invoice().await;
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    let behind = world.with_clock(2, NOW + 1_000);
    pay(&behind, &world.scope, &invoice, &["final"]).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    for (table, column) in [("ledger_digests", "root"), ("late_entries", "digest")] {
        assert!(count(&world, table).await > 0);
        for sql in [
            format!("UPDATE {table} SET {column} = 'x'"),
            format!("DELETE FROM {table}"),
        ] {
            let mut tx = world.db.begin().await.unwrap();
            let refused = tx.run(&sql, &[]).await.unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{refused}");
        }
    }
    test.remove().await;
}

async fn the_key_survives_a_rotation_and_earlier_ones_stay_known(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    let keys = digests::key::all(&world.engine).await.unwrap();
    assert_eq!(keys.len(), 1);
    let rotated = world.with_keys(2, &[[8; 32], [7; 32]]);
    let newest = rotated.vault.first_name();
    rotation::encrypt_with(&rotated, &newest).await.unwrap();
    let done = rotation::pass(&rotated).await.unwrap();
    assert_eq!(done.unreadable, 0);
    let alone = world.with_keys(3, &[[8; 32]]);
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&alone).await.unwrap();
    let after = digests::key::all(&alone).await.unwrap();
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].public_key, keys[0].public_key);
    assert_ne!(after[0].secret, keys[0].secret);
    let renewed = digests::key::renew(&alone).await.unwrap();
    paid(&world).await;
    world.clock.advance(DAY_MS);
    make_due(&alone).await.unwrap();
    let signed = made(&world).await;
    let by: Vec<&str> = signed.iter().map(|digest| &*digest.key_id).collect();
    assert_eq!(by, [&*keys[0].id, &*keys[0].id, &*renewed.id]);
    fit(&checked(&world).await);
    let after = digests::key::all(&alone).await.unwrap();
    assert_eq!((after.len(), after[0].secret.len()), (2, 0));
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_sees_its_own_digests_alone_and_in_pages() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let world = World::new(test.db.clone()).await;
    for _ in 0..3 {
        paid(&world).await;
        world.clock.advance(DAY_MS);
    }
    make_due(&world.engine).await.unwrap();
    let mut page = Page {
        limit: 2,
        before: None,
    };
    let first = digests::list(&world.engine, &world.scope, &page).await;
    let first = first.unwrap();
    assert_eq!(first.items.len(), 2);
    page.before = first.next;
    let rest = digests::list(&world.engine, &world.scope, &page).await;
    let rest = rest.unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));
    assert_eq!(rest.items[0].day, show_day(TODAY));
    let others = account(&world.engine).await;
    for scope in [others, world.scope.in_other_mode()] {
        page.before = None;
        let found = digests::list(&world.engine, &scope, &page).await;
        assert!(found.unwrap().items.is_empty());
    }
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_of_many_entries_is_read_in_pieces_and_none_is_missed() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let world = World::new(test.db.clone()).await;
    paid(&world).await;
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) \
         INSERT INTO journal SELECT 'jrn_' || i, line, account, mode, kind, invoice, 'pay_' || i, step, reverses, asset, debit, \
         credit, amount, created_at + i / 7 FROM journal, n";
    world.run_sql(sql, &[]).await;
    let sql = "INSERT INTO undigested_entries SELECT account, mode, created_at / 86400000, entry FROM journal \
         WHERE entry LIKE 'jrn\\__' ESCAPE '\\' OR entry LIKE 'jrn\\___' ESCAPE '\\' OR entry LIKE 'jrn\\____' ESCAPE '\\' \
         OR entry LIKE 'jrn\\_____' ESCAPE '\\'";
    world.run_sql(sql, &[]).await;
    assert_eq!(count(&world, "undigested_entries").await, 2_501);
    world.clock.advance(DAY_MS);
    make_due(&world.engine).await.unwrap();
    let made = made(&world).await;
    assert_eq!(made[0].entries, 2_501);
    fit(&checked(&world).await);
    let span = Span {
        digest: &made[0].id,
        after: None,
        day: day_of(NOW),
    };
    let mut entries = Entries::of_digest(&world.engine, &world.scope, &span);
    let mut all = std::collections::BTreeSet::new();
    while let Some(some) = entries.next().await.unwrap() {
        all.extend(some.into_iter().map(|entry| entry.entry));
    }
    assert_eq!(all.len(), 2_501);
    test.remove().await;
}
