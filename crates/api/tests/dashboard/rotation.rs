//! What belongs to people who sign in is encrypted anew with everything else.

use serde_json::json;
use till_core::role::Role;
use till_engine::rotation;

use crate::browser::{Browser, invite, owner};
use crate::harness::Setup;
use crate::links::link_for;
use crate::totp::enable;

const OLD: [u8; 32] = [7; 32];
const NEW: [u8; 32] = [8; 32];

fn with_keys(keys: &[[u8; 32]]) -> Setup {
    Setup {
        keys: keys.to_vec(),
        mail: true,
        ..Setup::default()
    }
}

on_every_engine! {
    async fn people_stay_signed_in_and_known_by_their_addresses(world: World) {
        if world.is_in_memory() {
            return;
        }
        let till = world.till_with(with_keys(&[OLD, NEW])).await;
        let owner = owner(&till).await;
        enable(&world, &owner).await;
        let token = invite(&till, "b@example.com", Role::Viewer, false).await;
        let mut fresh = Browser::new(&till);
        link_for(&till, &mut fresh, "owner@example.com").await;
        let beside = world.beside(&till, with_keys(&[NEW, OLD])).await;
        rotation::encrypt_with(beside.engine(), &beside.engine().vault.first_name()).await.unwrap();
        let pass = rotation::pass(beside.engine()).await.unwrap();
        assert!(pass.rewritten >= 5 && pass.unreadable == 0, "{pass:?}");
        let alone = world.beside(&till, with_keys(&[NEW])).await;
        assert!(rotation::by_unknown_keys(alone.engine()).await.unwrap().is_empty());
        let mut there = Browser::new(&alone);
        there.cookie = owner.cookie.clone();
        there.csrf = owner.csrf.clone();
        assert_eq!(there.get("user").await.ok(200)["email"], "owner@example.com");
        there.act("sessions/revoke_others").await.ok(200);
        let offer = Browser::new(&alone).post("invites/open", json!({ "token": token })).await.ok(200);
        assert_eq!(offer["email"], "b@example.com");
        let mut fresh = Browser::new(&alone);
        let token = link_for(&alone, &mut fresh, "owner@example.com").await;
        let reply = fresh.post("sign_in/link/confirm", json!({ "token": token })).await;
        assert_eq!(fresh.take_session(&reply)["second_factors"], json!(["totp"]));
    }
}
