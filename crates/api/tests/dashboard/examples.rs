//! The examples of the API reference for the dashboard's endpoints: real calls and their answers, in a file that is checked in
//! (`harness::recorded`).

use serde_json::{Map, Value, json};
use till_core::role::Role;
use till_engine::{DashboardConfig, Signup};

use crate::authenticator::ORIGIN;
use crate::browser::{Browser, member, owner};
use crate::confirmed::confirm;
use crate::harness::recorded::hold;
use crate::harness::{BASE, Reply, Setup, Till, World, address, data, id, text};
use crate::home::stray;
use crate::links::{mailed, token_of};
use crate::operator::operator;
use crate::totp::code;

const FILE: &str = "src/document/docs/examples_dashboard.json";

/// Keeps calls by the endpoint's name in the document.
#[derive(Default)]
struct Recorder {
    calls: Map<String, Value>,
}

impl Recorder {
    async fn get(&mut self, by: &Browser, operation: &str, path: &str) -> Value {
        let reply = by.get(path).await;
        self.keep(by, operation, ("GET", &Value::Null), &reply, false);
        reply.json()
    }

    /// A POST; null is no body.
    async fn post(&mut self, by: &Browser, operation: &str, path: &str, body: Value) -> Reply {
        let reply = match &body {
            Value::Null => by.act(path).await,
            body => by.post(path, body.clone()).await,
        };
        self.keep(by, operation, ("POST", &body), &reply, false);
        reply
    }

    /// The same with a passkey's yes.
    async fn confirmed(
        &mut self,
        by: &mut Browser,
        operation: &str,
        path: &str,
        body: Value,
    ) -> Value {
        let reply = by.confirmed(path, body.clone()).await;
        self.keep(by, operation, ("POST", &body), &reply, true);
        reply.json()
    }

    /// The same by an operator, whose passkey is in the database alone.
    async fn operated(
        &mut self,
        till: &Till,
        by: &Browser,
        operation: &str,
        path: &str,
        body: Value,
    ) -> Value {
        let bytes = match &body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let yes = confirm(till, by, "", path, &bytes).await;
        let call = by.call("POST", path).header("till-confirmation", &yes);
        let call = if bytes.is_empty() {
            call
        } else {
            call.bytes(&bytes)
        };
        let reply = call.send().await;
        self.keep(by, operation, ("POST", &body), &reply, true);
        reply.json()
    }

    fn keep(
        &mut self,
        by: &Browser,
        operation: &str,
        (method, body): (&str, &Value),
        reply: &Reply,
        is_confirmed: bool,
    ) {
        assert!((200..300).contains(&reply.status), "{operation}: {reply:?}");
        let key = match by.csrf {
            Some(_) => "session",
            None => "page",
        };
        let example = json!({
            "method": method, "path": reply.path, "key": key, "mode": by.mode, "is_confirmed": is_confirmed, "body": body,
            "answer": reply.json(),
        });
        self.calls.insert(operation.to_owned(), example);
    }
}

/// The token in the mail that was sent last.
async fn last_token(till: &Till, kind: &str) -> String {
    token_of(&mailed(till).await.pop().unwrap().2, kind)
}

