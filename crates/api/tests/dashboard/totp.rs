//! Authenticator codes: set up, switched on and off by their own user.

use serde_json::{Value, json};
use totp_rs::{Algorithm, Builder, Secret};

use crate::browser::{Browser, owner};
use crate::harness::{World, data, text};

const MINUTE_S: i64 = 60;

/// The code of so many steps from now.
pub fn code(world: &World, secret: &str, steps: i64) -> String {
    let totp = Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(6)
        .with_step_duration(30)
        .with_secret(Secret::try_from_base32(secret).unwrap())
        .build()
        .unwrap();
    let at = u64::try_from(world.clock.now_s() + 30 * steps).unwrap();
    totp.generate(at).to_string()
}

/// Switches codes on, and gives back their secret.
pub async fn enable(world: &World, browser: &Browser) -> String {
    let set_up = browser.act("totp/setup").await.ok(200);
    let secret = text(&set_up["secret"]);
    let body = json!({ "code": code(world, &secret, 0) });
    assert_eq!(
        browser.post("totp/confirm", body).await.ok(200)["totp_enabled"],
        true
    );
    secret
}

on_every_engine! {
    async fn codes_are_switched_on_and_off(world: World) {
        let till = world.till().await;
        // A code is of its half minute, however slow the machine is.
        world.clock.stop();
        let owner = owner(&till).await;
        owner.post("totp/confirm", json!({ "code": "123456" })).await.refused(409, "totp_not_set_up", None);
        owner.post("totp/disable", json!({ "code": "123456" })).await.refused(409, "totp_not_set_up", None);
        let set_up = owner.act("totp/setup").await.ok(200);
        let url = text(&set_up["otpauth_url"]);
        assert!(url.starts_with("otpauth://totp/Till:owner%40example.com?secret="), "{url}");
        owner.post("totp/confirm", json!({ "code": "abcdef" })).await.refused(400, "parameter_invalid", "code");
        world.clock.advance_s(15 * MINUTE_S);
        let late = json!({ "code": code(&world, &text(&set_up["secret"]), 0) });
        owner.post("totp/confirm", late).await.refused(409, "totp_not_set_up", None);
        let secret = enable(&world, &owner).await;
        assert_eq!(owner.get("session").await.ok(200)["second_factors"], json!(["totp"]));
        owner.act("totp/setup").await.refused(409, "totp_already_enabled", None);
        owner.act("totp/disable").await.refused(400, "parameter_missing", "code");
        owner.post("totp/disable", json!({ "code": code(&world, &secret, 0) })).await.refused(400, "parameter_invalid", "code");
        world.clock.advance_s(60);
        let right = json!({ "code": code(&world, &secret, 0) });
        assert_eq!(owner.post("totp/disable", right).await.ok(200)["totp_enabled"], false);
        let kinds: Vec<Value> = data(&owner.get("notices").await.ok(200)).iter().map(|one| one["kind"].clone()).filter(|kind| text(kind).starts_with("totp.")).collect();
        assert_eq!(kinds, ["totp.disabled", "totp.enabled"]);
    }

    async fn whoever_has_a_passkey_confirms_with_it(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        owner.act("totp/setup").await.refused(403, "step_up_required", None);
        let set_up = owner.confirmed("totp/setup", Value::Null).await.ok(200);
        let body = json!({ "code": code(&world, &text(&set_up["secret"]), 0) });
        owner.post("totp/confirm", body).await.ok(200);
        owner.act("totp/disable").await.refused(403, "step_up_required", None);
        owner.confirmed("totp/disable", Value::Null).await.ok(200);
    }

    async fn wrong_codes_are_limited_here_too(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let set_up = owner.act("totp/setup").await.ok(200);
        for _ in 0..5 {
            owner.post("totp/confirm", json!({ "code": "000000" })).await.refused(400, "parameter_invalid", "code");
        }
        let right = || json!({ "code": code(&world, &text(&set_up["secret"]), 0) });
        owner.post("totp/confirm", right()).await.refused(429, "too_many_attempts", None);
        world.clock.advance_s(15 * MINUTE_S);
        let set_up = owner.act("totp/setup").await.ok(200);
        let right = json!({ "code": code(&world, &text(&set_up["secret"]), 0) });
        owner.post("totp/confirm", right).await.ok(200);
    }
}
