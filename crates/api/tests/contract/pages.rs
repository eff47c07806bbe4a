//! The checkout pages as the server serves them, and what it tells them.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::json;
use till_api::{CarriedPages, Files, Pages};

use crate::harness::{BASE, Call, Reply, Setup, Till, id, text};

const INDEX: &str =
    "<!doctype html><title>Till</title><!--status--><script src=\"../assets/a.js\"></script>";
const SCRIPT: &str = "let said = 'by the page'";

/// Leaked because a program carries its pages for ever.
fn packed(text: &str) -> &'static [u8] {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap().leak()
}

/// Pages as a build would make them.
fn pages() -> Pages {
    let files: Files = vec![
        ("assets/a.js", packed(SCRIPT)),
        ("index.html", packed(INDEX)),
    ]
    .leak();
    Pages::new(files)
}

fn button() -> Pages {
    Pages::new(vec![("till-button.js", packed(SCRIPT))].leak())
}

fn with_pages() -> Setup {
    Setup {
        pages: CarriedPages {
            checkout: pages(),
            button: button(),
            ..CarriedPages::default()
        },
        ..Setup::default()
    }
}

async fn get(till: &Till, path: &str) -> Reply {
    till.call("GET", path).no_key().send().await
}

async fn pay(till: &Till, invoice: &str, body: serde_json::Value) -> Reply {
    let path = format!("/checkout/demo/invoices/{invoice}/payments");
    let call: Call = till.call("POST", &path).json(&body).once(&body.to_string());
    call.key(&till.account.test.publishable_key).send().await
}

fn words(reply: &Reply) -> String {
    String::from_utf8(reply.body.clone()).unwrap()
}

const PATHS: [&str; 4] = [
    "/checkout/i/inv_1",
    "/checkout/l/slug",
    "/checkout/r/token",
    "/checkout/r/",
];