/// Somebody signs up, and signs in again in each way.
async fn entering(to: &mut Recorder, till: &Till) -> Browser {
    let mut ada = Browser::new(till);
    let email = json!({ "email": "ada@example.com" });
    let asked = to.post(&ada, "signUp", "sign_up", email.clone()).await;
    ada.take_cookie(&asked);
    let token = json!({ "token": last_token(till, "sign_up").await });
    let reply = to
        .post(&ada, "confirmSignUp", "sign_up/confirm", token)
        .await;
    ada.take_session(&reply);
    let begun = to
        .post(&ada, "beginPasskey", "passkeys/begin", Value::Null)
        .await
        .json();
    let credential = ada.authenticator.create(&begun["options"]);
    let passkey = json!({ "ceremony": begun["id"], "credential": credential, "name": "Laptop" });
    to.post(&ada, "registerPasskey", "passkeys", passkey).await;

    let mut fresh = Browser::new(till);
    let asked = to
        .post(&fresh, "requestSignInLink", "sign_in/link", email)
        .await;
    fresh.take_cookie(&asked);
    let token = json!({ "token": last_token(till, "sign_in").await });
    let reply = to
        .post(&fresh, "confirmSignInLink", "sign_in/link/confirm", token)
        .await;
    fresh.take_session(&reply);
    let path = "sign_in/second_factor/begin";
    let begun = to
        .post(&fresh, "beginSecondFactor", path, Value::Null)
        .await
        .json();
    let answer = passkey_answer(&mut ada, &begun);
    let reply = to
        .post(&fresh, "giveSecondFactor", "sign_in/second_factor", answer)
        .await;
    fresh.take_session(&reply);

    let mut fresh = Browser::new(till);
    let path = "sign_in/passkey/begin";
    let begun = to
        .post(&fresh, "beginPasskeySignIn", path, Value::Null)
        .await
        .json();
    let answer = passkey_answer(&mut ada, &begun);
    let reply = to
        .post(&fresh, "signInWithPasskey", "sign_in/passkey", answer)
        .await;
    fresh.take_session(&reply);
    fresh.authenticator = ada.authenticator;
    fresh
}

fn passkey_answer(browser: &mut Browser, begun: &Value) -> Value {
    let credential = browser.authenticator.get(&begun["options"]);
    json!({ "ceremony": begun["id"], "credential": credential })
}

/// What somebody does with what is their own.
async fn own(to: &mut Recorder, world: &World, ada: &mut Browser) {
    let user = json!({ "name": "Ada Lovelace", "locale": "en" });
    to.post(ada, "updateUser", "user", user).await;
    to.get(ada, "retrieveUser", "user").await;
    to.get(ada, "retrieveSession", "session").await;
    let sessions = data(&to.get(ada, "listSessions", "sessions").await);
    let other = sessions.iter().find(|of| of["current"] != true).unwrap();
    let path = format!("sessions/{}/revoke", id(other));
    to.post(ada, "revokeSession", &path, Value::Null).await;
    let path = "sessions/revoke_others";
    to.post(ada, "revokeOtherSessions", path, Value::Null).await;
    to.get(ada, "listSignIns", "sign_ins?limit=1").await;
    let notices = data(&to.get(ada, "listNotices", "notices?limit=1").await);
    let path = format!("notices/{}/read", id(&notices[0]));
    to.post(ada, "readNotice", &path, Value::Null).await;

    let passkeys = data(&to.get(ada, "listPasskeys", "passkeys").await);
    let passkey = format!("passkeys/{}", id(&passkeys[0]));
    let name = json!({ "name": "Work laptop" });
    to.post(ada, "renamePasskey", &passkey, name).await;
    let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let asked = json!({ "path": "/v1/dashboard/totp/setup", "body_sha256": none });
    let begun = to
        .post(ada, "beginConfirmation", "confirmations", asked)
        .await
        .json();
    let credential = ada.authenticator.get(&begun["options"]);
    let path = format!("confirmations/{}", id(&begun));
    let yes = json!({ "credential": credential });
    let reply = to.post(ada, "answerConfirmation", &path, yes).await;
    ada.take_cookie(&reply);
    let set_up = to
        .confirmed(ada, "setUpTotp", "totp/setup", Value::Null)
        .await;
    let now = json!({ "code": code(world, &text(&set_up["secret"]), 0) });
    to.post(ada, "confirmTotp", "totp/confirm", now).await;
    to.confirmed(ada, "disableTotp", "totp/disable", json!({}))
        .await;
}

