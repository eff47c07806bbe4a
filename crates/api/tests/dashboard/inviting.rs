//! Invitations as members make them: their link, their end, and their limits.

use std::time::Duration;

use serde_json::{Value, json};
use till_core::actor::Origin;
use till_core::error::Code;
use till_core::role::Role;
use till_engine::base::Signup;
use till_engine::team::emails::Email;
use till_engine::team::{invites, sessions, users};
use till_engine::{DashboardConfig, Fail};

use crate::browser::{Browser, member, owner};
use crate::confirmed::in_test_mode_alone;
use crate::harness::{Setup, Till, data, id, text};

const DAY_S: i64 = 86_400;

fn token(invite: &Value) -> String {
    let link = text(&invite["link"]);
    let (before, token) = link.split_once('=').unwrap();
    assert_eq!(before, "http://localhost:4242/dashboard/link#invite");
    token.to_owned()
}

/// What accepting the invitation answers, by somebody who is new here.
async fn accept(till: &Till, invite: &Value) -> crate::harness::Reply {
    let nobody = Browser::new(till);
    nobody
        .post("invites/accept", json!({ "token": token(invite) }))
        .await
}

async fn invite(browser: &Browser, email: &str, role: &str) -> Value {
    let body = json!({ "email": email, "role": role });
    browser.post("invites", body).await.ok(201)
}

async fn statuses(browser: &Browser) -> Vec<String> {
    let all = data(&browser.get("invites?limit=100").await.ok(200));
    all.iter().map(|it| text(&it["status"])).collect()
}

