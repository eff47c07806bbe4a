//! The dashboard's pages as the server serves them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use till_api::{CarriedPages, Files, Pages};
use till_engine::{DashboardConfig, Signup};

use crate::browser::{Browser, owner};
use crate::harness::{Reply, Setup, Till};

const INDEX: &str = "<!doctype html><title>Till</title><!--server--><script src=\"./assets/a.js\" integrity=\"x\"></script>";
const SCRIPT: &str = "let said = 'by the page'";

/// Pages as a build would make them, leaked because a program carries its own for ever.
fn pages() -> CarriedPages {
    let packed = |text: &str| -> &'static [u8] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap().leak()
    };
    let files: Files = vec![
        ("assets/a.js", packed(SCRIPT)),
        ("index.html", packed(INDEX)),
    ]
    .leak();
    CarriedPages {
        dashboard: Pages::new(files),
        ..CarriedPages::default()
    }
}

async fn get(till: &Till, path: &str) -> Reply {
    till.call("GET", path).no_key().send().await
}

fn words(reply: &Reply) -> String {
    String::from_utf8(reply.body.clone()).unwrap()
}

/// Whatever the page shows there, and where mailed links lead.
const PATHS: [&str; 6] = [
    "/dashboard",
    "/dashboard/",
    "/dashboard/link",
    "/dashboard/notices",
    "/dashboard/sign-in",
    "/dashboard/test/invoices/inv_1",
];

on_every_engine! {
    async fn every_address_below_the_dashboard_is_its_page_with_a_strict_policy(world: World) {
        let till = world.till_with(Setup { pages: pages(), ..Setup::default() }).await;
        for path in PATHS {
            let reply = get(&till, path).await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
            let policy = reply.header("content-security-policy").unwrap();
            let parts = [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
                "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
            ];
            for part in parts {
                assert!(policy.contains(part), "{part}");
            }
            assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
            assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(reply.header("cache-control"), Some("no-cache"));
            assert_eq!(reply.header("set-cookie"), None);
            assert!(words(&reply).contains("src=\"/dashboard/assets/a.js\""), "{path}");
        }
        let script = get(&till, "/dashboard/assets/a.js").await;
        assert_eq!((script.status, words(&script).as_str()), (200, SCRIPT));
        assert!(script.header("cache-control").unwrap().contains("immutable"));
        assert_eq!(get(&till, "/dashboard/assets/b.js").await.status, 404);
    }

    async fn the_page_is_told_where_it_belongs_and_which_ways_in_there_are(world: World) {
        let plain = world.till_with(Setup { pages: pages(), ..Setup::default() }).await;
        let page = words(&get(&plain, "/dashboard").await);
        for (name, value) in [("url", "http://localhost:4242/dashboard"), ("signup", "invite"), ("mail", "no"), ("demo", "no")] {
            let line = format!("<meta name=\"till-{name}\" content=\"{value}\">");
            assert!(page.contains(&line), "{line} in {page}");
        }
        let dashboard = DashboardConfig {
            url: "https://pay.example.com/till/dashboard".to_owned(),
            signup: Signup::Open,
            ..DashboardConfig::default()
        };
        let setup = Setup { pages: pages(), dashboard, mail: true, demo: true, ..Setup::default() };
        let page = words(&get(&world.till_with(setup).await, "/dashboard/link").await);
        for said in ["\"https://pay.example.com/till/dashboard\"", "\"open\"", "\"yes\"", "src=\"/till/dashboard/assets/a.js\""] {
            assert!(page.contains(said), "{said} in {page}");
        }
    }

    async fn a_server_that_was_built_without_the_pages_says_so_in_one_line(world: World) {
        let till = world.till().await;
        let reply = get(&till, "/dashboard").await;
        assert_eq!((reply.status, words(&reply).lines().count()), (200, 1));
        assert!(words(&reply).contains("make web"));
    }

    async fn a_dashboard_that_is_switched_off_is_not_there(world: World) {
        let dashboard = DashboardConfig { is_enabled: false, ..DashboardConfig::default() };
        let till = world.till_with(Setup { pages: pages(), dashboard, ..Setup::default() }).await;
        for path in ["/dashboard", "/dashboard/link", "/v1/dashboard/session", "/v1/dashboard/home"] {
            get(&till, path).await.refused(404, "route_not_found", None);
        }
        let wrong = till.call("DELETE", "/v1/dashboard/session").send().await;
        wrong.refused(404, "route_not_found", None);
        till.call("DELETE", "/v1/invoices").send().await.refused(405, "method_not_allowed", None);
        till.get("/v1/invoices").await.ok(200);
        // Who was signed in before it was switched off is not any more, anywhere.
        let elsewhere = world.beside(&till, Setup::default()).await;
        let before = owner(&elsewhere).await.in_mode("test");
        before.call("GET", "/v1/invoices").send().await.ok(200);
        let mut now = Browser::new(&till).in_mode("test");
        (now.cookie, now.csrf) = (before.cookie.clone(), before.csrf.clone());
        now.call("GET", "/v1/invoices").send().await.refused(401, "api_key_missing", None);
    }
}