/// An organisation and the people in it.
async fn organization(to: &mut Recorder, till: &Till, ada: &mut Browser) {
    let name = json!({ "name": "Tea" });
    let made = to
        .post(ada, "createOrganization", "organizations", name)
        .await;
    ada.account = Some(id(&made.json()["organization"]));
    let name = json!({ "name": "Teahouse" });
    to.post(ada, "renameOrganization", "organization", name)
        .await;
    to.get(ada, "retrieveOrganization", "organization").await;
    let invite = |email: &str| json!({ "email": email, "role": "viewer" });
    let asked = invite("bob@example.com");
    to.post(ada, "createInvite", "invites", asked).await;
    let token = json!({ "token": last_token(till, "invite").await });
    let mut bob = Browser::new(till);
    to.post(&bob, "openInvite", "invites/open", token.clone())
        .await;
    let reply = to.post(&bob, "acceptInvite", "invites/accept", token).await;
    bob.take_session(&reply);
    let other = ada.post("invites", invite("eve@example.com")).await.ok(201);
    let path = format!("invites/{}/withdraw", id(&other));
    to.post(ada, "withdrawInvite", &path, Value::Null).await;
    to.get(ada, "listInvites", "invites").await;
    let members = data(&to.get(ada, "listMembers", "members").await);
    let bobs = |of: &&Value| of["email"] == "bob@example.com";
    let path = format!("members/{}", id(members.iter().find(bobs).unwrap()));
    let role = json!({ "role": "support" });
    to.post(ada, "changeMemberRole", &path, role).await;
    to.post(&bob, "leaveOrganization", "members/leave", Value::Null)
        .await;
    ada.post("invites", invite("bob@example.com")).await.ok(201);
    let token = json!({ "token": last_token(till, "invite").await });
    bob.post("invites/accept", token).await.ok(200);
    let path = format!("{path}/remove");
    to.post(ada, "removeMember", &path, Value::Null).await;
}

/// The application for live mode, and what operators see and decide.
async fn operators(to: &mut Recorder, till: &Till, ada: &mut Browser) {
    to.get(ada, "retrieveApplication", "application").await;
    let filled = json!({
        "business_name": "Teahouse", "website": "https://shop.example", "country": "DE", "contact_email": "ada@example.com",
        "business_description": "Tea by mail.", "expected_monthly_volume": "12000.50",
    });
    to.post(ada, "updateApplication", "application", filled)
        .await;
    let submit = "application/submit";
    to.confirmed(ada, "submitApplication", submit, Value::Null)
        .await;
    let withdraw = "application/withdraw";
    to.post(ada, "withdrawApplication", withdraw, Value::Null)
        .await;
    let pending = ada.confirmed(submit, Value::Null).await.ok(200);
    let operator = &operator(till).await;
    let path = "operator/applications";
    to.get(
        operator,
        "listApplications",
        &format!("{path}?status=pending"),
    )
    .await;
    let path = format!("{path}/{}", id(&pending));
    to.get(operator, "retrieveReviewedApplication", &path).await;
    let no = json!({ "reason": "Which shop is it?", "submitted_at": pending["submitted_at"] });
    let reject = format!("{path}/reject");
    to.operated(till, operator, "rejectApplication", &reject, no)
        .await;
    let name = json!({ "business_name": "The teahouse" });
    ada.post("application", name).await.ok(200);
    let pending = ada.confirmed(submit, Value::Null).await.ok(200);
    let yes = json!({ "note": "Welcome.", "submitted_at": pending["submitted_at"] });
    let approve = format!("{path}/approve");
    to.operated(till, operator, "approveApplication", &approve, yes)
        .await;

    let new = json!({ "name": "Bakery", "owner_email": "carl@example.com" });
    let path = "operator/organizations";
    to.operated(till, operator, "createOperatedOrganization", path, new)
        .await;
    to.get(operator, "listOrganizations", &format!("{path}?limit=2"))
        .await;
    let of = format!("{path}/{}", ada.account.as_deref().unwrap());
    let (disable, enable) = (format!("{of}/disable"), format!("{of}/enable"));
    let why = json!({ "reason": "It asked for it." });
    to.operated(till, operator, "disableOrganization", &disable, why)
        .await;
    to.operated(till, operator, "enableOrganization", &enable, Value::Null)
        .await;
    to.get(operator, "listNetworks", "operator/networks?limit=1")
        .await;
    to.get(operator, "retrieveQueues", "operator/queues").await;
    to.post(operator, "testMail", "operator/mail_test", Value::Null)
        .await;
}

