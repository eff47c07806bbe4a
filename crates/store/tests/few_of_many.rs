//! Workers take the first few of however many wait, and PostgreSQL reads little more than these for it, although it
//! knows nothing of the tables yet: it was told of no row when it planned.

use till_core::asset::{Family, Mode};
use till_core::event::EventType;
use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::deliveries::{DeliveryRow, Message};
use till_store::destinations::DestinationRow;
use till_store::events::EventRow;
use till_store::testing::migrated;
use till_store::timers::TimerRow;
use till_store::{Dialect, Queries, Tx, deliveries, destinations, events, timers};

const MANY: usize = 2_000;
const FEW: i64 = 64;
/// A few looks at each row that is taken.
const READ_MAX: i64 = 10 * FEW;
const DUE_AT: i64 = 1_000;

fn scope() -> Scope {
    Scope::new("acct_1", Mode::Test)
}

/// How many rows of a table this unit of work has read through indexes and otherwise.
async fn rows_read(tx: &mut Tx, table: &str) -> i64 {
    let sql = "SELECT CAST(idx_tup_fetch + seq_tup_read AS BIGINT) FROM pg_stat_xact_user_tables WHERE relname = $1";
    let read: Option<(i64,)> = tx.one(sql, &[table.into()]).await.unwrap();
    read.unwrap().0
}

#[tokio::test]
async fn deliveries_are_claimed_without_reading_all_that_are_due() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let due: Vec<DeliveryRow> = (0..MANY)
        .map(|number| {
            let message = Message {
                event: "evt_1".to_owned(),
                event_type: "invoice.created".to_owned(),
                subject: Some(format!("inv_{number}")),
            };
            let url = "https://shop.example/hook".to_owned();
            let at = (DUE_AT, DUE_AT);
            DeliveryRow::pending(&scope(), format!("whd_{number}"), message, url, 1, at)
        })
        .collect();
    let mut tx = test.db.begin().await.unwrap();
    let told = EventRow {
        scope: scope(),
        id: "evt_1".to_owned(),
        event_type: EventType::InvoiceCreated,
        subject: None,
        stream_seq: None,
        created_at: DUE_AT,
        body: "{}".to_owned(),
        payments: None,
    };
    tx.write_all(&[events::rows(&[told])]).await.unwrap();
    deliveries::insert(&mut tx, &due).await.unwrap();
    tx.commit().await.unwrap();

    let mut tx = test.db.begin().await.unwrap();
    let claimed = deliveries::claim(&mut tx, &scope(), (DUE_AT, DUE_AT + 60_000), FEW).await;
    assert_eq!(claimed.unwrap().len(), usize::try_from(FEW).unwrap());
    let read = rows_read(&mut tx, "deliveries").await;
    assert!(read <= READ_MAX, "{read} rows were read");
    drop(tx);
    test.remove().await;
}

#[tokio::test]
async fn timers_due_at_one_moment_are_found_without_reading_them_all() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let due: Vec<TimerRow> = (0..MANY)
        .map(|number| {
            let subject = format!("inv_{number}");
            TimerRow::new(&scope(), TimerKind::ExpireInvoice, &subject, DUE_AT)
        })
        .collect();
    let mut tx = test.db.begin().await.unwrap();
    timers::set(&mut tx, &due).await.unwrap();
    tx.commit().await.unwrap();

    let mut tx = test.db.begin().await.unwrap();
    let found = timers::due_for(&mut tx, &scope(), DUE_AT, FEW).await;
    assert_eq!(found.unwrap().len(), usize::try_from(FEW).unwrap());
    let read = rows_read(&mut tx, "timers").await;
    assert!(read <= READ_MAX, "{read} rows were read");
    drop(tx);
    test.remove().await;
}

#[tokio::test]
async fn the_destinations_of_few_accounts_are_read_without_those_of_all() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let of = |number: usize| DestinationRow {
        scope: Scope::new(&format!("acct_{number}"), Mode::Test),
        family: Family::Evm,
        destination: format!("0x{number}"),
        account_key: None,
    };
    let all: Vec<DestinationRow> = (0..MANY).map(of).collect();
    let mut tx = test.db.begin().await.unwrap();
    destinations::insert(&mut tx, &all).await.unwrap();
    let before = rows_read(&mut tx, "destinations").await;
    let few = ["acct_7", "acct_99"];
    let found = destinations::of_accounts(&mut tx, &few, (Family::Evm, Mode::Test)).await;
    let found = found.unwrap();
    assert_eq!(
        (found.len(), &found["acct_99"]),
        (2, &vec!["0x99".to_owned()])
    );
    let read = rows_read(&mut tx, "destinations").await - before;
    assert!(read <= READ_MAX, "{read} rows read");
    drop(tx);
    test.remove().await;
}
