//! Payments that leave the chain at one time leave the same in whatever order that is told, and whether or not somebody looked in
//! between: which periods and subscriptions are paid, and which invoices are open.

use scoped_futures::ScopedFutureExt as _;
use till_core::calendar::Unit;
use till_engine::subscriptions::{pause, resume};
use till_engine::workers::timers::run_due;
use till_store::{Queries as _, both_engines};

use crate::sharing::{comes_back, leaves, payment, plan};
use crate::subscriptions::{credit, customer, row, subscribe, top_up};
use crate::world::{World, pay};

const DAY_MS: i64 = 86_400_000;

/// How two facts are told.
#[derive(Clone, Copy, Debug)]
struct Telling {
    is_second_first: bool,
    is_looked_at: bool,
}

const TELLINGS: [Telling; 4] = [
    Telling::of(false, false),
    Telling::of(false, true),
    Telling::of(true, false),
    Telling::of(true, true),
];

impl Telling {
    const fn of(is_second_first: bool, is_looked_at: bool) -> Telling {
        Telling {
            is_second_first,
            is_looked_at,
        }
    }

    async fn leave(self, world: &World, first: &str, second: &str) {
        let mut payments = [first, second];
        if self.is_second_first {
            payments.reverse();
        }
        for payment in payments {
            leaves(world, payment).await;
            if self.is_looked_at {
                run_due(&world.engine).await.unwrap();
            }
        }
        run_due(&world.engine).await.unwrap();
    }
}

/// The open invoices of a subscription: of which period, and what they ask for.
async fn open(world: &World, subscription: &str) -> Vec<(i64, Option<i64>)> {
    let sql = "SELECT c.period, i.due_minor FROM subscription_charges c JOIN invoices i ON i.account = c.account \
         AND i.mode = c.mode AND i.id = c.invoice WHERE c.subscription = $1 AND i.closed_at IS NULL \
         AND i.status IN ('awaiting_payment', 'partially_paid') ORDER BY c.number";
    let mut reader = world.db.read().await.unwrap();
    reader.all(sql, &[subscription.into()]).await.unwrap()
}

/// Pays what a subscription asks for. Says which payment that was.
async fn pay_for(world: &World, subscription: &str) -> String {
    let invoice = row(world, subscription).await.charge_invoice.unwrap();
    pay(&world.engine, &world.scope, &invoice, &["final"]).await;
    payment(world, &invoice).await.0
}

async fn topped_up(world: &World, customer: &str, amount: &str) -> String {
    let invoice = top_up(world, customer, amount).await;
    payment(world, &invoice).await.0
}

async fn change(world: &World, subscription: &str, pauses: bool) {
    let done = world.engine.unit(&world.scope, |tx, context| {
        async move {
            match pauses {
                true => pause(tx, context, subscription).await,
                false => resume(tx, context, subscription).await,
            }
        }
        .scope_boxed()
    });
    done.await.unwrap();
}

