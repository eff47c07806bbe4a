//! Payment links: made, changed, and turned into invoices by payers.

use serde_json::{Value, json};
use till_engine::EngineLimits;

use crate::claims::{PAYER, claim};
use crate::harness::{BASE, BTC, EURC, NILE, Receiver, SEPOLIA, Till, data, id, text};
use crate::refunds::{act, refund, reverse};

pub fn fixed() -> Value {
    json!({ "amount_type": "fixed", "currency": "USD", "amount": "5.00" })
}

pub fn fixed_with(name: &str, value: Value) -> Value {
    let mut body = fixed();
    body[name] = value;
    body
}

fn chosen(min: Value, max: Value) -> Value {
    json!({ "amount_type": "payer_chosen", "currency": "USD", "min_amount": min, "max_amount": max })
}

pub async fn link(till: &Till, body: Value) -> Value {
    till.post("/v1/payment_links", body).await.ok(201)
}

async fn update(till: &Till, link: &Value, body: Value) -> Value {
    till.post(&format!("/v1/payment_links/{}", id(link)), body)
        .await
        .ok(200)
}

pub fn invoices_of(link: &Value) -> String {
    format!("/v1/checkout/links/{}/invoices", text(&link["slug"]))
}

pub async fn pay_from(till: &Till, link: &Value, body: Value) -> Value {
    till.post(&invoices_of(link), body).await.ok(201)
}

pub async fn status_of(till: &Till, link: &Value) -> String {
    let path = format!("/v1/checkout/links/{}", text(&link["slug"]));
    text(&till.get(&path).await.ok(200)["status"])
}

