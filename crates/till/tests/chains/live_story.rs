//! Live mode from the application to the refund, on a chain that passes for a main network.

use serde_json::{Value, json};

use crate::common::browser::Browser;
use crate::common::{Place, Server, comes_true, text, until};
use crate::node::Node;

const USDC: &str = "USDC@eip155:8453";
const ORACLE: &str = "0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B";
const FIRST: &str = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const SECOND: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const PAYER: &str = "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb";

fn destination(address: &str) -> Value {
    json!({ "kind": "destination", "family": "eip155", "address": address })
}

/// A new invoice of the owner's: its id, where to pay it, and where that leads.
fn invoice(owner: &mut Browser) -> (String, String) {
    let body = json!({ "amount": "25.00", "currency": "USD", "assets": [USDC] });
    let made = owner.post("/v1/invoices", &body).expect(201);
    let id = text(&made, "/id").to_owned();
    (id, text(&made, "/payment_options/0/address").to_owned())
}

#[track_caller]
fn until_status(owner: &Browser, path: &str, status: &str) -> Value {
    let mut last = Value::Null;
    comes_true(|| {
        last = owner.get(path);
        last["status"] == status
    });
    assert_eq!(last["status"], status, "{last}");
    last
}

/// The owner applies, the operator approves.
fn go_live(owner: &mut Browser, operator: &mut Browser) {
    let filled = json!({
        "business_name": "Corner shop", "country": "DE", "contact_email": "ada@example.com",
        "business_description": "Bread and milk.", "expected_monthly_volume": "1000",
    });
    owner.post("application", &filled).expect(200);
    let submitted = owner.confirmed("application/submit", &Value::Null);
    let submitted = submitted.expect(200);
    let path = format!("operator/applications/{}/approve", text(&submitted, "/id"));
    let read = json!({ "note": "Welcome.", "submitted_at": submitted["submitted_at"] });
    let approved = operator.confirmed(&path, &read).expect(200);
    assert_eq!(approved["status"], "approved");
}

/// Held because of who paid, and accepted with a passkey alone.
fn hold_and_accept(owner: &mut Browser, node: &Node) -> String {
    let (held, to_held) = invoice(owner);
    node.block(ORACLE, &node.payer());
    node.pay(USDC, &[(&to_held, 25_000_000)]);
    node.mine(2);
    let path = format!("/v1/invoices/{held}");
    let shown = until_status(owner, &path, "under_review");
    assert_eq!(shown["review"]["hold"], "sanctions", "{shown}");
    until("the owner is told of the review", || {
        let told = owner.get("notices");
        let mut told = told["data"].as_array().expect("a list").iter();
        told.any(|notice| notice["kind"] == "review.opened" && notice["target"] == held)
    });
    let resolve = format!("{path}/resolve_review");
    let accept = json!({ "decision": "accept", "reason": "The list is wrong about them." });
    let refused = owner.post(&resolve, &accept).expect(403);
    assert_eq!(refused["error"]["code"], "step_up_required");
    owner.confirmed(&resolve, &accept).expect(200);
    until_status(owner, &path, "paid");
    held
}

fn refund(owner: &mut Browser, server: &Server, node: &Node, invoice: &str) {
    let path = format!("/v1/invoices/{invoice}/refunds");
    let made = owner.post(&path, &json!({ "amount": "5" })).expect(201);
    let claim = format!("/v1/refund_claims/{}", text(&made, "/claim_token"));
    let body = json!({ "network": "eip155:8453", "address": PAYER });
    let mut payer = Browser::new(server, "payer");
    payer.post(&claim, &body).expect(200);
    let path = format!("/v1/refunds/{}", text(&made, "/id"));
    until_status(owner, &path, "ready_to_send");
    let sent = node.pay(USDC, &[(PAYER, 5_000_000)]);
    node.mine(2);
    let marked = owner.post(&format!("{path}/mark_sent"), &json!({ "tx_hash": sent }));
    assert_eq!(marked.expect(200)["status"], "sent");
}

#[test]
fn a_merchant_goes_live_is_paid_holds_accepts_and_refunds() {
    let Some(node) = Node::start("eip155:8453") else {
        return;
    };
    let place = Place::new();
    // Without a list nobody would be cleared to be paid back.
    let listed = "0x52908400098527886E0F7030069857D2E4169EE7\n";
    let list = place.write("list.txt", listed);
    let config = format!(
        "[server]\nlive_mode = true\n[dashboard]\nchange_delay_s = 3\n\
         [screening]\nlists = [{{name = \"ours\", source = {:?}, format = \"plain\"}}]\n\
         [networks.\"eip155:8453\"]\nrpc = [{:?}]\n",
        list.display().to_string(),
        node.url
    );
    place.write("till.toml", &config);
    let account = place.account(&["--owner", "ada@example.com"]);
    let person = ["operator", "create", "--email", "op@example.com", "--json"];
    let operator_link = place.till(&person).json();
    let server = place.serve(&["--config", "till.toml"]);
    until("the list is read", || {
        let status = ["screening", "status", "--config", "till.toml", "--json"];
        let status = place.till(&status);
        status.status == Some(0) && status.json().pointer("/0/addresses") == Some(&json!(1))
    });
    let mut owner = Browser::new(&server, "owner");
    owner.enter("invites/accept", text(&account, "/dashboard_link"));
    owner.register_passkey();
    let mut operator = Browser::new(&server, "operator");
    operator.enter("sign_in/link/confirm", text(&operator_link, "/link"));
    operator.register_passkey();
    go_live(&mut owner, &mut operator);
    owner.set_mode("live");

    // Before the first invoice a destination is at once what it is changed to.
    let first = owner.confirmed("changes", &destination(FIRST)).expect(201);
    assert_eq!(first["status"], "effective");
    let key = json!({ "kind": "secret", "name": "Shop" });
    let key = owner.confirmed("api_keys", &key).expect(201);
    let shop = server.client(text(&key, "/key"));
    assert_eq!(
        shop.get("/v1/invoices").unwrap().expect(200)["data"],
        json!([])
    );

    let (before, to_before) = invoice(&mut owner);
    let second = owner.confirmed("changes", &destination(SECOND)).expect(201);
    assert_eq!(
        (&second["status"], &second["from"]),
        (&json!("pending"), &json!(FIRST))
    );
    until_status(
        &owner,
        &format!("changes/{}", text(&second, "/id")),
        "effective",
    );
    let (after, to_after) = invoice(&mut owner);
    node.block(ORACLE, "0x1111111111111111111111111111111111111111");
    node.pay(USDC, &[(&to_before, 25_000_000), (&to_after, 25_000_000)]);
    node.mine(2);
    for id in [&before, &after] {
        until_status(&owner, &format!("/v1/invoices/{id}"), "paid");
    }
    let held = hold_and_accept(&mut owner, &node);
    refund(&mut owner, &server, &node, &held);
    let home = owner.get("home");
    assert_eq!(home["volumes"][0]["payments"], 3, "{home}");
    let books = owner.get("/v1/reconciliation/balances");
    let closing = |account: &str| {
        let mut balances = books["balances"].as_array().expect("a list").iter();
        let found = balances.find(|of| of["account"] == account);
        found.expect("an account group")["closing"].clone()
    };
    assert_eq!(closing("received"), "75.00");
    assert_eq!(closing("settled"), "70.00", "less what was paid back");
    server.stop();
}