both_engines! {
    async fn credit_that_stands_in_for_a_payment_pays_who_was_asked_first(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Week, 0).await;
        for telling in TELLINGS {
            let customer = customer(&world).await;
            let first = topped_up(&world, &customer, "10.00").await;
            let id = subscribe(&world, &customer, &plan).await;
            world.clock.advance(6 * DAY_MS + 1);
            run_due(&world.engine).await.unwrap();
            let second = pay_for(&world, &id).await;
            top_up(&world, &customer, "10.00").await;
            run_due(&world.engine).await.unwrap();
            telling.leave(&world, &second, &first).await;
            assert_eq!(row(&world, &id).await.next_period, 1, "the first week was asked for first: {telling:?}");
        }
    }

    async fn of_two_subscriptions_that_lost_what_paid_them_the_older_is_paid(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Month, 0).await;
        for telling in TELLINGS {
            for is_credit_older in [true, false] {
                let customer = customer(&world).await;
                let mut made = Vec::new();
                for by_credit in [is_credit_older, !is_credit_older] {
                    world.clock.advance(1_000);
                    let credit = match by_credit {
                        true => Some(topped_up(&world, &customer, "10.00").await),
                        false => None,
                    };
                    run_due(&world.engine).await.unwrap();
                    let id = subscribe(&world, &customer, &plan).await;
                    let paid = match credit {
                        Some(credit) => credit,
                        None => pay_for(&world, &id).await,
                    };
                    made.push((id, paid));
                }
                top_up(&world, &customer, "10.00").await;
                run_due(&world.engine).await.unwrap();
                telling.leave(&world, &made[0].1, &made[1].1).await;
                let next = [row(&world, &made[0].0).await.next_period, row(&world, &made[1].0).await.next_period];
                assert_eq!(next, [1, 0], "credit older: {is_credit_older}, {telling:?}");
            }
        }
    }

    async fn credit_goes_to_who_was_asked_first_whoever_had_it_for_a_moment(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "7.00", Unit::Month, 0).await;
        for is_looked_at in [true, false] {
            let customer = customer(&world).await;
            let older = subscribe(&world, &customer, &plan).await;
            let paid = pay_for(&world, &older).await;
            world.clock.advance(1_000);
            let younger = subscribe(&world, &customer, &plan).await;
            top_up(&world, &customer, "10.00").await;
            if is_looked_at {
                run_due(&world.engine).await.unwrap();
            }
            leaves(&world, &paid).await;
            run_due(&world.engine).await.unwrap();
            assert_eq!(row(&world, &older).await.next_period, 1, "looked: {is_looked_at}");
            assert_eq!(open(&world, &younger).await, [(0, Some(400))], "looked: {is_looked_at}");
            assert_eq!(credit(&world, &customer).await, [""; 0]);
        }
    }

    async fn a_later_invoice_makes_room_when_its_payment_and_earlier_credit_leave_together(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Day, 0).await;
        for telling in TELLINGS {
            let customer = customer(&world).await;
            let credit = topped_up(&world, &customer, "10.00").await;
            run_due(&world.engine).await.unwrap();
            let id = subscribe(&world, &customer, &plan).await;
            let paid = pay_for(&world, &id).await;
            world.clock.advance(DAY_MS + 1);
            run_due(&world.engine).await.unwrap();
            assert_eq!(open(&world, &id).await, [(2, None)]);
            telling.leave(&world, &paid, &credit).await;
            assert_eq!(row(&world, &id).await.next_period, 0, "{telling:?}");
            assert_eq!(open(&world, &id).await, [(0, None)], "{telling:?}");
        }
    }

    async fn who_is_resumed_takes_no_credit_of_what_was_paid_meanwhile(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, plan(&world, "10.00", Unit::Month, 1).await);
        let older = subscribe(&world, &customer, &plan).await;
        world.clock.advance(DAY_MS);
        run_due(&world.engine).await.unwrap();
        assert_eq!(open(&world, &older).await, [(0, None)]);
        change(&world, &older, true).await;
        let younger = subscribe(&world, &customer, &plan).await;
        world.clock.advance(DAY_MS);
        top_up(&world, &customer, "10.00").await;
        run_due(&world.engine).await.unwrap();
        assert_eq!(row(&world, &younger).await.next_period, 1);
        change(&world, &older, false).await;
        run_due(&world.engine).await.unwrap();
        assert_eq!(row(&world, &younger).await.next_period, 1, "what is paid stays paid while nothing leaves the chain");
        assert_eq!(open(&world, &older).await.len(), 1);
    }

    async fn an_invoice_makes_room_for_credit_that_came_in_while_a_later_period_was_charged(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Day, 0).await;
        for is_looked_at in [true, false] {
            let customer = customer(&world).await;
            let id = subscribe(&world, &customer, &plan).await;
            pay_for(&world, &id).await;
            run_due(&world.engine).await.unwrap();
            let second = pay_for(&world, &id).await;
            world.clock.advance(DAY_MS + 1);
            run_due(&world.engine).await.unwrap();
            assert_eq!(open(&world, &id).await, [(2, None)]);
            leaves(&world, &second).await;
            if is_looked_at {
                run_due(&world.engine).await.unwrap();
            }
            top_up(&world, &customer, "20.00").await;
            run_due(&world.engine).await.unwrap();
            assert_eq!(row(&world, &id).await.next_period, 3, "looked: {is_looked_at}");
            assert_eq!(open(&world, &id).await, [], "looked: {is_looked_at}");
        }
    }

    async fn what_lost_its_credit_has_its_time_again_before_or_after_its_payment_came_back(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Month, 0).await;
        for is_looked_at in [true, false] {
            let customer = customer(&world).await;
            let credit = topped_up(&world, &customer, "6.00").await;
            let id = subscribe(&world, &customer, &plan).await;
            let invoice = row(&world, &id).await.charge_invoice.unwrap();
            pay(&world.engine, &world.scope, &invoice, &["final"]).await;
            let (paid, tx_hash) = payment(&world, &invoice).await;
            world.clock.advance(11 * DAY_MS);
            run_due(&world.engine).await.unwrap();
            leaves(&world, &paid).await;
            if is_looked_at {
                run_due(&world.engine).await.unwrap();
            }
            comes_back(&world, &invoice, &tx_hash).await;
            leaves(&world, &credit).await;
            run_due(&world.engine).await.unwrap();
            world.clock.advance(2 * DAY_MS);
            run_due(&world.engine).await.unwrap();
            assert_eq!(world.status(&invoice).await, "partially_paid", "looked: {is_looked_at}");
            assert_eq!(row(&world, &id).await.status.as_str(), "past_due", "looked: {is_looked_at}");
        }
    }
}
