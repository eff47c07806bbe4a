//! Key files that take over from one another while servers serve.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::change::{ChangeKind, ChangeStatus};
use till_core::id::IdKind;
use till_core::webhook::verify;
use till_engine::EngineLimits;
use till_engine::base::vault::Vault;
use till_engine::digests;
use till_engine::merchants::secrets;
use till_engine::rotation::{self, Pass};
use till_store::changes::ChangeRow;
use till_store::sealed::{self, SealedColumn};
use till_store::{StoreError, Tx};

use crate::harness::{Receiver, Setup, Till, World, data, id, text};
use crate::links::{fixed, invoices_of, link};
use crate::refunds::{received, refund};

const OLD: [u8; 32] = [7; 32];
const NEW: [u8; 32] = [8; 32];

fn with_keys(keys: &[[u8; 32]]) -> Setup {
    Setup {
        keys: keys.to_vec(),
        mail: true,
        ..Setup::default()
    }
}

/// What the key is called, as the servers say.
fn name_of(key: [u8; 32]) -> String {
    Vault::new(&[key]).unwrap().first_name()
}

/// Something in every place where things are encrypted, and how to ask for it again.
struct Kept {
    /// The customer's idempotency key.
    once: String,
    customer: Value,
    refund: Value,
    notify: String,
    session: String,
}

impl Kept {
    async fn make(till: &Till) -> Kept {
        let body = json!({ "email": "ada@example.com" });
        let invoice = id(&till.invoice().await);
        let once = format!("customer-of-{invoice}");
        let customer = till
            .posting("/v1/customers", body)
            .once(&once)
            .send()
            .await
            .ok(201);
        let refund = refund(till, &received(till, "28.5").await, json!({}))
            .await
            .ok(201);
        let page = till.call("GET", &format!("/v1/checkout/invoices/{invoice}"));
        let page = page.key(&till.account.test.publishable_key).send().await;
        let seen = page.ok(200);
        let kept = Kept {
            once,
            customer,
            refund,
            notify: format!("/v1/checkout/invoices/{invoice}/notify"),
            session: text(&seen["session_token"]),
        };
        kept.leave_address(till).await;
        digests::key::ensure(till.engine()).await.unwrap();
        leave_secret_that_waits(till, &invoice).await;
        kept
    }

    async fn leave_address(&self, till: &Till) {
        let body = json!({ "email": "payer@example.com", "session_token": self.session });
        till.post(&self.notify, body).await.ok(200);
    }

    /// Everything is read as it was, and told again.
    async fn is_there(&self, till: &Till) {
        let customer = till
            .get(&format!("/v1/customers/{}", id(&self.customer)))
            .await
            .ok(200);
        assert_eq!(customer["email"], "ada@example.com");
        let refund = till
            .get(&format!("/v1/refunds/{}", id(&self.refund)))
            .await
            .ok(200);
        assert_eq!(refund["claim_token"], self.refund["claim_token"]);
        let body = json!({ "email": "ada@example.com" });
        let again = till
            .posting("/v1/customers", body)
            .once(&self.once)
            .send()
            .await;
        assert!(again.is_replay());
        assert_eq!(again.ok(201), self.customer);
    }
}

/// A webhook secret that waits to take effect; `family` tells several apart.
async fn leave_secret_that_waits(till: &Till, family: &str) {
    let (engine, scope) = (till.engine(), till.scope());
    let change = &ChangeRow {
        id: engine.ids.make(IdKind::Change),
        kind: ChangeKind::WebhookSecret,
        family: family.to_owned(),
        from_value: None,
        to_value: None,
        secret: Some(secrets::seal(engine, &scope, "whsec_waiting").unwrap()),
        status: ChangeStatus::Pending,
        requested_by: "usr_1".to_owned(),
        requested_at: 0,
        effective_at: i64::MAX,
        cancelled_by: None,
        cancelled_at: None,
        scope,
    };
    let written: Result<(), StoreError> = engine
        .db
        .write(move |tx: &mut Tx| {
            async move { till_store::changes::insert(tx, change).await }.scope_boxed()
        })
        .await;
    written.unwrap();
}

