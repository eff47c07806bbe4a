//! The examples of the API reference: real calls and their answers, in a file that is checked in (`harness::recorded`).

use serde_json::{Map, Value, json};

use crate::harness::recorded::hold;
use crate::harness::{BASE, Receiver, Setup, Till, finished_deliveries, id, text};
use crate::stream::follow_with;

const FILE: &str = "src/document/docs/examples.json";
const PAYER: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/// Makes calls, and keeps them by the endpoint's name in the document.
struct Recorder<'t> {
    till: &'t Till,
    calls: Map<String, Value>,
}

impl Recorder<'_> {
    async fn get(&mut self, operation: &str, path: &str) -> Value {
        self.call(operation, "secret", path, None).await
    }

    async fn post(&mut self, operation: &str, path: &str, body: Value) -> Value {
        self.call(operation, "secret", path, Some(body)).await
    }

    /// `key` is `secret`, `publishable` or `none`.
    async fn call(&mut self, operation: &str, key: &str, path: &str, body: Option<Value>) -> Value {
        let (method, call) = match &body {
            Some(body) => ("POST", self.till.posting(path, body.clone())),
            None => ("GET", self.till.call("GET", path)),
        };
        let call = match key {
            "publishable" => call.key(&self.till.account.test.publishable_key),
            "none" => call.no_key(),
            _ => call,
        };
        let reply = call.send().await;
        assert!((200..300).contains(&reply.status), "{operation}: {reply:?}");
        let told = String::from_utf8(reply.body).unwrap();
        let answer: Value = serde_json::from_str(&told).unwrap_or(Value::String(told));
        let example = json!({
            "method": method, "path": path, "key": key, "body": body, "answer": answer,
        });
        self.calls.insert(operation.to_owned(), example);
        answer
    }
}

async fn invoices(to: &mut Recorder<'_>) {
    let order = json!({
        "amount": "25.00", "currency": "USD", "description": "Order 1001", "customer_ref": "customer-17",
        "metadata": { "order": "1001" },
    });
    let invoice = id(&to.post("createInvoice", "/v1/invoices", order).await);
    to.get("retrieveInvoice", &format!("/v1/invoices/{invoice}"))
        .await;
    to.get("listInvoices", "/v1/invoices?limit=1").await;
    let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
    to.post("simulatePayment", &path, json!({})).await;
    to.get("listPayments", &format!("/v1/payments?invoice={invoice}"))
        .await;
    let paid = to
        .get("listEvents", "/v1/events?type=invoice.paid&limit=1")
        .await;
    let event = id(&paid["data"][0]);
    to.get("retrieveEvent", &format!("/v1/events/{event}"))
        .await;
    let payment = id(&to.till.payments_of(&invoice).await[0]);
    let path = format!("/v1/test_helpers/payments/{payment}/reverse");
    to.post("reversePayment", &path, json!({})).await;
    let unwanted = id(&to.till.invoice().await);
    to.post(
        "cancelInvoice",
        &format!("/v1/invoices/{unwanted}/cancel"),
        json!({}),
    )
    .await;
    to.till.set(json!({ "manual_review_amount": "1000" })).await;
    let large = id(&to
        .till
        .create(json!({ "amount": "1000.00", "currency": "USD" }))
        .await);
    to.till.simulate(&large, json!({})).await;
    let decision = json!({ "decision": "accept", "reason": "A known customer" });
    to.post(
        "resolveReview",
        &format!("/v1/invoices/{large}/resolve_review"),
        decision,
    )
    .await;
}

