//! A payout that was made is recorded, whatever became of its refund since, and is never offered again.

use serde_json::{Value, json};

use crate::claims::{PAYER, claim};
use crate::harness::{BASE, BTC, Mood, Node, Setup, Till, World, id, text, until};
use crate::refunds::{act, received, refund, reverse, shown, tx};

const USDC: &str = "036cbd53842c5426634e7929541ec2318f3dcf7e";
const SHOP: &str = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
const STRANGER: &str = "3c44cdddb6a900fa2b585dd299e03d12fa4293bc";

/// An account whose network is observed by this node.
async fn observed_by(world: &World, node: &Node) -> Till {
    let setup = Setup {
        rpc: [("eip155:84532".to_owned(), vec![node.url()])].into(),
        ..Setup::default()
    };
    world.till_with(setup).await
}

/// An invoice of 25 that is paid, and a refund of 20 of it that is ready to be sent.
async fn ready(till: &Till) -> (String, Value) {
    let invoice = received(till, "25").await;
    let made = refund(till, &invoice, json!({ "amount": "20" }))
        .await
        .ok(201);
    claim(till, &made, "eip155:84532", PAYER).await.ok(200);
    (invoice, made)
}

async fn reverse_all(till: &Till, invoice: &str) {
    for payment in till.payments_of(invoice).await {
        reverse(till, &id(&payment)).await;
    }
}

/// The payer's address as a log has it.
fn payer() -> String {
    PAYER.trim_start_matches("0x").to_lowercase()
}

/// What reconciliation flags about payouts: kind, amount and transaction.
async fn flagged(till: &Till) -> Vec<(String, String, Value)> {
    let report = till.get("/v1/reconciliation").await.ok(200);
    let all = report["discrepancies"].as_array().unwrap().iter();
    let sent = all.filter(|one| text(&one["kind"]).starts_with("sent_"));
    sent.map(|one| {
        assert_eq!(one["severity"], "flagged");
        (
            text(&one["kind"]),
            text(&one["amount"]),
            one["tx_hash"].clone(),
        )
    })
    .collect()
}

fn by(kind: &str, number: u8) -> Vec<(String, String, Value)> {
    vec![(kind.to_owned(), "20.00".to_owned(), json!(tx(number)))]
}

/// What the merchant's and the payer's view ask for.
async fn asked(till: &Till, invoice: &str) -> [String; 2] {
    let payers = till.get(&format!("/v1/checkout/invoices/{invoice}")).await;
    let views = [till.retrieve(invoice).await, payers.ok(200)];
    views.map(|view| {
        let options = view["payment_options"].as_array().unwrap();
        let of_base = options.iter().find(|option| option["asset"] == BASE);
        text(&of_base.unwrap()["amount_due"])
    })
}

async fn mark(till: &Till, refund: &Value, number: u8) -> crate::harness::Reply {
    act(till, refund, "mark_sent", json!({ "tx_hash": tx(number) })).await
}

/// The refunds of this account that reconciliation flags as not paid, by transaction.
async fn unpaid(till: &Till) -> Vec<Value> {
    let report = till.get("/v1/reconciliation").await.ok(200);
    let all = report["discrepancies"].as_array().unwrap().iter();
    let found = all.filter(|one| one["kind"] == "refund_not_paid");
    found.map(|one| one["tx_hash"].clone()).collect()
}

