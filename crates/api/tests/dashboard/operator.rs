//! What operators do with organisations.

use std::sync::Arc;
use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Actor, Origin};
use till_core::error::Code;
use till_core::role::Role;
use till_core::scope::Credential;
use till_engine::once::Once;
use till_engine::team::command_line;
use till_engine::team::emails::Email;
use till_engine::team::unit::{Confirmation, Needs, NeedsYes, SignedRequest};
use till_engine::{Answer, Fail};

use crate::browser::{Browser, invite, member, owner};
use crate::confirmed::{give_passkey, in_test_mode_alone, operate};
use crate::harness::{Setup, Till, data, text};
use crate::members::noticed;

/// An operator with a passkey, in an organisation of their own.
pub async fn operator(till: &Till) -> Browser {
    let elsewhere = in_test_mode_alone(till).await;
    let token = invite(&elsewhere, "operator@example.com", Role::Owner, true).await;
    let mut browser = Browser::new(till);
    let reply = browser
        .post("invites/accept", json!({ "token": token }))
        .await;
    browser.take_session(&reply);
    give_passkey(till, &browser).await;
    browser
}

on_every_engine! {
    async fn an_organisation_is_disabled_and_enabled(world: World) {
        let till = world.till().await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        let path = |what: &str| format!("operator/organizations/{}/{what}", till.account.id);
        let why = || Some(json!({ "reason": "Stolen goods." }));
        first.post(&path("disable"), json!({ "reason": "x" })).await.refused(403, "permission_denied", None);
        operator.post(&path("disable"), json!({ "reason": "x" })).await.refused(403, "step_up_required", None);
        operator.post(&path("disable"), json!({ "reason": "" })).await.refused(400, "parameter_invalid", "reason");
        operate(&till, &operator, "operator/organizations/acct_none/disable", why()).await.refused(404, "resource_missing", "id");
        operate(&till, &operator, &path("enable"), None).await.refused(400, "no_change", None);
        till.get("/v1/invoices").await.ok(200);
        let shown = operate(&till, &operator, &path("disable"), why()).await.ok(200);
        assert_eq!((&shown["disabled"], &shown["disabled_reason"], &shown["members"], &shown["role"]), (&json!(true), &json!("Stolen goods."), &json!(1), &json!(null)));
        operate(&till, &operator, &path("disable"), why()).await.refused(400, "no_change", None);
        world.clock.age_s(60);
        first.get("organization").await.refused(403, "account_disabled", None);
        first.post("organization", json!({ "name": "x" })).await.refused(403, "account_disabled", None);
        till.get("/v1/invoices").await.refused(401, "api_key_invalid", None);
        let session = first.get("session").await.ok(200);
        assert_eq!(session["organizations"][0]["disabled"], true);
        operate(&till, &operator, &path("enable"), None).await.ok(200);
        world.clock.age_s(60);
        first.get("organization").await.ok(200);
        till.get("/v1/invoices").await.ok(200);
        let told = noticed(&till, session["user"]["id"].as_str().unwrap()).await;
        assert_eq!(told, ["member.joined", "organization.disabled", "organization.enabled"]);
    }

    async fn nobody_stops_being_an_operator_while_they_decide(world: World) {
        let till = world.till().await;
        let operator = operator(&till).await;
        let session = operator.get("session").await.ok(200);
        let user: Arc<str> = text(&session["user"]["id"]).into();
        let asked = SignedRequest {
            user: Arc::clone(&user),
            session: text(&session["id"]).into(),
            account: None,
            mode: None,
            needs: Needs::Operator,
            origin: Origin::default(),
            confirmation: Confirmation { id: None, path: "/".to_owned(), body_hash: [0; 32] },
        };
        let once = Once::new(Actor::Member(user), Credential::User, "key".to_owned(), "POST", "/", b"");
        let (engine, email) = (till.engine(), &Email::parse("operator@example.com").unwrap());
        let done = engine.once_by_user(&asked, NeedsYes::No, &once, |_, _| {
            async move {
                let removal = command_line::remove_operator(engine, email);
                let removed = tokio::time::timeout(Duration::from_millis(300), removal).await;
                Ok(Answer::new(200, format!("{}", removed.is_ok())))
            }
            .scope_boxed()
        });
        assert_eq!(&*done.await.unwrap().body, b"false", "it waits until the decision is written");
        command_line::remove_operator(engine, email).await.unwrap();
        let again = Once { key: "other".to_owned(), ..once };
        let refused = engine.once_by_user(&asked, NeedsYes::No, &again, |_, _| {
            async { Ok(Answer::new(200, String::new())) }.scope_boxed()
        });
        let Err(Fail::Refused(refusal)) = refused.await else { panic!("it was done") };
        assert_eq!(refusal.code, Code::PermissionDenied);
    }

    async fn organisations_are_listed_and_searched(world: World) {
        let till = world.till().await;
        let operator = operator(&till).await;
        let names = |list: &Value| -> Vec<String> { data(list).iter().map(|it| text(&it["name"])).collect() };
        assert_eq!(names(&operator.get("operator/organizations").await.ok(200)), ["newcomer", "merchant"]);
        assert_eq!(names(&operator.get("operator/organizations?name=MERCH").await.ok(200)), ["merchant"]);
        assert_eq!(names(&operator.get("operator/organizations?name=%25").await.ok(200)), Vec::<String>::new());
        assert_eq!(names(&operator.get("operator/organizations?disabled=true").await.ok(200)), Vec::<String>::new());
        operator.get("operator/organizations?disabled=maybe").await.refused(400, "parameter_invalid", "disabled");
        till.invoice().await;
        let all = data(&operator.get("operator/organizations").await.ok(200));
        assert_eq!(all[0]["last_invoice_at"], json!(null));
        assert!(all[1]["last_invoice_at"].is_string());
        let page = operator.get("operator/organizations?limit=1").await.ok(200);
        let rest = operator.get(&format!("operator/organizations?limit=1&cursor={}", text(&page["next_cursor"]))).await.ok(200);
        assert_eq!(names(&rest), ["merchant"]);
        let viewer = member(&till, "v@example.com", Role::Viewer).await;
        viewer.get("operator/organizations").await.refused(403, "permission_denied", None);
    }

    async fn an_operator_makes_an_organisation_and_invites_its_owner(world: World) {
        let till = world.till().await;
        let operator = operator(&till).await;
        let path = "operator/organizations";
        operator.post(path, json!({ "name": "New", "owner_email": "x" })).await.refused(400, "email_invalid", "owner_email");
        operator.post(path, json!({ "name": " ", "owner_email": "x@example.com" })).await.refused(400, "parameter_invalid", "name");
        let made = operate(&till, &operator, path, Some(json!({ "name": "New", "owner_email": "x@example.com" }))).await.ok(201);
        assert_eq!((&made["organization"]["name"], &made["organization"]["application_status"]), (&json!("New"), &json!("draft")));
        assert_eq!((&made["invite"]["role"], &made["invite"]["invited_by"]), (&json!("owner"), &json!(null)));
        let link = text(&made["invite"]["link"]);
        let mut browser = Browser::new(&till);
        let reply = browser.post("invites/accept", json!({ "token": link.split_once('=').unwrap().1 })).await;
        let session = browser.take_session(&reply);
        assert_eq!(session["organizations"][0]["id"], made["organization"]["id"]);
        assert_eq!(session["user"]["operator"], false);
        browser.get("invites").await.ok(200);
    }

    async fn networks_and_queues_are_shown_to_operators(world: World) {
        let till = world.till().await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        for path in ["operator/networks", "operator/queues"] {
            first.get(path).await.refused(403, "permission_denied", None);
        }
        let networks = data(&operator.get("operator/networks").await.ok(200));
        let base = networks.iter().find(|it| it["network"] == "eip155:84532").unwrap();
        assert_eq!((&base["status"], &base["mode"], &base["endpoints"]), (&json!("simulated"), &json!("test"), &json!([])));
        let live = networks.iter().filter(|it| it["mode"] == "live");
        assert!(live.clone().count() > 0, "those with endpoints");
        assert!(live.clone().all(|it| it["status"] == "behind" && it["head_at"].is_null()), "nobody reads them here");
        let home = first.in_mode("test").get("home").await.ok(200);
        let of_home = home["networks"].as_array().unwrap();
        assert!(of_home.iter().all(|it| networks.iter().any(|other| other["network"] == it["network"] && other["status"] == it["status"])), "both pages say the same");
        let shown = operator.get("operator/queues").await.ok(200);
        let names: Vec<&str> = shown["queues"].as_array().unwrap().iter().map(|it| it["queue"].as_str().unwrap()).collect();
        assert_eq!((&shown["object"], names), (&json!("queues"), vec!["webhooks", "mail", "timers"]));
        assert!(shown["queues"].as_array().unwrap().iter().all(|it| it["waiting"] == 0 && it["failed_24h"] == 0));
    }

    async fn mail_is_tested_on_the_operator_s_own_address(world: World) {
        let till = world.till().await;
        let (first, without) = (owner(&till).await, operator(&till).await);
        first.act("operator/mail_test").await.refused(403, "permission_denied", None);
        without.act("operator/mail_test").await.refused(409, "feature_unavailable", None);
        let with_mail = world.beside(&till, Setup { mail: true, ..Setup::default() }).await;
        let mut operator = Browser::new(&with_mail);
        (operator.cookie, operator.csrf) = (without.cookie.clone(), without.csrf.clone());
        let call = || operator.call("POST", "operator/mail_test").once("mail-1");
        let failed = call().send().await.ok(200);
        assert_eq!((&failed["object"], &failed["to"], &failed["status"]), (&json!("mail_test"), &json!("operator@example.com"), &json!("failed")));
        assert!(failed["detail"].is_string());
        let again = call().send().await;
        assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), failed));
    }

    async fn of_two_servers_one_sends_the_test_mail(world: World) {
        let till = world.till().await;
        let signed = operator(&till).await;
        let mail = || Setup { mail: true, ..Setup::default() };
        let (one, two) = (world.beside(&till, mail()).await, world.beside(&till, mail()).await);
        let at = |till: &Till| {
            let mut browser = Browser::new(till);
            (browser.cookie, browser.csrf) = (signed.cookie.clone(), signed.csrf.clone());
            async move { browser.call("POST", "operator/mail_test").once("mail-1").send().await }
        };
        let (first, second) = tokio::join!(at(&one), at(&two));
        let sent = [&first, &second].into_iter().filter(|reply| reply.status == 200 && reply.header("idempotent-replayed").is_none());
        assert_eq!(sent.count(), 1);
        for reply in [&first, &second] {
            assert!(reply.status == 200 || reply.code() == "idempotency_key_in_use", "{}", reply.status);
        }
        assert_eq!(at(&two).await.header("idempotent-replayed"), Some("true"));
    }
}
