//! Timers: many at once, each at most once, and one that fails fails alone.

use futures::future::join_all;
use till_engine::workers::timers::{look_after, run_due};
use till_store::both_engines;

use crate::world::{LIFE_MS, NOW, World, account};

both_engines! {
    async fn a_timer_that_fails_fails_alone_and_ever_later(db: Db) {
        let world = World::new(db).await;
        let invoices = world.invoices(&world.scope, 7).await;
        world.run_sql("UPDATE invoices SET options = 'unreadable' WHERE id = $1", &[invoices[2].as_str().into()]).await;
        world.run_sql("UPDATE timers SET mode = 'tset' WHERE subject = $1", &[invoices[4].as_str().into()]).await;
        world.clock.advance(LIFE_MS);
        assert_eq!(run_due(&world.engine).await.unwrap(), 5);
        for (n, invoice) in invoices.iter().enumerate().filter(|(n, _)| *n != 2) {
            let status = if n == 4 { "awaiting_payment" } else { "expired" };
            assert_eq!(world.status(invoice).await, status, "{n}");
        }
        let failures = async || -> Vec<i64> {
            let mut timers = world.timers().await;
            timers.sort();
            timers.into_iter().map(|(_, _, attempts)| attempts).collect()
        };
        assert_eq!(failures().await, [1, 1]);
        run_due(&world.engine).await.unwrap();
        world.clock.advance(4_999);
        run_due(&world.engine).await.unwrap();
        assert_eq!(failures().await, [1, 1], "not yet");
        world.clock.advance(1);
        run_due(&world.engine).await.unwrap();
        assert_eq!(failures().await, [2, 2]);
        world.clock.advance(9_999);
        run_due(&world.engine).await.unwrap();
        assert_eq!(failures().await, [2, 2], "twice as long");
        // Mended, they fire like any other.
        world.run_sql("UPDATE timers SET mode = 'test' WHERE mode = 'tset'", &[]).await;
        world.clock.advance(1);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoices[4]).await, "expired");
    }

    async fn a_kind_that_only_a_newer_server_knows_holds_nobody_up(db: Db) {
        let world = World::new(db).await;
        let invoice = world.invoice().await;
        let sql = "INSERT INTO timers (account, mode, kind, subject, due_at) VALUES ($1, 'test', 'newer', 'x', 1)";
        world.run_sql(sql, &[world.scope.account.to_string().into()]).await;
        world.clock.advance(LIFE_MS);
        assert_eq!(run_due(&world.engine).await.unwrap(), 1);
        look_after(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "expired");
        assert_eq!(world.timers().await, [("x".to_owned(), 1, 0)]);
    }

    async fn a_timer_of_an_invoice_that_does_not_exist_is_done_with(db: Db) {
        let world = World::new(db).await;
        let sql = "INSERT INTO timers (account, mode, kind, subject, due_at) VALUES ($1, 'test', 'expire_invoice', 'x', 1)";
        world.run_sql(sql, &[world.scope.account.to_string().into()]).await;
        run_due(&world.engine).await.unwrap();
        assert!(world.timers().await.is_empty());
    }

    async fn several_servers_expire_the_invoices_of_many_accounts_once_each(db: Db) {
        let world = World::new(db).await;
        let mut all = Vec::new();
        for _ in 0..3 {
            let scope = account(&world.engine).await;
            let invoices = world.invoices(&scope, 150).await;
            all.extend(invoices.into_iter().map(|id| (scope.clone(), id)));
        }
        world.clock.advance(LIFE_MS - 1);
        assert_eq!(run_due(&world.engine).await.unwrap(), 0, "not yet");
        world.clock.advance(1);
        let servers = [world.beside(2), world.beside(3), world.beside(4)];
        let fired = join_all(servers.iter().map(|engine| run_due(engine))).await;
        let mut fired: usize = fired.into_iter().map(Result::unwrap).sum();
        // What one server held when the other looked is left to it, or to the next look.
        fired += run_due(&world.engine).await.unwrap();
        assert_eq!(fired, 450);
        for (scope, invoice) in &all {
            assert_eq!(world.event_types(invoice).await, ["invoice.created", "invoice.expired"]);
            assert_eq!(world.row(scope, invoice).await.closed_at, Some(NOW + LIFE_MS));
        }
        assert!(world.timers().await.is_empty());
    }

    async fn an_open_invoice_without_a_timer_is_found(db: Db) {
        let world = World::new(db).await;
        let invoice = world.invoice().await;
        let other = account(&world.engine).await;
        let ahead = world.invoices(&other, 1).await.remove(0);
        world.run_sql("UPDATE merchants SET clock_offset_ms = 600000 WHERE account = $1", &[other.account.to_string().into()]).await;
        world.run_sql("DELETE FROM timers", &[]).await;
        world.clock.advance(LIFE_MS - 600_000 + 60_001);
        look_after(&world.engine).await.unwrap();
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.row(&other, &ahead).await.status.as_str(), "expired");
        assert_eq!(world.status(&invoice).await, "awaiting_payment");
        world.clock.advance(600_000);
        look_after(&world.engine).await.unwrap();
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "expired");
    }
}
