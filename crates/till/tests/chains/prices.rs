//! What a volatile asset costs, asked for on a chain.

use serde_json::json;

use crate::common::{comes_true, text};
use crate::node::Node;
use crate::shop::Shop;

const BTC: &str = "BTC@bip122:00000000da84f2bafbbc53dee25a72ae";
const FEEDS: [&str; 2] = [
    "0x00000000000000000000000000000000000feed1",
    "0x00000000000000000000000000000000000feed2",
];

/// A feed that says a price with eight decimals, so many seconds before now: `latestRoundData` and `decimals`.
///
/// ```text
/// PUSH1 00 CALLDATALOAD PUSH1 e0 SHR PUSH4 313ce567 EQ PUSH1 2d JUMPI
/// PUSH1 01 PUSH1 00 MSTORE PUSH8 price PUSH1 20 MSTORE
/// PUSH2 age TIMESTAMP SUB PUSH1 60 MSTORE PUSH1 a0 PUSH1 00 RETURN
/// 2d: JUMPDEST PUSH1 08 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// ```
fn says(node: &Node, feed: &str, price: u64, age_s: u16) {
    let code = format!(
        "0x60003560e01c63313ce56714602d57600160005267{price:016x}60205261{age_s:04x}420360605260a06000f3\
         5b600860005260206000f3"
    );
    node.ask("anvil_setCode", json!([feed, code]));
}

// N18.
#[test]
fn what_feeds_agree_on_is_a_price_and_what_is_old_or_apart_is_none() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let [one, two] = FEEDS;
    says(&node, one, 6_400_000_000_000, 5);
    says(&node, two, 6_410_000_000_000, 5);
    let source = |feed: &str| {
        format!(
            r#"{{ pair = "BTC/USD", kind = "chainlink", network = "eip155:84532", feed = "{feed}" }}"#
        )
    };
    let shop = Shop::new(&format!(
        "[prices]\nfixed = {{}}\nmax_age_s = 60\nsources = [{}, {}]\n[networks.\"eip155:84532\"]\nrpc = [{:?}]\n",
        source(one),
        source(two),
        node.url
    ));
    node.mine(1);
    let body = json!({ "amount": "640.00", "currency": "USD", "assets": [BTC] });
    // Who watches nothing knows what it may ask, too.
    for only in [&[][..], &["--only", "api"]] {
        let server = shop.open_with(only);
        let merchant = shop.merchant(&server);
        let mut made = json!(null);
        let mut tries = 0;
        let is_made = comes_true(|| {
            tries += 1;
            let key = format!("btc-{tries}-{}", server.address);
            let answer = merchant.post("/v1/invoices", &key, &body).unwrap();
            made = answer.json();
            answer.status == 201
        });
        assert!(is_made, "{made}");
        assert_eq!(text(&made, "/payment_options/0/amount_due"), "0.01");
        let rate = &made["payment_options"][0]["rate"];
        let named = "Chainlink on Base Sepolia";
        assert_eq!(rate["sources"], json!([named, named]), "{made}");
        assert_eq!(rate["price"], "64000.00", "the lower one of two");
        let [at, made_at] = [text(rate, "/at"), text(&made, "/created_at")];
        assert!(at < made_at, "{at} {made_at}");
        let ready = server.client("").get("/readyz").unwrap().json();
        assert_eq!(ready["networks"][0]["endpoints_usable"], 1, "{ready}");
        server.stop();
    }

    // A hundred times as much, or an hour ago: no price.
    for (price, age_s, fresh) in [(641_000_000_000_000, 5, 2), (6_410_000_000_000, 3_600, 1)] {
        says(&node, two, price, age_s);
        node.mine(1);
        let server = shop.open();
        let line = server.log_until(&format!("\"fresh\":{fresh}"));
        assert!(line.contains("not enough price sources agree"), "{line}");
        let merchant = shop.merchant(&server);
        let refused = merchant.post("/v1/invoices", "none", &body).unwrap();
        assert_eq!(refused.status, 409);
        assert_eq!(refused.json()["error"]["code"], "price_unavailable");
        server.stop();
    }
}