async fn refunds(to: &mut Recorder<'_>) {
    let invoice = id(&to.till.invoice().await);
    to.till.simulate(&invoice, json!({ "amount": "30" })).await;
    let body = json!({ "reason": "overpaid" });
    let refund = to
        .post(
            "createRefund",
            &format!("/v1/invoices/{invoice}/refunds"),
            body,
        )
        .await;
    let claim = format!("/v1/refund_claims/{}", text(&refund["claim_token"]));
    to.call("retrieveRefundClaim", "none", &claim, None).await;
    let payout = json!({ "network": "eip155:84532", "address": PAYER });
    to.call("claimRefund", "none", &claim, Some(payout)).await;
    let path = format!("/v1/refunds/{}", id(&refund));
    to.get("retrieveRefund", &path).await;
    to.get("listRefunds", "/v1/refunds?status=ready_to_send")
        .await;
    let sent = json!({ "tx_hash": format!("0x{}", "7c".repeat(32)) });
    to.post("markRefundSent", &format!("{path}/mark_sent"), sent)
        .await;
    let other = json!({ "amount": "1", "asset": BASE });
    let other = to
        .till
        .post(&format!("/v1/invoices/{invoice}/refunds"), other)
        .await
        .ok(201);
    to.post(
        "cancelRefund",
        &format!("/v1/refunds/{}/cancel", id(&other)),
        json!({}),
    )
    .await;
}

async fn checkout(to: &mut Recorder<'_>) {
    let terms = json!({ "amount_type": "fixed", "amount": "9.00", "currency": "USD", "description": "Tea" });
    let link = to
        .post("createPaymentLink", "/v1/payment_links", terms)
        .await;
    let path = format!("/v1/payment_links/{}", id(&link));
    to.get("retrievePaymentLink", &path).await;
    to.get("listPaymentLinks", "/v1/payment_links?active=true")
        .await;
    to.post("updatePaymentLink", &path, json!({ "quantity_limit": 100 }))
        .await;
    let page = format!("/v1/checkout/links/{}", text(&link["slug"]));
    to.call("retrieveCheckoutLink", "publishable", &page, None)
        .await;
    let opened = to
        .call(
            "createLinkInvoice",
            "publishable",
            &format!("{page}/invoices"),
            Some(json!({})),
        )
        .await;
    let invoice = format!("/v1/checkout/invoices/{}", id(&opened));
    let asset = json!({ "asset": BASE });
    to.call(
        "pickPaymentOption",
        "publishable",
        &format!("{invoice}/payment_option"),
        Some(asset),
    )
    .await;
    to.call("retrieveCheckoutInvoice", "publishable", &invoice, None)
        .await;
    let wallet = json!({ "asset": BASE, "sender": PAYER });
    to.call(
        "bindWallet",
        "publishable",
        &format!("{invoice}/wallet_binding"),
        Some(wallet),
    )
    .await;
    let notify = json!({ "email": "payer@example.com", "session_token": opened["session_token"] });
    to.call(
        "notifyPayer",
        "publishable",
        &format!("{invoice}/notify"),
        Some(notify),
    )
    .await;
    let lookup = format!("{invoice}/lookup?tx_hash=0x{}", "5e".repeat(32));
    to.call("lookupTransaction", "publishable", &lookup, None)
        .await;
    to.call(
        "listExchanges",
        "publishable",
        "/v1/checkout/exchanges",
        None,
    )
    .await;
}

async fn subscriptions(to: &mut Recorder<'_>) {
    let customer = json!({ "name": "Ada Lovelace", "email": "ada@example.com" });
    let customer = id(&to.post("createCustomer", "/v1/customers", customer).await);
    to.get("retrieveCustomer", &format!("/v1/customers/{customer}"))
        .await;
    to.get("listCustomers", "/v1/customers").await;
    let credit = json!({ "amount": "100.00", "currency": "USD" });
    to.post(
        "topUpCustomer",
        &format!("/v1/customers/{customer}/top_up"),
        credit,
    )
    .await;
    let plan = json!({ "name": "Tea club", "amount": "25.00", "currency": "USD", "interval": "month", "trial_days": 14 });
    let plan = id(&to.post("createPlan", "/v1/plans", plan).await);
    to.get("retrievePlan", &format!("/v1/plans/{plan}")).await;
    to.get("listPlans", "/v1/plans").await;
    let body = json!({ "customer": customer, "plan": plan });
    let subscription = id(&to
        .post("createSubscription", "/v1/subscriptions", body)
        .await);
    let path = format!("/v1/subscriptions/{subscription}");
    to.get("retrieveSubscription", &path).await;
    to.get("listSubscriptions", "/v1/subscriptions?status=active")
        .await;
    to.post("pauseSubscription", &format!("{path}/pause"), json!({}))
        .await;
    to.post("resumeSubscription", &format!("{path}/resume"), json!({}))
        .await;
    to.post(
        "cancelSubscription",
        &format!("{path}/cancel"),
        json!({ "at_period_end": true }),
    )
    .await;
    to.post(
        "archivePlan",
        &format!("/v1/plans/{plan}/archive"),
        json!({}),
    )
    .await;
}

