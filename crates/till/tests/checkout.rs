//! `till checkout export`: the pages on a merchant's own host.

#[expect(dead_code, reason = "shared with suites that use more of it")]
mod common;

use std::fs;
use std::path::Path;

use common::{Place, text};
use serde_json::{Value, json};

/// Whether this program carries the pages: `make test` builds them first, `cargo test` alone need not.
fn has_pages() -> bool {
    Path::new("../../web/dist/checkout/index.html").exists()
}

#[test]
fn the_pages_are_exported_with_the_accounts_destinations_pinned() {
    let place = Place::new();
    let account = place.account(&[]);
    let id = text(&account, "/account");
    let export = [
        "checkout",
        "export",
        "--account",
        id,
        "--mode",
        "test",
        "--to",
        "pay",
    ];
    if !has_pages() {
        let line = place.till(&export).fails(1);
        return assert!(line.contains("make web"), "{line}");
    }
    place.till(&export).ok();
    let read = |name: &str| fs::read_to_string(place.path("pay").join(name)).unwrap();
    let config: Value = serde_json::from_str(&read("config.json")).unwrap();
    assert_eq!(config["key"], account["test"]["publishable_key"]);
    assert_eq!(config["api"], "http://127.0.0.1:4242");
    let evm = "0x52908400098527886E0F7030069857D2E4169EE7";
    assert_eq!(config["destinations"]["eip155"], evm);
    assert!(config.get("hosted").is_none());
    // Nobody set a display name: the page has a name all the same, and not from an answer.
    assert!(
        config["merchant"]
            .as_str()
            .is_some_and(|name| !name.is_empty()),
        "{config}"
    );
    for file in ["_headers", "nginx.conf"] {
        let text = read(file);
        assert!(
            text.contains(
                "connect-src 'self' http://127.0.0.1:4242; base-uri 'none'; form-action 'none'"
            ) && text.contains("; frame-ancestors 'none'"),
            "{text}"
        );
    }
    for page in ["index.html", "404.html"] {
        let html = read(page);
        let (before, after) = html
            .split_once("content-security-policy")
            .expect("a policy");
        assert!(
            !before.contains("<script"),
            "the policy stands before what it judges"
        );
        assert!(
            after.contains("connect-src 'self' http://127.0.0.1:4242;"),
            "{after}"
        );
    }
    let assets = fs::read_dir(place.path("pay/assets")).unwrap().count();
    assert!(assets > 10, "{assets} files");

    // What the merchant wrote into its configuration is the merchant's.
    let own =
        json!({ "v": 1, "api": "https://till.example", "accent": "#0a5", "destinations": {} });
    fs::write(place.path("pay/config.json"), own.to_string()).unwrap();
    let again = place.till(&export).ok();
    assert!(
        again.stdout.contains("pins other destinations"),
        "{}",
        again.stdout
    );
    assert_eq!(read("config.json"), own.to_string());
}

#[test]
fn an_account_that_is_not_there_has_no_pages() {
    let place = Place::new();
    place.account(&[]);
    for (account, mode) in [("acct_nobody", "test"), ("'; --", "live")] {
        let export = [
            "checkout",
            "export",
            "--account",
            account,
            "--mode",
            mode,
            "--to",
            "pay",
        ];
        let line = place.till(&export).fails(1);
        assert!(line.contains("no account") || !has_pages(), "{line}");
        assert!(!place.path("pay").exists());
    }
}
