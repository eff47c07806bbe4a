//! The organisation and its members: who changes whom, who leaves, and what two do at once.

use serde_json::json;
use till_core::role::Role;

use crate::browser::{Browser, member, owner};
use crate::confirmed::{give_passkey, in_test_mode_alone, post_confirmed, post_confirmed_at};
use crate::harness::{Till, data, id};

/// The user id of whoever is signed in.
async fn user(browser: &Browser) -> String {
    id(&browser.get("session").await.ok(200)["user"])
}

/// The statuses and codes of two answers, in order of status.
fn codes(first: &crate::harness::Reply, second: &crate::harness::Reply) -> Vec<(u16, String)> {
    let code = |reply: &crate::harness::Reply| {
        let code = reply.json()["error"]["code"]
            .as_str()
            .unwrap_or("")
            .to_owned();
        (reply.status, code)
    };
    let mut both = vec![code(first), code(second)];
    both.sort();
    both
}

async fn audited(till: &Till, action: &str) -> i64 {
    let sql = "SELECT COUNT(*) FROM audit_events WHERE account = $1 AND action = $2";
    let mut reader = till.engine().db.read().await.unwrap();
    let args = [till.account.id.as_str().into(), action.into()];
    let found: Option<(i64,)> = till_store::Queries::one(&mut reader, sql, &args)
        .await
        .unwrap();
    found.unwrap().0
}

/// The kinds of the notices that a user got, the oldest first.
pub async fn noticed(till: &Till, user: &str) -> Vec<String> {
    let sql = "SELECT kind FROM member_notices WHERE user_id = $1 ORDER BY id";
    let mut reader = till.engine().db.read().await.unwrap();
    let found: Vec<(String,)> = till_store::Queries::all(&mut reader, sql, &[user.into()])
        .await
        .unwrap();
    found.into_iter().map(|(kind,)| kind).collect()
}

