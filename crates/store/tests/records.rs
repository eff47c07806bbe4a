//! The query modules where no request reaches them: what the database itself refuses, and what races decide.

use std::collections::BTreeMap;

use futures::future::join_all;
use scoped_futures::ScopedFutureExt as _;
use till_core::asset::{Family, Mode};
use till_core::ledger::{EntryKind, Group, Line};
use till_core::money::Units;
use till_core::scope::{Credential, Scope};
use till_core::timer::TimerKind;
use till_core::webhook::DeliveryStatus;
use till_store::deliveries::{Attempted, DeliveryRow, Message};
use till_store::events::EventRow;
use till_store::idempotency::{KeyOf, NewAnswer};
use till_store::journal::NewEntry;
use till_store::keys::NewKey;
use till_store::leases::{Cooling, LeaseRow};
use till_store::timers::{Due, TimerRow};
use till_store::{Db, Queries, StoreError, Tx, accounts, both_engines};
use till_store::{deliveries, events, idempotency, journal, keys, leases, sums, timers};

fn scope() -> Scope {
    Scope::new("acct_a", Mode::Test)
}

fn live() -> Scope {
    Scope::new("acct_a", Mode::Live)
}

fn of<'k>(scope: &'k Scope, key: &'k str) -> KeyOf<'k> {
    KeyOf::new(scope, Credential::Merchant, key)
}

async fn with_merchant(db: &Db) {
    let done: Result<(), StoreError> = db
        .write(|tx| {
            async move {
                accounts::insert_account(tx, "acct_a", "merchant", 0).await?;
                for scope in [scope(), live()] {
                    accounts::insert_merchant(tx, &scope, None, &BTreeMap::new()).await?;
                }
                Ok(())
            }
            .scope_boxed()
        })
        .await;
    done.unwrap();
}

fn entry(id: &str, payment: &str, step: i64) -> NewEntry {
    NewEntry {
        id: id.into(),
        scope: scope(),
        kind: EntryKind::Receipt,
        invoice: Some("inv_a".into()),
        subject: payment.into(),
        step,
        reverses: None,
        asset: "USDC@eip155:84532".into(),
        lines: vec![Line {
            debit: Group::Received,
            credit: Group::Settled,
            amount: Units(25),
        }],
        created_at: 1,
    }
}

fn lease(scope: &Scope, family: Family, number: i64, invoice: &str) -> LeaseRow {
    LeaseRow::new(scope, family, number, "0xA", invoice, 1)
}

/// The lease of the first EVM address, and when it may be leased again.
async fn cool(tx: &mut Tx, invoice: &str, free_at: i64) {
    let cooling = Cooling {
        scope: scope(),
        family: Family::Evm,
        number: 0,
        invoice: invoice.into(),
        free_at: Some(free_at),
    };
    tx.write(&leases::coolings(&[cooling])).await.unwrap();
}

async fn append(tx: &mut Tx, entries: &[NewEntry]) -> Result<(), StoreError> {
    tx.write_all(&sums::posted(entries)?).await
}

/// The sums before a day, as day, credited group and amount.
async fn summed(db: &Db, day: i64) -> Vec<(i64, Group, u128)> {
    let mut reader = db.read().await.unwrap();
    let rows = sums::before(&mut reader, &scope(), day, None, 100).await;
    let shown = |row: &sums::SumRow| (row.day, row.credit, row.amount.0);
    rows.unwrap().iter().map(shown).collect()
}

async fn fold(db: &Db) -> usize {
    let mut tx = db.begin().await.unwrap();
    let folded = sums::fold(&mut tx, 100).await.unwrap();
    tx.commit().await.unwrap();
    folded
}

fn timer(scope: &Scope, invoice: &str, due_at: i64) -> TimerRow {
    TimerRow::new(scope, TimerKind::ExpireInvoice, invoice, due_at)
}

fn event(id: &str, seq: Option<i64>) -> EventRow {
    EventRow {
        id: id.into(),
        scope: scope(),
        event_type: till_core::event::EventType::InvoiceCreated,
        subject: Some("inv_a".into()),
        stream_seq: seq,
        created_at: 1,
        body: format!("{{\"id\":\"{id}\"}}"),
        payments: None,
    }
}

fn delivery(id: &str, scope: &Scope, due_at: i64) -> DeliveryRow {
    DeliveryRow::pending(
        scope,
        id.into(),
        Message {
            event: "evt_a".into(),
            event_type: "invoice.created".into(),
            subject: None,
        },
        "https://shop.example/".into(),
        1,
        (1, due_at),
    )
}

