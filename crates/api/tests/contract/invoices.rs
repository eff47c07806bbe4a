//! Creating, retrieving and cancelling invoices.

use serde_json::{Value, json};
use till_engine::workers::{pulse, timers};

use crate::harness::{BASE, BTC, EURC, LIVE_USDC, NILE, SEPOLIA, id, text};

fn with(name: &str, value: Value) -> Value {
    let mut body = json!({ "amount": "25.00", "currency": "USD" });
    body[name] = value;
    body
}

fn ms(value: &Value) -> i64 {
    let at = text(value);
    assert!(
        at.ends_with('Z') && at.len() <= "2025-01-01T00:00:00.000Z".len(),
        "{at}"
    );
    till_core::time::parse(&at).unwrap_or_else(|| panic!("{at} is no time"))
}

on_every_engine! {
    memory

    async fn a_new_invoice_has_every_field(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let mut names: Vec<_> = invoice.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [
            "amount", "amounts_received", "checkout_url", "closed_at", "created_at", "customer", "customer_ref",
            "description", "expires_at", "id", "livemode", "metadata", "object", "paid_at", "payment_link",
            "payment_options", "pending_options", "return_url", "select_by", "status", "subscription",
        ]);
        let expected = json!({
            "object": "invoice", "livemode": false, "status": "awaiting_payment",
            "amount": { "amount": "25.00", "currency": "USD" }, "description": null, "customer_ref": null,
            "metadata": {}, "pending_options": [], "select_by": null, "amounts_received": [], "paid_at": null,
            "closed_at": null, "payment_link": null, "customer": null, "subscription": null,
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&invoice[name], value, "{name}");
        }
        let invoice_id = id(&invoice);
        assert!(invoice_id.starts_with("inv_"), "{invoice_id}");
        assert_eq!(ms(&invoice["expires_at"]) - ms(&invoice["created_at"]), 3_600_000);
        let url = text(&invoice["checkout_url"]);
        assert!(url.contains(&invoice_id) && url.contains(&till.account.test.publishable_key), "{url}");
        let options = invoice["payment_options"].as_array().unwrap();
        let assets: Vec<_> = options.iter().map(|option| text(&option["asset"])).collect();
        assert_eq!(assets, [BASE, SEPOLIA, NILE]);
        for option in options {
            let mut names: Vec<_> = option.as_object().unwrap().keys().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, ["address", "amount_due", "asset", "network", "network_name", "symbol"]);
            assert_eq!(option["amount_due"], "25.00");
            assert_eq!(text(&option["asset"]), format!("{}@{}", text(&option["symbol"]), text(&option["network"])));
        }
        assert_eq!(options[0]["network_name"], "Base Sepolia");
        assert_eq!(till.retrieve(&invoice_id).await, invoice);
        assert_eq!(till.event_types(&invoice_id).await, ["invoice.created"]);
        let event = &till.events(&invoice_id).await[0];
        assert_eq!(event["data"], json!({ "object": invoice }));
        assert_eq!((&event["object"], &event["livemode"], &event["invoice_id"]), (&json!("event"), &json!(false), &json!(invoice_id)));
    }

    async fn what_was_sent_reads_back(world: World) {
        let till = world.till().await;
        let body = json!({
            "amount": "9.5", "currency": "USD", "assets": [NILE, BASE], "description": "Zwölf Käse 🧀",
            "customer_ref": "order 7", "metadata": { "color": "blue", "size": "" },
        });
        let invoice = till.create(body).await;
        assert_eq!(invoice["amount"], json!({ "amount": "9.50", "currency": "USD" }));
        assert_eq!(invoice["description"], "Zwölf Käse 🧀");
        assert_eq!(invoice["customer_ref"], "order 7");
        assert_eq!(invoice["metadata"], json!({ "color": "blue", "size": "" }));
        assert_eq!(invoice["payment_options"][0]["asset"], NILE);
        assert_eq!(invoice["payment_options"][1]["asset"], BASE);
        let nulls = json!({ "amount": "1", "currency": "USD", "assets": null, "description": null, "customer_ref": null, "metadata": null });
        let plain = till.create(nulls).await;
        assert_eq!((&plain["metadata"], &plain["description"]), (&json!({}), &Value::Null));
        assert_eq!(plain["payment_options"].as_array().unwrap().len(), 3);
    }

    async fn amounts_are_plain_decimals_of_the_currency(world: World) {
        let till = world.till().await;
        for amount in ["0", "0.00", "-1", "+1", "1.", ".5", "1,00", "1e3", " 1", "1 ", "0x10", "", "١", "1.001", "25.000",
            "NaN", "10000000000000000", "999999999999999999999999999999999999999999"] {
            let reply = till.post("/v1/invoices", with("amount", json!(amount))).await;
            reply.refused(400, "parameter_invalid", "amount");
        }
        for amount in [json!(25), json!(25.5), json!(true), json!(["25"]), json!({})] {
            till.post("/v1/invoices", with("amount", amount)).await.refused(400, "parameter_invalid", "amount");
        }
        for (amount, shown) in [("0.01", "0.01"), ("007", "7.00"), ("1.5", "1.50"), ("9999999999.99", "9999999999.99")] {
            assert_eq!(till.create(with("amount", json!(amount))).await["amount"]["amount"], shown);
        }
        till.post("/v1/invoices", json!({ "currency": "USD" })).await.refused(400, "parameter_missing", "amount");
        let null = json!({ "amount": null, "currency": "USD" });
        till.post("/v1/invoices", null).await.refused(400, "parameter_missing", "amount");
        till.post("/v1/invoices", json!({ "amount": "1" })).await.refused(400, "parameter_missing", "currency");
    }

    async fn a_stablecoin_is_priced_in_its_own_currency_alone(world: World) {
        let till = world.till().await;
        for currency in ["XXX", "usd", "US", "USDC", "BTC", "XAU", ""] {
            let reply = till.post("/v1/invoices", with("currency", json!(currency))).await;
            reply.refused(400, "currency_unsupported", "currency");
        }
        let euro = json!({ "amount": "25.00", "currency": "EUR", "assets": [EURC] });
        let invoice = till.create(euro).await;
        assert_eq!(invoice["payment_options"][0]["amount_due"], "25.00");
        assert_eq!(invoice["amount"]["currency"], "EUR");
        let usdc = json!({ "amount": "25.00", "currency": "EUR", "assets": [EURC, BASE] });
        till.post("/v1/invoices", usdc).await.refused(400, "currency_unsupported", "assets[1]");
        let eurc = json!({ "amount": "25.00", "currency": "USD", "assets": [BASE, EURC] });
        till.post("/v1/invoices", eurc).await.refused(400, "currency_unsupported", "assets[1]");
        // The defaults are all priced in dollars.
        let defaults = json!({ "amount": "25.00", "currency": "EUR" });
        till.post("/v1/invoices", defaults).await.refused(400, "currency_unsupported", "currency");
    }

    async fn bitcoin_is_priced_when_the_invoice_is_made_and_lives_short(world: World) {
        let till = world.till().await;
        let invoice = till.create(with("assets", json!([BTC]))).await;
        // 25 dollars at 50,000.
        assert_eq!(invoice["payment_options"][0]["amount_due"], "0.0005");
        assert!(text(&invoice["payment_options"][0]["address"]).starts_with("tb1q"));
        // What it was computed with, for the merchant and for the payer; nobody but the configuration says so here.
        let rate = &invoice["payment_options"][0]["rate"];
        assert_eq!((&rate["price"], &rate["sources"]), (&json!("50000"), &json!([])));
        assert!((ms(&rate["at"]) - ms(&invoice["created_at"])).abs() < 60_000, "{rate}");
        assert_eq!(till.retrieve(&id(&invoice)).await["payment_options"][0]["rate"], *rate);
        let page = till.get(&format!("/v1/checkout/invoices/{}", id(&invoice))).await.json();
        assert_eq!(page["payment_options"][0]["rate"], *rate);
        assert_eq!(ms(&invoice["expires_at"]) - ms(&invoice["created_at"]), 900_000);
        // Rounded up to the next satoshi, never down.
        let odd = till.create(json!({ "amount": "0.01", "currency": "USD", "assets": [BTC] })).await;
        assert_eq!(odd["payment_options"][0]["amount_due"], "0.0000002");
        let mixed = till.create(with("assets", json!([BASE, BTC]))).await;
        assert_eq!(ms(&mixed["expires_at"]) - ms(&mixed["created_at"]), 900_000);
        assert_eq!((mixed["payment_options"][0].get("rate"), mixed["payment_options"][1].get("rate").is_some()), (None, true));
        let euro = json!({ "amount": "25.00", "currency": "EUR", "assets": [BTC] });
        till.post("/v1/invoices", euro).await.refused(409, "price_unavailable", None);
    }

    async fn assets_must_be_known_of_the_mode_and_payable(world: World) {
        let till = world.till().await;
        for (assets, param) in [
            (json!(["USDC"]), "assets[0]"),
            (json!([BASE, "NOPE@eip155:84532"]), "assets[1]"),
            (json!([BASE, SEPOLIA, LIVE_USDC]), "assets[2]"),
            (json!(["USDC@eip155:999999"]), "assets[0]"),
            (json!(["usdc@eip155:84532"]), "assets[0]"),
            // Known so that it is recognised, but not offered.
            (json!(["ETH@eip155:84532"]), "assets[0]"),
            (json!(["PYUSD@eip155:11155111"]), "assets[0]"),
            (json!(["USDC@solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"]), "assets[0]"),
        ] {
            till.post("/v1/invoices", with("assets", assets)).await.refused(400, "asset_unavailable", param);
        }
        for (assets, param) in [
            (json!([]), "assets"),
            (json!(vec![BASE; 21]), "assets"),
            (json!([BASE, BASE]), "assets[1]"),
            (json!([BASE, 7]), "assets[1]"),
            (json!([BASE, null]), "assets[1]"),
            (json!(BASE), "assets"),
        ] {
            till.post("/v1/invoices", with("assets", assets)).await.refused(400, "parameter_invalid", param);
        }
        // TRON's hexadecimal chain id is another spelling of the same network.
        let alias = till.create(with("assets", json!(["USDT@tron:0xcd8690dc"]))).await;
        assert_eq!(alias["payment_options"][0]["asset"], NILE);
        let set = till.set(json!({ "default_assets": ["USDT@tron:0xcd8690dc"] })).await;
        assert_eq!(set["default_assets"], json!([NILE]), "answers have the name");
        till.simulate(&id(&alias), json!({})).await;
        let paid = till.get("/v1/payments?asset=USDT@tron:0xcd8690dc").await.ok(200);
        assert_eq!(paid["data"].as_array().unwrap().len(), 1);
        let twice = till.post("/v1/invoices", with("assets", json!([NILE, "USDT@tron:0xcd8690dc"]))).await;
        twice.refused(400, "parameter_invalid", "assets[1]");
    }

    async fn texts_and_metadata_have_limits_in_characters(world: World) {
        let till = world.till().await;
        let invoice = till.create(json!({
            "amount": "1", "currency": "USD", "description": "é".repeat(500), "customer_ref": "🧾".repeat(200),
            "metadata": (0..20).map(|n| (format!("{n:040}"), json!("é".repeat(500)))).collect::<serde_json::Map<_, _>>(),
        })).await;
        assert_eq!(invoice["metadata"].as_object().unwrap().len(), 20);
        assert_eq!(text(&invoice["description"]).chars().count(), 500);
        for (name, value, param) in [
            ("description", json!("x".repeat(501)), "description"),
            ("description", json!(7), "description"),
            ("description", json!("a\0b"), "description"),
            ("customer_ref", json!("x".repeat(201)), "customer_ref"),
            ("metadata", json!([]), "metadata"),
            ("metadata", json!("x"), "metadata"),
            ("metadata", json!({ "color": 7 }), "metadata.color"),
            ("metadata", json!({ "color": null }), "metadata.color"),
            ("metadata", json!({ "color": { "r": "1" } }), "metadata.color"),
            ("metadata", json!({ "color": "x".repeat(501) }), "metadata.color"),
            ("metadata", json!({ "color": "a\0b" }), "metadata.color"),
            ("metadata", json!({ "": "x" }), "metadata."),
        ] {
            till.post("/v1/invoices", with(name, value)).await.refused(400, "parameter_invalid", param);
        }
        let long_key = till.post("/v1/invoices", with("metadata", json!({ "k".repeat(41): "x" }))).await;
        assert_eq!((long_key.status, long_key.code().as_str()), (400, "parameter_invalid"));
        let many: serde_json::Map<_, _> = (0..21).map(|n| (n.to_string(), json!("x"))).collect();
        till.post("/v1/invoices", with("metadata", many.into())).await.refused(400, "parameter_invalid", "metadata");
        till.post("/v1/invoices", with("expires_in", json!(5))).await.refused(400, "parameter_unknown", "expires_in");
        till.post("/v1/invoices", with("status", json!("paid"))).await.refused(400, "parameter_unknown", "status");
    }

    async fn an_untouched_invoice_can_be_cancelled_and_again(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/invoices/{invoice}/cancel");
        let cancelled = till.post(&path, json!({})).await.ok(200);
        assert_eq!(cancelled["status"], "cancelled");
        assert!(cancelled["closed_at"].is_string() && cancelled["paid_at"].is_null());
        let again = till.post(&path, json!({})).await;
        assert!(!again.is_replay());
        assert_eq!(again.ok(200), cancelled);
        assert_eq!(till.retrieve(&invoice).await, cancelled);
        assert_eq!(till.event_types(&invoice).await, ["invoice.created", "invoice.cancelled"]);
    }

    async fn what_was_paid_seen_or_closed_cannot_be_cancelled(world: World) {
        let till = world.till().await;
        for body in [
            json!({}),
            json!({ "finality_steps": ["pending"] }),
            json!({ "finality_steps": ["included"] }),
            json!({ "amount": "1.00" }),
            json!({ "amount": "30.00" }),
        ] {
            let invoice = id(&till.invoice().await);
            till.simulate(&invoice, body).await;
            let before = till.retrieve(&invoice).await;
            let reply = till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await;
            reply.refused(409, "invoice_not_cancellable", None);
            assert_eq!(till.retrieve(&invoice).await, before);
        }
        let expired = id(&till.invoice().await);
        till.advance(3_601).await;
        let reply = till.post(&format!("/v1/invoices/{expired}/cancel"), json!({})).await;
        reply.refused(409, "invoice_not_cancellable", None);
    }

    async fn a_machine_s_clock_that_jumps_expires_no_invoice(world: World) {
        world.clock.let_follow();
        let till = world.till().await;
        pulse::compare_clocks(till.engine()).await.unwrap();
        let invoice = id(&till.invoice().await);
        // Until the next look at PostgreSQL's clock nothing says that the machine's is wrong. SQLite has no other.
        world.clock.advance_s(3_601);
        timers::run_due(till.engine()).await.unwrap();
        let status = match world.is_postgres() {
            true => "awaiting_payment",
            false => "expired",
        };
        assert_eq!(till.retrieve(&invoice).await["status"], status);
    }
}
