//! Statements, rows, errors and units of work, the same on every engine.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{Thing, ids, put, thing, things, with_things};
use scoped_futures::ScopedFutureExt as _;
use till_store::{Queries, StoreError, Val, both_engines};

both_engines! { fresh
    async fn what_is_written_is_read_back_in_a_unit_and_beside_it(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        let first = Thing { note: Some("naïve ☕".into()), ..thing("a", i64::MAX) };
        assert_eq!(put(&mut tx, &first).await.unwrap(), 1);
        assert_eq!(things(&mut tx).await, std::slice::from_ref(&first));
        tx.commit().await.unwrap();
        assert_eq!(things(&mut db.read().await.unwrap()).await, std::slice::from_ref(&first));

        let mut reader = db.read().await.unwrap();
        let sql = "SELECT id, at, note, data FROM things WHERE id = $1";
        assert_eq!(reader.one::<Thing>(sql, &["a".into()]).await.unwrap(), Some(first));
        assert_eq!(reader.one::<Thing>(sql, &["b".into()]).await.unwrap(), None);
    }

    async fn a_dropped_unit_leaves_nothing(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("a", 1)).await.unwrap();
        drop(tx);
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("b", 2)).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(ids(&db).await, ["b"]);
    }

    async fn nulls_fit_every_column_whoever_prepared_the_statement(db: Db) {
        with_things(&db).await;
        let sql = "INSERT INTO things (id, at, note, size, data, more) VALUES ($1, $2, $3, $4, $5, $6)";
        let start = |id: &str| vec![Val::from(id), Val::from(1i64)];
        let untyped = [start("a"), vec![Val::Null, Val::Null, Val::from(b"x"), Val::Null]].concat();
        let values = [start("b"), vec!["n".into(), 5i64.into(), b"x".into(), b"y".into()]].concat();
        let typed = [
            start("c"),
            vec![None::<&str>.into(), None::<i64>.into(), b"x".into(), None::<Vec<u8>>.into()],
        ]
        .concat();
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let mut tx = db.begin().await.unwrap();
            for which in order {
                assert_eq!(tx.run(sql, [&untyped, &values, &typed][which]).await.unwrap(), 1);
            }
            let sql = "SELECT note, size, more FROM things ORDER BY id";
            type Row = (Option<String>, Option<i64>, Option<Vec<u8>>);
            let rows: Vec<Row> = tx.all(sql, &[]).await.unwrap();
            assert_eq!(rows, [(None, None, None), (Some("n".into()), Some(5), Some(b"y".to_vec())), (None, None, None)]);
        }
    }

    async fn a_unique_key_is_reported(db: Db) {
        with_things(&db).await;
        let first = Thing { note: Some("n".into()), ..thing("a", 1) };
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &first).await.unwrap();
        tx.commit().await.unwrap();

        let mut tx = db.begin().await.unwrap();
        let error = put(&mut tx, &thing("a", 2)).await.unwrap_err();
        assert_eq!(error, StoreError::Unique { constraint: "things(id)".into() });
        drop(tx);

        let mut tx = db.begin().await.unwrap();
        let error = put(&mut tx, &Thing { id: "b".into(), ..first }).await.unwrap_err();
        assert!(error.violates("things") && error.violates("things(at,note)") && !error.violates("things(id)"), "{error}");
    }

    async fn a_unit_with_a_failed_statement_can_only_be_rolled_back(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("a", 1)).await.unwrap();
        put(&mut tx, &thing("a", 2)).await.unwrap_err();
        assert!(put(&mut tx, &thing("b", 3)).await.is_err());
        assert!(tx.commit().await.is_err());
        assert!(ids(&db).await.is_empty());
    }

    async fn how_many_rows_an_update_touched_is_known(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("a", 1)).await.unwrap();
        put(&mut tx, &thing("b", 2)).await.unwrap();
        let sql = "UPDATE things SET note = $2 WHERE at >= $1";
        assert_eq!(tx.run(sql, &[2i64.into(), "n".into()]).await.unwrap(), 1);
        assert_eq!(tx.run(sql, &[9i64.into(), "n".into()]).await.unwrap(), 0);
        let sql = format!("SELECT id FROM things WHERE at = $1{}", tx.for_update());
        assert_eq!(tx.one::<(String,)>(&sql, &[2i64.into()]).await.unwrap(), Some(("b".into(),)));
        let sql = format!("SELECT id FROM things ORDER BY at LIMIT $1{}", tx.skip_locked());
        assert_eq!(tx.all::<(String,)>(&sql, &[1i64.into()]).await.unwrap(), [("a".into(),)]);
    }

    async fn a_read_cannot_write(db: Db) {
        with_things(&db).await;
        let mut reader = db.read().await.unwrap();
        assert!(reader.run("DELETE FROM things", &[]).await.is_err());
        if db.dialect() != till_store::Dialect::SqliteMemory {
            let sql = "INSERT INTO things (id, at, data) VALUES ('a', 1, '') RETURNING id";
            assert!(reader.all::<(String,)>(sql, &[]).await.is_err());
            drop(reader);
            assert!(ids(&db).await.is_empty());
        }
    }

    async fn a_value_of_another_type_names_its_column(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("a", 1)).await.unwrap();
        let error = tx.all::<(i64,)>("SELECT id FROM things", &[]).await.unwrap_err();
        assert!(matches!(&error, StoreError::Corrupt { column, .. } if column == "0"), "{error}");
    }

    async fn a_unit_that_loses_is_run_again_and_one_that_fails_is_not(db: Db) {
        with_things(&db).await;
        let runs = AtomicU32::new(0);
        let done: Result<u32, StoreError> = db
            .write(|tx| {
                let run = runs.fetch_add(1, Ordering::Relaxed);
                async move {
                    put(tx, &thing(&format!("run {run}"), 1)).await?;
                    if run < 2 { Err(StoreError::Serialization) } else { Ok(run) }
                }
                .scope_boxed()
            })
            .await;
        assert_eq!(done, Ok(2));
        assert_eq!(ids(&db).await, ["run 2"], "what lost was rolled back");

        let runs = AtomicU32::new(0);
        let done: Result<(), StoreError> = db
            .write(|_| {
                runs.fetch_add(1, Ordering::Relaxed);
                async { Err(StoreError::LockTimeout { of: None }) }.scope_boxed()
            })
            .await;
        assert_eq!((done, runs.into_inner()), (Err(StoreError::LockTimeout { of: None }), 1));

        let runs = AtomicU32::new(0);
        let done: Result<(), StoreError> = db
            .write(|_| {
                runs.fetch_add(1, Ordering::Relaxed);
                async { Err(StoreError::Busy) }.scope_boxed()
            })
            .await;
        assert_eq!((done, runs.into_inner()), (Err(StoreError::Busy), 8));
    }

    async fn a_counter_that_many_raise_at_once_misses_none(db: Db) {
        with_things(&db).await;
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, &thing("a", 0)).await.unwrap();
        tx.commit().await.unwrap();
        let raises = (0..40).map(|_| {
            let db = db.clone();
            tokio::spawn(async move {
                db.write(|tx| {
                    async move {
                        let sql = format!("SELECT at FROM things WHERE id = 'a'{}", tx.for_update());
                        let (at,): (i64,) = tx.one(&sql, &[]).await?.expect("it is there");
                        tx.run("UPDATE things SET at = $1", &[(at + 1).into()]).await.map(drop)
                    }
                    .scope_boxed()
                })
                .await
            })
        });
        for raise in futures::future::join_all(raises).await {
            let raised: Result<(), StoreError> = raise.unwrap();
            raised.unwrap();
        }
        assert_eq!(things(&mut db.read().await.unwrap()).await[0].at, 40);
    }

    async fn a_closed_database_answers_that_it_is_unavailable(db: Db) {
        with_things(&db).await;
        db.clone().close().await;
        assert_eq!(db.begin().await.err(), Some(StoreError::Unavailable));
        let read = db.read().await.unwrap().one::<Thing>("SELECT * FROM things", &[]).await;
        assert_eq!(read, Err(StoreError::Unavailable));
    }
}
