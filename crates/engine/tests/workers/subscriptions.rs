//! Renewals: caught up with in their order after a week, and once each, whoever renews.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use scoped_futures::ScopedFutureExt as _;
use till_core::calendar::Unit;
use till_core::subscription::ChargeState;
use till_engine::customers::{self, NewCustomer};
use till_engine::invoices::quote::NewInvoice;
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::subscriptions::{self, NewSubscription};
use till_engine::workers::timers::run_due;
use till_store::subscriptions::{ChargeRow, SubscriptionRow};
use till_store::{Queries as _, both_engines};

use crate::world::{NOW, World, pay};

const DAY_MS: i64 = 86_400_000;

pub async fn customer(world: &World) -> String {
    let new = &NewCustomer::default();
    let made = world.engine.unit(&world.scope, |tx, context| {
        customers::create(tx, context, new).scope_boxed()
    });
    made.await.unwrap().id
}

/// The invoice of credit that is there at once.
pub async fn top_up(world: &World, customer: &str, amount: &str) -> String {
    let new = NewInvoice {
        amount: amount.to_owned(),
        currency: "USD".to_owned(),
        ..NewInvoice::default()
    };
    let new = &new;
    let made = world.engine.unit(&world.scope, |tx, context| {
        customers::top_up(tx, context, customer, new).scope_boxed()
    });
    let invoice = made.await.unwrap().id;
    pay(&world.engine, &world.scope, &invoice, &["final"]).await;
    invoice
}

async fn daily(world: &World, trial_days: u32) -> String {
    let new = NewPlan {
        name: "Tea".to_owned(),
        amount: "1.00".to_owned(),
        currency: "USD".to_owned(),
        interval: Unit::Day,
        interval_count: 1,
        trial_days,
        grace_days: 3,
        max_attempts: 4,
        assets: None,
        billing_timezone: None,
    };
    let new = &new;
    let made = world.engine.unit(&world.scope, |tx, context| {
        plans::create(tx, context, new).scope_boxed()
    });
    made.await.unwrap().id
}

pub async fn subscribe(world: &World, customer: &str, plan: &str) -> String {
    let new = NewSubscription {
        customer: customer.to_owned(),
        plan: plan.to_owned(),
        trial_days: None,
        metadata: BTreeMap::new(),
    };
    let new = &new;
    let made = world.engine.unit(&world.scope, |tx, context| {
        subscriptions::create(tx, context, new).scope_boxed()
    });
    made.await.unwrap().id
}

pub async fn charges(world: &World, subscription: &str) -> Vec<ChargeRow> {
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::subscriptions::charges_of(&mut reader, &world.scope, subscription);
    found.await.unwrap()
}

pub async fn row(world: &World, subscription: &str) -> SubscriptionRow {
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::subscriptions::find(&mut reader, &world.scope, subscription).await;
    found.unwrap().unwrap()
}

pub async fn credit(world: &World, customer: &str) -> Vec<String> {
    let shown = customers::retrieve(&world.engine, &world.scope, customer).await;
    let credit = shown.unwrap().credit.unwrap();
    credit.into_iter().map(|token| token.amount).collect()
}

