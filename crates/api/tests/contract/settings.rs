//! Merchant settings and the webhook secret.

use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::webhook::UrlPolicy;

use crate::harness::{BASE, LIVE_USDC, NILE, SEPOLIA, Setup, id, live, text};

const PATH: &str = "/v1/merchant/settings";

on_every_engine! {
    async fn a_new_account_has_the_documented_settings(world: World) {
        let till = world.till().await;
        let settings = till.get(PATH).await.ok(200);
        let destinations = |family: Family| till_chains::example_destination_of(family, &till.account.id).unwrap();
        assert_eq!(settings, json!({
            "object": "merchant_settings", "livemode": false, "display_name": null, "webhook_url": null,
            "default_assets": [BASE, SEPOLIA, NILE], "underpay_tolerance_bps": 0, "manual_review_amount": null,
            "support_url": null, "return_url": null, "accent": null,
            "registered_destinations": {
                "bip122": destinations(Family::Bitcoin), "eip155": destinations(Family::Evm),
                "solana": destinations(Family::Solana), "tron": destinations(Family::Tron),
            },
        }));
    }

    async fn omitted_fields_stay_and_null_clears(world: World) {
        let till = world.till().await;
        let all = json!({
            "display_name": "Käseladen", "webhook_url": "http://127.0.0.1:9/hooks", "default_assets": [NILE],
            "underpay_tolerance_bps": 50, "manual_review_amount": "1000.50", "support_url": "mailto:hilfe@laden.example",
            "return_url": "https://laden.example/danke?i={invoice}", "accent": "#0a7d5a",
        });
        let set = till.set(all.clone()).await;
        for (name, value) in all.as_object().unwrap() {
            assert_eq!(&set[name], value, "{name}");
        }
        assert_eq!(till.set(json!({})).await, set);
        let renamed = till.set(json!({ "display_name": "Laden" })).await;
        assert_eq!((&renamed["display_name"], &renamed["webhook_url"]), (&json!("Laden"), &set["webhook_url"]));
        assert_eq!(renamed["underpay_tolerance_bps"], 50);
        let nulls = json!({ "display_name": null, "webhook_url": null, "default_assets": null, "manual_review_amount": null, "underpay_tolerance_bps": null, "support_url": null, "return_url": null, "accent": null });
        let cleared = till.set(nulls).await;
        for name in ["display_name", "webhook_url", "default_assets", "manual_review_amount", "support_url", "return_url", "accent"] {
            assert_eq!(cleared[name], Value::Null, "{name}");
        }
        assert!(matches!(cleared["underpay_tolerance_bps"].as_i64(), None | Some(0)));
        assert_eq!(till.get(PATH).await.ok(200), cleared);
        // Without defaults an invoice must say what it takes.
        let body = json!({ "amount": "1", "currency": "USD" });
        till.post("/v1/invoices", body).await.refused(400, "parameter_missing", "assets");
    }

    async fn values_are_refused_by_name(world: World) {
        let till = world.till().await;
        for (name, value) in [
            ("underpay_tolerance_bps", json!(-1)),
            ("underpay_tolerance_bps", json!(10_001)),
            ("underpay_tolerance_bps", json!(0.5)),
            ("underpay_tolerance_bps", json!("50")),
            ("underpay_tolerance_bps", json!(4_294_967_346_i64)),
            ("display_name", json!("")),
            ("display_name", json!("  ")),
            ("display_name", json!("x".repeat(101))),
            ("display_name", json!("evil \u{202e} name")),
            ("display_name", json!("line\nbreak")),
            ("display_name", json!("Pay at https://evil.example")),
            ("display_name", json!("help@shop.example")),
            ("display_name", json!("Send to 0x52908400098527886E0F7030069857D2E4169EE7")),
            ("display_name", json!("THVmXun9u721tBiYcT3VfLQKcwYBmoY1xX")),
            ("display_name", json!("tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk!")),
            ("support_url", json!("http://shop.example/help")),
            ("support_url", json!("mailto:nobody")),
            ("support_url", json!("javascript:alert(1)")),
            ("support_url", json!(format!("https://shop.example/{}", "x".repeat(2_048)))),
            ("return_url", json!("http://shop.example/")),
            ("return_url", json!("http://localhost:3000/")),
            ("return_url", json!("https://{invoice}.shop.example/")),
            ("accent", json!("red")),
            ("accent", json!("#fff")),
            ("accent", json!("#00aaff;x")),
            ("manual_review_amount", json!("0")),
            ("manual_review_amount", json!("1.001")),
            ("manual_review_amount", json!(100)),
            ("default_assets", json!([])),
            ("default_assets", json!("USDC")),
            ("webhook_url", json!(7)),
        ] {
            let reply = till.post(PATH, json!({ name: value })).await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "parameter_invalid"), "{name} {value}: {}", reply.json());
            assert_eq!(reply.json()["error"]["param"], name);
        }
        let reply = till.post(PATH, json!({ "default_assets": [BASE, LIVE_USDC] })).await;
        reply.refused(400, "asset_unavailable", "default_assets[1]");
        till.post(PATH, json!({ "default_assets": [BASE, BASE] })).await.refused(400, "parameter_invalid", "default_assets[1]");
        till.post(PATH, json!({ "livemode": true })).await.refused(400, "parameter_unknown", "livemode");
        till.set(json!({ "underpay_tolerance_bps": 10_000 })).await;
        // A request that is wrong anywhere changes nothing.
        let mixed = json!({ "display_name": "New", "underpay_tolerance_bps": 10_001 });
        till.post(PATH, mixed).await.refused(400, "parameter_invalid", "underpay_tolerance_bps");
        assert!(till.get(PATH).await.ok(200)["display_name"].is_null());
    }

    async fn payout_addresses_cannot_be_changed_through_the_api(world: World) {
        let till = world.till().await;
        for value in [json!({ "eip155": "0x0" }), json!(null), json!([]), json!("x")] {
            let body = json!({ "registered_destinations": value, "display_name": "x" });
            till.post(PATH, body).await.refused(403, "destination_immutable", "registered_destinations");
        }
        assert!(till.get(PATH).await.ok(200)["display_name"].is_null());
    }

    async fn a_webhook_url_must_be_public_https_without_credentials(world: World) {
        let till = world.till_with(Setup { url_policy: UrlPolicy::Public, ..Setup::default() }).await;
        let long = format!("https://shop.example/{}", "x".repeat(2_100));
        for url in [
            "http://shop.example/hooks", "https://user:pass@shop.example/", "https://user@shop.example/", "ftp://shop.example/",
            "shop.example", "", "https://", "https://localhost/", "https://127.0.0.1/", "https://10.0.0.1/", "https://192.168.1.1/",
            "https://169.254.169.254/latest", "https://[::1]/", "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/",
            "https://2130706433/", "https://0x7f.1/", "https://printer.local/", "https://db.internal/", "https:///x", "https://a\\b/",
            long.as_str(),
        ] {
            let reply = till.post(PATH, json!({ "webhook_url": url })).await;
            reply.refused(400, "webhook_url_forbidden", "webhook_url");
        }
        let set = till.set(json!({ "webhook_url": "https://93.184.215.14/hooks?x=1" })).await;
        assert_eq!(set["webhook_url"], "https://93.184.215.14/hooks?x=1");
    }

    async fn rolling_the_secret_shows_the_new_one_once(world: World) {
        let till = world.till().await;
        let roll = till.posting("/v1/merchant/webhook_secret/roll", json!({}));
        let first = roll.clone().send().await.ok(200);
        assert_eq!((&first["object"], first.as_object().unwrap().len()), (&json!("webhook_secret"), 2));
        let secret = text(&first["secret"]);
        assert!(secret.starts_with("whsec_") && secret != till.account.test.webhook_secret);
        let second = till.post("/v1/merchant/webhook_secret/roll", json!({})).await.ok(200);
        assert_ne!(second["secret"], first["secret"]);
        // The answer is kept for a retry, and at rest it cannot be read.
        assert_eq!(roll.send().await.ok(200), first);
        let sql = "SELECT response FROM idempotency_keys";
        let mut reader = till.engine().db.read().await.unwrap();
        let rows: Vec<(Vec<u8>,)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
        assert!(rows.iter().all(|(bytes,)| !String::from_utf8_lossy(bytes).contains("whsec_")));
    }

    async fn live_webhooks_are_changed_on_the_dashboard(world: World) {
        let till = world.till_with(live()).await;
        let post = |path: &str, body: Value| till.posting(path, body).key(till.live_key()).send();
        for url in [json!("https://93.184.215.14/"), json!(null), json!("http://127.0.0.1/")] {
            let reply = post(PATH, json!({ "webhook_url": url })).await;
            reply.refused(403, "live_change_requires_dashboard", "webhook_url");
        }
        post("/v1/merchant/webhook_secret/roll", json!({})).await.refused(403, "live_change_requires_dashboard", None);
        let destinations = json!({ "registered_destinations": {} });
        post(PATH, destinations).await.refused(403, "destination_immutable", "registered_destinations");
        // The rest may be set, and each mode has settings of its own.
        let set = post(PATH, json!({ "display_name": "Live", "underpay_tolerance_bps": 10 })).await.ok(200);
        assert_eq!((&set["livemode"], &set["display_name"]), (&json!(true), &json!("Live")));
        let test = till.get(PATH).await.ok(200);
        assert_eq!((&test["livemode"], &test["display_name"], &test["underpay_tolerance_bps"]), (&json!(false), &Value::Null, &json!(0)));
    }

    async fn defaults_apply_to_invoices_that_name_no_assets(world: World) {
        let till = world.till().await;
        till.set(json!({ "default_assets": [NILE, BASE] })).await;
        let invoice = till.invoice().await;
        let assets: Vec<_> = invoice["payment_options"].as_array().unwrap().iter().map(|option| text(&option["asset"])).collect();
        assert_eq!(assets, [NILE, BASE]);
        assert!(id(&invoice).starts_with("inv_"));
    }
}