/// How many values each key has encrypted, the old one first.
async fn encrypted(world: &World, old: &Till, new: &Till) -> (usize, usize) {
    let mut count = (0, 0);
    for place in SealedColumn::ALL {
        let rows = sealed::page(&mut world.db.read().await.unwrap(), place, None, 500)
            .await
            .unwrap();
        // The dashboard's own tests look at what belongs to people.
        assert!(place.has_no_scope() || !rows.is_empty(), "{place:?}");
        count.0 += rows
            .iter()
            .filter(|row| old.engine().vault.is_newest(&row.sealed))
            .count();
        count.1 += rows
            .iter()
            .filter(|row| new.engine().vault.is_newest(&row.sealed))
            .count();
    }
    count
}

on_every_engine! {
    async fn keys_take_over_while_servers_serve_and_the_old_one_may_go(world: World) {
        if world.is_in_memory() {
            return;
        }
        let till = world.till_with(with_keys(&[OLD, NEW])).await;
        let beside = world.beside(&till, with_keys(&[NEW, OLD])).await;
        rotation::encrypt_with(till.engine(), &till.engine().vault.first_name()).await.unwrap();
        rotation::follow(beside.engine()).await.unwrap();
        let kept = Kept::make(&till).await;
        Kept::make(&till.another_account().await).await;
        let new = beside.engine().vault.first_name();
        rotation::encrypt_with(beside.engine(), &new).await.unwrap();
        // The other one does not know yet; both read what either has written.
        let late = Kept::make(&till).await;
        let soon = Kept::make(&beside).await;
        for server in [&till, &beside] {
            kept.is_there(server).await;
            late.is_there(server).await;
            soon.is_there(server).await;
        }
        let (by_old, by_new) = encrypted(&world, &till, &beside).await;
        assert!(by_old > 0 && by_new > 0, "{by_old} {by_new}");
        let pass = rotation::pass(beside.engine()).await.unwrap();
        assert_eq!(pass, Pass { rewritten: by_old as u64, unreadable: 0 });
        rotation::follow(till.engine()).await.unwrap();
        let after = Kept::make(&till).await;
        assert_eq!(rotation::pass(beside.engine()).await.unwrap(), Pass::default());
        // The old one may go.
        let alone = world.beside(&till, with_keys(&[NEW])).await;
        let receiver = Receiver::start().await;
        alone.set(json!({ "webhook_url": receiver.url() })).await;
        for kept in [&kept, &late, &soon, &after] {
            kept.is_there(&alone).await;
        }
        alone.invoice().await;
        let told = receiver.wait_for(1).await.remove(0);
        let (secret, now) = (&till.account.test.webhook_secret, world.clock.now_s());
        assert_eq!(verify(told.header("x-service-signature"), &told.body, secret, now, 300), Ok(()));
        // The same address again is the same, not another one of three.
        for _ in 0..4 {
            kept.leave_address(&till).await;
        }
    }

    async fn what_no_key_opens_stays_and_is_counted(world: World) {
        if world.is_in_memory() {
            return;
        }
        let till = world.till_with(with_keys(&[OLD])).await;
        let kept = Kept::make(&till).await;
        let beside = world.beside(&till, with_keys(&[NEW])).await;
        let pass = rotation::pass(beside.engine()).await.unwrap();
        assert!(pass.rewritten == 0 && pass.unreadable >= 5, "{pass:?}");
        kept.is_there(&till).await;
    }

    async fn a_server_without_the_key_that_encrypts_is_not_ready(world: World) {
        let till = world.till_with(with_keys(&[OLD])).await;
        rotation::follow(till.engine()).await.unwrap();
        assert_eq!(till.get("/readyz").await.status, 200);
        rotation::encrypt_with(till.engine(), "00000000").await.unwrap();
        till.get("/readyz").await.refused(503, "service_unavailable", None);
        // What it would encrypt with the old key would be lost with it.
        let customer = json!({ "email": "ada@example.com" });
        till.post("/v1/customers", customer.clone()).await.refused(503, "service_unavailable", None);
        till.post("/v1/merchant/webhook_secret/roll", json!({})).await.refused(503, "service_unavailable", None);
        till.get("/v1/customers").await.ok(200);
        rotation::encrypt_with(till.engine(), &till.engine().vault.first_name()).await.unwrap();
        till.post("/v1/customers", customer).await.ok(201);
    }

    async fn a_rotation_that_was_cut_off_waits_for_the_servers_when_it_is_run_again(world: World) {
        if world.is_in_memory() {
            return;
        }
        let till = world.till_with(with_keys(&[OLD, NEW])).await;
        let beside = world.beside(&till, with_keys(&[NEW, OLD])).await;
        rotation::encrypt_with(till.engine(), &till.engine().vault.first_name()).await.unwrap();
        // The first run was cut off when it had looked through everything.
        rotation::encrypt_with(beside.engine(), &beside.engine().vault.first_name()).await.unwrap();
        rotation::pass(beside.engine()).await.unwrap();
        let again = rotation::finish(beside.engine(), async || {
            Kept::make(&till).await;
            rotation::follow(till.engine()).await.unwrap();
        });
        let done = again.await.unwrap();
        assert!(done.rewritten > 0 && done.unreadable == 0, "{done:?}");
        let old = world.beside(&till, with_keys(&[OLD])).await;
        assert_eq!(encrypted(&world, &old, &beside).await.0, 0);
    }

    async fn a_client_is_known_at_a_link_whichever_key_is_the_newest(world: World) {
        let till = world.till_with(Setup {
            checkout_per_minute: 1_000,
            limits: EngineLimits { open_link_invoices_per_client: 2, ..EngineLimits::default() },
            ..with_keys(&[OLD, NEW])
        }).await;
        let made = link(&till, fixed()).await;
        let opens = || till.posting(&invoices_of(&made), json!({})).key(&till.account.test.publishable_key).send();
        let first = opens().await.ok(201);
        rotation::encrypt_with(till.engine(), &name_of(NEW)).await.unwrap();
        opens().await.ok(201);
        opens().await.refused(409, "payment_link_busy", None);
        till.post(&format!("/v1/invoices/{}/cancel", id(&first)), json!({})).await.ok(200);
        opens().await.ok(201);
    }

    async fn what_no_key_opens_is_found_and_hides_no_other_customer(world: World) {
        if world.is_in_memory() {
            return;
        }
        let till = world.till_with(with_keys(&[OLD])).await;
        let kept = Kept::make(&till).await;
        assert!(rotation::by_unknown_keys(till.engine()).await.unwrap().is_empty());
        let beside = world.beside(&till, with_keys(&[NEW])).await;
        let readable = beside.post("/v1/customers", json!({ "email": "bob@example.com" })).await.ok(201);
        let unknown = rotation::by_unknown_keys(beside.engine()).await.unwrap();
        let old = till.engine().vault.first_name();
        let of_accounts = SealedColumn::ALL.into_iter().filter(|place| !place.has_no_scope());
        // And the key that signs the books, which every installation has.
        assert_eq!(unknown.len(), of_accounts.count() + 1);
        assert!(unknown.contains(&(SealedColumn::CustomerEmails, old, 1)), "{unknown:?}");
        let listed = data(&beside.get("/v1/customers").await.ok(200));
        let email_of = |customer: &Value| listed.iter().find(|one| one["id"] == customer["id"]).unwrap()["email"].clone();
        assert_eq!(email_of(&readable), "bob@example.com");
        assert_eq!(email_of(&kept.customer), Value::Null);
    }
}