on_every_engine! {
    async fn the_organisation_is_read_by_all_and_renamed_by_those_who_lead_it(world: World) {
        let till = world.till().await;
        let (owner, viewer) = (owner(&till).await, member(&till, "v@example.com", Role::Viewer).await);
        let shown = viewer.get("organization").await.ok(200);
        assert_eq!((&shown["id"], &shown["object"], &shown["role"]), (&json!(&*till.account.id), &json!("organization"), &json!("viewer")));
        assert_eq!((&shown["live"], &shown["application_status"], &shown["disabled"]), (&json!(true), &json!("approved"), &json!(false)));
        viewer.post("organization", json!({ "name": "Mine" })).await.refused(403, "permission_denied", None);
        for bad in ["", "  ", "a\nb"] {
            owner.post("organization", json!({ "name": bad })).await.refused(400, "parameter_invalid", "name");
        }
        let renamed = owner.post("organization", json!({ "name": " Corner shop " })).await.ok(200);
        assert_eq!((&renamed["name"], &renamed["role"]), (&json!("Corner shop"), &json!("owner")));
        assert_eq!(viewer.get("organization").await.ok(200)["name"], "Corner shop");
        assert_eq!(audited(&till, "organization.renamed").await, 1);
        let stranger = member(&till.another_account().await, "x@example.com", Role::Owner).await;
        stranger.at(&till.account.id).get("organization").await.refused(404, "resource_missing", "Till-Account");
    }

    async fn members_are_listed_with_what_they_have(world: World) {
        let till = world.till().await;
        let (owner, viewer) = (owner(&till).await, member(&till, "V@example.com", Role::Viewer).await);
        give_passkey(&till, &viewer).await;
        let all = data(&viewer.get("members").await.ok(200));
        assert_eq!(all.len(), 2);
        let (viewer, of_owner) = (user(&viewer).await, user(&owner).await);
        let of = |id: &str| all.iter().find(|it| it["id"] == id).unwrap();
        let shown = of(&viewer);
        assert_eq!((&shown["email"], &shown["role"], &shown["passkeys"]), (&json!("V@example.com"), &json!("viewer"), &json!(1)));
        assert_eq!((&shown["totp_enabled"], &shown["keys"]), (&json!(false), &json!({ "test": 0, "live": 0 })));
        assert_eq!((&of(&of_owner)["object"], &of(&of_owner)["last_active_at"]), (&json!("member"), &json!(null)));
        world.clock.advance_s(3_600);
        let all = data(&owner.get("members").await.ok(200));
        assert!(all.iter().find(|it| it["id"] == of_owner).unwrap()["last_active_at"].is_string());
        let page = owner.get("members?limit=1").await.ok(200);
        let cursor = page["next_cursor"].as_str().unwrap();
        let rest = owner.get(&format!("members?limit=1&cursor={cursor}")).await.ok(200);
        assert_ne!(page["data"][0]["id"], rest["data"][0]["id"]);
        assert_eq!(rest["next_cursor"], json!(null));
    }

    async fn roles_are_changed_by_those_who_may(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let admin = member(&till, "admin@example.com", Role::Admin).await;
        let viewer = member(&till, "viewer@example.com", Role::Viewer).await;
        let (of_owner, of_admin, of_viewer) = (user(&first).await, user(&admin).await, user(&viewer).await);
        let path = |id: &str| format!("members/{id}");
        viewer.post(&path(&of_admin), json!({ "role": "viewer" })).await.refused(403, "permission_denied", None);
        admin.post(&path("usr_none"), json!({ "role": "owner" })).await.refused(404, "resource_missing", "id");
        admin.post(&path(&of_viewer), json!({ "role": "boss" })).await.refused(400, "parameter_invalid", "role");
        admin.post(&path(&of_viewer), json!({})).await.refused(400, "parameter_missing", "role");
        admin.post(&path(&of_admin), json!({ "role": "owner" })).await.refused(403, "cannot_change_self", None);
        admin.post(&path(&of_viewer), json!({ "role": "owner" })).await.refused(403, "role_not_assignable", "role");
        admin.post(&path(&of_owner), json!({ "role": "owner" })).await.refused(403, "role_not_assignable", None);
        admin.post(&path(&of_viewer), json!({ "role": "viewer" })).await.refused(400, "no_change", None);
        let changed = admin.post(&path(&of_viewer), json!({ "role": "developer" })).await.ok(200);
        assert_eq!((&changed["id"], &changed["role"]), (&json!(&of_viewer), &json!("developer")));
        assert_eq!(viewer.get("organization").await.ok(200)["role"], "developer");
        first.post(&path(&of_admin), json!({ "role": "owner" })).await.ok(200);
        assert_eq!(audited(&till, "member.role_changed").await, 2);
        assert_eq!(noticed(&till, &of_owner).await, ["member.joined", "member.joined", "member.joined", "member.role_changed", "member.role_changed"]);
        assert_eq!(noticed(&till, &of_viewer).await, Vec::<String>::new());
    }

    async fn a_removed_member_s_access_ends_at_once(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let first = owner(&till).await;
        let admin = member(&till, "admin@example.com", Role::Admin).await;
        let viewer = member(&till, "viewer@example.com", Role::Viewer).await;
        let (of_owner, of_admin, of_viewer) = (user(&first).await, user(&admin).await, user(&viewer).await);
        let remove = |id: &str| format!("members/{id}/remove");
        admin.act(&remove(&of_admin)).await.refused(403, "cannot_change_self", None);
        admin.act(&remove(&of_owner)).await.refused(403, "role_not_assignable", None);
        viewer.act(&remove(&of_admin)).await.refused(403, "permission_denied", None);
        let removed = admin.act(&remove(&of_viewer)).await.ok(200);
        assert_eq!((&removed["id"], &removed["role"]), (&json!(&of_viewer), &json!("viewer")));
        admin.act(&remove(&of_viewer)).await.refused(404, "resource_missing", "id");
        viewer.get("organization").await.refused(403, "no_organization", None);
        assert_eq!(viewer.get("session").await.ok(200)["organizations"], json!([]));
        assert_eq!(audited(&till, "member.removed").await, 1);
        assert_eq!(data(&first.get("members").await.ok(200)).len(), 2);
    }

    async fn everybody_leaves_but_the_last_owner(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, viewer) = (owner(&till).await, member(&till, "v@example.com", Role::Viewer).await);
        first.act("members/leave").await.refused(409, "last_owner", None);
        assert_eq!(viewer.act("members/leave").await.ok(200)["role"], "viewer");
        viewer.act("members/leave").await.refused(403, "no_organization", None);
        let second = member(&till, "second@example.com", Role::Owner).await;
        first.act("members/leave").await.ok(200);
        second.act("members/leave").await.refused(409, "last_owner", None);
        assert_eq!(audited(&till, "member.left").await, 2);
    }

    async fn of_two_last_owners_who_leave_at_once_one_stays(world: World) {
        let server = world.till().await;
        for _ in 0..4 {
            let till = in_test_mode_alone(&server).await;
            let (first, second) = (member(&till, &format!("a@{}.example", till.account.id.replace('_', "-")), Role::Owner).await, member(&till, &format!("b@{}.example", till.account.id.replace('_', "-")), Role::Owner).await);
            let (one, other) = tokio::join!(first.act("members/leave"), second.act("members/leave"));
            assert_eq!(codes(&one, &other), [(200, String::new()), (409, "last_owner".to_owned())]);
        }
    }

    async fn of_two_owners_who_demote_each_other_at_once_one_succeeds(world: World) {
        let server = world.till().await;
        for (role, refusal) in [("viewer", "permission_denied"), ("admin", "role_not_assignable"), ("viewer", "permission_denied")] {
            let till = in_test_mode_alone(&server).await;
            let (first, second) = (member(&till, &format!("a@{}.example", till.account.id.replace('_', "-")), Role::Owner).await, member(&till, &format!("b@{}.example", till.account.id.replace('_', "-")), Role::Owner).await);
            let (of_first, of_second) = (user(&first).await, user(&second).await);
            let (one, two) = (format!("members/{of_second}"), format!("members/{of_first}"));
            let (one, other) = tokio::join!(first.post(&one, json!({ "role": role })), second.post(&two, json!({ "role": role })));
            assert_eq!(codes(&one, &other), [(200, String::new()), (403, refusal.to_owned())], "{role}");
        }
    }

    async fn in_a_live_organisation_a_passkey_says_yes_to_who_leads_it(world: World) {
        let till = world.till().await;
        let first = owner(&till).await;
        let viewer = member(&till, "viewer@example.com", Role::Viewer).await;
        let of_viewer = user(&viewer).await;
        let path = format!("members/{of_viewer}");
        let admin = json!({ "role": "admin" });
        first.post(&path, json!({ "role": "support" })).await.ok(200);
        first.post(&path, admin.clone()).await.refused(409, "passkey_required", None);
        give_passkey(&till, &first).await;
        first.post(&path, admin.clone()).await.refused(403, "step_up_required", None);
        first.post(&path, json!({ "role": "support" })).await.refused(400, "no_change", None);
        let other = post_confirmed_at(&till, &first, "acct_other", &path, Some(admin.clone())).await;
        other.refused(403, "step_up_required", None);
        assert_eq!(viewer.get("organization").await.ok(200)["role"], "support", "nothing was changed meanwhile");
        assert_eq!(post_confirmed(&till, &first, &path, admin).await.ok(200)["role"], "admin");
        let remove = format!("{path}/remove");
        first.act(&remove).await.refused(403, "step_up_required", None);
        post_confirmed_at(&till, &first, &till.account.id, &remove, None).await.ok(200);
        first.post("invites", json!({ "email": "new@example.com", "role": "owner" })).await.refused(403, "step_up_required", None);
        first.post("invites", json!({ "email": "new@example.com", "role": "viewer" })).await.ok(201);
        post_confirmed(&till, &first, "invites", json!({ "email": "new@example.com", "role": "owner" })).await.ok(201);
    }

    async fn what_a_member_began_ends_with_the_right_to_it(world: World) {
        let till = in_test_mode_alone(&world.till().await).await;
        let (first, developer) = (owner(&till).await, member(&till, "dev@example.com", Role::Developer).await);
        let of_developer = user(&developer).await;
        let asked = json!({ "kind": "webhook_url", "webhook_url": "https://shop.example/till", "delay_seconds": 3_600 });
        let change = developer.in_mode("test").post("changes", asked).await.ok(201);
        assert_eq!(change["status"], "pending");
        let key = developer.in_mode("test").post("api_keys", json!({ "kind": "secret", "name": "mine" })).await.ok(201);
        let call = || till.call("GET", "/v1/invoices").key(key["key"].as_str().unwrap());
        call().send().await.ok(200);
        let members = data(&first.get("members").await.ok(200));
        let listed = members.iter().find(|it| it["id"] == of_developer).unwrap();
        assert_eq!(listed["keys"], json!({ "test": 1, "live": 0 }));
        first.post(&format!("members/{of_developer}"), json!({ "role": "support" })).await.ok(200);
        let ended = first.in_mode("test").get(&format!("changes/{}", id(&change))).await.ok(200);
        assert_eq!((&ended["status"], &ended["cancelled_by"]), (&json!("cancelled"), &json!(null)));
        first.act(&format!("members/{of_developer}/remove")).await.ok(200);
        world.clock.age_s(60);
        call().send().await.refused(403, "api_key_permission_denied", None);
    }
}