/// Answers with the URL that webhooks were sent to.
async fn merchant(to: &mut Recorder<'_>) -> String {
    let receiver = Receiver::start().await;
    to.till.set(json!({ "webhook_url": receiver.url() })).await;
    to.till.invoice().await;
    let delivered = id(&finished_deliveries(to.till, 1).await[0]);
    to.get("listWebhookDeliveries", "/v1/webhook_deliveries?limit=1")
        .await;
    let path = format!("/v1/webhook_deliveries/{delivered}/replay");
    to.post("replayWebhookDelivery", &path, json!({})).await;
    let settings =
        json!({ "display_name": "Teahouse", "underpay_tolerance_bps": 50, "webhook_url": null });
    to.post("updateSettings", "/v1/merchant/settings", settings)
        .await;
    to.get("retrieveSettings", "/v1/merchant/settings").await;
    to.post(
        "rollWebhookSecret",
        "/v1/merchant/webhook_secret/roll",
        json!({}),
    )
    .await;
    to.get("listAssets", "/v1/assets").await;
    to.get("retrieveTestClock", "/v1/test_helpers/clock").await;
    to.post(
        "advanceTestClock",
        "/v1/test_helpers/clock",
        json!({ "advance_seconds": 3600 }),
    )
    .await;
    receiver.url()
}

async fn books(to: &mut Recorder<'_>) {
    to.get("reconcile", "/v1/reconciliation").await;
    to.get("ledgerBalances", "/v1/reconciliation/balances")
        .await;
    to.get("exportReconciliation", "/v1/reconciliation/export")
        .await;
    to.call("ledgerKeys", "none", "/.well-known/till-ledger.json", None)
        .await;
}

/// The first events of a stream, which goes on.
async fn stream(to: &mut Recorder<'_>) {
    let invoice = id(&to.till.invoice().await);
    to.till.simulate(&invoice, json!({})).await;
    let path = format!("/v1/invoices/{invoice}/events");
    let key = &to.till.account.test.publishable_key;
    let mut follower = follow_with(to.till.call("GET", &path).key(key)).await;
    let mut answer = String::new();
    // When to come again, and two events.
    for _ in 0..3 {
        answer += &follower.next_block().await.expect("an event");
    }
    let example = json!({
        "method": "GET", "path": path, "key": "publishable", "body": null, "answer": answer, "goes_on": true,
    });
    to.calls.insert("streamInvoiceEvents".to_owned(), example);
    for probe in ["healthz", "readyz"] {
        to.call(probe, "none", &format!("/{probe}"), None).await;
    }
}

on_every_engine! {
    async fn the_recorded_examples_are_what_the_server_answers(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let mut recorder = Recorder { till: &till, calls: Map::new() };
        let receiver = merchant(&mut recorder).await;
        invoices(&mut recorder).await;
        refunds(&mut recorder).await;
        checkout(&mut recorder).await;
        subscriptions(&mut recorder).await;
        books(&mut recorder).await;
        stream(&mut recorder).await;
        let own = format!("http://{}", till.server.address);
        let shop = (receiver.as_str(), "https://shop.example/webhooks");
        hold(FILE, recorder.calls, &[own], &[shop]);
    }
}