on_every_engine! {
    async fn a_payout_that_was_recorded_while_it_waited_for_a_block_is_followed(world: World) {
        const HOUR_S: i64 = 3_600;
        let node = Node::start(84_532, Mood::Answers).await;
        let till = observed_by(&world, &node).await;
        world.clock.stop();
        let look = async |seconds: i64| {
            world.clock.advance_s(seconds);
            till_engine::workers::payouts::look_at_due(till.engine()).await.unwrap();
            let mut reader = till.engine().db.read().await.unwrap();
            let sql = "SELECT refund FROM payout_looks ORDER BY refund";
            let left: Vec<(String,)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
            left.len()
        };
        let mut made = Vec::new();
        for number in 0x31..=0x34 {
            let (_, refund) = ready(&till).await;
            assert_eq!(mark(&till, &refund, number).await.ok(200)["status"], "sent");
            made.push(refund);
        }
        assert_eq!(look(61).await, 4, "no block has any of them");
        assert_eq!(unpaid(&till).await, Vec::<Value>::new());
        // One pays as it should, one too little, one leaves the chain again, and one is never mined.
        node.knows(&tx(0x31), &[(USDC, SHOP, &payer(), 20_000_000)]);
        node.knows(&tx(0x32), &[(USDC, SHOP, &payer(), 19_000_000)]);
        node.knows(&tx(0x33), &[(USDC, SHOP, &payer(), 20_000_000)]);
        until("the payout of too little", || async { (look(61).await == 3).then_some(()) }).await;
        assert_eq!(unpaid(&till).await, [json!(tx(0x32))]);
        node.forgets(&tx(0x33));
        assert_eq!(look(HOUR_S / 2).await, 3);
        node.set_broken(true);
        assert_eq!(look(4 * 24 * HOUR_S).await, 3, "nodes that are down say nothing about anybody");
        node.set_broken(false);
        until("the end of all", || async { (look(2 * HOUR_S).await == 0).then_some(()) }).await;
        let mut flagged = unpaid(&till).await;
        flagged.sort_by_key(text);
        assert_eq!(flagged, [json!(tx(0x32)), json!(tx(0x33)), json!(tx(0x34))]);
        for refund in made {
            assert_eq!(shown(&till, &refund).await["status"], "sent");
        }
    }

    async fn what_was_sent_back_of_a_payment_that_is_gone_is_asked_for_and_taken(world: World) {
        let till = world.till().await;
        for by_wallet in [false, true] {
            let invoice = received(&till, "45").await;
            let made = refund(&till, &invoice, json!({})).await.ok(201);
            claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
            mark(&till, &made, 0x20 + u8::from(by_wallet)).await.ok(200);
            reverse_all(&till, &invoice).await;
            assert_eq!(till.retrieve(&invoice).await["status"], "awaiting_payment");
            assert_eq!(asked(&till, &invoice).await, ["45.00", "45.00"]);
            let sender = "0x1111111111111111111111111111111111111111";
            let mut payment = json!({ "asset": BASE });
            if by_wallet {
                let path = format!("/v1/checkout/invoices/{invoice}/wallet_binding");
                let told = till.post(&path, json!({ "asset": BASE, "sender": sender })).await.ok(200);
                assert_eq!(told["amount"], "45.00");
                payment["sender"] = json!(sender);
            }
            assert_eq!(till.simulate(&invoice, payment).await["status"], "paid");
        }
    }

    async fn a_payout_before_a_reversal_is_recorded_where_the_chain_cannot_be_asked(world: World) {
        let till = world.till().await;
        let (invoice, made) = ready(&till).await;
        reverse_all(&till, &invoice).await;
        assert_eq!(shown(&till, &made).await["review_reason"], "payment_reversed");
        let sent = mark(&till, &made, 1).await.ok(200);
        assert_eq!((&sent["status"], &sent["tx_hash"], &sent["review_reason"]), (&json!("sent"), &json!(tx(1)), &Value::Null));
        assert_eq!(flagged(&till).await, by("sent_in_review", 1));
        // The same money is not offered once more.
        till.simulate(&invoice, json!({ "amount": "25" })).await;
        refund(&till, &invoice, json!({ "amount": "5.01" })).await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
    }

    async fn a_payout_before_a_reversal_is_recorded_when_the_chain_shows_it(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        let till = observed_by(&world, &node).await;
        let (invoice, made) = ready(&till).await;
        reverse_all(&till, &invoice).await;
        let payer = payer();
        node.knows(&tx(2), &[(USDC, SHOP, &payer, 19_999_999)]);
        node.knows(&tx(3), &[(USDC, SHOP, STRANGER, 20_000_000)]);
        node.knows(&tx(4), &[(USDC, SHOP, &payer, 12_000_000), (USDC, SHOP, &payer, 8_000_000)]);
        for not_paid in [1, 2, 3] {
            let message = mark(&till, &made, not_paid).await.refused(409, "refund_not_ready", None);
            assert!(message.contains("payment_reversed"), "{message}");
        }
        assert_eq!(shown(&till, &made).await["status"], "in_review");
        assert_eq!(mark(&till, &made, 4).await.ok(200)["status"], "sent");
        assert_eq!(flagged(&till).await, by("sent_in_review", 4));
    }

    async fn a_payout_counts_as_shown_when_as_many_nodes_say_so_as_must_agree(world: World) {
        let (first, second) = (Node::start(84_532, Mood::Answers).await, Node::start(84_532, Mood::Answers).await);
        let rpc = [("eip155:84532".to_owned(), vec![first.url(), second.url()])].into();
        let till = world.till_with(Setup { rpc, ..Setup::default() }).await;
        let (invoice, made) = ready(&till).await;
        reverse_all(&till, &invoice).await;
        let payer = payer();
        let paid: [(&str, &str, &str, u128); 1] = [(USDC, SHOP, &payer, 20_000_000)];
        first.knows(&tx(1), &paid);
        mark(&till, &made, 1).await.refused(409, "refund_not_ready", None);
        second.knows(&tx(1), &paid);
        assert_eq!(mark(&till, &made, 1).await.ok(200)["status"], "sent");
    }

    async fn a_transaction_that_paid_something_else_is_recorded_and_flagged(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        let till = observed_by(&world, &node).await;
        let (_, made) = ready(&till).await;
        node.knows(&tx(1), &[(USDC, SHOP, STRANGER, 20_000_000)]);
        assert_eq!(mark(&till, &made, 1).await.ok(200)["status"], "sent");
        let report = till.get("/v1/reconciliation").await.ok(200);
        let all = report["discrepancies"].as_array().unwrap().iter();
        let unpaid: Vec<_> = all.filter(|one| one["kind"] == "refund_not_paid").collect();
        assert_eq!(unpaid.len(), 1);
        assert_eq!((&unpaid[0]["amount"], &unpaid[0]["severity"]), (&json!("20.00"), &json!("flagged")));
    }

    async fn where_bitcoin_is_observed_a_payout_in_review_wants_proof(world: World) {
        let node = Node::start(0, Mood::Answers).await;
        let rpc = [("bip122:00000000da84f2bafbbc53dee25a72ae".to_owned(), vec![node.url()])].into();
        let till = world.till_with(Setup { rpc, ..Setup::default() }).await;
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [BTC] });
        let invoice = id(&till.create(body).await);
        till.simulate(&invoice, json!({})).await;
        let made = refund(&till, &invoice, json!({ "amount": "0.0001" })).await.ok(201);
        claim(&till, &made, "bip122:00000000da84f2bafbbc53dee25a72ae", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx").await.ok(200);
        reverse_all(&till, &invoice).await;
        let plain = tx(1).trim_start_matches("0x").to_owned();
        act(&till, &made, "mark_sent", json!({ "tx_hash": plain })).await.refused(409, "refund_not_ready", None);
    }

    async fn what_was_never_ready_is_not_recorded(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "20" })).await.ok(201);
        mark(&till, &made, 1).await.refused(409, "refund_not_ready", None);
        reverse_all(&till, &invoice).await;
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        mark(&till, &made, 1).await.refused(409, "refund_not_ready", None);
    }

    async fn a_payout_of_a_cancelled_refund_is_not_offered_again(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        let till = observed_by(&world, &node).await;
        let (invoice, made) = ready(&till).await;
        act(&till, &made, "cancel", json!({})).await.ok(200);
        mark(&till, &made, 1).await.refused(409, "refund_not_ready", None);
        node.knows(&tx(1), &[(USDC, SHOP, &payer(), 20_000_000)]);
        let sent = mark(&till, &made, 1).await.ok(200);
        assert_eq!(sent["status"], "sent");
        assert!(sent["cancelled_at"].is_string() && sent["sent_at"].is_string());
        assert_eq!(flagged(&till).await, by("sent_after_cancel", 1));
        refund(&till, &invoice, json!({ "amount": "20" })).await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        act(&till, &made, "cancel", json!({})).await.refused(409, "refund_already_sent", None);
    }

    async fn what_was_paid_out_once_is_not_ready_a_second_time(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        let till = observed_by(&world, &node).await;
        let (invoice, first) = ready(&till).await;
        act(&till, &first, "cancel", json!({})).await.ok(200);
        let second = refund(&till, &invoice, json!({ "amount": "20" })).await.ok(201);
        claim(&till, &second, "eip155:84532", PAYER).await.ok(200);
        assert_eq!(shown(&till, &second).await["status"], "ready_to_send");
        node.knows(&tx(1), &[(USDC, SHOP, &payer(), 20_000_000)]);
        mark(&till, &first, 1).await.ok(200);
        let seen = shown(&till, &second).await;
        assert_eq!((&seen["status"], &seen["review_reason"]), (&json!("in_review"), &json!("price_uncovered")));
    }

    async fn where_the_chain_cannot_be_asked_a_cancelled_refund_stays_so(world: World) {
        let till = world.till().await;
        let (_, made) = ready(&till).await;
        act(&till, &made, "cancel", json!({})).await.ok(200);
        mark(&till, &made, 1).await.refused(409, "refund_not_ready", None);
    }
}