/// What is there in each mode.
async fn in_test_mode(to: &mut Recorder, world: &World, till: &Till) {
    let owner = &owner(till).await.in_mode("test");
    let key = |name: &str| json!({ "kind": "secret", "name": name });
    let made = to
        .post(owner, "createApiKey", "api_keys", key("shop"))
        .await;
    let path = format!("api_keys/{}", id(&made.json()));
    to.post(owner, "rollApiKey", &format!("{path}/roll"), Value::Null)
        .await;
    let other = member(till, "dev@example.com", Role::Admin).await;
    let others = other.in_mode("test").post("api_keys", key("till")).await;
    let path = format!("api_keys/{}", id(&others.ok(201)));
    let (take_over, revoke) = (format!("{path}/take_over"), format!("{path}/revoke"));
    to.post(owner, "takeOverApiKey", &take_over, Value::Null)
        .await;
    to.post(owner, "revokeApiKey", &revoke, Value::Null).await;
    to.get(owner, "listApiKeys", "api_keys?limit=1").await;

    to.get(owner, "listDestinations", "destinations").await;
    let change = json!({
        "kind": "destination", "family": "eip155", "address": "0x1111111111111111111111111111111111111111", "delay_seconds": 3600,
    });
    let change = to.post(owner, "createChange", "changes", change).await;
    to.get(owner, "listChanges", "changes?status=pending").await;
    let path = format!("changes/{}", id(&change.json()));
    to.get(owner, "retrieveChange", &path).await;
    to.post(
        owner,
        "cancelChange",
        &format!("{path}/cancel"),
        Value::Null,
    )
    .await;
    to.get(owner, "retrieveCheckoutConfig", "checkout_config")
        .await;

    let invoice = till.invoice().await;
    till.simulate(&id(&invoice), json!({})).await;
    stray(till, &address(&invoice, BASE), 1).await;
    to.get(owner, "retrieveHome", "home?days=7").await;
    let path = "unattributed_deposits";
    let deposits = to.get(owner, "listUnattributedDeposits", path).await;
    let path = format!("{path}/{}/dismiss", id(&data(&deposits)[0]));
    let note = json!({ "note": "Sent back by hand." });
    to.post(owner, "dismissUnattributedDeposit", &path, note)
        .await;
    to.get(owner, "listAuditEvents", "audit_events?limit=1")
        .await;
    world.clock.advance_s(86_400);
    let digests = till_engine::workers::digests::make_due(till.engine());
    digests.await.unwrap();
    let later = member(till, "later@example.com", Role::Admin).await;
    to.get(
        &later.in_mode("test"),
        "listLedgerDigests",
        "ledger_digests",
    )
    .await;
}

on_every_engine! {
    async fn the_recorded_examples_are_what_the_dashboard_is_answered(world: World) {
        // A code is of its half minute, however slow the machine is.
        world.clock.stop();
        let dashboard = DashboardConfig { signup: Signup::Open, ..DashboardConfig::default() };
        let till = world.till_with(Setup { mail: true, live_mode: true, dashboard, ..Setup::default() }).await;
        let mut recorder = Recorder::default();
        let mut ada = entering(&mut recorder, &till).await;
        own(&mut recorder, &world, &mut ada).await;
        organization(&mut recorder, &till, &mut ada).await;
        operators(&mut recorder, &till, &mut ada).await;
        let passkeys = data(&ada.get("passkeys").await.ok(200));
        let path = format!("passkeys/{}/remove", id(&passkeys[0]));
        recorder.confirmed(&mut ada, "removePasskey", &path, Value::Null).await;
        recorder.post(&ada, "signOut", "sign_out", Value::Null).await;
        in_test_mode(&mut recorder, &world, &till).await;
        let demo = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        recorder.post(&Browser::new(&demo), "signInToDemo", "sign_in/demo", Value::Null).await;
        let own = [format!("http://{}", till.server.address), ORIGIN.to_owned()];
        hold(FILE, recorder.calls, &own, &[]);
    }
}
