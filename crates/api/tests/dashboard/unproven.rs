//! Addresses that nobody has shown to be theirs: who took one first is not made an operator by it.

use serde_json::{Value, json};
use till_core::role::Role;
use till_engine::team::command_line::{self, UserLink};
use till_engine::team::emails::Email;

use crate::browser::{Browser, invite, owner};
use crate::confirmed::in_test_mode_alone;
use crate::harness::{Setup, Till, text};
use crate::links::{link_for, mailed, token_of};

const BOSS: &str = "boss@example.com";

async fn accept(till: &Till, token: &str) -> Browser {
    let mut browser = Browser::new(till);
    let reply = browser
        .post("invites/accept", json!({ "token": token }))
        .await;
    browser.take_session(&reply);
    browser
}

/// Whoever invited the boss took the link, which a server without mail shows them, and registered a passkey.
async fn taken(till: &Till) -> Browser {
    let owner = owner(till).await;
    let body = json!({ "email": BOSS, "role": "viewer" });
    let made = owner.post("invites", body).await.ok(201);
    let mut taken = accept(till, &token_of(&text(&made["link"]), "invite")).await;
    taken.register_passkey().await;
    taken
}

async fn make_operator(till: &Till) -> UserLink {
    let email = Email::parse(BOSS).unwrap();
    let made = command_line::create_operator(till.engine(), &email).await;
    made.unwrap()
}

async fn sign_in(till: &Till, link: &UserLink) -> (Browser, Value) {
    let mut browser = Browser::new(till);
    let token = token_of(&link.link.link, "sign_in");
    let reply = browser
        .post("sign_in/link/confirm", json!({ "token": token }))
        .await;
    let session = browser.take_session(&reply);
    (browser, session)
}

on_every_engine! {
    async fn an_operator_does_not_inherit_what_another_set_up(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let mut taken = taken(&till).await;
        let made = make_operator(&till).await;
        assert!(made.was_reset);
        taken.get("session").await.refused(401, "session_expired", None);
        let begun = taken.act("sign_in/passkey/begin").await.ok(200);
        let body = json!({ "ceremony": begun["id"], "credential": taken.authenticator.get(&begun["options"]) });
        taken.post("sign_in/passkey", body).await.refused(401, "passkey_failed", None);
        let (boss, session) = sign_in(&till, &made).await;
        assert_eq!((&session["state"], &session["user"]["operator"], &session["user"]["passkeys"]), (&json!("active"), &json!(true), &json!(0)));
        assert!(!make_operator(&till).await.was_reset, "the command line vouched for it meanwhile");
        boss.get("session").await.ok(200);
        boss.get("operator/queues").await.ok(200);
    }

    async fn who_came_by_a_link_of_the_command_line_keeps_everything(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let mut boss = accept(&till, &invite(&till, BOSS, Role::Owner, false).await).await;
        boss.register_passkey().await;
        assert!(!make_operator(&till).await.was_reset);
        let session = boss.get("session").await.ok(200);
        assert_eq!((&session["user"]["operator"], &session["user"]["passkeys"]), (&json!(true), &json!(1)));
    }

    async fn who_came_by_a_mail_keeps_everything(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let owner = owner(&till).await;
        owner.post("invites", json!({ "email": BOSS, "role": "viewer" })).await.ok(201);
        let link = mailed(&till).await.pop().unwrap().2;
        let mut boss = accept(&till, &token_of(&link, "invite")).await;
        boss.register_passkey().await;
        assert_eq!(boss.get("session").await.ok(200)["user"]["email_verified"], true);
        assert!(!make_operator(&till).await.was_reset);
        assert_eq!(boss.get("session").await.ok(200)["user"]["operator"], true);
    }

    async fn a_mailed_link_shows_nothing_while_somebody_else_has_the_second_factor(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let taken = taken(&till).await;
        let with_mail = world.beside(&till, Setup { mail: true, ..Setup::default() }).await;
        let mut boss = Browser::new(&with_mail);
        let token = link_for(&with_mail, &mut boss, BOSS).await;
        let reply = boss.post("sign_in/link/confirm", json!({ "token": token })).await;
        assert_eq!(boss.take_session(&reply)["state"], "second_factor_pending");
        assert_eq!(taken.get("session").await.ok(200)["user"]["email_verified"], false);
        assert!(make_operator(&till).await.was_reset);
        taken.get("session").await.refused(401, "session_expired", None);
    }

    async fn the_first_who_shows_that_an_address_is_theirs_ends_other_sessions(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let owner = owner(&till).await;
        let made = owner.post("invites", json!({ "email": BOSS, "role": "viewer" })).await.ok(201);
        let taken = accept(&till, &token_of(&text(&made["link"]), "invite")).await;
        let email = Email::parse(BOSS).unwrap();
        let link = command_line::sign_in_link(till.engine(), &email).await.unwrap().unwrap();
        let (boss, _) = sign_in(&till, &link).await;
        taken.get("session").await.refused(401, "session_expired", None);
        assert!(!make_operator(&till).await.was_reset);
        boss.get("operator/queues").await.ok(200);
    }

    async fn an_invitation_that_makes_an_operator_is_not_for_them(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let taken = taken(&till).await;
        let elsewhere = in_test_mode_alone(&till).await;
        let token = invite(&elsewhere, BOSS, Role::Owner, true).await;
        taken.post("invites/accept", json!({ "token": &token })).await.refused(401, "invite_invalid", None);
        let email = Email::parse(BOSS).unwrap();
        let link = command_line::reset(till.engine(), &email).await.unwrap().unwrap();
        let (boss, _) = sign_in(&till, &link).await;
        assert_eq!(boss.post("invites/accept", json!({ "token": &token })).await.ok(200)["user"]["operator"], true);
    }
}
