//! The user's own: name and language, notices, sign-ins.

use serde_json::{Value, json};
use till_core::role::Role;

use crate::browser::{member, owner};
use crate::harness::{data, id};

on_every_engine! {
    async fn a_user_has_a_name_and_a_language(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let user = owner.get("user").await.ok(200);
        assert_eq!((&user["object"], &user["email"], &user["name"], &user["locale"]), (&json!("user"), &json!("owner@example.com"), &Value::Null, &Value::Null));
        let changed = owner.post("user", json!({ "name": "Ada", "locale": "pt-BR" })).await.ok(200);
        assert_eq!((&changed["name"], &changed["locale"]), (&json!("Ada"), &json!("pt-BR")));
        let changed = owner.post("user", json!({ "locale": null })).await.ok(200);
        assert_eq!((&changed["name"], &changed["locale"]), (&json!("Ada"), &Value::Null));
        assert_eq!(owner.get("user").await.ok(200), changed);
        owner.post("user", json!({ "name": "x".repeat(101) })).await.refused(400, "parameter_invalid", "name");
        owner.post("user", json!({ "locale": "in English" })).await.refused(400, "parameter_invalid", "locale");
        owner.post("user", json!({ "email": "x@example.com" })).await.refused(400, "parameter_unknown", "email");
    }

    async fn notices_are_read_by_whom_they_are_for(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let viewer = member(&till, "b@example.com", Role::Viewer).await;
        let passkey = owner.register_passkey().await;
        let of_passkeys = |list: Value| -> Vec<Value> { data(&list).into_iter().filter(|one| one["kind"] == "passkey.added").collect() };
        let notices = of_passkeys(owner.get("notices").await.ok(200));
        assert_eq!(notices.len(), 1);
        assert_eq!((&notices[0]["kind"], &notices[0]["target"], &notices[0]["mail"]), (&json!("passkey.added"), &passkey["id"], &json!("off")));
        assert_eq!(notices[0]["read_at"], Value::Null);
        let path = format!("notices/{}/read", id(&notices[0]));
        viewer.act(&path).await.refused(404, "resource_missing", "id");
        let read = owner.act(&path).await.ok(200);
        assert!(read["read_at"].is_string());
        assert_eq!(owner.act(&path).await.ok(200)["read_at"], read["read_at"]);
        assert_eq!(of_passkeys(viewer.get("notices").await.ok(200)).len(), 0);
    }
}