on_every_engine! {
    async fn a_server_that_was_built_without_the_pages_says_so_in_one_line(world: World) {
        let till = world.till().await;
        for path in PATHS {
            let reply = get(&till, path).await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(words(&reply).lines().count(), 1);
            assert!(words(&reply).contains("make web"));
        }
        assert_eq!(get(&till, "/checkout/assets/a.js").await.status, 404);
    }

    async fn a_page_comes_with_a_policy_that_lets_nothing_else_run(world: World) {
        let till = world.till_with(with_pages()).await;
        for path in PATHS {
            let reply = get(&till, path).await;
            assert_eq!(reply.status, 200, "{path}");
            let policy = reply.header("content-security-policy").unwrap();
            for part in ["default-src 'none'", "script-src 'self'", "trusted-types 'none'", "frame-ancestors 'none'"] {
                assert!(policy.contains(part), "{part}");
            }
            assert!(!policy.contains("unsafe"));
            assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
            assert_eq!(reply.header("cache-control"), Some("no-cache"));
            assert!(words(&reply).contains("../assets/a.js"));
        }
    }

    async fn a_file_is_sent_packed_to_who_takes_that_and_plain_to_others(world: World) {
        let till = world.till_with(with_pages()).await;
        let path = "/checkout/assets/a.js";
        let plain = get(&till, path).await;
        assert_eq!((plain.status, words(&plain).as_str()), (200, SCRIPT));
        assert_eq!(plain.header("content-encoding"), None);
        let packed = till.call("GET", path).no_key().header("accept-encoding", "gzip").send().await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert_eq!(&packed.body[..2], [0x1f, 0x8b]);
        for reply in [plain, packed] {
            assert_eq!(reply.header("vary"), Some("accept-encoding"));
            assert!(reply.header("cache-control").unwrap().contains("immutable"));
            assert_eq!(reply.header("content-type"), Some("text/javascript; charset=utf-8"));
        }
        for other in ["/checkout/assets/b.js", "/checkout/assets/../index.html", "/checkout/assets/%2e%2e%2findex.html"] {
            assert_eq!(get(&till, other).await.status, 404, "{other}");
        }
    }

    async fn any_page_may_include_the_button_and_browsers_keep_it_for_a_day(world: World) {
        const BUTTON: &str = "/checkout/till-button.js";
        let till = world.till_with(with_pages()).await;
        let plain = get(&till, BUTTON).await;
        assert_eq!((plain.status, words(&plain).as_str()), (200, SCRIPT));
        let packed = till.call("GET", BUTTON).no_key().header("accept-encoding", "gzip").header("origin", "https://shop.example").send().await;
        assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
        let tag = plain.header("etag").unwrap();
        let again = till.call("GET", BUTTON).no_key().header("if-none-match", &format!("\"other\", {tag}")).send().await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        for reply in [&plain, &packed, &again] {
            assert_eq!(reply.header("content-type"), Some("text/javascript; charset=utf-8"));
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
            assert_eq!(reply.header("cross-origin-resource-policy"), Some("cross-origin"));
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(reply.header("cache-control"), Some("public, max-age=86400"));
            assert_eq!(reply.header("vary"), Some("accept-encoding"));
            assert_eq!(reply.header("etag"), Some(tag));
        }
        let other = till.call("GET", BUTTON).no_key().header("if-none-match", "\"other\"").send().await;
        assert_eq!(other.status, 200);
        assert_eq!(get(&world.till().await, BUTTON).await.status, 404, "it was built without the button");
    }

    async fn the_bare_address_says_what_this_is(world: World) {
        let till = world.till().await;
        let page = get(&till, "/").await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        let shown = String::from_utf8(page.body.clone()).unwrap();
        for path in ["/docs", "/openapi.json", "/healthz"] {
            assert!(shown.contains(&format!("href=\"{path}\"")), "{path}");
            assert_eq!(get(&till, path).await.status, 200, "{path}");
        }
        assert!(!shown.contains("demo"));
        let demo = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        assert!(String::from_utf8(get(&demo, "/").await.body.clone()).unwrap().contains("This is a demo"));
    }

    async fn the_documentation_is_html_and_markdown_and_names_this_server(world: World) {
        let till = world.till().await;
        let own = format!("http://{}", till.server.address);
        for path in ["/docs", "/docs/api", "/docs/errors/rate_limited", "/docs/guides", "/docs/guides/quickstart", "/docs/webhooks"] {
            let page = get(&till, path).await;
            assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")), "{path}");
            let policy = page.header("content-security-policy").unwrap();
            assert_eq!(policy.contains("script-src 'self'"), path == "/docs/api", "{path}");
            let markdown = get(&till, &format!("{path}.md")).await;
            assert_eq!((markdown.status, markdown.header("content-type")), (200, Some("text/markdown; charset=utf-8")), "{path}");
            assert!(markdown.body.starts_with(b"# "), "{path}");
            let with_slash = get(&till, &format!("{path}/")).await;
            assert_eq!((with_slash.status, with_slash.body), (200, page.body.clone()), "{path}/");
        }
        for path in ["/docs/nowhere", "/docs/nowhere.md", "/docs/errors/nowhere", "/docs/guides/nowhere.md"] {
            get(&till, path).await.refused(404, "route_not_found", None);
        }
        assert_eq!(get(&till, "/openapi.json").await.json()["servers"], json!([{ "url": own }]));
        for path in ["/docs/api", "/docs/api.md", "/llms.txt"] {
            let text = String::from_utf8(get(&till, path).await.body.clone()).unwrap();
            assert!(text.contains(&own), "{path}");
        }
        let other = world.till().await;
        let theirs = format!("http://{}", other.server.address);
        for path in ["/docs/api", "/docs/api.md", "/openapi.json"] {
            assert_eq!(get(&till, path).await.body, get(&till, path).await.body, "{path}");
            let text = words(&get(&other, path).await);
            assert!(text.contains(&theirs) && !text.contains(&own), "{path}");
        }
        let script = get(&till, "/docs/search.js").await;
        assert_eq!((script.status, script.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    }

    async fn the_documentation_is_sent_packed_to_who_takes_that_and_once_to_who_has_it(world: World) {
        let till = world.till().await;
        for path in ["/", "/llms.txt", "/openapi.json", "/docs", "/docs.md", "/docs/api", "/docs/api.md", "/docs/errors", "/docs/guides/quickstart", "/docs/style.css"] {
            let plain = get(&till, path).await;
            assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
            let packed = till.call("GET", path).no_key().header("accept-encoding", "br, gzip").send().await;
            assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")), "{path}");
            assert!(packed.body.len() < plain.body.len(), "{path}");
            let mut unpacked = Vec::new();
            GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, plain.body, "{path}");
            let tag = plain.header("etag").unwrap();
            let again = till.call("GET", path).no_key().header("accept-encoding", "gzip").header("if-none-match", tag).send().await;
            assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
            for reply in [&plain, &packed, &again] {
                assert_eq!(reply.header("vary"), Some("accept-encoding"), "{path}");
                assert_eq!(reply.header("cache-control"), Some("no-cache"), "{path}");
                assert_eq!(reply.header("etag"), Some(tag), "{path}");
            }
        }
        let page = get(&till, "/docs/api").await;
        let other = get(&till, "/docs/errors").await;
        assert_ne!(page.header("etag"), other.header("etag"));
    }

    async fn the_pins_come_with_the_publishable_key(world: World) {
        let till = world.till().await;
        let other = world.till().await;
        till.set(json!({ "display_name": "Acme" })).await;
        for (whose, name) in [(&till, json!("Acme")), (&other, json!("merchant"))] {
            let key = &whose.account.test.publishable_key;
            let config = get(&till, &format!("/checkout/config.json?key={key}")).await.json();
            let settings = whose.get("/v1/merchant/settings").await.ok(200);
            assert_eq!(config["destinations"], settings["registered_destinations"]);
            assert_eq!(config.get("merchant").unwrap_or(&json!(null)), &name);
            assert_eq!((&config["v"], &config["api"], &config["hosted"]), (&json!(1), &json!(".."), &json!(true)));
            assert!(config.get("demo").is_none() && config.get("key").is_none());
        }
        let none = get(&till, "/checkout/config.json").await;
        assert_eq!(none.json()["destinations"], json!({}));
        assert_eq!(none.header("cache-control"), Some("no-cache"));
        let unknown = get(&till, "/checkout/config.json?key=till_test_pk_nobody").await;
        assert_eq!(unknown.status, 401);
        let secret = &till.account.test.secret_key;
        assert_eq!(get(&till, &format!("/checkout/config.json?key={secret}")).await.status, 400);
    }

    async fn test_money_is_taken_by_the_demonstration_alone(world: World) {
        let till = world.till().await;
        let invoice = till.create(json!({ "amount": "25.00", "currency": "USD", "assets": [BASE] })).await;
        let body = json!({ "asset": BASE, "amount": "25.00", "finality": "final" });
        assert_eq!(pay(&till, &id(&invoice), body.clone()).await.status, 404);

        let demo = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        let invoice = demo.create(json!({ "amount": "25.00", "currency": "USD", "assets": [BASE] })).await;
        assert_eq!(pay(&demo, &id(&invoice), body).await.ok(200)["status"], "paid");
    }

    async fn test_money_rises_level_by_level_as_one_payment(world: World) {
        let demo = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        let invoice = demo.create(json!({ "amount": "25.00", "currency": "USD", "assets": [BASE] })).await;
        let step = |finality: &str, hash: Option<String>| {
            json!({ "asset": BASE, "amount": "25.00", "finality": finality, "tx_hash": hash })
        };
        let seen = pay(&demo, &id(&invoice), step("pending", None)).await.ok(200);
        assert_eq!(seen["status"], "detected");
        let hash = text(&seen["payments"][0]["tx_hash"]);
        for (level, status) in [("included", "confirming"), ("safe", "confirming"), ("final", "paid")] {
            let now = pay(&demo, &id(&invoice), step(level, Some(hash.clone()))).await.ok(200);
            assert_eq!(now["status"], status, "{level}");
            assert_eq!(now["payments"].as_array().unwrap().len(), 1);
            assert_eq!(now["payments"][0]["finality"], level);
        }
        let unknown = pay(&demo, &id(&invoice), step("final", Some("0x00".to_owned()))).await;
        assert_eq!((unknown.status, unknown.json()["error"]["param"].clone()), (400, json!("tx_hash")));
    }

    async fn without_javascript_a_payer_sees_the_status_and_no_address(world: World) {
        let till = world.till().await;
        till.set(json!({ "display_name": "Tea & <b>Co</b>" })).await;
        let invoice = till.create(json!({ "amount": "25.00", "currency": "USD", "description": "<script>tea</script>" })).await;
        let key = till.account.test.publishable_key.clone();
        let path = format!("/pay/{}?key={key}", id(&invoice));
        let page = get(&till, &path).await;
        let html = words(&page);
        assert_eq!(page.status, 200);
        assert!(html.contains("Waiting for your payment") && html.contains("25.00 USD"));
        assert!(html.contains("Tea &amp; &lt;b&gt;Co") && html.contains("&lt;script&gt;tea"));
        for option in invoice["payment_options"].as_array().unwrap() {
            assert!(!html.contains(&text(&option["address"])));
        }
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        assert_eq!(page.header("cache-control"), Some("no-store"));

        let german = till.call("GET", &path).no_key().header("accept-language", "de-DE,de;q=0.9").send().await;
        assert!(words(&german).contains("lang=\"de\"") && words(&german).contains("Wartet auf Ihre Zahlung"));
        till.simulate(&id(&invoice), json!({})).await;
        assert!(words(&get(&till, &path).await).contains("<h1>Paid</h1>"));
        let missing = get(&till, &format!("/pay/inv_none?key={key}")).await;
        assert_eq!((missing.status, words(&missing).contains("We cannot find this payment")), (404, true));
        assert_eq!(get(&till, "/pay/inv_none").await.status, 401);
    }

    async fn who_has_no_javascript_is_led_to_that_page(world: World) {
        let till = world.till_with(with_pages()).await;
        let invoice = till.create(json!({ "amount": "25.00", "currency": "USD" })).await;
        let key = till.account.test.publishable_key.clone();
        let page = words(&get(&till, &format!("/checkout/i/{}?key={key}", id(&invoice))).await);
        let link = format!("url=../../pay/{}?key={key}", id(&invoice));
        assert!(page.contains(&link), "{page}");
        let odd = words(&get(&till, "/checkout/i/inv_1?key=%22%3E%3Cscript%3E").await);
        assert!(!odd.contains("<noscript>") && odd.matches("<script").count() == 1, "{odd}");
    }
}
