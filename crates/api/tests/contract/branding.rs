//! What payers see of the merchant: its name, the way back, help and the colour.

use serde_json::{Value, json};
use till_core::asset::{Family, Mode};

use crate::harness::{BASE, LIVE_USDC, Setup, Till, id, live, text};

const TEMPLATE: &str = "https://shop.example/thanks/{invoice}?i={invoice}";

fn back(invoice: &str) -> Value {
    json!(TEMPLATE.replace("{invoice}", invoice))
}

async fn payer(till: &Till, path: &str) -> Value {
    let call = till
        .call("GET", path)
        .key(&till.account.test.publishable_key);
    call.send().await.ok(200)
}

async fn link(till: &Till, more: Value) -> Value {
    let mut body =
        json!({ "amount_type": "fixed", "amount": "5.00", "currency": "USD", "assets": [BASE] });
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    till.post("/v1/payment_links", body).await.ok(201)
}

async fn order(till: &Till, link: &Value) -> Value {
    let path = format!("/v1/checkout/links/{}/invoices", text(&link["slug"]));
    let call = till
        .posting(&path, json!({}))
        .key(&till.account.test.publishable_key);
    call.send().await.ok(201)
}

on_every_engine! {
    async fn an_invoice_knows_the_way_back(world: World) {
        let till = world.till().await;
        let body = |url: &str| json!({ "amount": "5.00", "currency": "USD", "assets": [BASE], "return_url": url });
        let made = till.create(body(TEMPLATE)).await;
        let invoice = id(&made);
        assert_eq!(made["return_url"], back(&invoice));
        assert_eq!(till.retrieve(&invoice).await["return_url"], back(&invoice));
        let seen = payer(&till, &format!("/v1/checkout/invoices/{invoice}")).await;
        assert_eq!(seen["return_url"], back(&invoice));
        assert_eq!(till.events(&invoice).await[0]["data"]["object"]["return_url"], back(&invoice));
        assert_eq!(till.invoice().await["return_url"], Value::Null);
        // While things are tried out, the shop may be on the developer's own computer.
        let local = till.create(body("http://localhost:3000/{invoice}")).await;
        assert_eq!(local["return_url"], format!("http://localhost:3000/{}", id(&local)));
        for url in ["http://shop.example/", "https://{invoice}/", "shop.example", "javascript:alert(1)", ""] {
            till.post("/v1/invoices", body(url)).await.refused(400, "parameter_invalid", "return_url");
        }
    }

    async fn where_money_is_real_the_way_back_is_public(world: World) {
        let till = world.till_with(live()).await;
        let body = |url: &str| json!({ "amount": "5.00", "currency": "USD", "assets": [LIVE_USDC], "return_url": url });
        let post = |url: &str| till.posting("/v1/invoices", body(url)).key(till.live_key()).send();
        post("http://localhost:3000/").await.refused(400, "parameter_invalid", "return_url");
        post("https://shop.example/").await.ok(201);
    }

    async fn the_default_way_back_is_the_merchants(world: World) {
        let till = world.till().await;
        let before = till.invoice().await;
        till.set(json!({ "return_url": TEMPLATE })).await;
        let after = till.invoice().await;
        assert_eq!(after["return_url"], back(&id(&after)));
        assert_eq!(till.retrieve(&id(&before)).await["return_url"], Value::Null, "it was made without");
        let own = till.create(json!({ "amount": "5.00", "currency": "USD", "return_url": "https://other.example/" })).await;
        assert_eq!(own["return_url"], "https://other.example/");
        // A link without one of its own has the merchant's, and its invoices with it.
        let made = link(&till, json!({})).await;
        assert_eq!(made["return_url"], Value::Null);
        let ordered = order(&till, &made).await;
        assert_eq!(ordered["return_url"], back(&id(&ordered)));
    }

    async fn a_link_sends_its_payers_back(world: World) {
        let till = world.till().await;
        let made = link(&till, json!({ "return_url": TEMPLATE })).await;
        assert_eq!(made["return_url"], TEMPLATE);
        let ordered = order(&till, &made).await;
        assert_eq!(ordered["return_url"], back(&id(&ordered)));
        assert_eq!(till.retrieve(&id(&ordered)).await["return_url"], back(&id(&ordered)));
        // The link itself is no invoice, so that a way back that needs one leads nowhere from it.
        let path = format!("/v1/checkout/links/{}", text(&made["slug"]));
        assert_eq!(payer(&till, &path).await["return_url"], Value::Null);
        let update = format!("/v1/payment_links/{}", id(&made));
        let changed = till.post(&update, json!({ "return_url": "https://shop.example/" })).await.ok(200);
        assert_eq!(changed["return_url"], "https://shop.example/");
        assert_eq!(payer(&till, &path).await["return_url"], "https://shop.example/");
        till.post(&update, json!({ "return_url": "ftp://shop.example/" })).await.refused(400, "parameter_invalid", "return_url");
        assert_eq!(till.post(&update, json!({ "return_url": null })).await.ok(200)["return_url"], Value::Null);
    }

    async fn payers_are_told_who_asks(world: World) {
        let till = world.till().await;
        let made = link(&till, json!({})).await;
        let slug = format!("/v1/checkout/links/{}", text(&made["slug"]));
        let invoice = format!("/v1/checkout/invoices/{}", id(&till.invoice().await));
        // The account is called so.
        for path in [&slug, &invoice] {
            assert_eq!(payer(&till, path).await["merchant"], json!({ "display_name": "merchant" }));
        }
        till.set(json!({ "display_name": "Booking.com" })).await;
        for path in [&slug, &invoice] {
            assert_eq!(payer(&till, path).await["merchant"], json!({ "display_name": "Booking.com" }));
        }
        assert_eq!(till.get("/v1/merchant/settings").await.ok(200)["display_name"], "Booking.com");
    }

    async fn an_ended_refund_still_has_a_name(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "asset": BASE, "amount": "30" })).await;
        let refund = till.post(&format!("/v1/invoices/{invoice}/refunds"), json!({ "amount": "5" })).await.ok(201);
        let token = text(&refund["claim_token"]);
        let seen = till.call("GET", &format!("/v1/refund_claims/{token}")).no_key().send().await.ok(200);
        assert_eq!(seen["merchant"]["display_name"], "merchant");
        till.set(json!({ "display_name": "Laden", "support_url": "https://laden.example/help" })).await;
        till.post(&format!("/v1/refunds/{}/cancel", id(&refund)), json!({})).await.ok(200);
        till.call("GET", &format!("/v1/refund_claims/{token}")).no_key().send().await.refused(409, "claim_cancelled", None);
        let config = |token: &str| till.call("GET", "/checkout/config.json").no_key().header("x-refund-claim", token).send();
        let page = config(&token).await.ok(200);
        assert_eq!((&page["merchant"], &page["support_url"]), (&json!("Laden"), &json!("https://laden.example/help")));
        config("nobodys").await.refused(404, "resource_missing", None);
    }

    async fn the_hosted_page_has_help_the_way_back_and_the_colour(world: World) {
        let till = world.till().await;
        let config = || async {
            let path = format!("/checkout/config.json?key={}", till.account.test.publishable_key);
            till.call("GET", &path).no_key().send().await.ok(200)
        };
        let bare = config().await;
        assert_eq!(bare["merchant"], "merchant");
        for name in ["support_url", "return_url", "accent"] {
            assert_eq!(bare.get(name), None, "{name}");
        }
        let set = json!({ "support_url": "mailto:help@shop.example", "return_url": "https://shop.example/", "accent": "#0A7d5a" });
        till.set(set.clone()).await;
        let page = config().await;
        for (name, value) in set.as_object().unwrap() {
            assert_eq!(&page[name], value, "{name}");
        }
        till.set(json!({ "return_url": TEMPLATE })).await;
        assert_eq!(config().await.get("return_url"), None, "it needs an invoice");
    }

    async fn a_name_may_have_a_long_word_and_no_address(world: World) {
        let evm = till_chains::example_destination(Family::Evm).to_owned();
        let till = world.till_with(Setup { destinations: Some(vec![(Family::Evm, Mode::Test, evm)]), ..Setup::default() }).await;
        for name in ["Rindfleischetikettierungsladen", "Café 24/7", "Pay & Go", "4711", "D:/shop", "Booking.com"] {
            assert_eq!(till.set(json!({ "display_name": name })).await["display_name"], name);
        }
        for name in ["www.evil.com", "evil.com/pay", "help@evil.com", "Pay\u{200b}Pal", "Pay\u{202e}laP"] {
            let asked = till.post("/v1/merchant/settings", json!({ "display_name": name })).await;
            asked.refused(400, "parameter_invalid", "display_name");
        }
    }
}
