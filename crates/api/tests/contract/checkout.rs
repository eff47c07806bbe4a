//! What a payer's page may ask, and what it is never told.

use serde_json::{Value, json};

use crate::harness::{BASE, BTC, NILE, SEPOLIA, Setup, Till, address, id, text};

pub const WALLET: &str = "0x1111111111111111111111111111111111111111";

fn path(invoice: &Value, rest: &str) -> String {
    format!("/v1/checkout/invoices/{}{rest}", id(invoice))
}

async fn view(till: &Till, invoice: &Value) -> Value {
    let call = till
        .call("GET", &path(invoice, ""))
        .key(&till.account.test.publishable_key);
    call.send().await.ok(200)
}

pub async fn bind(
    till: &Till,
    invoice: &Value,
    asset: &str,
    sender: &str,
) -> crate::harness::Reply {
    till.post(
        &path(invoice, "/wallet_binding"),
        json!({ "asset": asset, "sender": sender }),
    )
    .await
}

fn wallet(number: u64) -> String {
    format!("0x{number:040x}")
}

on_every_engine! {
    async fn the_payers_view_has_what_a_page_needs_and_nothing_private(world: World) {
        let till = world.till().await;
        till.set(json!({ "display_name": "Acme" })).await;
        let body = json!({
            "amount": "25.00", "currency": "USD", "description": "tea",
            "customer_ref": "canary-ref", "metadata": { "canary-key": "canary-value" },
        });
        let invoice = till.create(body).await;
        let seen = view(&till, &invoice).await;
        assert_eq!((&seen["object"], &seen["description"]), (&json!("checkout_invoice"), &json!("tea")));
        assert_eq!(seen["merchant"], json!({ "display_name": "Acme" }));
        let can = json!({ "wallet_payments": true, "notify": false, "lookup": true, "exchanges": true });
        assert_eq!(seen["capabilities"], can);
        assert_eq!(seen["payments"], json!([]));
        assert_ne!(seen["session_token"], view(&till, &invoice).await["session_token"]);
        for name in ["metadata", "customer_ref", "customer", "subscription", "review"] {
            assert!(seen.get(name).is_none(), "{name}");
        }
        for (option, mine) in seen["payment_options"].as_array().unwrap().iter().zip(invoice["payment_options"].as_array().unwrap()) {
            let derivation: till_chains::Derivation = serde_json::from_value(option["address_derivation"].clone()).unwrap();
            assert_eq!(derivation.address().unwrap(), text(&option["address"]));
            assert_eq!(option["address"], mine["address"]);
        }
        till.simulate(&id(&invoice), json!({})).await;
        let paid = view(&till, &invoice).await;
        let mut names: Vec<_> = paid["payments"][0].as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["amount", "asset", "finality", "status", "tx_hash"]);
        assert_eq!(paid["status"], "paid");
    }

    async fn a_closed_invoice_shows_its_payer_no_address(world: World) {
        let till = world.till().await;
        let (paid, cancelled, expired) = (till.invoice().await, till.invoice().await, till.invoice().await);
        till.simulate(&id(&paid), json!({})).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&cancelled)), json!({})).await.ok(200);
        let open = till.invoice().await;
        till.simulate(&id(&open), json!({ "amount": "1" })).await;
        let own = till.retrieve(&id(&paid)).await;
        assert!(own.to_string().contains(&address(&paid, BASE)), "its merchant sees it while it cools down");
        till.advance(2 * 3_600).await;
        for (invoice, status) in [(&paid, "paid"), (&cancelled, "cancelled"), (&expired, "expired"), (&open, "partially_paid")] {
            let seen = view(&till, invoice).await;
            let address = address(invoice, BASE);
            let is_open = status == "partially_paid";
            assert_eq!((&seen["status"], seen.to_string().contains(&address)), (&json!(status), is_open));
            assert_eq!(seen["payment_options"] == json!([]), !is_open, "{status}");
            assert_eq!(seen["pending_options"], json!([]));
            let mut stream = crate::stream::follow(&till, &id(invoice), "").await;
            loop {
                let (_, event) = stream.next().await.unwrap();
                assert_eq!(event["invoice"]["payment_options"], seen["payment_options"], "{}", event["type"]);
                if event["invoice"]["status"] == status {
                    break;
                }
            }
        }
    }

    async fn a_payer_learns_until_when_late_money_is_found_by_the_clock_that_decides(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        assert_eq!(view(&till, &invoice).await["address_held_until"], Value::Null);
        till.advance(3_700).await;
        let over = view(&till, &invoice).await;
        assert_eq!(over["status"], "expired");
        let at = |name: &str| till_core::time::parse(&text(&over[name])).unwrap();
        assert!(at("as_of") >= at("expires_at"), "the account's own clock went on: {over}");
        assert_eq!(at("address_held_until") - at("closed_at"), Setup::default().cooldown_ms, "{over}");
        till.simulate(&id(&invoice), json!({})).await;
        let late = view(&till, &invoice).await;
        assert_eq!((&late["status"], &late["payments"][0]["status"]), (&json!("expired"), &json!("refundable")));
        assert_eq!(late["address_held_until"], over["address_held_until"]);
    }

    async fn an_address_that_an_invoice_has_no_more_is_not_told_again(world: World) {
        let till = world.till().await;
        let (invoice, other) = (till.invoice().await, till.invoice().await);
        // As after a reversal, when the old address had gone to another invoice.
        crate::reconciliation::run(&till, &format!(
            "UPDATE invoices SET options = (SELECT options FROM invoices WHERE id = '{}') WHERE id = '{}'", id(&other), id(&invoice)
        )).await;
        let mut stream = crate::stream::follow(&till, &id(&invoice), "").await;
        let (_, event) = stream.next().await.unwrap();
        assert_eq!(event["invoice"]["payment_options"], json!([]));
        assert_eq!(address(&view(&till, &invoice).await, BASE), address(&other, BASE));
    }

    async fn a_canary_in_a_private_field_is_in_no_byte_a_payer_gets(world: World) {
        let till = world.till().await;
        let body = json!({
            "amount": "25.00", "currency": "USD",
            "customer_ref": "canary-one", "metadata": { "canary-two": "canary-three" },
        });
        let invoice = till.create(body).await;
        let link = json!({ "amount_type": "fixed", "currency": "USD", "amount": "5", "metadata": { "canary-four": "canary-five" } });
        let link = till.post("/v1/payment_links", link).await.ok(201);
        let key = till.account.test.publishable_key.clone();
        let slug = text(&link["slug"]);
        let made = till.post(&format!("/v1/checkout/links/{slug}/invoices"), json!({})).await;
        let from_link = made.ok(201);
        let pk = |call: crate::harness::Call| call.key(&key);
        till.set(json!({ "manual_review_amount": "1" })).await;
        till.simulate(&id(&invoice), json!({})).await;
        let mut replies = vec![made];
        for asked in [
            path(&invoice, ""),
            path(&from_link, ""),
            path(&invoice, &format!("/lookup?tx_hash=0x{}", "ab".repeat(32))),
            format!("/v1/checkout/links/{slug}"),
            "/v1/checkout/exchanges".to_owned(),
            path(&invoice, "/nothing"),
            format!("/v1/invoices/{}", id(&invoice)),
        ] {
            replies.push(pk(till.call("GET", &asked)).send().await);
        }
        for (asked, body) in [
            (path(&from_link, "/payment_option"), json!({ "asset": BASE })),
            (path(&invoice, "/payment_option"), json!({ "asset": BASE })),
            (path(&from_link, "/wallet_binding"), json!({ "asset": BASE, "sender": WALLET })),
            (path(&invoice, "/notify"), json!({ "email": "a@example.com", "session_token": "x" })),
            (format!("/v1/invoices/{}/cancel", id(&invoice)), json!({})),
        ] {
            replies.push(pk(till.posting(&asked, body)).send().await);
        }
        for reply in &replies {
            let said = String::from_utf8_lossy(&reply.body).into_owned();
            assert!(!said.contains("canary") && !said.contains("manual_review"), "{}: {said}", reply.path);
        }
        let mut stream = crate::stream::follow(&till, &id(&invoice), "").await;
        for _ in 0..3 {
            let (_, event) = stream.next().await.unwrap();
            let said = event.to_string();
            assert!(!said.contains("canary") && !said.contains("manual_review"), "{said}");
        }
    }

    async fn browsers_of_any_origin_may_call_checkout_and_nothing_else(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        for asked in [path(&invoice, ""), "/v1/checkout/exchanges".to_owned(), path(&invoice, "/lookup")] {
            let reply = till.call("GET", &asked).header("origin", "https://shop.example").send().await;
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{asked}");
            assert_eq!(reply.header("access-control-allow-credentials"), None);
            let preflight = till.call("OPTIONS", &asked).no_key().send().await;
            assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")), "{asked}");
        }
        for asked in ["/v1/invoices", "/v1/payments", "/v1/merchant/settings", "/healthz"] {
            let reply = till.get(asked).await;
            assert_eq!(reply.header("access-control-allow-origin"), None, "{asked}");
        }
    }

    async fn a_page_can_read_why_it_was_refused_early(world: World) {
        let till = world.till().await;
        for path in ["/v1/checkout/invoices/inv_1", "/v1/checkout/links/x", "/v1/invoices/inv_1/events", "/v1/refund_claims/x"] {
            let reply = till.get(&format!("{path}?key={}", till.account.test.secret_key)).await;
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{path}");
            reply.refused(400, "secret_key_in_url", None);
        }
    }

    async fn a_key_opens_its_own_merchants_invoices_only(world: World) {
        let till = world.till().await;
        let other = till.another_account().await;
        let invoice = till.invoice().await;
        other.get(&path(&invoice, "")).await.refused(404, "resource_missing", None);
        for (rest, body) in [
            ("/payment_option", json!({ "asset": BASE })),
            ("/wallet_binding", json!({ "asset": BASE, "sender": WALLET })),
        ] {
            other.post(&path(&invoice, rest), body).await.refused(404, "resource_missing", None);
        }
        let query = format!("?key={}", till.account.test.publishable_key);
        till.call("GET", &path(&invoice, &query)).no_key().send().await.ok(200);
        till.call("GET", &path(&invoice, "")).no_key().send().await.refused(401, "api_key_missing", None);
        let secret = format!("?key={}", till.account.test.secret_key);
        till.call("GET", &path(&invoice, &secret)).no_key().send().await.refused(400, "secret_key_in_url", None);
    }

    async fn a_wallet_is_told_exactly_what_to_send(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let binding = bind(&till, &invoice, BASE, WALLET).await.ok(200);
        assert_eq!(binding["object"], "wallet_binding");
        assert_eq!((&binding["amount"], &binding["amount_base_units"]), (&json!("25.00"), &json!("25000000")));
        assert_eq!(binding["destination"], till_chains::example_destination(till_core::asset::Family::Evm));
        assert_eq!((&binding["decimals"], &binding["expires_at"]), (&json!(6), &invoice["expires_at"]));
        assert_eq!(bind(&till, &invoice, BASE, WALLET).await.ok(200), binding);
        let second = till.invoice().await;
        let apart = bind(&till, &second, BASE, WALLET).await.ok(200);
        assert_eq!(apart["amount"], "25.000001");
        let elsewhere = bind(&till, &second, BASE, &wallet(7)).await.ok(200);
        assert_eq!(elsewhere["amount"], "25.00");
        let tron = bind(&till, &invoice, NILE, "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8").await.ok(200);
        assert_eq!(tron["network"], "tron:3448148188");
        // The suffix only tells payments apart: it is received, but is no excess.
        let paid = till.simulate(&id(&second), json!({ "asset": BASE, "sender": WALLET })).await;
        assert_eq!((&paid["status"], &paid["amounts_received"][0]["amount"]), (&json!("paid"), &json!("25.000001")));
        let payment = &till.payments_of(&id(&second)).await[0];
        assert_eq!((&payment["attributed_by"], &payment["to"]), (&json!("wallet_binding"), &apart["destination"]));
        bind(&till, &second, BASE, WALLET).await.refused(409, "invoice_not_awaiting_payment", None);
        let first = till.simulate(&id(&invoice), json!({ "asset": BASE, "sender": WALLET })).await;
        assert_eq!(first["status"], "paid");
        // A paid invoice's amount is free again, once no block can name it any more.
        till.advance(120).await;
        let third = till.invoice().await;
        assert_eq!(bind(&till, &third, BASE, WALLET).await.ok(200)["amount"], "25.00");
    }

    async fn what_cannot_be_bound_is_refused_by_its_code(world: World) {
        let till = world.till().await;
        let invoice = till.create(json!({ "amount": "25.00", "currency": "USD", "assets": [BASE, BTC] })).await;
        bind(&till, &invoice, SEPOLIA, WALLET).await.refused(400, "asset_not_offered", "asset");
        bind(&till, &invoice, "nonsense", WALLET).await.refused(400, "asset_not_offered", "asset");
        bind(&till, &invoice, BTC, WALLET).await.refused(400, "wallet_unsupported", "asset");
        bind(&till, &invoice, BASE, "0x12").await.refused(400, "sender_invalid", "sender");
        bind(&till, &invoice, BASE, "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8").await.refused(400, "sender_invalid", "sender");
        for number in 1..=5 {
            bind(&till, &invoice, BASE, &wallet(number)).await.ok(200);
        }
        bind(&till, &invoice, BASE, &wallet(6)).await.refused(409, "wallet_binding_limit", None);
        bind(&till, &invoice, BASE, &wallet(5)).await.ok(200);
        till.post(&format!("/v1/invoices/{}/cancel", id(&invoice)), json!({})).await.ok(200);
        bind(&till, &invoice, BASE, &wallet(5)).await.refused(409, "invoice_not_awaiting_payment", None);
    }

    async fn a_payment_from_a_binding_whose_time_is_over_is_late(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        bind(&till, &invoice, BASE, WALLET).await.ok(200);
        till.advance(3_601).await;
        let path = format!("/v1/test_helpers/invoices/{}/simulate_payment", id(&invoice));
        let simulate = till.posting(&path, json!({ "asset": BASE, "sender": WALLET }));
        simulate.send().await.ok(200);
        // From nobody in particular it arrives at the deposit address, late as well.
        till.post(&path, json!({ "asset": BASE })).await.ok(200);
        let payments = till.payments_of(&id(&invoice)).await;
        let all: Vec<_> = payments.iter().map(|it| (&it["status"], &it["attributed_by"])).collect();
        let late = json!("refundable");
        assert_eq!(all, [(&late, &json!("deposit_address")), (&late, &json!("wallet_binding"))]);
    }

    async fn too_many_payments_of_one_amount_are_refused(world: World) {
        let till = world.till_with(Setup { checkout_per_minute: 1_000, ..Setup::default() }).await;
        let mut amounts = std::collections::BTreeSet::new();
        for _ in 0..till_core::binding::SUFFIXES_MAX {
            let invoice = till.invoice().await;
            amounts.insert(text(&bind(&till, &invoice, BASE, WALLET).await.ok(200)["amount"]));
        }
        assert_eq!(amounts.len() as u128, till_core::binding::SUFFIXES_MAX);
        let invoice = till.invoice().await;
        bind(&till, &invoice, BASE, WALLET).await.refused(409, "unique_amount_unavailable", None);
    }

    async fn bindings_made_at_once_never_share_an_amount(world: World) {
        let till = world.till_with(Setup { checkout_per_minute: 1_000, ..Setup::default() }).await;
        let mut binding = Vec::new();
        for _ in 0..20 {
            let invoice = till.invoice().await;
            let call = till.posting(&path(&invoice, "/wallet_binding"), json!({ "asset": BASE, "sender": WALLET }));
            binding.push(call);
        }
        let binding: Vec<_> = binding.into_iter().map(|call| tokio::spawn(call.send())).collect();
        let mut amounts = std::collections::BTreeSet::new();
        for made in binding {
            let reply = made.await.unwrap();
            amounts.insert(text(&reply.ok(200)["amount"]));
        }
        assert_eq!(amounts.len(), 20);
    }

    async fn a_transaction_is_looked_up_and_never_credited(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let other = till.invoice().await;
        till.simulate(&id(&invoice), json!({ "amount": "7" })).await;
        let hash = text(&till.payments_of(&id(&invoice)).await[0]["tx_hash"]);
        let look = |invoice: &Value, hash: &str| till.call("GET", &path(invoice, &format!("/lookup?tx_hash={hash}")));
        let found = look(&invoice, &hash).send().await.ok(200);
        assert_eq!((&found["object"], &found["found"], &found["attributed"]), (&json!("tx_lookup"), &json!(true), &json!(true)));
        assert_eq!((&found["network"], &found["transfers"][0]["amount"]), (&json!("eip155:84532"), &json!("7.00")));
        let elsewhere = look(&other, &hash).send().await.ok(200);
        assert_eq!((&elsewhere["found"], &elsewhere["attributed"]), (&json!(true), &json!(false)));
        assert!(elsewhere["transfers"][0]["reason"].is_string());
        let unknown = look(&invoice, &format!("0x{}", "ab".repeat(32))).send().await.ok(200);
        assert_eq!((&unknown["found"], &unknown["transfers"]), (&json!(false), &json!([])));
        look(&invoice, &"cd".repeat(32)).send().await.ok(200);
        look(&invoice, "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW").send().await.ok(200);
        for bad in ["0x12", "xyz", &format!("0x{}", "zz".repeat(32)), &"ab".repeat(33), ""] {
            look(&invoice, bad).send().await.refused(400, "parameter_invalid", "tx_hash");
        }
        till.get(&path(&invoice, "/lookup")).await.refused(400, "parameter_missing", "tx_hash");
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "partially_paid");
    }

    async fn exchanges_are_listed_with_their_sources(world: World) {
        let till = world.till().await;
        let query = format!("/v1/checkout/exchanges?key={}", till.account.test.publishable_key);
        let list = till.call("GET", &query).no_key().send().await.ok(200);
        let entries = list["data"].as_array().unwrap();
        assert!(entries.len() >= 12);
        for entry in entries {
            assert!(entry["exchange"].is_string() && entry["name"].is_string());
            for network in entry["networks"].as_array().unwrap() {
                assert!(text(&network["source_url"]).starts_with("https://"));
                assert!(network.get("label").is_some() && network.get("withdrawal_fee").is_some() && network.get("verified_at").is_some());
            }
        }
    }

    async fn the_five_endpoints_are_limited_per_key_and_client(world: World) {
        let till = world.till_with(Setup { checkout_per_minute: 3, ..Setup::default() }).await;
        let invoice = till.invoice().await;
        let lookup = path(&invoice, &format!("/lookup?tx_hash=0x{}", "ab".repeat(32)));
        for _ in 0..3 {
            till.get(&lookup).await.ok(200);
        }
        let limited = till.get(&lookup).await;
        limited.refused(429, "rate_limited", None);
        let wait: u32 = limited.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        // Claiming to be somebody else does not help where no proxy is trusted.
        let spoofed = till.call("GET", &lookup).header("x-forwarded-for", "203.0.113.9").send().await;
        spoofed.refused(429, "rate_limited", None);
        // Another key and another endpoint have their own.
        till.call("GET", &lookup).key(&till.account.test.publishable_key).send().await.ok(200);
        let link = till.post("/v1/payment_links", json!({ "amount_type": "fixed", "currency": "USD", "amount": "5" })).await.ok(201);
        let slug = text(&link["slug"]);
        for (asked, body) in [
            (path(&invoice, "/payment_option"), json!({ "asset": BASE })),
            (path(&invoice, "/wallet_binding"), json!({ "asset": BASE, "sender": WALLET })),
            (path(&invoice, "/notify"), json!({ "email": "a@example.com", "session_token": "x" })),
            (format!("/v1/checkout/links/{slug}/invoices"), json!({})),
        ] {
            for _ in 0..3 {
                assert_ne!(till.post(&asked, body.clone()).await.status, 429, "{asked}");
            }
            till.post(&asked, body.clone()).await.refused(429, "rate_limited", None);
        }
    }

    async fn behind_a_trusted_proxy_each_client_has_its_own_limit(world: World) {
        let proxies = vec!["127.0.0.0/8".parse().unwrap()];
        let till = world.till_with(Setup { checkout_per_minute: 1, trusted_proxies: proxies, ..Setup::default() }).await;
        let invoice = till.invoice().await;
        let lookup = path(&invoice, &format!("/lookup?tx_hash=0x{}", "ab".repeat(32)));
        let from = |client: &str| till.call("GET", &lookup).header("x-forwarded-for", client);
        from("203.0.113.9").send().await.ok(200);
        from("203.0.113.9").send().await.refused(429, "rate_limited", None);
        from("198.51.100.1, 203.0.113.9").send().await.refused(429, "rate_limited", None);
        from("203.0.113.10").send().await.ok(200);
        from("2001:db8:1:2::1").send().await.ok(200);
        from("2001:db8:1:2:ffff::9").send().await.refused(429, "rate_limited", None);
        from("2001:db8:1:3::1").send().await.ok(200);
    }

    async fn a_receipt_belongs_to_one_session_and_few_addresses(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let invoice = till.invoice().await;
        let seen = view(&till, &invoice).await;
        assert_eq!(seen["capabilities"]["notify"], true);
        let token = text(&seen["session_token"]);
        let other = text(&view(&till, &invoice).await["session_token"]);
        let notify = path(&invoice, "/notify");
        let with = |email: &str, token: &str| json!({ "email": email, "session_token": token, "locale": "de" });
        let left = till.post(&notify, with("payer@example.com", &token)).await.ok(200);
        assert_eq!((&left["object"], &left["locale"], &left["status"]), (&json!("payer_notice"), &json!("de"), &json!("scheduled")));
        let masked = text(&left["email"]);
        assert!(masked.contains('*') && !masked.contains("payer@"), "{masked}");
        till.post(&notify, with("thief@example.com", &other)).await.refused(409, "notify_session_mismatch", None);
        till.post(&notify, with("second@example.com", &token)).await.ok(200);
        till.post(&notify, with("third@example.com", &token)).await.ok(200);
        till.post(&notify, with("payer@example.com", &token)).await.ok(200);
        till.post(&notify, with("fourth@example.com", &token)).await.refused(409, "notify_limit_reached", None);
    }

    async fn without_mail_the_receipt_is_unavailable(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let token = text(&view(&till, &invoice).await["session_token"]);
        let notify = path(&invoice, "/notify");
        let with = |email: &str, token: &str| json!({ "email": email, "session_token": token });
        till.post(&notify, with("a@example.com", &token)).await.refused(409, "feature_unavailable", None);
        till.post(&notify, with("nonsense", &token)).await.refused(400, "email_invalid", "email");
        till.post(&notify, with("a@example.com", "nonsense")).await.refused(400, "checkout_session_invalid", "session_token");
        let other = till.invoice().await;
        till.post(&path(&other, "/notify"), with("a@example.com", &token)).await.refused(400, "checkout_session_invalid", "session_token");
        till.post(&notify, json!({ "email": "a@example.com" })).await.refused(400, "parameter_missing", "session_token");
    }
}
