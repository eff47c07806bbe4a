//! Two units of work at once, which only PostgreSQL has.

use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use till_engine::Fail;
use till_engine::invoices::cancel;
use till_engine::test_mode::reverse_payment;
use till_engine::workers::timers::run_due;
use till_store::Dialect;
use till_store::testing::migrated;
use tokio::sync::Notify;

use crate::world::{LIFE_MS, World, pay};

/// Where a unit of work waits after it began, until it is told to go on.
#[derive(Default)]
struct Gate {
    began: Notify,
    go_on: Notify,
}

impl Gate {
    async fn wait(&self) {
        self.began.notify_one();
        self.go_on.notified().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_began_before_the_deadline_and_waited_acts_after_it() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let invoice = world.invoice().await;
    pay(&world.engine, &world.scope, &invoice, &["pending"]).await;
    assert_eq!(world.status(&invoice).await, "detected");
    let mut reader = world.db.read().await.unwrap();
    let payments = till_store::payments::of_invoice(&mut reader, &world.scope, &invoice)
        .await
        .unwrap();
    drop(reader);
    let gate = Arc::new(Gate::default());
    let reversal = {
        let (gate, engine) = (Arc::clone(&gate), world.beside(2));
        let (scope, payment) = (world.scope.clone(), payments[0].id.clone());
        tokio::spawn(async move {
            let (gate, payment) = (&gate, &payment);
            let reversed = engine.unit(&scope, |tx, context| {
                async move {
                    gate.wait().await;
                    reverse_payment(tx, context, payment).await
                }
                .scope_boxed()
            });
            reversed.await.map(drop)
        })
    };
    gate.began.notified().await;
    world.clock.advance(LIFE_MS);
    assert_eq!(
        run_due(&world.engine).await.unwrap(),
        1,
        "the timer is gone"
    );
    assert_eq!(world.status(&invoice).await, "detected");
    gate.go_on.notify_one();
    reversal.await.unwrap().unwrap();
    assert_eq!(world.status(&invoice).await, "expired");
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invoice_that_expired_meanwhile_is_not_cancelled() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let invoice = world.invoice().await;
    let gate = Arc::new(Gate::default());
    let cancellation = {
        let (gate, engine) = (Arc::clone(&gate), world.beside(2));
        let (scope, invoice) = (world.scope.clone(), invoice.clone());
        tokio::spawn(async move {
            let (gate, invoice) = (&gate, &invoice);
            let cancelled = engine.unit(&scope, |tx, context| {
                async move {
                    gate.wait().await;
                    cancel(tx, context, invoice).await
                }
                .scope_boxed()
            });
            cancelled.await.map(drop)
        })
    };
    gate.began.notified().await;
    world.clock.advance(LIFE_MS);
    assert_eq!(run_due(&world.engine).await.unwrap(), 1);
    gate.go_on.notify_one();
    match cancellation.await.unwrap() {
        Err(Fail::Refused(refusal)) => {
            assert_eq!(refusal.code.as_str(), "invoice_not_cancellable");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        world.event_types(&invoice).await,
        ["invoice.created", "invoice.expired"]
    );
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invoice_that_somebody_holds_does_not_hold_up_the_others() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let invoices = world.invoices(&world.scope, 20).await;
    world.clock.advance(LIFE_MS);
    let mut holder = world.db.begin().await.unwrap();
    till_store::invoices::lock(&mut holder, &world.scope, &invoices[0])
        .await
        .unwrap();
    assert_eq!(run_due(&world.engine).await.unwrap(), 19);
    assert_eq!(world.status(&invoices[0]).await, "awaiting_payment");
    holder.commit().await.unwrap();
    assert_eq!(run_due(&world.engine).await.unwrap(), 1);
    assert_eq!(world.status(&invoices[0]).await, "expired");
    test.remove().await;
}
