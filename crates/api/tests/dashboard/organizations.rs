//! New organisations, for those who may make them.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::role::Role;
use till_engine::{DashboardConfig, Signup};
use till_store::{StoreError, Tx};

use crate::browser::{Browser, invite, owner};
use crate::given::user_of;
use crate::harness::{Setup, data, text};

on_every_engine! {
    async fn an_operator_makes_an_organization_and_owns_it(world: World) {
        let till = world.till().await;
        let token = invite(&till, "op@example.com", Role::Viewer, true).await;
        let mut operator = Browser::new(&till);
        let reply = operator.post("invites/accept", json!({ "token": token })).await;
        operator.take_session(&reply);
        for name in ["", "https://evil.example/pay", "www.evil.example", "0x52908400098527886E0F7030069857D2E4169EE7"] {
            operator.post("organizations", json!({ "name": name })).await.refused(400, "parameter_invalid", "name");
        }
        let made = operator.post("organizations", json!({ "name": "Second" })).await.ok(201);
        assert_eq!((&made["organization"]["name"], &made["organization"]["role"], &made["organization"]["live"]), (&json!("Second"), &json!("owner"), &json!(false)));
        let key = text(&made["test"]["secret_key"]);
        till.call("GET", "/v1/invoices").key(&key).send().await.ok(200);
        let session = operator.get("session").await.ok(200);
        assert_eq!(session["organizations"].as_array().unwrap().len(), 2);
        // The keys are the founder's: who is no member any more loses what they can do.
        let account = text(&made["organization"]["id"]);
        let mut there = operator.in_mode("test");
        there.account = Some(account.clone());
        for key in data(&there.get("api_keys").await.ok(200)) {
            assert_eq!((&key["created_by"]["type"], &key["created_by"]["email"]), (&json!("user"), &json!("op@example.com")), "{key}");
        }
        let founder = user_of(&operator).await;
        let (account, founder) = (&*account, &*founder);
        let left: Result<(), StoreError> = till.engine().db.write(move |tx: &mut Tx| {
            async move { till_store::members::remove(tx, account, founder).await }.scope_boxed()
        }).await;
        left.unwrap();
        till.call("GET", "/v1/invoices").key(&key).send().await.refused(403, "api_key_permission_denied", None);
    }

    async fn others_do_where_sign_up_is_open(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        owner.post("organizations", json!({ "name": "Second" })).await.refused(403, "permission_denied", None);
        owner.post("organizations", json!({ "name": "" })).await.refused(403, "permission_denied", None);
        let dashboard = DashboardConfig { signup: Signup::Open, ..DashboardConfig::default() };
        let open = world.beside(&till, Setup { dashboard, ..Setup::default() }).await;
        let mut there = Browser::new(&open);
        there.cookie = owner.cookie.clone();
        there.csrf = owner.csrf.clone();
        there.post("organizations", json!({ "name": "Second" })).await.ok(201);
    }

    async fn one_person_makes_so_many_organizations(world: World) {
        let dashboard = DashboardConfig { signup: Signup::Open, ..DashboardConfig::default() };
        let till = world.till_with(Setup { dashboard, ..Setup::default() }).await;
        let owner = owner(&till).await;
        let make = |at: i64| owner.post("organizations", json!({ "name": format!("Shop {at}") }));
        for at in 0..19 {
            if at == 10 {
                let refused = make(at).await;
                refused.refused(429, "too_many_attempts", None);
                assert!(refused.header("retry-after").is_some());
                world.clock.advance_s(3_601);
            }
            make(at).await.ok(201);
        }
        world.clock.advance_s(3_601);
        make(19).await.refused(400, "parameter_invalid", None);
    }
}