fn attempted(id: &str, fence: i64, next_attempt_at: Option<i64>) -> Attempted<'_> {
    Attempted {
        id,
        fence,
        url: "https://shop.example/",
        succeeded: next_attempt_at.is_none(),
        status_code: Some(200),
        latency_ms: Some(1),
        error: None,
        response_body: Some("ok"),
        attempted_at: Some(5),
        next_attempt_at,
    }
}

/// Runs one statement in a unit of its own.
async fn run(db: &Db, sql: &str) -> Result<u64, StoreError> {
    let mut tx = db.begin().await?;
    let rows = tx.run(sql, &[]).await?;
    tx.commit().await?;
    Ok(rows)
}

async fn with_deliveries(db: &Db, made: &[DeliveryRow]) {
    let mut tx = db.begin().await.unwrap();
    tx.write(&events::rows(&[event("evt_a", None)]))
        .await
        .unwrap();
    deliveries::insert(&mut tx, made).await.unwrap();
    tx.commit().await.unwrap();
}

/// As the engine does it: the pool's lock, a new number, a lease.
async fn allocate(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<i64, StoreError> {
    let pool = leases::lock_pool(tx, scope, Family::Evm).await?;
    leases::grow_pool(tx, scope, Family::Evm, pool.next_number + 1).await?;
    let new = lease(scope, Family::Evm, pool.next_number, invoice);
    leases::insert(tx, &[new]).await?;
    Ok(pool.next_number)
}

both_engines! {
    async fn the_journal_can_be_added_to_and_nothing_else(db: Db) {
        let mut tx = db.begin().await.unwrap();
        append(&mut tx, &[entry("jrn_a", "pay_a", 1), entry("jrn_b", "pay_b", 1)]).await.unwrap();
        tx.commit().await.unwrap();
        for sql in [
            "UPDATE journal SET amount = '26'",
            "UPDATE journal SET amount = amount",
            "DELETE FROM journal",
            "DELETE FROM journal WHERE entry = 'jrn_a'",
        ] {
            assert!(run(&db, sql).await.is_err(), "{sql}");
        }
        let mut reader = db.read().await.unwrap();
        let rows = journal::all(&mut reader, &scope()).await.unwrap();
        assert_eq!(rows.iter().map(|row| &*row.amount).collect::<Vec<_>>(), ["25", "25"]);
        assert!(journal::all(&mut reader, &live()).await.unwrap().is_empty());
        assert_eq!(journal::last_entry(&mut reader, &scope(), "pay_a").await.unwrap().as_deref(), Some("jrn_a"));
    }

    async fn sums_come_to_what_was_posted_however_often_they_are_folded(db: Db) {
        let post = async |id: &str, payment: &str, step: i64, day: i64| {
            let mut tx = db.begin().await.unwrap();
            let entry = NewEntry { created_at: day * 86_400_000 + 5, ..entry(id, payment, step) };
            let other = NewEntry { id: format!("{id}x"), subject: format!("{payment}x"), ..entry.clone() };
            append(&mut tx, &[entry, other]).await.unwrap();
            tx.commit().await.unwrap();
        };
        post("jrn_a", "pay_a", 1, 3).await;
        post("jrn_b", "pay_a", 2, 3).await;
        post("jrn_c", "pay_a", 3, 4).await;
        assert_eq!(summed(&db, 9).await, [(3, Group::Settled, 50), (3, Group::Settled, 50), (4, Group::Settled, 50)]);
        assert_eq!((fold(&db).await, fold(&db).await), (3, 0));
        assert_eq!(summed(&db, 9).await, [(3, Group::Settled, 100), (4, Group::Settled, 50)]);
        assert_eq!(summed(&db, 4).await, [(3, Group::Settled, 100)]);
        post("jrn_d", "pay_a", 4, 3).await;
        assert_eq!(fold(&db).await, 1);
        assert_eq!(summed(&db, 9).await, [(3, Group::Settled, 150), (4, Group::Settled, 50)]);
    }

    async fn what_is_beyond_a_sum_is_folded_beside_it(db: Db) {
        let post = async |id: &str, amount: u128| {
            let mut entry = entry(id, &format!("pay_{id}"), 1);
            entry.lines[0].amount = Units(amount);
            let mut tx = db.begin().await.unwrap();
            append(&mut tx, &[entry]).await.unwrap();
            tx.commit().await.unwrap();
        };
        for id in ["jrn_a", "jrn_b", "jrn_c", "jrn_d"] {
            post(id, u128::MAX / 2).await;
        }
        let sums = || async { summed(&db, 9).await.iter().map(|row| row.2).collect::<Vec<_>>() };
        assert_eq!(fold(&db).await, 4);
        assert_eq!(sums().await, [u128::MAX - 1, u128::MAX - 1]);
        // What comes later is folded as well, and what is full stays.
        post("jrn_e", 1).await;
        assert_eq!(fold(&db).await, 2);
        assert_eq!(sums().await, [u128::MAX, u128::MAX - 1]);
        assert_eq!(fold(&db).await, 1);
    }

    async fn the_same_step_of_a_payment_is_posted_once(db: Db) {
        let mut tx = db.begin().await.unwrap();
        append(&mut tx, &[entry("jrn_a", "pay_a", 1)]).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let again = append(&mut tx, &[entry("jrn_b", "pay_a", 1)]).await.unwrap_err();
        let is_refused = again.violates("journal") || again.to_string().contains("append-only");
        assert!(is_refused, "{again}");
        drop(tx);
        let mut tx = db.begin().await.unwrap();
        append(&mut tx, &[entry("jrn_b", "pay_a", 2)]).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(journal::last_entry(&mut db.read().await.unwrap(), &scope(), "pay_a").await.unwrap().as_deref(), Some("jrn_b"));
    }

    async fn a_line_moves_something_from_one_group_to_another(db: Db) {
        let same = Line { debit: Group::Held, credit: Group::Held, amount: Units(1) };
        let nothing = Line { debit: Group::Held, credit: Group::Settled, amount: Units(0) };
        for line in [same, nothing] {
            let mut tx = db.begin().await.unwrap();
            let bad = NewEntry { lines: vec![line], ..entry("jrn_a", "pay_a", 1) };
            assert!(append(&mut tx, &[bad]).await.is_err());
        }
    }

    async fn an_address_has_one_lease_at_a_time(db: Db) {
        let (scope, live) = (scope(), live());
        let mut tx = db.begin().await.unwrap();
        let first = [
            lease(&scope, Family::Evm, 0, "inv_a"),
            lease(&scope, Family::Tron, 0, "inv_a"),
            lease(&live, Family::Evm, 0, "inv_b"),
        ];
        leases::insert(&mut tx, &first).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let again = leases::insert(&mut tx, &[lease(&scope, Family::Evm, 0, "inv_c")]).await.unwrap_err();
        assert!(again.violates("leases"), "{again}");
        drop(tx);
        // Cooled down, it may be leased again, and then belongs to the later invoice.
        let mut tx = db.begin().await.unwrap();
        cool(&mut tx, "inv_a", 100).await;
        assert!(leases::take_cooled(&mut tx, &scope, Family::Evm, 99, 9, i64::MAX).await.unwrap().is_empty());
        let cooled = leases::take_cooled(&mut tx, &scope, Family::Evm, 100, 9, i64::MAX).await.unwrap();
        assert_eq!(cooled.iter().map(|free| free.number).collect::<Vec<_>>(), [0]);
        let next = LeaseRow { leased_at: 100, ..lease(&scope, Family::Evm, 0, "inv_c") };
        leases::insert(&mut tx, &[next]).await.unwrap();
        // The invoice that had it before has no more say in it.
        cool(&mut tx, "inv_a", 1).await;
        assert!(leases::take_cooled(&mut tx, &scope, Family::Evm, 999, 9, i64::MAX).await.unwrap().is_empty());
        tx.commit().await.unwrap();
        let holders = leases::holders(&mut db.read().await.unwrap(), Family::Evm, "0xA").await.unwrap();
        assert_eq!(holders[0].invoice, "inv_c");
        assert_eq!(holders.len(), 3);
    }

    async fn open_addresses_are_those_of_a_family_and_mode_that_nothing_cools_down(db: Db) {
        let (scope, live) = (scope(), live());
        let mut tx = db.begin().await.unwrap();
        for (scope, family) in [(&scope, Family::Evm), (&scope, Family::Tron), (&live, Family::Evm)] {
            leases::lock_pool(&mut tx, scope, family).await.unwrap();
        }
        let at = |scope: &Scope, family: Family, number: i64, invoice: &str| LeaseRow {
            address: invoice.replace("inv", "at"),
            leased_at: number,
            ..lease(scope, family, number, invoice)
        };
        let all = [
            at(&scope, Family::Evm, 0, "inv_a"),
            at(&scope, Family::Evm, 1, "inv_b"),
            at(&scope, Family::Evm, 2, "inv_c"),
            at(&scope, Family::Tron, 3, "inv_d"),
            at(&live, Family::Evm, 4, "inv_e"),
        ];
        leases::insert(&mut tx, &all).await.unwrap();
        cool(&mut tx, "inv_a", 100).await;
        tx.commit().await.unwrap();
        let mut reader = db.read().await.unwrap();
        let which = (Family::Evm, scope.mode);
        let open = leases::open_addresses(&mut reader, which, 9).await.unwrap();
        assert_eq!(open, ["at_c", "at_b"], "the latest first");
        let open = leases::open_addresses(&mut reader, which, 1).await.unwrap();
        assert_eq!(open, ["at_c"]);
    }

    async fn parallel_allocations_never_get_the_same_number(db: Db) {
        let allocations = (0..40).map(|n| {
            let db = db.clone();
            tokio::spawn(async move {
                let invoice = format!("inv_{n}");
                let scope = scope();
                let (invoice, scope) = (&*invoice, &scope);
                db.write(|tx| allocate(tx, scope, invoice).scope_boxed()).await
            })
        });
        let mut numbers: Vec<i64> = Vec::new();
        for number in join_all(allocations).await {
            numbers.push(number.unwrap().unwrap());
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    }

    async fn many_rows_go_in_and_those_that_are_there_are_changed(db: Db) {
        let scope = scope();
        let timers = |due_at: i64, step: usize| -> Vec<TimerRow> {
            (0..151).step_by(step).map(|n| timer(&scope, &format!("inv_{n:03}"), due_at)).collect()
        };
        let mut tx = db.begin().await.unwrap();
        assert_eq!(tx.write(&timers::rows(&timers(5, 2))).await.unwrap(), 76);
        assert_eq!(tx.write(&timers::rows(&timers(9, 1))).await.unwrap(), 151);
        assert_eq!(tx.write(&timers::rows(&[])).await.unwrap(), 0);
        tx.commit().await.unwrap();
        let due = timers::due(&mut db.read().await.unwrap(), 9, 999).await.unwrap();
        assert_eq!((due.len(), due.iter().filter(|timer| timer.due_at == 9).count()), (151, 151));
    }

    async fn an_update_that_misses_a_row_fails_the_unit(db: Db) {
        with_merchant(&db).await;
        let mut tx = db.begin().await.unwrap();
        let known = accounts::merchant(&mut tx, &scope()).await.unwrap().unwrap();
        accounts::update_settings(&mut tx, &known).await.unwrap();
        let nobody = accounts::MerchantRow { scope: Scope::new("acct_b", Mode::Test), ..known };
        assert!(accounts::update_settings(&mut tx, &nobody).await.is_err());
    }

    async fn a_timer_is_taken_by_one(db: Db) {
        let scope = scope();
        let mut tx = db.begin().await.unwrap();
        timers::set(&mut tx, &[timer(&scope, "inv_a", 10), timer(&scope, "inv_b", 5)]).await.unwrap();
        tx.commit().await.unwrap();
        let due = timers::due(&mut db.read().await.unwrap(), 10, 9).await.unwrap();
        assert_eq!(due.iter().map(|timer| &*timer.subject).collect::<Vec<_>>(), ["inv_b", "inv_a"]);
        assert!(timers::due(&mut db.read().await.unwrap(), 4, 9).await.unwrap().is_empty());
        let takes = (0..8).map(|_| {
            let (db, due) = (db.clone(), due.clone());
            tokio::spawn(async move {
                let due = &due;
                db.write(|tx| timers::take(tx, due).scope_boxed()).await
            })
        });
        let mut taken = 0;
        for take in join_all(takes).await {
            let take: Result<Vec<Due>, StoreError> = take.unwrap();
            taken += take.unwrap().len();
        }
        assert_eq!(taken, 2);
    }

    async fn a_timer_that_was_moved_is_not_taken_at_its_old_time(db: Db) {
        let (scope, live) = (scope(), live());
        let mut tx = db.begin().await.unwrap();
        timers::set(&mut tx, &[timer(&scope, "inv_a", 10)]).await.unwrap();
        let old: Vec<Due> = timers::due_for(&mut tx, &scope, 10, 9).await.unwrap();
        timers::set(&mut tx, &[timer(&scope, "inv_a", 20)]).await.unwrap();
        assert!(timers::take(&mut tx, &old).await.unwrap().is_empty());
        assert!(timers::due_for(&mut tx, &scope, 19, 9).await.unwrap().is_empty());
        assert!(timers::due_for(&mut tx, &live, 99, 9).await.unwrap().is_empty());
        assert_eq!(timers::due_for(&mut tx, &scope, 20, 9).await.unwrap().len(), 1);
    }

    async fn a_timer_that_was_put_back_waits_and_is_nobody_elses_hindrance(db: Db) {
        let scope = scope();
        let mut tx = db.begin().await.unwrap();
        timers::set(&mut tx, &[timer(&scope, "inv_a", 1), timer(&scope, "inv_b", 2)]).await.unwrap();
        let due = timers::due(&mut tx, 10, 9).await.unwrap();
        assert!(timers::put_back(&mut tx, &due[0], 50).await.unwrap());
        let subjects = |due: &[Due]| due.iter().map(|timer| timer.subject.clone()).collect::<Vec<_>>();
        assert_eq!(subjects(&timers::due(&mut tx, 49, 9).await.unwrap()), ["inv_b"]);
        assert_eq!(subjects(&timers::due_for(&mut tx, &scope, 99, 9).await.unwrap()), ["inv_b"]);
        let again = timers::due(&mut tx, 50, 9).await.unwrap();
        assert_eq!(subjects(&again), ["inv_a", "inv_b"]);
        assert_eq!((again[0].due_at, again[0].attempts), (1, 1));
        timers::set(&mut tx, &[timer(&scope, "inv_a", 3)]).await.unwrap();
        assert_eq!(timers::due(&mut tx, 3, 9).await.unwrap()[1].attempts, 0, "set anew, it has not failed");
    }

    async fn a_timer_of_a_kind_that_only_a_newer_server_knows_is_left_to_it(db: Db) {
        let scope = scope();
        let newer = TimerRow { kind: "zz_newer".into(), ..timer(&scope, "inv_a", 1) };
        let mut tx = db.begin().await.unwrap();
        timers::set(&mut tx, &[newer, timer(&scope, "inv_b", 2)]).await.unwrap();
        assert_eq!(timers::due(&mut tx, 9, 9).await.unwrap().len(), 1);
        assert_eq!(timers::due_for(&mut tx, &scope, 9, 9).await.unwrap().len(), 1);
        assert_eq!(timers::kinds(&mut tx).await.unwrap(), ["expire_invoice", "zz_newer"]);
    }

    async fn what_is_told_of_a_subject_is_first_claimed_in_its_order(db: Db) {
        let scope = scope();
        let about = |id: &str, due_at: i64| DeliveryRow { subject: Some("inv_a".into()), ..delivery(id, &scope, due_at) };
        // The second was written by a server whose clock is behind.
        with_deliveries(&db, &[about("whd_a", 5), about("whd_b", 3), about("whd_c", 5)]).await;
        let mut tx = db.begin().await.unwrap();
        let ids = |claimed: Vec<deliveries::Claimed>| claimed.into_iter().map(|claimed| claimed.id).collect::<Vec<_>>();
        assert!(ids(deliveries::claim(&mut tx, &scope, (4, 64), 9).await.unwrap()).is_empty(), "the first is not due");
        assert_eq!(ids(deliveries::claim(&mut tx, &scope, (5, 65), 1).await.unwrap()), Vec::<String>::new(), "not alone");
        let mut together = ids(deliveries::claim(&mut tx, &scope, (5, 65), 2).await.unwrap());
        together.sort();
        assert_eq!(together, ["whd_a", "whd_b"]);
        assert!(ids(deliveries::claim(&mut tx, &scope, (19, 79), 9).await.unwrap()).is_empty(), "both are under way");
        deliveries::record(&mut tx, &scope, &[attempted("whd_a", 1, None)]).await.unwrap();
        assert!(ids(deliveries::claim(&mut tx, &scope, (19, 79), 9).await.unwrap()).is_empty(), "one is under way");
        deliveries::record(&mut tx, &scope, &[attempted("whd_b", 1, None)]).await.unwrap();
        assert_eq!(ids(deliveries::claim(&mut tx, &scope, (19, 79), 9).await.unwrap()), ["whd_c"], "both have ended");
    }

    async fn what_a_dead_worker_had_begun_goes_before_what_follows_it(db: Db) {
        let scope = scope();
        let about = |id: &str| DeliveryRow { subject: Some("inv_a".into()), ..delivery(id, &scope, 1) };
        with_deliveries(&db, &[about("whd_a")]).await;
        let mut tx = db.begin().await.unwrap();
        deliveries::claim(&mut tx, &scope, (1, 17), 9).await.unwrap();
        deliveries::insert(&mut tx, &[about("whd_b"), about("whd_c")]).await.unwrap();
        assert!(deliveries::claim(&mut tx, &scope, (16, 33), 9).await.unwrap().is_empty(), "its claim lasts");
        // However many are due before it by the clock.
        assert_eq!(deliveries::claim(&mut tx, &scope, (17, 34), 1).await.unwrap()[0].id, "whd_a");
        assert!(deliveries::claim(&mut tx, &scope, (18, 35), 9).await.unwrap().is_empty(), "it was begun again");
        deliveries::record(&mut tx, &scope, &[attempted("whd_a", 2, None)]).await.unwrap();
        let mut rest: Vec<_> = deliveries::claim(&mut tx, &scope, (18, 35), 9).await.unwrap().into_iter().map(|it| it.id).collect();
        rest.sort();
        assert_eq!(rest, ["whd_b", "whd_c"]);
    }

    async fn a_first_attempt_that_failed_has_ended(db: Db) {
        let scope = scope();
        let about = |id: &str| DeliveryRow { subject: Some("inv_a".into()), ..delivery(id, &scope, 1) };
        with_deliveries(&db, &[about("whd_a")]).await;
        let mut tx = db.begin().await.unwrap();
        deliveries::claim(&mut tx, &scope, (1, 61), 9).await.unwrap();
        deliveries::insert(&mut tx, &[about("whd_b")]).await.unwrap();
        assert!(deliveries::claim(&mut tx, &scope, (2, 62), 9).await.unwrap().is_empty());
        deliveries::record(&mut tx, &scope, &[attempted("whd_a", 1, Some(99))]).await.unwrap();
        assert_eq!(deliveries::claim(&mut tx, &scope, (2, 62), 9).await.unwrap()[0].id, "whd_b");
    }

    async fn a_row_that_cannot_be_read_names_its_table_column_and_id(db: Db) {
        let scope = scope();
        with_deliveries(&db, &[delivery("whd_a", &scope, 10)]).await;
        run(&db, "UPDATE events SET type = 'invoice.vanished'").await.unwrap();
        run(&db, "UPDATE deliveries SET mode = 'tset'").await.unwrap();
        let mut reader = db.read().await.unwrap();
        let sql = "SELECT account, mode, id, event, event_type, subject, url, status, attempt, status_code, latency_ms, error, \
             response_body, created_at, attempted_at, next_attempt_at, due_at, fence FROM deliveries";
        let error = reader.all::<DeliveryRow>(sql, &[]).await.unwrap_err();
        assert_eq!(error, StoreError::corrupt("deliveries", "mode", "whd_a", "tset"));
        let sql = "SELECT account, mode, id, type, subject, stream_seq, created_at, body, payments FROM events";
        let error = reader.one::<EventRow>(sql, &[]).await.unwrap_err();
        assert_eq!(error, StoreError::corrupt("events", "event_type", "evt_a", "invoice.vanished"));
    }

    async fn a_lost_claim_records_nothing(db: Db) {
        let scope = scope();
        with_deliveries(&db, &[delivery("whd_a", &scope, 10)]).await;
        let mut tx = db.begin().await.unwrap();
        assert!(deliveries::claim(&mut tx, &scope, (9, 100), 9).await.unwrap().is_empty(), "not due");
        let first = deliveries::claim(&mut tx, &scope, (10, 100), 9).await.unwrap();
        assert_eq!((first.len(), first[0].fence, &*first[0].body), (1, 1, "{\"id\":\"evt_a\"}"));
        assert!(deliveries::claim(&mut tx, &scope, (99, 200), 9).await.unwrap().is_empty(), "claimed");
        let second = deliveries::claim(&mut tx, &scope, (100, 200), 9).await.unwrap();
        assert_eq!(second[0].fence, 2, "the claim ran out and was taken over");
        assert_eq!(0, deliveries::record(&mut tx, &scope, &[attempted("whd_a", 1, None)]).await.unwrap());
        assert_eq!(1, deliveries::record(&mut tx, &scope, &[attempted("whd_a", 2, None)]).await.unwrap());
        assert_eq!(0, deliveries::record(&mut tx, &scope, &[attempted("whd_a", 2, Some(9))]).await.unwrap(), "recorded once");
        let row = deliveries::find(&mut tx, &scope, "whd_a").await.unwrap().unwrap();
        assert_eq!((row.status, row.next_attempt_at), (DeliveryStatus::Succeeded, None));
        assert!(deliveries::claim(&mut tx, &scope, (999, 1000), 9).await.unwrap().is_empty(), "done");
    }

    async fn parallel_claims_share_nothing(db: Db) {
        let scope = scope();
        let made: Vec<_> = (0..30).map(|n| delivery(&format!("whd_{n:02}"), &scope, 1)).collect();
        with_deliveries(&db, &made).await;
        let claims = (0..6).map(|_| {
            let (db, scope) = (db.clone(), scope.clone());
            tokio::spawn(async move {
                let scope = &scope;
                db.write(|tx| deliveries::claim(tx, scope, (5, 100), 10).scope_boxed()).await
            })
        });
        let mut claimed: Vec<String> = Vec::new();
        for claim in join_all(claims).await {
            let claim: Result<Vec<_>, StoreError> = claim.unwrap();
            claimed.extend(claim.unwrap().into_iter().map(|delivery| delivery.id));
        }
        let all = claimed.len();
        claimed.sort();
        claimed.dedup();
        assert_eq!(claimed.len(), all, "claimed twice");
        let rest = db.write(|tx| async move { deliveries::claim(tx, &Scope::new("acct_a", Mode::Test), (5, 100), 99).await }.scope_boxed());
        let rest: Result<Vec<_>, StoreError> = rest.await;
        assert_eq!(all + rest.unwrap().len(), 30, "none is lost");
    }

    async fn each_endpoint_with_something_due_is_found_once(db: Db) {
        let (test, live, other) = (scope(), live(), Scope::new("acct_b", Mode::Test));
        let mut made: Vec<_> = (0..20).map(|n| delivery(&format!("whd_{n:02}"), &test, 1)).collect();
        made.push(delivery("whd_live", &live, 50));
        made.push(delivery("whd_other", &other, 3));
        with_deliveries(&db, &made).await;
        let mut reader = db.read().await.unwrap();
        let names = |found: Vec<deliveries::Endpoint>| -> Vec<String> {
            found.into_iter().map(|endpoint| format!("{}/{}", endpoint.account, endpoint.mode)).collect()
        };
        assert_eq!(names(deliveries::due_endpoints(&mut reader, 10).await.unwrap()), ["acct_a/test", "acct_b/test"]);
        assert_eq!(names(deliveries::due_endpoints(&mut reader, 50).await.unwrap()).len(), 3);
        assert!(deliveries::due_endpoints(&mut reader, 0).await.unwrap().is_empty());
    }

    async fn an_invoices_stream_gives_each_number_once(db: Db) {
        let mut tx = db.begin().await.unwrap();
        tx.write(&events::rows(&[event("evt_a", Some(1)), event("evt_b", Some(2)), event("evt_c", None), event("evt_d", None)])).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let again = tx.write(&events::rows(&[event("evt_e", Some(2))])).await.unwrap_err();
        assert!(again.violates("events"), "{again}");
        drop(tx);
        let mut reader = db.read().await.unwrap();
        let after = events::stream(&mut reader, &scope(), "inv_a", 1, 9).await.unwrap();
        assert_eq!(after.iter().map(|event| event.stream_seq).collect::<Vec<_>>(), [2]);
        assert!(events::stream(&mut reader, &live(), "inv_a", 0, 9).await.unwrap().is_empty(), "not this mode's");
    }

    async fn rows_of_several_tables_go_in_together_or_not_at_all(db: Db) {
        let scope = scope();
        let answer = |key: &'static str| NewAnswer { key: of(&scope, key), fingerprint: b"f", status: 201, response: Vec::new(), event: Some("evt_a") };
        let names: Vec<String> = (0..70).map(|n| format!("inv_{n:02}")).collect();
        let many: Vec<_> = names.iter().map(|name| timer(&scope, name, 7)).collect();
        let commits = db.commits();
        db.write_rows(&[idempotency::rows(vec![answer("a")], 5), events::rows(&[event("evt_a", Some(1))]), timers::rows(&many), events::rows(&[])]).await.unwrap();
        assert_eq!(db.commits() - commits, 1);
        let mut reader = db.read().await.unwrap();
        assert_eq!(timers::due(&mut reader, 7, 99).await.unwrap().len(), 70);
        let kept = idempotency::kept_answer(&mut reader, &of(&scope, "a")).await.unwrap().unwrap();
        assert_eq!(kept.event_body.as_deref(), Some(r#"{"id":"evt_a"}"#), "the event's");
        drop(reader);

        let again = [events::rows(&[event("evt_b", Some(2))]), timers::rows(&[timer(&scope, "inv_00", 8)]), idempotency::rows(vec![answer("b"), answer("a")], 6)];
        let taken = db.write_rows(&again).await.unwrap_err();
        assert!(taken.violates("idempotency_keys"), "{taken}");
        let mut reader = db.read().await.unwrap();
        assert_eq!(events::stream(&mut reader, &scope, "inv_a", 0, 9).await.unwrap().len(), 1);
        assert_eq!(timers::due(&mut reader, 7, 99).await.unwrap().len(), 70, "not moved");
        assert!(idempotency::kept_answer(&mut reader, &of(&scope, "b")).await.unwrap().is_none());
        drop(reader);
        db.write_rows(&[]).await.unwrap();
        db.write_rows(&again[..2]).await.unwrap();
    }

    async fn a_key_that_is_taken_fails_the_whole_unit(db: Db) {
        let scope = scope();
        let answer = |key: &'static str| NewAnswer { key: of(&scope, key), fingerprint: b"f", status: 201, response: b"{}".to_vec(), event: None };
        let mut tx = db.begin().await.unwrap();
        tx.write_all(&[idempotency::rows(vec![answer("a"), answer("b")], 5)]).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let taken = tx.write_all(&[idempotency::rows(vec![answer("c"), answer("b")], 6)]).await.unwrap_err();
        assert!(taken.violates("idempotency_keys"), "{taken}");
        drop(tx);
        let mut reader = db.read().await.unwrap();
        assert!(idempotency::kept_answer(&mut reader, &of(&scope, "c")).await.unwrap().is_none());
        assert_eq!(idempotency::kept_answer(&mut reader, &of(&scope, "a")).await.unwrap().unwrap().created_at, 5);
        assert!(idempotency::kept_answer(&mut reader, &of(&live(), "a")).await.unwrap().is_none());
        drop(reader);
        let mut tx = db.begin().await.unwrap();
        assert_eq!(idempotency::forget_before(&mut tx, 5, 9).await.unwrap(), 0);
        assert_eq!(idempotency::forget_before(&mut tx, 6, 1).await.unwrap(), 1);
        assert_eq!(idempotency::forget_before(&mut tx, 6, 9).await.unwrap(), 1);
    }

    async fn a_rolled_key_is_known_as_rolled_and_exposed_once(db: Db) {
        with_merchant(&db).await;
        let scope = scope();
        let new = |id: &'static str, hash: &'static [u8]| NewKey { id, kind: "secret", hash, hint: "…", public_key: None, name: None, created_by: None };
        let mut tx = db.begin().await.unwrap();
        keys::insert_key(&mut tx, &scope, &new("key_a", b"a"), 1).await.unwrap();
        assert_eq!(keys::roll_keys(&mut tx, &scope, "secret", 2).await.unwrap(), 1);
        assert_eq!(keys::roll_keys(&mut tx, &scope, "secret", 3).await.unwrap(), 0);
        keys::insert_key(&mut tx, &scope, &new("key_b", b"b"), 2).await.unwrap();
        assert_eq!(keys::mark_exposed(&mut tx, b"b", 7).await.unwrap(), 1);
        assert_eq!(keys::mark_exposed(&mut tx, b"b", 8).await.unwrap(), 0, "the first time counts");
        let old = keys::key_by_hash(&mut tx, b"a").await.unwrap().unwrap();
        assert_eq!(old.rolled_at, Some(2));
        assert_eq!(keys::key_by_hash(&mut tx, b"b").await.unwrap().unwrap().rolled_at, None);
        assert!(keys::key_by_hash(&mut tx, b"c").await.unwrap().is_none());
        let twice = keys::insert_key(&mut tx, &scope, &new("key_c", b"b"), 3).await.unwrap_err();
        assert!(twice.violates("api_keys"), "{twice}");
    }

    async fn older_secrets_sign_while_a_new_one_takes_over(db: Db) {
        with_merchant(&db).await;
        let scope = scope();
        let mut tx = db.begin().await.unwrap();
        accounts::add_webhook_secret(&mut tx, &scope, b"1", 0, 100).await.unwrap();
        accounts::add_webhook_secret(&mut tx, &scope, b"2", 10, 110).await.unwrap();
        let signing = async |tx: &mut Tx, now: i64| -> Vec<Vec<u8>> {
            accounts::webhook_secrets(tx, &Scope::new("acct_a", Mode::Test), now).await.unwrap().into_iter().map(|row| row.secret).collect()
        };
        assert_eq!(signing(&mut tx, 10).await, [b"2", b"1"]);
        assert_eq!(signing(&mut tx, 109).await, [b"2", b"1"]);
        assert_eq!(signing(&mut tx, 110).await, [b"2"]);
        // A second roll within the overlap leaves the oldest the time that it was given.
        accounts::add_webhook_secret(&mut tx, &scope, b"3", 20, 120).await.unwrap();
        assert_eq!(signing(&mut tx, 20).await, [b"3", b"2", b"1"]);
        assert_eq!(signing(&mut tx, 109).await, [b"3", b"2", b"1"]);
        assert_eq!(signing(&mut tx, 110).await, [b"3", b"2"]);
        assert_eq!(signing(&mut tx, 120).await, [b"3"]);
        // However often it is rolled, no more sign at once than fit into a header.
        for now in 30..40 {
            accounts::add_webhook_secret(&mut tx, &scope, b"n", now, now + 100).await.unwrap();
        }
        assert_eq!(signing(&mut tx, 40).await.len(), 8);
    }
}