on_every_engine! {
    async fn a_link_reads_back_with_every_field(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed()).await;
        let mut names: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [
            "active", "amount", "amount_type", "assets", "created_at", "currency", "description", "expires_at", "id",
            "livemode", "max_amount", "metadata", "min_amount", "object", "quantity_limit", "quantity_used", "return_url", "slug", "url",
        ]);
        assert!(id(&made).starts_with("plink_"));
        let slug = text(&made["slug"]);
        assert_eq!(slug.len(), 22);
        let url = text(&made["url"]);
        assert!(url.contains(&slug) && url.ends_with(&format!("?key={}", till.account.test.publishable_key)), "{url}");
        assert_eq!((&made["active"], &made["quantity_used"], &made["metadata"]), (&json!(true), &json!(0), &json!({})));
        assert_eq!(till.get(&format!("/v1/payment_links/{}", id(&made))).await.ok(200), made);
        let off = link(&till, fixed_with("active", json!(false))).await;
        let list = |query: &str| format!("/v1/payment_links{query}");
        let ids = |list: &Value| data(list).iter().map(id).collect::<Vec<_>>();
        assert_eq!(ids(&till.get(&list("")).await.ok(200)), [id(&off), id(&made)]);
        assert_eq!(ids(&till.get(&list("?active=true")).await.ok(200)), [id(&made)]);
        assert_eq!(ids(&till.get(&list("?active=false")).await.ok(200)), [id(&off)]);
        till.get(&list("?active=maybe")).await.refused(400, "parameter_invalid", "active");
        till.get("/v1/payment_links/plink_nothing").await.refused(404, "resource_missing", None);
    }

    async fn every_field_and_combination_is_checked(world: World) {
        let till = world.till().await;
        let check = |body: Value, code: &'static str, param: &'static str| {
            let till = till.clone();
            async move { till.post("/v1/payment_links", body).await.refused(400, code, param); }
        };
        check(json!({ "currency": "USD" }), "parameter_missing", "amount_type").await;
        check(json!({ "amount_type": "fixed" }), "parameter_missing", "currency").await;
        check(fixed_with("amount_type", json!("free")), "parameter_invalid", "amount_type").await;
        check(fixed_with("currency", json!("usd")), "currency_unsupported", "currency").await;
        check(fixed_with("amount", Value::Null), "parameter_missing", "amount").await;
        check(fixed_with("amount", json!("5.001")), "parameter_invalid", "amount").await;
        check(fixed_with("amount", json!("0")), "parameter_invalid", "amount").await;
        check(fixed_with("amount", json!(5)), "parameter_invalid", "amount").await;
        check(fixed_with("min_amount", json!("1")), "parameter_invalid", "min_amount").await;
        check(fixed_with("max_amount", json!("1")), "parameter_invalid", "max_amount").await;
        let mut both = chosen(json!("1"), json!("2"));
        both["amount"] = json!("1");
        check(both, "parameter_invalid", "amount").await;
        check(chosen(json!("2"), json!("1")), "parameter_invalid", "min_amount").await;
        check(fixed_with("quantity_limit", json!(0)), "parameter_invalid", "quantity_limit").await;
        check(fixed_with("quantity_limit", json!(1_000_001)), "parameter_invalid", "quantity_limit").await;
        check(fixed_with("quantity_limit", json!("3")), "parameter_invalid", "quantity_limit").await;
        check(fixed_with("expires_at", json!("2020-01-01T00:00:00Z")), "parameter_invalid", "expires_at").await;
        check(fixed_with("expires_at", json!("tomorrow")), "parameter_invalid", "expires_at").await;
        check(fixed_with("assets", json!(["USDC@eip155:999"])), "asset_unavailable", "assets[0]").await;
        check(fixed_with("assets", json!([BASE, EURC])), "currency_unsupported", "assets[1]").await;
        check(fixed_with("assets", json!([])), "parameter_invalid", "assets").await;
        check(fixed_with("description", json!("x".repeat(501))), "parameter_invalid", "description").await;
        check(fixed_with("metadata", json!({ "color": 7 })), "parameter_invalid", "metadata.color").await;
        check(fixed_with("active", json!("yes")), "parameter_invalid", "active").await;
        check(fixed_with("slug", json!("mine")), "parameter_unknown", "slug").await;
        check(fixed_with("quantity_used", json!(0)), "parameter_unknown", "quantity_used").await;
    }

    async fn a_link_that_nobody_could_pay_is_refused_and_never_shown_as_active(world: World) {
        let till = world.till().await;
        let euro = |assets: Value| json!({ "amount_type": "fixed", "currency": "EUR", "amount": "5.00", "assets": assets });
        let unnamed = json!({ "amount_type": "fixed", "currency": "EUR", "amount": "5.00" });
        // The merchant's default assets are worth dollars.
        for body in [unnamed.clone(), euro(Value::Null)] {
            till.post("/v1/payment_links", body).await.refused(400, "currency_unsupported", "currency");
        }
        let named = link(&till, euro(json!([EURC]))).await;
        let dollars = link(&till, fixed()).await;
        let path = |link: &Value| format!("/v1/payment_links/{}", id(link));
        till.post(&path(&dollars), json!({ "currency": "EUR" })).await.refused(400, "currency_unsupported", "currency");
        till.post(&path(&named), json!({ "assets": null })).await.refused(400, "currency_unsupported", "currency");
        till.set(json!({ "default_assets": [EURC] })).await;
        let unnamed = link(&till, unnamed).await;
        pay_from(&till, &unnamed, json!({})).await;
        // Defaults that change later leave the one without a price in them inactive, and it can still be changed.
        assert_eq!((&*status_of(&till, &unnamed).await, &*status_of(&till, &dollars).await), ("active", "inactive"));
        till.set(json!({ "default_assets": [BASE] })).await;
        assert_eq!((&*status_of(&till, &unnamed).await, &*status_of(&till, &dollars).await), ("inactive", "active"));
        assert_eq!(status_of(&till, &named).await, "active");
        update(&till, &unnamed, json!({ "active": false })).await;
    }

    async fn an_update_tells_absent_from_null_from_value(world: World) {
        let till = world.till().await;
        let receiver = Receiver::start().await;
        till.set(json!({ "webhook_url": receiver.url() })).await;
        let mut body = fixed_with("description", json!("tea"));
        body["metadata"] = json!({ "a": "1", "b": "2" });
        let made = link(&till, body).await;
        let changed = update(&till, &made, json!({ "metadata": { "c": "3" } })).await;
        assert_eq!((&changed["description"], &changed["metadata"]), (&json!("tea"), &json!({ "c": "3" })));
        let cleared = update(&till, &made, json!({ "description": null })).await;
        assert_eq!(cleared["description"], Value::Null);
        let path = format!("/v1/payment_links/{}", id(&made));
        till.post(&path, json!({ "amount": null })).await.refused(400, "parameter_missing", "amount");
        till.post(&path, json!({ "amount_type": null })).await.refused(400, "parameter_invalid", "amount_type");
        till.post(&path, json!({ "amount_type": "payer_chosen" })).await.refused(400, "parameter_invalid", "amount");
        till.post(&path, json!({ "url": "x" })).await.refused(400, "parameter_unknown", "url");
        let open = update(&till, &made, json!({ "amount_type": "payer_chosen", "amount": null, "min_amount": "1" })).await;
        assert_eq!((&open["amount_type"], &open["amount"], &open["min_amount"]), (&json!("payer_chosen"), &Value::Null, &json!("1.00")));
        update(&till, &made, json!({ "active": false })).await;
        update(&till, &made, json!({ "active": true, "description": "coffee" })).await;
        update(&till, &made, json!({ "active": false, "description": "cocoa" })).await;
        update(&till, &made, json!({ "active": false })).await;
        let events = receiver.wait_for(8).await;
        let mut types: Vec<_> = events.iter().map(|event| (text(&event.json()["id"]), event.event_type())).collect();
        types.sort();
        let types: Vec<_> = types.into_iter().map(|(_, event_type)| event_type).collect();
        let updated = "payment_link.updated";
        let off = "payment_link.deactivated";
        assert_eq!(types, ["payment_link.created", updated, updated, updated, off, updated, updated, off]);
        let event = events[0].json();
        assert_eq!(event["invoice_id"], Value::Null);
        assert_eq!(event["data"]["object"]["object"], "payment_link");
    }

    async fn a_link_invoice_holds_no_address_until_a_network_is_picked(world: World) {
        let till = world.till().await;
        let mut body = fixed_with("assets", json!([BASE, SEPOLIA, NILE]));
        body["metadata"] = json!({ "shop": "north" });
        body["description"] = json!("tea");
        let made = link(&till, body).await;
        let invoice = pay_from(&till, &made, json!({})).await;
        assert_eq!((&invoice["object"], &invoice["payment_options"]), (&json!("checkout_invoice"), &json!([])));
        let pending = invoice["pending_options"].as_array().unwrap();
        assert_eq!(pending.len(), 3);
        assert_eq!(pending[0]["amount_due"], "5.00");
        assert_eq!((&invoice["payment_link"], &invoice["description"]), (&made["id"], &json!("tea")));
        assert!(invoice["select_by"].is_string() && invoice.get("metadata").is_none());
        let merchants = till.retrieve(&id(&invoice)).await;
        assert_eq!((&merchants["metadata"], &merchants["payment_link"]), (&json!({ "shop": "north" }), &made["id"]));
        let pick = format!("/v1/checkout/invoices/{}/payment_option", id(&invoice));
        till.post(&pick, json!({ "asset": BTC })).await.refused(400, "asset_not_offered", "asset");
        till.post(&pick, json!({})).await.refused(400, "parameter_missing", "asset");
        let picked = till.post(&pick, json!({ "asset": SEPOLIA })).await.ok(200);
        let options = picked["payment_options"].as_array().unwrap();
        assert_eq!(options.len(), 2, "one address covers both EVM networks");
        assert_eq!(options[0]["address"], options[1]["address"]);
        assert_eq!(options[0]["address_derivation"]["scheme"], "create2_forwarder_v1");
        assert_eq!(picked["pending_options"].as_array().unwrap().len(), 1);
        let again = till.post(&pick, json!({ "asset": BASE })).await.ok(200);
        assert_eq!(again["payment_options"], picked["payment_options"]);
        let tron = till.post(&pick, json!({ "asset": NILE })).await.ok(200);
        assert_eq!((tron["payment_options"].as_array().unwrap().len(), &tron["pending_options"]), (3, &json!([])));
        let paid = till.simulate(&id(&invoice), json!({ "asset": NILE })).await;
        assert_eq!(paid["status"], "paid");
        till.post(&pick, json!({ "asset": BASE })).await.refused(409, "invoice_not_awaiting_payment", None);
        let used = till.get(&format!("/v1/payment_links/{}", id(&made))).await.ok(200);
        assert_eq!(used["quantity_used"], 1);
    }

    async fn a_network_is_never_to_be_picked_after_the_invoice_ends(world: World) {
        let till = world.till().await;
        let link = link(&till, fixed_with("assets", json!([BTC, BASE]))).await;
        let invoice = pay_from(&till, &link, json!({})).await;
        // A volatile asset makes it live 15 minutes, less than there are to pick a network elsewhere.
        let (select_by, expires_at) = (invoice["select_by"].as_str().unwrap(), invoice["expires_at"].as_str().unwrap());
        assert!(select_by <= expires_at, "{select_by} {expires_at}");
        let merchants = till.retrieve(&id(&invoice)).await;
        assert_eq!(merchants["select_by"], invoice["select_by"]);
    }

    async fn an_unpicked_invoice_expires_at_select_by_and_frees_its_unit(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
        let invoice = pay_from(&till, &made, json!({})).await;
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_fully_reserved", None);
        till.advance(1_700).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "awaiting_payment");
        till.advance(102).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "expired");
        assert_eq!(status_of(&till, &made).await, "active");
        let second = pay_from(&till, &made, json!({})).await;
        let pick = format!("/v1/checkout/invoices/{}/payment_option", id(&second));
        till.post(&pick, json!({ "asset": BASE })).await.ok(200);
        till.advance(1_900).await;
        assert_eq!(till.retrieve(&id(&second)).await["status"], "awaiting_payment");
        till.post(&format!("/v1/invoices/{}/cancel", id(&second)), json!({})).await.ok(200);
        till.advance(10_000).await;
        let third = pay_from(&till, &made, json!({})).await;
        let pick = format!("/v1/checkout/invoices/{}/payment_option", id(&third));
        till.post(&pick, json!({ "asset": BASE })).await.ok(200);
        till.simulate(&id(&third), json!({})).await;
        assert_eq!(status_of(&till, &made).await, "sold_out");
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_sold_out", None);
        let payment = id(&till.payments_of(&id(&third)).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
    }

    async fn a_part_paid_order_that_gave_its_unit_away_takes_nothing_more(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
        let order = async || {
            let order = id(&pay_from(&till, &made, json!({})).await);
            let pick = format!("/v1/checkout/invoices/{order}/payment_option");
            till.post(&pick, json!({ "asset": BASE })).await.ok(200);
            order
        };
        let units = async || {
            let link = till.get(&format!("/v1/payment_links/{}", id(&made))).await.ok(200);
            link["quantity_used"].as_i64().unwrap()
        };
        let (half, rest) = (json!({ "asset": BASE, "amount": "0.50" }), json!({ "asset": BASE }));
        let first = order().await;
        till.simulate(&first, half.clone()).await;
        till.advance(3_600 + 86_400 - 60).await;
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
        till.advance(120).await;
        assert_eq!(status_of(&till, &made).await, "active");
        let second = order().await;
        till.simulate(&second, rest.clone()).await;
        assert_eq!(units().await, 1);
        // The rest comes all the same: it is refundable, the merchant is told, and nothing is sold twice.
        assert_eq!(till.simulate(&first, rest.clone()).await["status"], "partially_paid");
        assert_eq!(units().await, 1);
        let statuses: Vec<Value> = till.payments_of(&first).await.iter().map(|it| it["status"].clone()).collect();
        assert_eq!(statuses, ["refundable", "credited"]);
        assert_eq!(till.event_types(&first).await.last().unwrap(), "invoice.late_payment");
    }

    async fn a_unit_is_kept_while_an_order_may_be_paid_without_its_refund(world: World) {
        let till = world.till().await;
        // Each way in which a refund ends, whether the unit is then sold, and what the link says.
        for (ends, used, status) in [("cancelled", 1, "sold_out"), ("expires", 1, "sold_out"), ("sent", 0, "active")] {
            let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
            let order = id(&pay_from(&till, &made, json!({})).await);
            till.post(&format!("/v1/checkout/invoices/{order}/payment_option"), json!({ "asset": BASE })).await.ok(200);
            let half = json!({ "asset": BASE, "amount": "2.50" });
            till.simulate(&order, half.clone()).await;
            let refund = refund(&till, &order, half.clone()).await.ok(201);
            assert_eq!(till.simulate(&order, half).await["status"], "partially_paid");
            till.advance(3_600 + 86_400 + 60).await;
            assert_ne!(till.retrieve(&order).await["closed_at"], Value::Null);
            assert_eq!(status_of(&till, &made).await, "fully_reserved");
            till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_fully_reserved", None);
            match ends {
                "cancelled" => drop(act(&till, &refund, "cancel", json!({})).await.ok(200)),
                "expires" => drop(till.advance(31 * 86_400).await),
                _ => {
                    claim(&till, &refund, "eip155:84532", PAYER).await.ok(200);
                    let tx_hash = format!("0x{}", "ab".repeat(32));
                    act(&till, &refund, "mark_sent", json!({ "tx_hash": tx_hash })).await.ok(200);
                }
            }
            let shown = till.get(&format!("/v1/payment_links/{}", id(&made))).await.ok(200);
            assert_eq!((&shown["quantity_used"], &*status_of(&till, &made).await), (&json!(used), status), "{ends}");
            let paid = if used == 1 { "paid" } else { "partially_paid" };
            assert_eq!(till.retrieve(&order).await["status"], paid, "{ends}");
        }
    }

    async fn a_unit_is_kept_while_a_refund_holds_what_would_pay_for_it(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
        let order = id(&pay_from(&till, &made, json!({})).await);
        till.post(&format!("/v1/checkout/invoices/{order}/payment_option"), json!({ "asset": BASE })).await.ok(200);
        till.simulate(&order, json!({ "asset": BASE, "amount": "5.00" })).await;
        till.simulate(&order, json!({ "asset": BASE, "amount": "5.00" })).await;
        let refund = refund(&till, &order, json!({})).await.ok(201);
        claim(&till, &refund, "eip155:84532", PAYER).await.ok(200);
        let first = id(till.payments_of(&order).await.last().unwrap());
        reverse(&till, &first).await;
        assert_eq!(till.retrieve(&order).await["status"], "partially_paid");
        till.advance(3_600 + 86_400 + 60).await;
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_fully_reserved", None);
        act(&till, &refund, "cancel", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&order).await["status"], "paid");
        assert_eq!(status_of(&till, &made).await, "sold_out");
    }

    async fn the_payers_amount_is_held_against_the_link(world: World) {
        let till = world.till().await;
        let made = link(&till, chosen(json!("1.00"), json!("10"))).await;
        let path = invoices_of(&made);
        till.post(&path, json!({})).await.refused(400, "parameter_missing", "amount");
        till.post(&path, json!({ "amount": "0.99" })).await.refused(400, "amount_too_small", "amount");
        till.post(&path, json!({ "amount": "10.01" })).await.refused(400, "amount_too_large", "amount");
        till.post(&path, json!({ "amount": "1e1" })).await.refused(400, "parameter_invalid", "amount");
        till.post(&path, json!({ "tip": "1" })).await.refused(400, "parameter_unknown", "tip");
        let invoice = pay_from(&till, &made, json!({ "amount": "1.5" })).await;
        assert_eq!(invoice["amount"], json!({ "amount": "1.50", "currency": "USD" }));
        let fixed = link(&till, fixed()).await;
        till.post(&invoices_of(&fixed), json!({ "amount": "5.00" })).await.refused(400, "parameter_invalid", "amount");
    }

    async fn an_unusable_link_says_why_in_order(world: World) {
        let till = world.till().await;
        let soon = till_core::time::show((world.clock.now_s() + 60) * 1000);
        let mut body = fixed_with("expires_at", json!(soon));
        body["active"] = json!(false);
        let made = link(&till, body).await;
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_inactive", None);
        assert_eq!(status_of(&till, &made).await, "inactive");
        update(&till, &made, json!({ "active": true })).await;
        assert_eq!(status_of(&till, &made).await, "active");
        till.advance(61).await;
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_expired", None);
        assert_eq!(status_of(&till, &made).await, "expired");
        update(&till, &made, json!({ "active": false })).await;
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_inactive", None);
        till.post("/v1/checkout/links/AAAAAAAAAAAAAAAAAAAAAA/invoices", json!({})).await.refused(404, "resource_missing", None);
        let other = till.another_account().await;
        let slug = text(&made["slug"]);
        other.get(&format!("/v1/checkout/links/{slug}")).await.refused(404, "resource_missing", None);
        let key = &till.account.test.publishable_key;
        let payers = till.call("GET", &format!("/v1/checkout/links/{slug}?key={key}")).no_key().send().await.ok(200);
        assert!(payers.get("metadata").is_none());
    }

    async fn fifty_open_invoices_make_a_link_busy(world: World) {
        let till = world.till_with(crate::harness::Setup { checkout_per_minute: 1_000, ..Default::default() }).await;
        let made = link(&till, fixed()).await;
        for _ in 0..50 {
            pay_from(&till, &made, json!({})).await;
        }
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_busy", None);
        till.advance(1_801).await;
        pay_from(&till, &made, json!({})).await;
    }

    async fn one_client_cannot_hold_every_unit_of_a_link(world: World) {
        let till = world.till_with(crate::harness::Setup {
            checkout_per_minute: 1_000,
            limits: EngineLimits { open_link_invoices_per_client: 3, ..EngineLimits::default() },
            trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
            ..Default::default()
        }).await;
        let made = link(&till, fixed()).await;
        let payer = |client: &str| {
            let call = till.posting(&invoices_of(&made), json!({})).key(&till.account.test.publishable_key);
            call.header("x-forwarded-for", client).send()
        };
        let mut first = Vec::new();
        for _ in 0..3 {
            first.push(payer("192.0.2.1").await.ok(201));
        }
        payer("192.0.2.1").await.refused(409, "payment_link_busy", None);
        payer("192.0.2.2").await.ok(201);
        // A link of its own, and the merchant who asks for others, are counted apart.
        let other = link(&till, fixed()).await;
        let elsewhere = till.posting(&invoices_of(&other), json!({})).key(&till.account.test.publishable_key);
        elsewhere.header("x-forwarded-for", "192.0.2.1").send().await.ok(201);
        till.call("POST", &invoices_of(&made)).header("idempotency-key", "merchant").header("x-forwarded-for", "192.0.2.1").send().await.ok(201);
        till.post(&format!("/v1/invoices/{}/cancel", id(&first[0])), json!({})).await.ok(200);
        payer("192.0.2.1").await.ok(201);
        payer("192.0.2.1").await.refused(409, "payment_link_busy", None);
        till.advance(1_801).await;
        payer("192.0.2.1").await.ok(201);
    }

    async fn one_client_cannot_hold_every_unit_of_an_account(world: World) {
        let till = world.till_with(crate::harness::Setup {
            checkout_per_minute: 1_000,
            limits: EngineLimits { open_link_invoices_per_client: 1, ..EngineLimits::default() },
            trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
            ..Default::default()
        }).await;
        let open = async |client: &str| {
            let made = link(&till, fixed()).await;
            let call = till.posting(&invoices_of(&made), json!({})).key(&till.account.test.publishable_key);
            call.header("x-forwarded-for", client).send().await
        };
        let mut opened = Vec::new();
        for _ in 0..2 {
            opened.push(open("192.0.2.1").await.ok(201));
        }
        open("192.0.2.1").await.refused(409, "payment_link_busy", None);
        open("192.0.2.2").await.ok(201);
        till.post(&format!("/v1/invoices/{}/cancel", id(&opened[0])), json!({})).await.ok(200);
        open("192.0.2.1").await.ok(201);
        open("192.0.2.1").await.refused(409, "payment_link_busy", None);
    }

    async fn two_hundred_open_invoices_make_every_link_busy(world: World) {
        let till = world.till_with(crate::harness::Setup { checkout_per_minute: 1_000, ..Default::default() }).await;
        for _ in 0..4 {
            let made = link(&till, fixed()).await;
            for _ in 0..50 {
                pay_from(&till, &made, json!({})).await;
            }
        }
        let fifth = link(&till, fixed()).await;
        till.post(&invoices_of(&fifth), json!({})).await.refused(409, "payment_link_busy", None);
    }

    async fn a_cent_keeps_neither_unit_nor_address_for_ever(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
        let invoice = pay_from(&till, &made, json!({})).await;
        let asset = &invoice["pending_options"][0]["asset"];
        till.post(&format!("/v1/checkout/invoices/{}/payment_option", id(&invoice)), json!({ "asset": asset })).await.ok(200);
        till.simulate(&id(&invoice), json!({ "asset": asset, "amount": "0.01" })).await;
        let free_at = async |till: &Till| {
            let sql = "SELECT free_at FROM leases WHERE invoice = $1";
            let mut reader = till.engine().db.read().await.unwrap();
            let found: Option<(Option<i64>,)> = till_store::Queries::one(&mut reader, sql, &[id(&invoice).into()]).await.unwrap();
            found.unwrap().0
        };
        // An hour of its own, and a day for the rest.
        till.advance(3_600 + 86_400 - 60).await;
        assert_eq!((status_of(&till, &made).await, free_at(&till).await), ("fully_reserved".to_owned(), None));
        till.advance(60).await;
        assert!(status_of(&till, &made).await == "active" && free_at(&till).await.is_some());
        let own = till.retrieve(&id(&invoice)).await;
        assert!(own["status"] == "partially_paid" && own["closed_at"].is_string());
        let key = &till.account.test.publishable_key;
        let payers = till.call("GET", &format!("/v1/checkout/invoices/{}", id(&invoice))).key(key).send().await.ok(200);
        assert_eq!((&payers["payment_options"], &payers["status"]), (&json!([]), &json!("partially_paid")));
        // What comes nevertheless is the payer's: the unit may be somebody else's by now.
        till.simulate(&id(&invoice), json!({ "asset": asset, "amount": own["amount_remaining"]["amount"] })).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "partially_paid");
        assert_eq!(status_of(&till, &made).await, "active");
    }

    async fn an_order_at_a_link_without_a_limit_takes_the_rest_for_good(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed()).await;
        let invoice = id(&pay_from(&till, &made, json!({})).await);
        till.post(&format!("/v1/checkout/invoices/{invoice}/payment_option"), json!({ "asset": BASE })).await.ok(200);
        till.simulate(&invoice, json!({ "asset": BASE, "amount": "1" })).await;
        till.advance(2 * 86_400).await;
        assert_eq!(till.simulate(&invoice, json!({ "asset": BASE, "amount": "4" })).await["status"], "paid_late");
    }

    async fn a_link_is_never_oversold(world: World) {
        let till = world.till_with(crate::harness::Setup { checkout_per_minute: 1_000, ..Default::default() }).await;
        let limit = 5;
        let made = link(&till, fixed_with("quantity_limit", json!(limit))).await;
        let path = invoices_of(&made);
        let tries = (0..limit * 10).map(|_| {
            let call = till.posting(&path, json!({}));
            tokio::spawn(call.send())
        });
        let mut sold = 0;
        for attempt in tries.collect::<Vec<_>>() {
            let reply = attempt.await.unwrap();
            match reply.status {
                201 => sold += 1,
                _ => drop(reply.refused(409, "payment_link_fully_reserved", None)),
            }
        }
        assert_eq!(sold, limit);
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
    }

    async fn a_link_that_no_invoice_can_be_made_of_is_inactive_for_payers(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed()).await;
        // The link has no assets of its own, and those by default are in another currency now.
        till.set(json!({ "default_assets": ["EURC@eip155:84532"] })).await;
        assert_eq!(status_of(&till, &made).await, "inactive");
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_inactive", None);
    }

    async fn a_slug_that_is_none_is_missing(world: World) {
        let till = world.till().await;
        for slug in ["%00abc", "%FF", "x", "0123456789012345678901"] {
            let path = format!("/v1/checkout/links/{slug}");
            till.get(&path).await.refused(404, "resource_missing", None);
            till.post(&format!("{path}/invoices"), json!({})).await.refused(404, "resource_missing", None);
        }
    }

    async fn amounts_are_shown_in_the_currencys_form(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("amount", json!("0005.0"))).await;
        assert_eq!(made["amount"], "5.00");
        let changed = update(&till, &made, json!({ "amount": "7" })).await;
        assert_eq!(changed["amount"], "7.00");
    }
}
