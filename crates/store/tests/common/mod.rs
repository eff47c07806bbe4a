//! A table to try things on.

use scoped_futures::ScopedFutureExt as _;
use till_store::{Db, Queries, StoreError, Tx, Val};

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Thing {
    pub id: String,
    pub at: i64,
    pub note: Option<String>,
    pub data: Vec<u8>,
}

pub fn thing(id: &str, at: i64) -> Thing {
    Thing {
        id: id.into(),
        at,
        note: None,
        data: vec![0, 1, 255],
    }
}

pub async fn with_things(db: &Db) {
    let blob = match db.dialect() {
        till_store::Dialect::Postgres => "BYTEA",
        _ => "BLOB",
    };
    let sql = format!(
        "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL, note TEXT, size BIGINT, \
         data {blob} NOT NULL, more {blob}, UNIQUE (at, note))"
    );
    run(db, sql).await;
}

pub async fn run(db: &Db, sql: String) {
    let done: Result<(), StoreError> = db
        .write(|tx| {
            let sql = sql.clone();
            async move { tx.run(&sql, &[]).await.map(drop) }.scope_boxed()
        })
        .await;
    done.expect("the statement runs");
}

pub async fn put(tx: &mut Tx, thing: &Thing) -> Result<u64, StoreError> {
    tx.run(
        "INSERT INTO things (id, at, note, data) VALUES ($1, $2, $3, $4)",
        &[
            Val::from(&thing.id),
            thing.at.into(),
            thing.note.clone().into(),
            thing.data.clone().into(),
        ],
    )
    .await
}

pub async fn things(q: &mut impl Queries) -> Vec<Thing> {
    let sql = "SELECT id, at, note, data FROM things ORDER BY at, id";
    q.all(sql, &[]).await.expect("things are readable")
}

pub async fn ids(db: &Db) -> Vec<String> {
    let mut reader = db.read().await.expect("a reader");
    things(&mut reader)
        .await
        .into_iter()
        .map(|thing| thing.id)
        .collect()
}
