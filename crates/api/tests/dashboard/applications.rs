//! The application for live mode: filled in, handed in, decided, and what follows from it.

use serde_json::{Value, json};
use till_core::asset::Mode;
use till_core::role::Role;
use till_core::scope::Scope;
use till_engine::team::applications;

use crate::browser::{Browser, invite, member, owner};
use crate::confirmed::{give_passkey, in_test_mode_alone, operate, post_confirmed_at};
use crate::harness::{Till, data, id, live, text};
use crate::members::noticed;

fn filled() -> Value {
    json!({
        "business_name": "Corner shop", "website": "https://shop.example", "country": "DE", "contact_email": "Ada@Shop.example",
        "business_description": "Bread and milk.", "expected_monthly_volume": "12000.50",
    })
}

/// An operator with a passkey, who is in no organisation that is decided about.
async fn operator(till: &Till) -> Browser {
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

/// The same with a passkey that can be asked.
async fn operator_with_key(till: &Till) -> Browser {
    let elsewhere = in_test_mode_alone(till).await;
    let token = invite(&elsewhere, "operator@example.com", Role::Owner, true).await;
    let mut browser = Browser::new(till);
    let reply = browser
        .post("invites/accept", json!({ "token": token }))
        .await;
    browser.take_session(&reply);
    browser.register_passkey().await;
    browser
}

async fn submit(till: &Till, browser: &Browser) -> crate::harness::Reply {
    post_confirmed_at(till, browser, &till.account.id, "application/submit", None).await
}

on_every_engine! {
    async fn an_application_is_filled_in_by_an_owner(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, admin, developer) = (owner(&till).await, member(&till, "admin@example.com", Role::Admin).await, member(&till, "dev@example.com", Role::Developer).await);
        let draft = admin.get("application").await.ok(200);
        assert_eq!((&draft["object"], &draft["status"], &draft["business_name"], &draft["decided_by"]), (&json!("application"), &json!("draft"), &json!(null), &json!(null)));
        developer.get("application").await.refused(403, "permission_denied", None);
        admin.post("application", filled()).await.refused(403, "permission_denied", None);
        for (field, bad) in [
            ("business_name", json!("")), ("business_name", json!("x".repeat(201))), ("business_name", json!(null)), ("website", json!("http://shop.example")), ("website", json!("shop")),
            ("country", json!("de")), ("country", json!("UK")), ("business_description", json!("")), ("expected_monthly_volume", json!("-1")), ("expected_monthly_volume", json!("1.234")), ("expected_monthly_volume", json!("much")),
        ] {
            first.post("application", json!({ field: bad })).await.refused(400, "parameter_invalid", field);
        }
        first.post("application", json!({ "contact_email": "x" })).await.refused(400, "email_invalid", "contact_email");
        first.post("application", json!({ "turnover": "1" })).await.refused(400, "parameter_unknown", "turnover");
        let shown = first.post("application", filled()).await.ok(200);
        assert_eq!((&shown["contact_email"], &shown["country"], &shown["expected_monthly_volume"]), (&json!("Ada@shop.example"), &json!("DE"), &json!("12000.50")));
        let shown = first.post("application", json!({ "website": null })).await.ok(200);
        assert_eq!((&shown["website"], &shown["business_name"]), (&json!(null), &json!("Corner shop")));
        assert_eq!(first.get("application").await.ok(200), shown);
    }

    async fn an_application_is_handed_in_with_a_passkey(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        first.act("application/submit").await.refused(409, "passkey_required", None);
        give_passkey(&till, &first).await;
        submit(&till, &first).await.refused(400, "parameter_missing", "business_name");
        first.post("application", filled()).await.ok(200);
        first.act("application/submit").await.refused(403, "step_up_required", None);
        let pending = submit(&till, &first).await.ok(200);
        assert_eq!(pending["status"], "pending");
        assert!(pending["submitted_at"].is_string());
        assert_eq!(first.get("organization").await.ok(200)["application_status"], "pending");
        first.post("application", filled()).await.refused(409, "application_pending", None);
        submit(&till, &first).await.refused(409, "application_pending", None);
        let of_operator = id(&operator.get("session").await.ok(200)["user"]);
        assert!(noticed(&till, &of_operator).await.contains(&"application.submitted".to_owned()));
        assert_eq!(first.act("application/withdraw").await.ok(200)["status"], "draft");
        first.act("application/withdraw").await.refused(409, "application_not_reviewable", None);
    }

    async fn a_server_without_live_mode_takes_no_application(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let refused = first.call("POST", "application/submit").without("idempotency-key").send().await;
        refused.refused(409, "livemode_disabled", None);
        let message = text(&refused.json()["error"]["message"]);
        assert!(message.contains("server.live_mode") && !message.contains("key"), "{message}");
        first.post("application", filled()).await.ok(200);
    }

    async fn an_operator_approves_and_live_mode_is_there(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        give_passkey(&till, &first).await;
        first.post("application", filled()).await.ok(200);
        let application = id(&submit(&till, &first).await.ok(200));
        let path = |what: &str| format!("operator/applications/{application}{what}");
        first.get("operator/applications").await.refused(403, "permission_denied", None);
        first.act(&path("/approve")).await.refused(403, "permission_denied", None);
        let listed = data(&operator.get("operator/applications?status=pending").await.ok(200));
        assert_eq!((&listed[0]["id"], &listed[0]["organization"]["id"], &listed[0]["organization"]["role"]), (&json!(&application), &json!(&*till.account.id), &json!(null)));
        assert_eq!(operator.get(&path("")).await.ok(200)["business_name"], "Corner shop");
        operator.get("operator/applications/app_none").await.refused(404, "resource_missing", "id");
        operator.get("operator/applications?status=lost").await.refused(400, "parameter_invalid", "status");
        operator.act(&path("/approve")).await.refused(403, "step_up_required", None);
        operator.post(&path("/reject"), json!({})).await.refused(400, "parameter_missing", "reason");
        let approved = operate(&till, &operator, &path("/approve"), Some(json!({ "note": "Welcome." }))).await.ok(200);
        let by = id(&operator.get("session").await.ok(200)["user"]);
        assert_eq!((&approved["status"], &approved["reason"], &approved["decided_by"]), (&json!("approved"), &json!("Welcome."), &json!({ "type": "operator", "id": by })));
        operate(&till, &operator, &path("/reject"), Some(json!({ "reason": "No." }))).await.refused(409, "application_not_reviewable", None);
        first.post("application", filled()).await.refused(409, "application_approved", None);
        assert_eq!(first.get("organization").await.ok(200)["live"], true);
        let mut reader = till.engine().db.read().await.unwrap();
        let merchant = till_store::accounts::merchant(&mut reader, &Scope::new(&till.account.id, Mode::Live)).await.unwrap().unwrap();
        assert!(merchant.destinations.is_empty() && merchant.publishable_key.is_none());
        let secrets = till_store::accounts::webhook_secrets(&mut reader, &till.live_scope(), 0).await.unwrap();
        assert_eq!(secrets.len(), 1, "one that nobody has seen");
        let of_owner = id(&first.get("session").await.ok(200)["user"]);
        assert!(noticed(&till, &of_owner).await.contains(&"application.decided".to_owned()));
    }

    async fn an_operator_rejects_and_it_becomes_a_draft_again(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        give_passkey(&till, &first).await;
        first.post("application", filled()).await.ok(200);
        let application = id(&submit(&till, &first).await.ok(200));
        let path = format!("operator/applications/{application}/reject");
        let rejected = operate(&till, &operator, &path, Some(json!({ "reason": "Which shop?" }))).await.ok(200);
        assert_eq!((&rejected["status"], &rejected["reason"]), (&json!("rejected"), &json!("Which shop?")));
        let shown = first.post("application", json!({ "business_name": "The corner shop" })).await.ok(200);
        assert_eq!(shown["status"], "draft");
        assert_eq!(submit(&till, &first).await.ok(200)["reason"], json!(null));
    }

    async fn operators_do_not_decide_on_their_own(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let token = invite(&till, "both@example.com", Role::Owner, true).await;
        let mut both = Browser::new(&till);
        let reply = both.post("invites/accept", json!({ "token": token })).await;
        both.take_session(&reply);
        give_passkey(&till, &both).await;
        let application = id(&both.get("application").await.ok(200));
        for (what, body) in [("approve", json!({})), ("reject", json!({ "reason": "No." }))] {
            let path = format!("operator/applications/{application}/{what}");
            operate(&till, &both, &path, Some(body)).await.refused(403, "operator_conflict", None);
        }
        let path = format!("operator/organizations/{}/disable", till.account.id);
        operate(&till, &both, &path, Some(json!({ "reason": "No." }))).await.refused(403, "operator_conflict", None);
        assert_eq!(applications::decide_at_command_line(till.engine(), &till.account.id, true).await.unwrap(), Some(true));
        assert_eq!(both.get("application").await.ok(200)["decided_by"], json!({ "type": "cli", "id": null }));
    }

    async fn of_two_operators_who_decide_at_once_one_does(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        give_passkey(&till, &first).await;
        first.post("application", filled()).await.ok(200);
        let application = id(&submit(&till, &first).await.ok(200));
        let (approve, reject) = (format!("operator/applications/{application}/approve"), format!("operator/applications/{application}/reject"));
        let (one, other) = tokio::join!(operate(&till, &operator, &approve, Some(json!({}))), operate(&till, &operator, &reject, Some(json!({ "reason": "No." }))));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }

    async fn without_an_approved_application_live_keys_are_of_no_use(world: World) {
        let till = world.till_with(live()).await;
        let call = || till.call("GET", "/v1/invoices").key(till.live_key());
        call().send().await.ok(200);
        assert_eq!(applications::decide_at_command_line(till.engine(), &till.account.id, false).await.unwrap(), Some(true));
        assert_eq!(applications::decide_at_command_line(till.engine(), &till.account.id, false).await.unwrap(), Some(false));
        assert_eq!(applications::decide_at_command_line(till.engine(), "acct_none", false).await.unwrap(), None);
        world.clock.age_s(60);
        call().send().await.refused(409, "mode_not_configured", None);
        till.call("GET", "/v1/invoices").send().await.ok(200);
        applications::decide_at_command_line(till.engine(), &till.account.id, true).await.unwrap();
        world.clock.age_s(60);
        call().send().await.ok(200);
    }

    async fn a_yes_to_one_submission_is_none_to_the_next(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, mut operator) = (owner(&till).await, operator_with_key(&till).await);
        give_passkey(&till, &first).await;
        first.post("application", filled()).await.ok(200);
        let submitted = submit(&till, &first).await.ok(200);
        let path = format!("operator/applications/{}/approve", id(&submitted));
        let body = json!({ "note": "Welcome." });
        let yes = operator.confirm(&path, &body).await;
        first.act("application/withdraw").await.ok(200);
        first.post("application", json!({ "business_name": "Casino" })).await.ok(200);
        world.clock.advance_s(1);
        let again = submit(&till, &first).await.ok(200);
        assert_ne!(again["submitted_at"], submitted["submitted_at"]);
        let approve = |yes: &str| operator.call("POST", &path).json(&body).header("till-confirmation", yes);
        approve(&yes).send().await.refused(403, "step_up_required", None);
        assert_eq!(first.get("application").await.ok(200)["status"], "pending");
        // What was read is not what is decided on.
        let read = json!({ "note": null, "submitted_at": submitted["submitted_at"] });
        operator.post(&path, read.clone()).await.refused(409, "application_not_reviewable", "submitted_at");
        let reject = json!({ "reason": "No.", "submitted_at": submitted["submitted_at"] });
        operator.post(&path.replace("approve", "reject"), reject).await.refused(409, "application_not_reviewable", "submitted_at");
        let read = json!({ "note": null, "submitted_at": again["submitted_at"] });
        assert_eq!(operator.confirmed(&path, read).await.ok(200)["status"], "approved");
    }

    async fn who_was_invited_to_lead_before_approval_is_invited_again(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let (first, operator) = (owner(&till).await, operator(&till).await);
        give_passkey(&till, &first).await;
        first.post("application", filled()).await.ok(200);
        let application = id(&submit(&till, &first).await.ok(200));
        let mut made = Vec::new();
        for (email, role) in [("o@example.com", "owner"), ("a@example.com", "admin"), ("v@example.com", "viewer")] {
            made.push(first.post("invites", json!({ "email": email, "role": role })).await.ok(201));
        }
        let from_shell = invite(&till, "shell@example.com", Role::Owner, false).await;
        let path = format!("operator/applications/{application}/approve");
        operate(&till, &operator, &path, Some(json!({}))).await.ok(200);
        let nobody = Browser::new(&till);
        for (invite, status) in made.iter().zip([401, 401, 200]) {
            let link = text(&invite["link"]);
            let body = json!({ "token": link.split_once('=').unwrap().1 });
            assert_eq!(nobody.post("invites/accept", body).await.status, status);
        }
        nobody.post("invites/accept", json!({ "token": from_shell })).await.ok(200);
        let ended = data(&first.get("audit_events?action=invite.withdrawn").await.ok(200));
        assert_eq!(ended.len(), 2);
        assert!(ended.iter().all(|event| event["actor"]["type"] == "system"));
        first.post("invites", json!({ "email": "o@example.com", "role": "owner" })).await.refused(403, "step_up_required", None);
    }

    async fn who_left_an_organisation_does_not_decide_on_its_application(world: World) {
        let till = in_test_mode_alone(&world.till_with(live()).await).await;
        let first = owner(&till).await;
        let operator = operator(&till).await;
        give_passkey(&till, &first).await;
        let made = first.post("invites", json!({ "email": "operator@example.com", "role": "admin" })).await.ok(201);
        let token = text(&made["link"]).split_once('=').unwrap().1.to_owned();
        operator.post("invites/accept", json!({ "token": token })).await.ok(200);
        operator.at(&till.account.id).act("members/leave").await.ok(200);
        first.post("application", filled()).await.ok(200);
        let application = id(&submit(&till, &first).await.ok(200));
        let path = format!("operator/applications/{application}/approve");
        operate(&till, &operator, &path, Some(json!({}))).await.refused(403, "operator_conflict", None);
        let path = format!("operator/organizations/{}/disable", till.account.id);
        operate(&till, &operator, &path, Some(json!({ "reason": "A brake." }))).await.ok(200);
    }
}
