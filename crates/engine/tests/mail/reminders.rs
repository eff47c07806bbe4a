//! Reminders of renewals: one with each invoice that nobody waited for, to the customer's address, in the merchant's name.

use std::collections::BTreeMap;

use scoped_futures::ScopedFutureExt as _;
use till_core::calendar::Unit;
use till_engine::base::Change;
use till_engine::customers::{self, NewCustomer};
use till_engine::merchants::settings::{self, SettingsChange};
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::subscriptions::{self, NewSubscription};
use till_engine::view::SubscriptionView;
use till_engine::workers::mail::send_due;
use till_engine::workers::timers::run_due;
use till_store::both_engines;

use crate::sending::reader;
use crate::smtp::Smtp;
use crate::world::World;

const DAY_MS: i64 = 86_400_000;

/// A customer with this address on a plan with a trial of three days.
async fn subscribe(world: &World, email: &str) -> SubscriptionView {
    let customer = NewCustomer {
        email: Some(email.to_owned()),
        ..NewCustomer::default()
    };
    let plan = NewPlan {
        name: "Tea club".to_owned(),
        amount: "25.00".to_owned(),
        currency: "USD".to_owned(),
        interval: Unit::Month,
        interval_count: 1,
        trial_days: 3,
        grace_days: 3,
        max_attempts: 2,
        assets: None,
        billing_timezone: None,
    };
    let (customer, plan) = (&customer, &plan);
    let made = world.engine.unit(&world.scope, |tx, context| {
        async move {
            let customer = customers::create(tx, context, customer).await?.id;
            let plan = plans::create(tx, context, plan).await?.id;
            let new = NewSubscription {
                customer,
                plan,
                trial_days: None,
                metadata: BTreeMap::new(),
            };
            subscriptions::create(tx, context, &new).await
        }
        .scope_boxed()
    });
    made.await.unwrap()
}

both_engines! {
    async fn a_renewal_is_reminded_of_with_its_invoice_and_each_further_attempt(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let name = &SettingsChange { display_name: Change::Set("Café Müller".to_owned()), ..SettingsChange::default() };
        let named = world.engine.unit(&world.scope, |tx, context| settings::update(tx, context, name).scope_boxed());
        named.await.unwrap();
        let ann = reader("ann");
        let made = subscribe(&world, &ann).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        world.clock.advance(2 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        let received = smtp.received(&ann);
        assert_eq!(received.len(), 1);
        for body in received[0].bodies() {
            for part in ["Tea club", "25.00 USD", "Café Müller"] {
                assert!(body.contains(part), "{part} is missing in {body}");
            }
            assert!(!body.contains("://"), "a mail with a link is somebody else's: {body}");
        }
        world.clock.advance(4 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 1, "the second attempt");
        let pause = world.engine.unit(&world.scope, |tx, context| subscriptions::pause(tx, context, &made.id).scope_boxed());
        assert_eq!(pause.await.unwrap().status, "paused");
        world.clock.advance(400 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 0, "nothing while it is paused");
    }

    async fn an_invoice_that_was_paid_meanwhile_is_not_reminded_of(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let ben = reader("ben");
        let made = subscribe(&world, &ben).await;
        world.clock.advance(2 * DAY_MS);
        run_due(&world.engine).await.unwrap();
        let now = subscriptions::retrieve(&world.engine, &world.scope, &made.id).await.unwrap();
        world.pay(&now.latest_invoice.unwrap(), None).await;
        send_due(&world.engine).await.unwrap();
        assert!(smtp.received(&ben).is_empty());
    }
}
