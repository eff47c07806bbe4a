//! Every role at every endpoint, as the one table of rights has it.

use serde_json::json;
use till_api::access::{Access, Need, TABLE};
use till_core::asset::Mode;
use till_core::role::{Permission, Role};

use crate::browser::{Browser, member};
use crate::given::give_passkey;
use crate::harness::{Reply, Till, live};

/// What an endpoint of an organisation needs, and whether it has a mode.
fn needed(access: Access) -> Option<(Permission, bool)> {
    match access {
        Access::Resource(permission) => Some((permission, true)),
        Access::Organization {
            needs: Need::Permission(permission),
            has_mode,
            ..
        } => Some((permission, has_mode)),
        _ => None,
    }
}

async fn ask(browser: &Browser, method: &http::Method, route: &str) -> Reply {
    let path = route.replace("{id}", "x_00000000000000000000000000");
    match *method == http::Method::POST {
        true => browser.post(&path, json!({})).await,
        false => browser.get(&path).await,
    }
}

fn code(reply: &Reply) -> String {
    match reply.status >= 400 {
        true => reply.code(),
        false => String::new(),
    }
}

async fn check_all(till: &Till, role: Role, mode: Mode) {
    let browser = member(till, &format!("{}@example.com", role.as_str()), role).await;
    give_passkey(till, &browser).await;
    let browser = browser.in_mode(mode.as_str());
    let mut asked = 0;
    for (method, route, access) in TABLE {
        let Some((permission, has_mode)) = needed(*access) else {
            continue;
        };
        let reply = ask(&browser, method, route).await;
        let said = code(&reply);
        if said == "route_not_found" {
            continue;
        }
        asked += 1;
        let context = format!(
            "{} {method} {route} in {}: {} {said}",
            role.as_str(),
            mode.as_str(),
            reply.status
        );
        if permission == Permission::TestHelpers && mode == Mode::Live {
            assert_eq!(said, "test_mode_only", "{context}");
            continue;
        }
        let granted = permission.is_granted(role, has_mode.then_some(mode));
        assert_eq!(said != "permission_denied", granted, "{context}");
        assert!(reply.status < 500, "{context}");
    }
    assert!(asked > 40, "{asked} endpoints");
}

on_every_engine! {
    async fn every_role_may_do_in_test_mode_what_the_table_says(world: World) {
        let till = world.till().await;
        for role in Role::ALL {
            check_all(&till, role, Mode::Test).await;
        }
    }

    async fn every_role_may_do_in_live_mode_what_the_table_says(world: World) {
        let till = world.till_with(live()).await;
        for role in Role::ALL {
            check_all(&till, role, Mode::Live).await;
        }
    }
}