on_every_engine! {
    async fn an_invitation_is_made_listed_accepted_and_withdrawn(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let made = invite(&first, "Anna@Example.com", "support").await;
        assert_eq!((&made["object"], &made["email"], &made["role"], &made["status"]), (&json!("invite"), &json!("Anna@example.com"), &json!("support"), &json!("open")));
        assert_eq!(made["invited_by"]["email"], "owner@example.com");
        let session = accept(&till, &made).await.ok(200);
        assert_eq!(session["organizations"][0]["role"], "support");
        let second = invite(&first, "b@example.com", "viewer").await;
        let withdraw = format!("invites/{}/withdraw", id(&second));
        for _ in 0..2 {
            let withdrawn = first.act(&withdraw).await.ok(200);
            assert_eq!((&withdrawn["status"], &withdrawn["link"]), (&json!("withdrawn"), &json!(null)));
        }
        accept(&till, &second).await.refused(401, "invite_invalid", None);
        let accepted = first.act(&format!("invites/{}/withdraw", id(&made))).await.ok(200);
        assert_eq!(accepted["status"], "accepted", "what is over stays as it is");
        first.act("invites/ivt_none/withdraw").await.refused(404, "resource_missing", "id");
        let other = owner_of_another(&till).await;
        other.act(&withdraw).await.refused(404, "resource_missing", "id");
        let third = invite(&first, "c@example.com", "viewer").await;
        world.clock.advance_s(7 * DAY_S);
        accept(&till, &third).await.refused(401, "invite_invalid", None);
        let again = member(&till, "again@example.com", Role::Admin).await;
        assert_eq!(statuses(&again).await, ["accepted", "expired", "withdrawn", "accepted", "accepted"]);
        let all = data(&again.get("invites").await.ok(200));
        assert!(all.iter().all(|it| it["link"].is_null()));
        assert_eq!(all[0]["invited_by"], json!(null), "it came from the command line");
    }

    async fn a_newer_invitation_to_an_address_ends_the_older_of_the_organisation(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, other) = (owner(&till).await, owner_of_another(&till).await);
        let elsewhere = invite(&other, "a@example.com", "viewer").await;
        let older = invite(&first, "a@example.com", "viewer").await;
        let newer = invite(&first, "A@example.com", "admin").await;
        accept(&till, &older).await.refused(401, "invite_invalid", None);
        assert_eq!(accept(&till, &newer).await.ok(200)["organizations"][0]["role"], "admin");
        accept(&till, &elsewhere).await.refused(401, "session_missing", None);
    }

    async fn who_may_invite_whom(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, admin, viewer) = (owner(&till).await, member(&till, "admin@example.com", Role::Admin).await, member(&till, "v@example.com", Role::Viewer).await);
        let body = |email: &str, role: &str| json!({ "email": email, "role": role });
        viewer.post("invites", body("x", "owner")).await.refused(403, "permission_denied", None);
        viewer.get("invites").await.refused(403, "permission_denied", None);
        for bad in ["", "x", "a b@example.com", "a@b@c"] {
            admin.post("invites", body(bad, "viewer")).await.refused(400, "email_invalid", "email");
        }
        admin.post("invites", body("x@example.com", "boss")).await.refused(400, "parameter_invalid", "role");
        admin.post("invites", json!({ "role": "viewer" })).await.refused(400, "parameter_missing", "email");
        admin.post("invites", body("v@example.com", "owner")).await.refused(403, "role_not_assignable", "role");
        admin.post("invites", body("V@Example.com", "viewer")).await.refused(409, "already_member", None);
        invite(&admin, "x@example.com", "admin").await;
        invite(&first, "y@example.com", "owner").await;
    }

    async fn an_invitation_dies_with_its_inviter_s_right(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, second, admin) = (owner(&till).await, member(&till, "b@example.com", Role::Owner).await, member(&till, "admin@example.com", Role::Admin).await);
        let to_owner = invite(&second, "1@example.com", "owner").await;
        let to_viewer = invite(&second, "2@example.com", "viewer").await;
        let to_admin = invite(&second, "3@example.com", "admin").await;
        let by_admin = invite(&admin, "4@example.com", "viewer").await;
        let by_first = invite(&first, "5@example.com", "owner").await;
        let user = |browser: &Browser| { let browser = browser.clone(); async move { id(&browser.get("session").await.ok(200)["user"]) } };
        let path = format!("members/{}", user(&second).await);
        first.post(&path, json!({ "role": "admin" })).await.ok(200);
        accept(&till, &to_owner).await.refused(401, "invite_invalid", None);
        accept(&till, &to_viewer).await.ok(200);
        second.act("members/leave").await.ok(200);
        accept(&till, &to_admin).await.refused(401, "invite_invalid", None);
        first.act(&format!("members/{}/remove", user(&admin).await)).await.ok(200);
        accept(&till, &by_admin).await.refused(401, "invite_invalid", None);
        accept(&till, &by_first).await.ok(200);
    }

    async fn an_invitation_that_ends_by_itself_is_told_in_the_log(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, second) = (owner(&till).await, member(&till, "b@example.com", Role::Owner).await);
        let replaced = invite(&first, "1@example.com", "viewer").await;
        let open = invite(&first, "1@example.com", "viewer").await;
        let dead = invite(&second, "2@example.com", "owner").await;
        second.act("members/leave").await.ok(200);
        let ended = data(&first.get("audit_events?action=invite.withdrawn").await.ok(200));
        assert!(ended.iter().all(|it| it["actor"]["type"] == "system"));
        let ended: Vec<_> = ended.iter().map(|it| it["target"]["id"].clone()).collect();
        assert!(ended.len() == 2 && ended.contains(&replaced["id"]) && ended.contains(&dead["id"]), "{ended:?}");
        world.clock.advance_s(7 * DAY_S);
        let first = member(&till, "c@example.com", Role::Owner).await;
        invite(&first, "1@example.com", "viewer").await;
        let all = data(&first.get("invites").await.ok(200));
        let late = all.iter().find(|it| it["id"] == open["id"]).unwrap();
        assert_eq!(late["status"], "expired", "what was over is not withdrawn");
    }

    async fn a_session_that_ended_meanwhile_accepts_nothing(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, elsewhere) = (owner(&till).await, owner_of_another(&till).await);
        let email = text(&elsewhere.get("session").await.ok(200)["user"]["email"]);
        let made = invite(&first, &email, "viewer").await;
        let cookie = elsewhere.cookie.clone().unwrap();
        let (_, cookie) = cookie.split_once('=').unwrap();
        let let_in = sessions::signed_in(till.engine(), cookie).await.unwrap();
        elsewhere.act("sign_out").await.ok(200);
        let accepted = invites::accept(till.engine(), &token(&made), Some(let_in), &Origin::default()).await;
        let Err(Fail::Refused(refusal)) = accepted else { panic!("it was accepted") };
        assert_eq!(refusal.code, Code::SessionMissing);
        assert_eq!(data(&first.get("members").await.ok(200)).len(), 1);
    }

    async fn an_address_that_somebody_takes_meanwhile_must_sign_in(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let made = invite(&first, "a@example.com", "viewer").await;
        let mut tx = till.engine().db.begin().await.unwrap();
        let email = Email::parse("a@example.com").unwrap();
        users::create(&mut tx, till.engine(), &email, None).await.unwrap();
        let mut accepted = Box::pin(accept(&till, &made));
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut accepted).await.is_err(), "it did not wait");
        tx.commit().await.unwrap();
        accepted.await.refused(401, "session_missing", None);
    }

    async fn of_two_who_accept_at_once_one_gets_in(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let made = invite(&first, "a@example.com", "viewer").await;
        let (one, other) = tokio::join!(accept(&till, &made), accept(&till, &made));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
        assert_eq!(data(&first.get("members").await.ok(200)).len(), 2);
    }

    async fn whoever_accepts_two_invitations_at_once_is_one_user(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        for round in 0..4 {
            let email = format!("new{round}@example.com");
            let mut invited = Vec::new();
            for at in ["here", "there"] {
                let own = member(&in_test_mode_alone(&till).await, &format!("{at}{round}@example.com"), Role::Owner).await;
                invited.push(invite(&own, &email, "viewer").await);
            }
            let (one, other) = tokio::join!(accept(&till, &invited[0]), accept(&till, &invited[1]));
            let mut statuses = [one.status, other.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 401], "the other must sign in first: {one:?} {other:?}");
        }
    }

    async fn so_many_invitations_may_be_open(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        for at in 0..50 {
            invite(&first, &format!("{at}@example.com"), "viewer").await;
        }
        let body = |email: &str| json!({ "email": email, "role": "viewer" });
        first.post("invites", body("more@example.com")).await.refused(400, "parameter_invalid", None);
        let anew = first.post("invites", body("7@example.com")).await.ok(201);
        accept(&till, &anew).await.ok(200);
        first.post("invites", body("more@example.com")).await.ok(201);
    }

    async fn where_mail_is_sent_the_link_is_in_the_mail_alone(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let first = owner(&till).await;
        let made = invite(&first, "a@example.com", "viewer").await;
        assert_eq!(made["link"], json!(null));
        let mut reader = till.engine().db.read().await.unwrap();
        let sql = "SELECT kind, content FROM link_mails";
        let queued: Vec<(String, Vec<u8>)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
        assert_eq!(queued.len(), 1);
        assert_eq!(queued[0].0, "invite");
        let content = String::from_utf8_lossy(&queued[0].1);
        assert!(!content.contains("example.com") && !content.contains("invite="), "it is encrypted");
    }

    async fn mailed_invitations_are_limited_by_address_and_inviter(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let first = owner(&till).await;
        let body = |email: &str| json!({ "email": email, "role": "viewer" });
        for _ in 0..5 {
            first.post("invites", body("a@example.com")).await.ok(201);
        }
        let refused = first.post("invites", body("A@example.com")).await;
        refused.refused(429, "too_many_attempts", None);
        assert!(refused.header("retry-after").is_some());
        let elsewhere = owner_of_another(&till).await;
        elsewhere.post("invites", body("a@example.com")).await.refused(429, "too_many_attempts", None);
        for at in 0..45 {
            let made = first.post("invites", body(&format!("{at}@example.com"))).await.ok(201);
            first.act(&format!("invites/{}/withdraw", id(&made))).await.ok(200);
        }
        first.post("invites", body("more@example.com")).await.refused(429, "too_many_attempts", None);
        elsewhere.post("invites", body("more@example.com")).await.ok(201);
        world.clock.advance_s(3_601);
        first.post("invites", body("a@example.com")).await.ok(201);
    }

    async fn one_invitation_too_many_is_told_before_they_are_counted(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let first = owner(&till).await;
        let body = |at: usize| json!({ "email": format!("{at}@example.com"), "role": "viewer" });
        for at in 0..50 {
            first.post("invites", body(at)).await.ok(201);
        }
        first.post("invites", body(50)).await.refused(400, "parameter_invalid", None);
    }

    async fn nobody_joins_a_disabled_organisation(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let made = invite(&first, "a@example.com", "viewer").await;
        let disable = |is_disabled| till_engine::team::operator::set_disabled_at_command_line(till.engine(), &till.account.id, is_disabled);
        disable(true).await.unwrap();
        let nobody = Browser::new(&till);
        nobody.post("invites/open", json!({ "token": token(&made) })).await.refused(401, "invite_invalid", None);
        accept(&till, &made).await.refused(401, "invite_invalid", None);
        disable(false).await.unwrap();
        accept(&till, &made).await.ok(200);
    }

    async fn an_admin_does_not_replace_an_owner_s_invitation(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, admin) = (owner(&till).await, member(&till, "admin@example.com", Role::Admin).await);
        let made = invite(&first, "a@example.com", "owner").await;
        let body = json!({ "email": "a@example.com", "role": "viewer" });
        admin.post("invites", body.clone()).await.refused(403, "role_not_assignable", None);
        assert_eq!(accept(&till, &made).await.ok(200)["organizations"][0]["role"], "owner");
        let other = invite(&first, "b@example.com", "admin").await;
        invite(&admin, "b@example.com", "viewer").await;
        accept(&till, &other).await.refused(401, "invite_invalid", None);
    }

    async fn a_session_that_is_over_keeps_nobody_from_accepting(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let mut first = owner(&till).await;
        let made = invite(&first, "a@example.com", "viewer").await;
        let known = invite(&owner_of_another(&till).await, "owner@example.com", "viewer").await;
        first.act("sign_out").await.ok(200);
        first.post("invites/accept", json!({ "token": token(&known) })).await.refused(401, "session_missing", None);
        let reply = first.post("invites/accept", json!({ "token": token(&made) })).await;
        assert_eq!(first.take_session(&reply)["user"]["email"], "a@example.com");
        first.get("session").await.ok(200);
    }

    async fn where_only_the_command_line_lets_people_in_nobody_invites(world: World) {
        let dashboard = DashboardConfig { signup: Signup::Closed, ..DashboardConfig::default() };
        let till = world.till_with(Setup { dashboard, ..Setup::default() }).await;
        let first = owner(&till).await;
        first.post("invites", json!({ "email": "x", "role": "viewer" })).await.refused(400, "email_invalid", "email");
        first.post("invites", json!({ "email": "owner@example.com", "role": "viewer" })).await.refused(409, "feature_unavailable", None);
    }
}

async fn owner_of_another(till: &Till) -> Browser {
    let other = in_test_mode_alone(till).await;
    member(&other, "other@example.com", Role::Owner).await
}
