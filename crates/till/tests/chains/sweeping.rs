//! From the deposit addresses to the merchant's own, by anybody's wallet.

use serde_json::{Value, json};

use crate::common::text;
use crate::node::Node;
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const DESTINATION: &str = "0x52908400098527886E0F7030069857D2E4169EE7";

#[test]
fn what_lies_on_the_addresses_goes_where_it_must_by_any_wallet() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    node.keep_balances(USDC);
    let networks = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", node.url);
    let destination = format!("eip155={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], &networks);
    let server = shop.open();
    let sums: [u128; 3] = [25_000_000, 7_000_000, 400_000];
    let mut invoices = Vec::new();
    for sum in sums {
        let price = format!("{}.{:02}", sum / 1_000_000, sum / 10_000 % 100);
        let (id, deposit) = shop.invoice(&server, &price, USDC);
        node.pay(USDC, &[(&deposit, sum)]);
        invoices.push((id, deposit));
    }
    node.mine(2);
    for (id, _) in &invoices {
        shop.until_status(&server, id, "paid");
    }

    let sweep = |more: &[&str]| shop.sweep(more);
    let all = sweep(&["--min", "1"]);
    let [batch] = &**all.as_array().expect("a list") else {
        panic!("one batch: {all}")
    };
    assert_eq!(
        (&batch["network"], &batch["chain_id"]),
        (&json!("eip155:84532"), &json!(84532))
    );
    let lying = batch["addresses"].as_array().expect("a list");
    let told: Vec<&Value> = lying.iter().map(|it| &it["amount"]).collect();
    assert_eq!(told, ["25.00", "7.00"], "the dust is left");
    assert!(
        lying
            .iter()
            .all(|it| it["deployed"] == false && it["asset"] == USDC)
    );

    // A wallet that has nothing to do with the merchant.
    let anybody = node.ask("eth_accounts", json!([]))[5].take();
    let send = |batch: &Value| {
        let (to, data) = (text(batch, "/to"), text(batch, "/data"));
        let (value, gas) = (text(batch, "/value"), text(batch, "/gas"));
        let tx = json!({ "from": anybody, "to": to, "data": data, "value": value, "gas": gas });
        let hash = node.ask("eth_sendTransaction", json!([tx]));
        node.mine(1);
        let receipt = node.ask("eth_getTransactionReceipt", json!([hash]));
        assert_eq!(receipt["status"], "0x1", "{receipt}");
    };
    send(batch);
    assert_eq!(node.balance(USDC, DESTINATION), 32_000_000);
    assert_eq!(node.balance(USDC, &invoices[0].1), 0);
    let rest = sweep(&[]);
    assert_eq!(rest[0]["addresses"][0]["amount"], "0.40");
    send(&rest[0]);
    assert_eq!(node.balance(USDC, DESTINATION), 32_400_000);
    assert_eq!(sweep(&[]), json!([]));

    // Emptied, an address is deployed; paid again, it is only flushed. And what was swept is nobody's payment.
    node.mine(3);
    let (again, deposit) = (&invoices[1].0, &invoices[1].1);
    node.pay(USDC, &[(deposit, 1_000_000)]);
    node.mine(2);
    shop.until_status(&server, again, "overpaid");
    let last = sweep(&[]);
    assert_eq!(last[0]["addresses"][0]["deployed"], true);
    send(&last[0]);
    assert_eq!(node.balance(USDC, DESTINATION), 33_400_000);
    for (id, _) in [&invoices[0], &invoices[2]] {
        assert_eq!(shop.payments(&server, id).len(), 1);
    }
    server.stop();
}

#[test]
fn every_address_is_found_again_with_the_database_gone() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    node.keep_balances(USDC);
    let networks = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", node.url);
    let destination = format!("eip155={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], &networks);
    let server = shop.open();
    let (_, first) = shop.invoice(&server, "25.00", USDC);
    let (_, second) = shop.invoice(&server, "7.00", USDC);
    node.pay(USDC, &[(&second, 7_000_000)]);
    let account = shop.account_id().to_owned();
    server.stop();
    let elsewhere = crate::common::Place::new();
    let rpc = format!("eip155:84532={}", node.url);
    let found = elsewhere.till(&[
        "recover",
        "--account",
        &account,
        "--mode",
        "test",
        "--destination",
        &destination,
        "--rpc",
        &rpc,
        "--count",
        "5",
        "--json",
    ]);
    let found = found.json();
    assert_eq!(found.as_array().map(Vec::len), Some(5));
    let address = |at: usize| text(&found, &format!("/{at}/address")).to_owned();
    assert_eq!([address(0), address(1)], [first, second]);
    assert_eq!(found[0]["balances"], json!([]));
    assert_eq!(
        found[1]["balances"],
        json!([{ "asset": USDC, "amount": "7.00" }])
    );
    assert_eq!(
        (&found[1]["family"], &found[1]["number"]),
        (&json!("eip155"), &json!(1))
    );
    assert_eq!(text(&found, "/1/salt").len(), 66);
    assert!(elsewhere.files().is_empty(), "{:?}", elsewhere.files());
}

#[test]
fn what_cannot_be_asked_is_not_nothing() {
    let networks = "[networks.\"eip155:84532\"]\nrpc = [\"http://127.0.0.1:1\"]\n";
    let destination = format!("eip155={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], networks);
    let account = shop.account_id();
    let run = |more: &[&str]| {
        let args = ["sweep", "--config", "till.toml", "--account", account];
        let all = [&args[..], &["--mode", "test"], more].concat();
        shop.place.till(&all)
    };
    let sweep = |more: &[&str]| run(more).fails(1);
    for min in ["abc", "10,5", "-5", "1e3", ""] {
        let line = run(&[&format!("--min={min}")]).fails(2);
        assert!(line.contains("--min must be a plain decimal"), "{line}");
    }
    let line = sweep(&["--network", "eip155:11155111"]);
    assert!(line.contains("eip155:11155111 has no endpoint"), "{line}");
    let line = sweep(&["--network", "eip155:8453"]);
    assert!(line.contains("is not a network of test mode"), "{line}");
    let recover = shop.place.till(&[
        "recover",
        "--config",
        "till.toml",
        "--account",
        account,
        "--mode",
        "test",
        "--destination",
        &destination,
        "--count",
        "2",
        "--json",
    ]);
    let found: Value = serde_json::from_str(&recover.stdout).expect("what is known");
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    let line = recover.fails(1);
    assert!(line.contains("the balances are not complete"), "{line}");
    assert!(line.contains("eip155:84532"), "{line}");
}

#[test]
fn what_is_sent_to_the_destination_and_fits_nothing_is_in_the_books_as_nobodys() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let networks = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", node.url);
    let destination = format!("eip155={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], &networks);
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    node.pay(USDC, &[(DESTINATION, 7_770_000), (&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    let merchant = shop.merchant(&server);
    let report = merchant.get("/v1/reconciliation").unwrap().expect(200);
    let [nobodys] = &**report["discrepancies"].as_array().expect("a list") else {
        panic!("one: {report}")
    };
    assert_eq!(
        (&nobodys["kind"], &nobodys["amount"]),
        (&json!("unattributed"), &json!("7.77"))
    );
    server.stop();
}
