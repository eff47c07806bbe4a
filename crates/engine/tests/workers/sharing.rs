//! Prepaid credit when several things become known before anybody has looked: nothing stays set aside for nobody, whose turn it
//! is does not change by looking again, and attempts are counted as they were made.

use scoped_futures::ScopedFutureExt as _;
use till_core::calendar::Unit;
use till_core::invoice::Decision;
use till_core::money::Units;
use till_core::subscription::ChargeState;
use till_engine::invoices::{Resolve, Via, held_payments, resolve_review};
use till_engine::refunds::{self, NewRefund};
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::test_mode::{Simulation, raise_payment, reverse_payment, simulate_payment};
use till_engine::workers::timers::run_due;
use till_store::{Queries as _, both_engines};

use crate::subscriptions::{charges, credit, customer, row, subscribe, top_up};
use crate::world::{World, pay};

const DAY_MS: i64 = 86_400_000;

pub async fn plan(world: &World, amount: &str, interval: Unit, trial_days: u32) -> String {
    let new = NewPlan {
        name: "Tea".to_owned(),
        amount: amount.to_owned(),
        currency: "USD".to_owned(),
        interval,
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

/// The first payment of an invoice: its id and its transaction.
pub async fn payment(world: &World, invoice: &str) -> (String, String) {
    let sql = "SELECT id, tx_hash FROM payments WHERE invoice = $1 ORDER BY id";
    let mut reader = world.db.read().await.unwrap();
    let all: Vec<(String, String)> = reader.all(sql, &[invoice.into()]).await.unwrap();
    all[0].clone()
}

pub async fn leaves(world: &World, payment: &str) {
    let done = world.engine.unit(&world.scope, |tx, context| {
        reverse_payment(tx, context, payment).scope_boxed()
    });
    done.await.unwrap();
}

pub async fn comes_back(world: &World, invoice: &str, tx_hash: &str) {
    let done = world.engine.unit(&world.scope, |tx, context| {
        raise_payment(tx, context, invoice, tx_hash, "final").scope_boxed()
    });
    done.await.unwrap();
}

/// Somebody who is on a list sends more for a top-up, and the merchant wants none of it.
async fn reject(world: &World, top_up: &str) {
    let lists = till_chains::test_screening();
    let evm = till_core::asset::Family::Evm;
    let listed = lists.iter().find(|(family, ..)| *family == evm).unwrap().2;
    let more = Simulation {
        asset: Some("USDC@eip155:84532".to_owned()),
        amount: Some("1".to_owned()),
        sender: Some(listed.to_owned()),
        finality_steps: Some(vec!["final".to_owned()]),
        ..Simulation::default()
    };
    let more = &more;
    let paid = world.engine.unit(&world.scope, |tx, context| {
        simulate_payment(tx, context, top_up, more).scope_boxed()
    });
    paid.await.unwrap();
    let held = held_payments(&world.engine, &world.scope, top_up).await;
    let asked = Resolve {
        decision: Decision::Reject,
        reason: "why",
        via: Via::Api,
        payments: &held.unwrap(),
    };
    let asked = &asked;
    let done = world.engine.unit(&world.scope, |tx, context| {
        resolve_review(tx, context, top_up, asked).scope_boxed()
    });
    done.await.unwrap();
}

/// What is set aside or used of a top-up's first payment.
async fn used(world: &World, top_up: &str) -> Units {
    let (payment, _) = payment(world, top_up).await;
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::payments::find(&mut reader, &world.scope, &payment).await;
    found.unwrap().unwrap().credit_used
}

/// What is set aside for attempts at which nobody is asked for money and that have paid for nothing.
async fn idle(world: &World) -> Vec<String> {
    let sql = "SELECT e.units FROM credit_entries e JOIN subscription_charges c ON c.account = e.account AND c.mode = e.mode \
         AND c.subscription = e.subscription AND c.number = e.charge WHERE e.returned_at IS NULL AND c.state NOT IN ('paid', 'open')";
    let mut reader = world.db.read().await.unwrap();
    let all: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    all.into_iter().map(|(units,)| units).collect()
}

both_engines! {
    async fn what_a_closed_attempt_had_of_a_rejected_top_up_is_not_set_aside_for_ever(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, plan(&world, "10.00", Unit::Week, 0).await);
        let rejected = top_up(&world, &customer, "4.00").await;
        let promised = top_up(&world, &customer, "10.00").await;
        let (new, promised) = (&NewRefund { amount: Some("10.00".to_owned()), ..NewRefund::default() }, &promised);
        let refund = world.engine.unit(&world.scope, |tx, context| refunds::create(tx, context, promised, new).scope_boxed());
        refund.await.unwrap();
        let id = subscribe(&world, &customer, &plan).await;
        assert_eq!(charges(&world, &id).await.len(), 1, "asked for six dollars");
        reject(&world, &rejected).await;
        // Nobody was there when the attempt ended and when the refund's link did: its ten dollars are credit again.
        world.clock.advance(31 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        let states: Vec<ChargeState> = charges(&world, &id).await.iter().map(|charge| charge.state).collect();
        assert_eq!(states[..2], [ChargeState::Closed, ChargeState::Paid]);
        assert_eq!(idle(&world).await, [""; 0]);
        assert_eq!(used(&world, &rejected).await, Units::ZERO, "it is the payer's to have back");
    }

    async fn credit_of_a_rejected_top_up_pays_no_part_of_what_was_not_paid_before(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, plan(&world, "10.00", Unit::Week, 0).await);
        let rejected = top_up(&world, &customer, "4.00").await;
        let id = subscribe(&world, &customer, &plan).await;
        reject(&world, &rejected).await;
        top_up(&world, &customer, "6.00").await;
        run_due(&world.engine).await.unwrap();
        let now = row(&world, &id).await;
        assert_eq!((now.status.as_str(), now.next_period), ("incomplete", 0), "six dollars do not pay for ten");
        let invoice = world.row(&world.scope, &now.charge_invoice.unwrap()).await;
        assert_eq!((invoice.status.as_str(), invoice.due_minor), ("awaiting_payment", Some(400)));
        assert_eq!(idle(&world).await, [""; 0]);
        assert_eq!(used(&world, &rejected).await, Units::ZERO, "it is the payer's to have back");
    }

    async fn what_the_attempt_under_way_has_set_aside_comes_free_when_another_one_has_paid(db: Db) {
        let world = World::new(db).await;
        let (customer, plan) = (customer(&world).await, plan(&world, "10.00", Unit::Week, 0).await);
        let id = subscribe(&world, &customer, &plan).await;
        let invoice = row(&world, &id).await.charge_invoice.unwrap();
        pay(&world.engine, &world.scope, &invoice, &["final"]).await;
        let (first, tx_hash) = payment(&world, &invoice).await;
        world.clock.advance(1_000);
        leaves(&world, &first).await;
        run_due(&world.engine).await.unwrap();
        world.clock.advance(1_000);
        top_up(&world, &customer, "10.00").await;
        run_due(&world.engine).await.unwrap();
        world.clock.advance(6 * DAY_MS + 1);
        run_due(&world.engine).await.unwrap();
        top_up(&world, &customer, "4.00").await;
        run_due(&world.engine).await.unwrap();
        assert_eq!((row(&world, &id).await.next_period, credit(&world, &customer).await), (1, Vec::new()), "the second week is asked for");
        comes_back(&world, &invoice, &tx_hash).await;
        run_due(&world.engine).await.unwrap();
        let states: Vec<ChargeState> = charges(&world, &id).await.iter().map(|charge| charge.state).collect();
        let (paid, gone) = (ChargeState::Paid, ChargeState::Withdrawn);
        assert_eq!(states, [paid, ChargeState::Closed, gone, paid], "the credit of the first week pays the second");
        assert_eq!(idle(&world).await, [""; 0]);
        assert_eq!(credit(&world, &customer).await, ["4.00"]);
    }

    async fn attempts_before_the_first_payment_count_when_that_is_gone(db: Db) {
        let world = World::new(db).await;
        let plan = plan(&world, "10.00", Unit::Week, 0).await;
        for (has_looked, is_credit_first) in [(false, false), (false, true), (true, false), (true, true)] {
            let customer = customer(&world).await;
            let (lowers, _) = payment(&world, &top_up(&world, &customer, "4.00").await).await;
            let id = subscribe(&world, &customer, &plan).await;
            world.clock.advance(4 * DAY_MS);
            run_due(&world.engine).await.unwrap();
            let second = row(&world, &id).await;
            assert_eq!(second.attempt, 2);
            let invoice = second.charge_invoice.unwrap();
            pay(&world.engine, &world.scope, &invoice, &["final"]).await;
            let (pays, _) = payment(&world, &invoice).await;
            world.clock.advance(DAY_MS);
            run_due(&world.engine).await.unwrap();
            let mut gone = [&pays, &lowers];
            if is_credit_first {
                gone.reverse();
            }
            for payment in gone {
                leaves(&world, payment).await;
                if has_looked {
                    run_due(&world.engine).await.unwrap();
                }
            }
            run_due(&world.engine).await.unwrap();
            let now = row(&world, &id).await;
            assert_eq!((now.attempt, now.status.as_str()), (2, "active"), "looked: {has_looked}, credit first: {is_credit_first}");
        }
    }

    async fn whose_turn_it_is_does_not_change_by_looking_again(db: Db) {
        let world = World::new(db).await;
        let customer = customer(&world).await;
        let (daily, weekly) = (plan(&world, "1.00", Unit::Day, 0).await, plan(&world, "25.00", Unit::Week, 7).await);
        top_up(&world, &customer, "5.00").await;
        let days = subscribe(&world, &customer, &daily).await;
        let weeks = subscribe(&world, &customer, &weekly).await;
        assert_eq!(row(&world, &days).await.next_period, 2, "today and tomorrow are paid");
        // Both are due when credit comes in, and share it: a day, and what is left for the week.
        world.clock.advance(10 * DAY_MS);
        top_up(&world, &customer, "5.00").await;
        run_due(&world.engine).await.unwrap();
        assert_eq!(row(&world, &days).await.next_period, 3, "the next day is asked for after the week");
        let asked = async || {
            let invoice = row(&world, &weeks).await.charge_invoice.unwrap();
            world.row(&world.scope, &invoice).await.due_minor
        };
        assert_eq!(asked().await, Some(1_800));
        for due in [1_790, 1_780] {
            top_up(&world, &customer, "0.10").await;
            run_due(&world.engine).await.unwrap();
            assert_eq!((row(&world, &days).await.next_period, asked().await), (3, Some(due)));
        }
    }
}
