//! What an account can be paid in.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use till_core::asset::{Family, Mode};

use crate::harness::{BASE, BTC, LIVE_USDC, NILE, SEPOLIA, Setup, Till, data, live, text};

const PATH: &str = "/v1/assets";

async fn all(till: &Till, key: &str) -> Vec<Value> {
    let path = format!("{PATH}?limit=100");
    data(&till.call("GET", &path).key(key).send().await.ok(200))
}

fn named<'a>(assets: &'a [Value], code: &str) -> &'a Value {
    let found = assets.iter().find(|asset| asset["asset"] == code);
    found.unwrap_or_else(|| panic!("{code} is not listed"))
}

fn reason(assets: &[Value], code: &str) -> Value {
    let asset = named(assets, code);
    assert_eq!(asset["available"], asset["unavailable_reason"].is_null());
    asset["unavailable_reason"].clone()
}

on_every_engine! {
    async fn every_asset_of_the_mode_is_listed_for_any_key(world: World) {
        let till = world.till_with(live()).await;
        let assets = all(&till, &till.account.test.secret_key).await;
        assert_eq!(named(&assets, BASE), &json!({
            "asset": BASE, "symbol": "USDC", "network": "eip155:84532", "network_name": "Base Sepolia", "family": "eip155",
            "decimals": 6, "volatile": false, "currency": "USD", "available": true, "unavailable_reason": null,
        }));
        let bitcoin = named(&assets, BTC);
        assert_eq!((&bitcoin["family"], &bitcoin["decimals"]), (&json!("bip122"), &json!(8)));
        assert_eq!((&bitcoin["volatile"], &bitcoin["currency"]), (&json!(true), &Value::Null));
        assert_eq!(reason(&assets, BTC), Value::Null);
        assert_eq!(named(&assets, NILE)["family"], "tron");
        assert!(assets.iter().all(|asset| asset["asset"] != LIVE_USDC), "the other mode's");
        // A page asks with the publishable key, in the header or in the query, from any origin.
        let key = &till.account.test.publishable_key;
        assert_eq!(all(&till, key).await, assets);
        let reply = till.call("GET", &format!("{PATH}?limit=100&key={key}")).no_key().header("origin", "https://shop.example").send().await;
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        assert_eq!(data(&reply.ok(200)), assets);
        till.call("GET", PATH).no_key().send().await.refused(401, "api_key_missing", None);
        let live = all(&till, till.live_key()).await;
        assert!(live.iter().all(|asset| asset["asset"] != BASE));
    }

    async fn assets_come_page_by_page_as_all_lists_do(world: World) {
        let till = world.till().await;
        let whole: Vec<String> = all(&till, &till.account.test.secret_key).await.iter().map(|asset| text(&asset["asset"])).collect();
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = till.get(&format!("{PATH}?limit=3{cursor}")).await.ok(200);
            assert!(data(&page).len() <= 3);
            seen.extend(data(&page).iter().map(|asset| text(&asset["asset"])));
            match &page["next_cursor"] {
                Value::Null => break,
                next => cursor = format!("&cursor={}", text(next)),
            }
        }
        assert_eq!(seen, whole);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
        till.get(&format!("{PATH}?limit=101")).await.refused(400, "parameter_invalid", "limit");
        till.get(&format!("{PATH}?cursor=x")).await.refused(400, "parameter_invalid", "cursor");
        till.get(&format!("{PATH}?symbol=USDC")).await.refused(400, "parameter_unknown", "symbol");
    }

    async fn what_cannot_be_offered_says_why(world: World) {
        let own = |family: Family, mode: Mode| (family, mode, till_chains::example_destination(family).to_owned());
        let destinations = vec![own(Family::Evm, Mode::Test), own(Family::Evm, Mode::Live)];
        let till = world.till_with(Setup { destinations: Some(destinations), ..live() }).await;
        let test = all(&till, &till.account.test.secret_key).await;
        assert_eq!(reason(&test, SEPOLIA), Value::Null);
        assert_eq!(reason(&test, NILE), "no_destination");
        let live = all(&till, till.live_key()).await;
        assert_eq!(reason(&live, LIVE_USDC), Value::Null);
        assert_eq!(reason(&live, "USDC@eip155:1"), "not_watched");
        assert_eq!(reason(&live, "USDT@tron:728126428"), "no_destination");
    }

    async fn a_price_that_there_is_not_is_a_reason(world: World) {
        // Of the mnemonic in BIP84's test vectors.
        let key = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
        let key = till_chains::parse_destination(Family::Bitcoin, Mode::Live, key).unwrap();
        let setup = Setup {
            destinations: Some(vec![(Family::Bitcoin, Mode::Live, key)]),
            watched: ["bip122:000000000019d6689c085ae165831e93".to_owned()].into(),
            ..live()
        };
        let till = world.till_with(setup).await;
        let live = all(&till, till.live_key()).await;
        assert_eq!(reason(&live, "BTC@bip122:000000000019d6689c085ae165831e93"), "no_price");
    }

    async fn an_unknown_asset_is_answered_with_the_nearest_ones(world: World) {
        let till = world.till().await;
        let refused = async |assets: Value| {
            let body = json!({ "amount": "5.00", "currency": "USD", "assets": assets });
            till.post("/v1/invoices", body).await.refused(400, "asset_unavailable", "assets[0]")
        };
        let message = refused(json!(["USDC"])).await;
        for code in [BASE, SEPOLIA] {
            assert!(message.contains(code), "{message}");
        }
        assert!(!message.contains(&format!("{LIVE_USDC},")) && !message.contains(NILE), "{message}");
        let message = refused(json!(["USDC@base"])).await;
        assert!(message.contains(BASE), "{message}");
        let message = refused(json!(["DOGE"])).await;
        assert!(message.contains("/v1/assets"), "{message}");
    }

    async fn in_live_mode_nothing_is_offered_where_nobody_looks(world: World) {
        let till = world.till_with(live()).await;
        let post = |path: &'static str, body: Value| till.posting(path, body).key(till.live_key()).send();
        let unwatched = "USDC@eip155:1";
        let body = |assets: Value| json!({ "amount": "5.00", "currency": "USD", "assets": assets });
        let message = post("/v1/invoices", body(json!([LIVE_USDC, unwatched]))).await.refused(400, "asset_unavailable", "assets[1]");
        assert!(message.contains("endpoints"), "{message}");
        let link = json!({ "amount_type": "fixed", "amount": "5.00", "currency": "USD", "assets": [unwatched] });
        post("/v1/payment_links", link).await.refused(400, "asset_unavailable", "assets[0]");
        let settings = json!({ "default_assets": [unwatched] });
        post("/v1/merchant/settings", settings).await.refused(400, "asset_unavailable", "default_assets[0]");
        // Test mode simulates its payments, and needs nobody to look.
        till.create(body(json!([SEPOLIA]))).await;
    }

    async fn a_default_on_a_network_that_lost_its_endpoints_is_passed_over(world: World) {
        let both: BTreeSet<String> = ["eip155:8453".to_owned(), "eip155:1".to_owned()].into();
        let before = world.till_with(Setup { watched: both, ..live() }).await;
        let settings = json!({ "default_assets": ["USDC@eip155:1", LIVE_USDC] });
        before.posting("/v1/merchant/settings", settings).key(before.live_key()).send().await.ok(200);
        let body = || json!({ "amount": "5.00", "currency": "USD" });
        let options = |invoice: &Value| -> Vec<String> { invoice["payment_options"].as_array().unwrap().iter().map(|option| text(&option["asset"])).collect() };
        let made = before.posting("/v1/invoices", body()).key(before.live_key()).send().await.ok(201);
        assert_eq!(options(&made), ["USDC@eip155:1", LIVE_USDC]);
        let after = world.beside(&before, live()).await;
        let made = after.posting("/v1/invoices", body()).key(after.live_key()).send().await.ok(201);
        assert_eq!(options(&made), [LIVE_USDC]);
        let none = world.beside(&before, Setup { watched: BTreeSet::new(), ..live() }).await;
        let reply = none.posting("/v1/invoices", body()).key(none.live_key()).send().await;
        reply.refused(400, "asset_unavailable", "default_assets[0]");
    }
}
