//! What only grows stays as it was written, whoever is connected: with a shell of their own, too, which knows nothing of our settings.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _};
use till_store::testing::{Dialect, migrated};

/// One row of each table: its columns, its values, and the values of a row that would take its place by another key.
const ROWS: [(&str, &str, &[&str]); 4] = [
    (
        "journal (entry, line, account, mode, kind, subject, step, asset, debit, credit, amount, created_at)",
        "'jrn_a', 0, 'acct_a', 'test', 'receipt', 'pay_a', 1, 'USDC@eip155:84532', 'received', 'settled', '25', 1",
        &[
            "'jrn_a', 0, 'acct_a', 'test', 'receipt', 'pay_b', 7, 'USDC@eip155:84532', 'received', 'settled', '26', 1",
            "'jrn_b', 0, 'acct_a', 'test', 'receipt', 'pay_a', 1, 'USDC@eip155:84532', 'received', 'settled', '26', 1",
        ],
    ),
    (
        "audit_events (account, mode, id, created_at, actor, action, target, details)",
        "'acct_a', 'test', 'aud_a', 1, 'cli', 'key.created', 'acct_a', '{}'",
        &["'acct_a', 'test', 'aud_a', 1, 'system', 'key.created', 'acct_a', '{}'"],
    ),
    (
        "refund_steps (account, mode, refund, step, status, at, actor)",
        "'acct_a', 'test', 'rfd_a', 1, 'unclaimed', 1, 'cli'",
        &["'acct_a', 'test', 'rfd_a', 1, 'sent', 1, 'cli'"],
    ),
    (
        "screenings (account, mode, subject, network, address, result, lists, at)",
        "'acct_a', 'test', 'pay_a', 'eip155:84532', '0xA', 'match', '[]', 1",
        &[],
    ),
];

fn name(table: &str) -> &str {
    table.split(' ').next().unwrap()
}

/// The same columns and values with the number that SQLite gives to each row.
fn with_number(table: &str, values: &str) -> (String, String) {
    (table.replace('(', "(rowid, "), format!("1, {values}"))
}

async fn shown(raw: &mut SqliteConnection, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {}", name(table));
    let (count,): (i64,) = sqlx::query_as(AssertSqlSafe(sql))
        .fetch_one(raw)
        .await
        .unwrap();
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_row_is_replaced_by_a_stranger_s_shell() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let mut raw = SqliteConnection::connect(&test.config.url).await.unwrap();
    for setting in ["foreign_keys = OFF", "recursive_triggers = OFF"] {
        let sql = format!("PRAGMA {setting}");
        sqlx::query(AssertSqlSafe(sql))
            .execute(&mut raw)
            .await
            .unwrap();
    }
    for (table, first, others) in ROWS {
        let insert = format!("INSERT INTO {table} VALUES ({first})");
        sqlx::query(AssertSqlSafe(insert))
            .execute(&mut raw)
            .await
            .unwrap();
        let numbered = with_number(table, first);
        let mut tries = vec![(numbered.0, numbered.1)];
        tries.extend(
            others
                .iter()
                .map(|other| (table.to_owned(), (*other).to_owned())),
        );
        for (table, values) in tries {
            for verb in [
                "INSERT OR REPLACE INTO",
                "REPLACE INTO",
                "INSERT OR IGNORE INTO",
            ] {
                let sql = format!("{verb} {table} VALUES ({values})");
                let done = sqlx::query(AssertSqlSafe(sql.clone()))
                    .execute(&mut raw)
                    .await;
                let said = done.expect_err(&sql).to_string();
                assert!(said.contains("append-only"), "{sql}: {said}");
            }
        }
        assert_eq!(shown(&mut raw, table).await, 1, "{table}");
        // What is new goes in as before.
        let next = first.replace("_a'", "_z'");
        let insert = format!("INSERT INTO {table} VALUES ({next})");
        sqlx::query(AssertSqlSafe(insert))
            .execute(&mut raw)
            .await
            .unwrap();
        assert_eq!(shown(&mut raw, table).await, 2, "{table}");
    }
    drop(test);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_table_that_only_grows_is_emptied_at_once_on_postgres() {
    use till_store::Queries as _;
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    for (table, _, _) in ROWS {
        let sql = format!("TRUNCATE {}", name(table));
        let mut tx = test.db.begin().await.unwrap();
        let said = tx.run(&sql, &[]).await.unwrap_err().to_string();
        assert!(said.contains("append-only"), "{said}");
    }
    test.remove().await;
}
