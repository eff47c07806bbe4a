//! Sessions: made by accepting an invitation, listed, ended, and over in time.

use serde_json::json;
use till_core::role::Role;
use till_engine::DashboardConfig;

use crate::browser::{Browser, invite, member, owner};
use crate::harness::{Setup, data, id};

const HOUR_S: i64 = 3_600;

on_every_engine! {
    async fn an_invitation_makes_a_user_who_is_signed_in(world: World) {
        let till = world.till().await;
        let token = invite(&till, "Anna@Example.com", Role::Owner, true).await;
        let mut browser = Browser::new(&till);
        let offer = browser.post("invites/open", json!({ "token": &token })).await.ok(200);
        assert_eq!(offer["object"], "invite_offer");
        assert_eq!(offer["organization"]["name"], "merchant");
        assert_eq!((&offer["email"], &offer["role"], &offer["user_exists"]), (&json!("Anna@example.com"), &json!("owner"), &json!(false)));
        let reply = browser.post("invites/accept", json!({ "token": &token })).await;
        let cookie = reply.header("set-cookie").unwrap().to_owned();
        assert!(cookie.starts_with("till_session="), "{cookie}");
        assert!(cookie.contains("; Path=/; HttpOnly; SameSite=Lax") && !cookie.contains("Secure") && !cookie.contains("Domain"), "{cookie}");
        let session = browser.take_session(&reply);
        assert_eq!((&session["state"], &session["method"], &session["current"]), (&json!("active"), &json!("invite"), &json!(true)));
        assert_eq!(session["user"]["email"], "Anna@example.com");
        assert_eq!(session["user"]["operator"], true);
        assert_eq!(session["organizations"][0]["id"], *till.account.id);
        assert_eq!(session["organizations"][0]["role"], "owner");
        assert_eq!(session["user_agent"], "Browser/1");
        assert_eq!(browser.get("session").await.ok(200)["id"], session["id"]);
        let sign_ins = data(&browser.get("sign_ins").await.ok(200));
        assert_eq!((&sign_ins[0]["action"], &sign_ins[0]["details"]["method"], &sign_ins[0]["session"]), (&json!("sign_in.succeeded"), &json!("invite"), &session["id"]));
        let again = Browser::new(&till);
        again.post("invites/accept", json!({ "token": &token })).await.refused(401, "invite_invalid", None);
        again.post("invites/open", json!({ "token": "none" })).await.refused(401, "invite_invalid", None);
    }

    async fn a_known_address_must_be_signed_in_to_accept(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await;
        let other = till.another_account().await;
        let token = invite(&other, "OWNER@example.com", Role::Viewer, false).await;
        let nobody = Browser::new(&till);
        nobody.post("invites/accept", json!({ "token": &token })).await.refused(401, "session_missing", None);
        let stranger = member(&till, "stranger@example.com", Role::Viewer).await;
        stranger.post("invites/accept", json!({ "token": &token })).await.refused(401, "invite_invalid", None);
        let mut careless = browser.clone();
        careless.csrf = None;
        careless.post("invites/accept", json!({ "token": &token })).await.refused(403, "csrf_failed", None);
        let session = browser.post("invites/accept", json!({ "token": &token })).await.ok(200);
        assert_eq!(session["organizations"].as_array().unwrap().len(), 2);
        let token = invite(&other, "owner@example.com", Role::Admin, false).await;
        browser.post("invites/accept", json!({ "token": &token })).await.refused(409, "already_member", None);
    }

    async fn sessions_are_listed_and_ended_by_their_user_alone(world: World) {
        let till = world.till().await;
        let (owner, viewer) = (owner(&till).await, member(&till, "b@example.com", Role::Viewer).await);
        let own = data(&owner.get("sessions").await.ok(200));
        assert_eq!(own.len(), 1);
        assert_eq!((&own[0]["csrf_token"], &own[0]["current"]), (&json!(null), &json!(true)));
        let path = format!("sessions/{}/revoke", id(&own[0]));
        viewer.act(&path).await.refused(404, "resource_missing", "id");
        owner.act("sessions/ses_00000000000000000000000000/revoke").await.refused(404, "resource_missing", "id");
        assert_eq!(owner.act("sessions/revoke_others").await.ok(200), json!({ "object": "revoked", "count": 0 }));
        assert_eq!(viewer.act("sign_out").await.ok(200), json!({ "object": "signed_out" }));
        viewer.get("session").await.refused(401, "session_expired", None);
        owner.act(&path).await.ok(200);
        owner.get("session").await.refused(401, "session_expired", None);
    }

    async fn a_session_ends_when_it_is_idle_and_when_it_is_old(world: World) {
        let till = world.till().await;
        let (idle, busy) = (owner(&till).await, member(&till, "b@example.com", Role::Viewer).await);
        for _ in 0..23 {
            world.clock.advance_s(HOUR_S * 7);
            busy.get("session").await.ok(200);
        }
        idle.get("session").await.refused(401, "session_expired", None);
        world.clock.advance_s(HOUR_S * 7);
        busy.get("session").await.refused(401, "session_expired", None);
    }

    async fn a_session_that_is_used_does_not_end_however_soon_an_idle_one_does(world: World) {
        let dashboard = DashboardConfig { session_idle_ms: 60_000, ..DashboardConfig::default() };
        let till = world.till_with(Setup { dashboard, ..Setup::default() }).await;
        let busy = owner(&till).await;
        for _ in 0..6 {
            world.clock.advance_s(40);
            busy.get("session").await.ok(200);
        }
        world.clock.advance_s(60);
        busy.get("session").await.refused(401, "session_expired", None);
    }
}