both_engines! {
    async fn after_a_week_down_every_period_is_charged_in_its_order(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, daily(&world, 0).await);
        top_up(&world, &customer, "9.00").await;
        let id = subscribe(&world, &customer, &plan).await;
        world.clock.advance(7 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        let charges = charges(&world, &id).await;
        let periods: Vec<(i64, i64)> = charges.iter().map(|charge| (charge.period, charge.period_start)).collect();
        let expected: Vec<(i64, i64)> = (0..9).map(|day| (day, NOW + day * DAY_MS)).collect();
        assert_eq!(periods, expected);
        assert!(charges.iter().all(|charge| charge.state == ChargeState::Paid && charge.invoice.is_none()));
        assert_eq!(credit(&world, &customer).await, [""; 0]);
        assert_eq!(row(&world, &id).await.paid_until, Some(NOW + 9 * DAY_MS));
        let told = world.event_types(&id).await;
        assert_eq!(told.iter().filter(|event| *event == "subscription.renewed").count(), 9);
        world.clock.advance(DAY_MS);
        run_due(&world.engine).await.unwrap();
        let short = row(&world, &id).await;
        assert_eq!((short.attempt, short.status.as_str()), (1, "active"), "the tenth is invoiced");
    }

    async fn a_year_down_with_credit_for_it_is_caught_up_with_in_pieces(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, daily(&world, 0).await);
        top_up(&world, &customer, "100.00").await;
        let id = subscribe(&world, &customer, &plan).await;
        world.clock.advance(365 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        let charges = charges(&world, &id).await;
        assert_eq!(charges.len(), 101, "a hundred days of credit, and an invoice");
        let numbers: BTreeSet<i64> = charges.iter().map(|charge| charge.period).collect();
        assert_eq!(numbers.len(), 101);
        let open = charges.last().unwrap();
        assert_eq!(open.state, ChargeState::Open);
        assert!(open.grace_end >= NOW + 366 * DAY_MS, "nobody is past due for what he was never asked");
    }

    async fn an_unpaid_renewal_is_not_hurried_because_the_server_was_down(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, daily(&world, 3).await);
        let id = subscribe(&world, &customer, &plan).await;
        world.clock.advance(20 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        let late = row(&world, &id).await;
        assert_eq!((late.status.as_str(), late.attempt), ("active", 1));
        world.clock.advance(DAY_MS - 1);
        run_due(&world.engine).await.unwrap();
        assert_eq!(row(&world, &id).await.status.as_str(), "active");
        world.clock.advance(1);
        run_due(&world.engine).await.unwrap();
        let late = row(&world, &id).await;
        assert_eq!((late.status.as_str(), late.attempt), ("past_due", 2));
    }

    async fn several_servers_renew_each_of_many_once_and_spend_no_credit_twice(db: Db) {
        let many: usize = std::env::var("TILL_TEST_SUBSCRIPTIONS").map_or(120, |text| text.parse().unwrap());
        let world = World::new(db).await;
        let plan = daily(&world, 2).await;
        let mut customers = Vec::new();
        for _ in 0..many.div_ceil(40) {
            let customer = customer(&world).await;
            top_up(&world, &customer, "20.00").await;
            customers.push(customer);
        }
        for n in 0..many {
            subscribe(&world, &customers[n % customers.len()], &plan).await;
        }
        world.clock.advance(DAY_MS + 1);
        let servers = [world.beside(2), world.beside(3), world.beside(4)];
        for done in join_all(servers.iter().map(|engine| run_due(engine))).await {
            done.unwrap();
        }
        run_due(&world.engine).await.unwrap();
        let count = async |sql: &str| -> usize {
            let mut reader = world.db.read().await.unwrap();
            let rows: Vec<(i64,)> = reader.all(sql, &[]).await.unwrap();
            usize::try_from(rows[0].0).unwrap()
        };
        let paid = many.min(20 * customers.len());
        assert_eq!(count("SELECT CAST(count(*) AS BIGINT) FROM subscription_charges").await, many);
        assert_eq!(count("SELECT CAST(count(*) AS BIGINT) FROM subscription_charges WHERE state = 'paid'").await, paid);
        let renewed = "SELECT CAST(count(*) AS BIGINT) FROM events WHERE type = 'subscription.renewed'";
        let invoiced = "SELECT CAST(count(*) AS BIGINT) FROM events WHERE type = 'subscription.invoice_created'";
        assert_eq!((count(renewed).await, count(invoiced).await), (paid, many - paid));
        assert_eq!(count("SELECT CAST(count(*) AS BIGINT) FROM invoices WHERE subscription IS NOT NULL").await, many - paid);
        for customer in &customers {
            assert_eq!(credit(&world, customer).await, [""; 0]);
        }
    }
}
