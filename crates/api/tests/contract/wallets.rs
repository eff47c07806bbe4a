//! Whose wallet may be bound, and that what it was told never pays for somebody else.

use serde_json::{Value, json};
use till_chains::testing::Wallet;
use till_core::asset::{Family, Mode, Registry};
use till_core::money::Units;
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::intake::{Observation, Sighting, TransferOrigin};
use till_store::destinations::DestinationRow;

use crate::claims::{PAYER, claim};
use crate::harness::{BASE, NILE, Reply, Setup, Till, address, id, text};
use crate::refunds::{act, refund};

const WALLET: &str = "0x1111111111111111111111111111111111111111";

async fn bind(till: &Till, invoice: &Value, body: Value) -> Reply {
    let path = format!("/v1/checkout/invoices/{}/wallet_binding", id(invoice));
    till.post(&path, body).await
}

async fn bound(till: &Till, invoice: &Value) -> Value {
    let body = json!({ "asset": BASE, "sender": WALLET });
    bind(till, invoice, body).await.ok(200)
}

async fn refused_sender(till: &Till, invoice: &Value, asset: &str, sender: &str) {
    let reply = bind(till, invoice, json!({ "asset": asset, "sender": sender })).await;
    reply.refused(400, "parameter_invalid", "sender");
}

async fn reverse(till: &Till, invoice: &Value) {
    let payment = till.payments_of(&id(invoice)).await[0].clone();
    let path = format!("/v1/test_helpers/payments/{}/reverse", id(&payment));
    till.post(&path, json!({})).await.ok(200);
}

/// What a wallet sends as it was told, seen in a block of the second `time`.
fn sent(binding: &Value, tx: u8, time: i64) -> Observation {
    Observation {
        network: text(&binding["network"]),
        tx_hash: format!("0x{}", hex::encode([tx; 32])),
        place: 0,
        asset: text(&binding["asset"]),
        units: Units(text(&binding["amount_base_units"]).parse().unwrap()),
        arrived: None,
        registers: None,
        senders: vec![text(&binding["sender"])],
        recipient: text(&binding["destination"]),
        sighting: Sighting::InBlock {
            level: Level::Final,
            number: 5,
            hash: format!("0x{}", "fa".repeat(32)),
            time,
        },
        source: TransferOrigin::Chain,
    }
}

fn payer() -> Wallet {
    Wallet::of([7; 32]).unwrap()
}

fn signed(text: &str, network: &str) -> String {
    format!("0x{}", hex::encode(payer().sign(network, text)))
}

on_every_engine! {
    async fn what_is_ours_or_a_contract_is_nobody_s_wallet(world: World) {
        let till = world.till_with(Setup { checkout_per_minute: 1_000, ..Setup::default() }).await;
        let other = till.another_account().await;
        let invoice = till.invoice().await;
        let own = till.invoice().await;
        let theirs = other.invoice().await;
        let past = till.invoice().await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&past)), json!({})).await.ok(200);
        till.advance(100_000).await;
        let invoice_after = till.invoice().await;
        for (invoice, deposit) in [(&invoice_after, &own), (&invoice_after, &theirs), (&invoice_after, &past), (&invoice_after, &invoice)] {
            refused_sender(&till, invoice, BASE, &address(deposit, BASE)).await;
            refused_sender(&till, invoice, BASE, &address(deposit, BASE).to_lowercase()).await;
            refused_sender(&till, invoice, NILE, &address(deposit, NILE)).await;
        }
        for (asset, family) in [(BASE, Family::Evm), (NILE, Family::Tron)] {
            refused_sender(&till, &invoice_after, asset, till_chains::example_destination(family)).await;
            let registry = Registry::builtin();
            let network = registry.network(&registry.asset(asset).unwrap().network).unwrap();
            refused_sender(&till, &invoice_after, asset, network.factory.as_deref().unwrap()).await;
            let tokens = registry.assets().iter().filter(|token| token.family == family);
            for contract in tokens.filter_map(|token| token.contract.as_deref()) {
                refused_sender(&till, &invoice_after, asset, contract).await;
            }
        }
        for (asset, zero) in [(BASE, format!("0x{}", "0".repeat(40))), (NILE, "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb".to_owned())] {
            let reply = bind(&till, &invoice_after, json!({ "asset": asset, "sender": zero })).await;
            reply.refused(400, "sender_invalid", "sender");
        }
        bound(&till, &invoice_after).await;
    }

    async fn who_registers_a_wallet_in_one_mode_keeps_it_from_paying_in_that_mode_alone(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let registered = async |mode: Mode| {
            let row = DestinationRow {
                scope: Scope::new("acct_of_somebody", mode),
                family: Family::Evm,
                destination: WALLET.to_owned(),
                account_key: None,
            };
            let mut tx = till.engine().db.begin().await.unwrap();
            till_store::destinations::insert(&mut tx, &[row]).await.unwrap();
            tx.commit().await.unwrap();
        };
        registered(Mode::Live).await;
        bound(&till, &invoice).await;
        registered(Mode::Test).await;
        refused_sender(&till, &till.invoice().await, BASE, WALLET).await;
    }

    async fn a_wallet_of_a_reopened_invoice_is_told_another_amount_when_its_own_is_taken(world: World) {
        let till = world.till().await;
        let first = till.invoice().await;
        let told = bound(&till, &first).await;
        till.simulate(&id(&first), json!({ "asset": BASE })).await;
        till.advance(121).await;
        let second = till.invoice().await;
        assert_eq!(bound(&till, &second).await["amount"], told["amount"]);
        reverse(&till, &first).await;
        assert_eq!(till.retrieve(&id(&first)).await["status"], "awaiting_payment");
        let again = bound(&till, &first).await;
        assert_eq!(again["amount"], "25.000001");
        let paid = till.simulate(&id(&first), json!({ "asset": BASE, "sender": WALLET })).await;
        assert_eq!((&paid["status"], &paid["amounts_received"][0]["amount"]), (&json!("paid"), &again["amount"]));
        assert_eq!(till.retrieve(&id(&second)).await["status"], "awaiting_payment");
    }

    async fn a_wallet_is_told_what_is_asked_for_after_money_sent_back_is_owed(world: World) {
        let till = world.till().await;
        let other = "0x3333333333333333333333333333333333333333";
        // Paid too much, which closes the invoice and its bindings; and paid in part, which keeps them open.
        for (wallet, paid, sent_back) in [(WALLET, "30.00", json!({})), (other, "5.00", json!({ "asset": BASE, "amount": "5.00" }))] {
            let invoice = till.invoice().await;
            let told = async || {
                let reply = bind(&till, &invoice, json!({ "asset": BASE, "sender": wallet })).await;
                text(&reply.ok(200)["amount"])
            };
            assert_eq!(told().await, "25.00");
            till.simulate(&id(&invoice), json!({ "asset": BASE, "amount": paid })).await;
            let made = refund(&till, &id(&invoice), sent_back).await.ok(201);
            claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
            let tx_hash = format!("0x{}", hex::encode([paid.as_bytes()[0]; 32]));
            act(&till, &made, "mark_sent", json!({ "tx_hash": tx_hash })).await.ok(200);
            reverse(&till, &invoice).await;
            let asked = till.retrieve(&id(&invoice)).await["payment_options"][0]["amount_due"].clone();
            assert_eq!((asked.as_str(), &*told().await), (Some("30.00"), "30.00"), "{paid}");
            assert_eq!(told().await, "30.00", "{paid}, asked once more");
            let done = till.simulate(&id(&invoice), json!({ "asset": BASE, "sender": wallet })).await;
            assert_eq!(done["status"], "paid", "{paid}");
        }
    }

    async fn a_wallet_of_a_reopened_invoice_keeps_its_amount_when_nobody_has_it(world: World) {
        let till = world.till().await;
        let first = till.invoice().await;
        let told = bound(&till, &first).await;
        till.simulate(&id(&first), json!({ "asset": BASE })).await;
        reverse(&till, &first).await;
        // Without asking again, too: the binding is open, so nobody else is told the same.
        let second = till.invoice().await;
        assert_eq!(bound(&till, &second).await["amount"], "25.000001");
        assert_eq!(bound(&till, &first).await["amount"], told["amount"]);
        let paid = till.simulate(&id(&first), json!({ "asset": BASE, "sender": WALLET })).await;
        assert_eq!(paid["status"], "paid");
    }

    async fn what_a_bound_wallet_sends_after_expiry_is_that_invoice_s_and_refundable(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        bound(&till, &invoice).await;
        till.advance(2 * 3_600).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "expired");
        let by_wallet = json!({ "asset": BASE, "sender": WALLET });
        let late = till.simulate(&id(&invoice), by_wallet.clone()).await;
        assert_eq!(late["status"], "expired");
        let payments = till.payments_of(&id(&invoice)).await;
        assert_eq!((&payments[0]["status"], &payments[0]["attributed_by"]), (&json!("refundable"), &json!("wallet_binding")));
        assert_eq!(till.event_types(&id(&invoice)).await.last().unwrap(), "invoice.late_payment");
        // Somebody else has the same binding now: it is theirs.
        let second = till.invoice().await;
        bound(&till, &second).await;
        let path = format!("/v1/test_helpers/invoices/{}/simulate_payment", id(&invoice));
        till.post(&path, by_wallet.clone()).await.refused(400, "parameter_invalid", "sender");
        assert_eq!(till.simulate(&id(&second), by_wallet).await["status"], "paid");
        assert_eq!(till.payments_of(&id(&invoice)).await.len(), 1);
    }

    async fn an_amount_that_was_just_given_up_still_leads_to_its_invoice_and_is_given_to_no_other(world: World) {
        let till = world.till().await;
        let other = till.another_account().await;
        let first = till.invoice().await;
        bound(&till, &first).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&first)), json!({})).await.ok(200);
        let second = till.invoice().await;
        let told = bound(&till, &second).await;
        assert_eq!(told["amount"], "25.000001");
        // The same destination in another account's time.
        let theirs = other.invoice().await;
        assert_eq!(bound(&other, &theirs).await["amount"], "25.000002");
        // Sent now, in a block whose clock is a minute and a half behind.
        let now = till.engine().clock.now_ms();
        crate::statuses::observe(&till, &till.scope(), &[sent(&told, 0xc1, now - 90_000)]).await;
        assert_eq!(till.retrieve(&id(&second)).await["status"], "paid");
        assert!(till.payments_of(&id(&first)).await.is_empty());
        till.advance(120).await;
        let third = till.invoice().await;
        assert_eq!(bound(&till, &third).await["amount"], "25.00");
    }

    async fn a_binding_that_was_replaced_stays_ended(world: World) {
        let till = world.till().await;
        let first = till.invoice().await;
        let told = bound(&till, &first).await;
        till.simulate(&id(&first), json!({ "asset": BASE })).await;
        till.advance(121).await;
        let second = till.invoice().await;
        bound(&till, &second).await;
        // It asks again, for another amount: the first one is the second invoice's.
        reverse(&till, &first).await;
        assert_eq!(bound(&till, &first).await["amount"], "25.000001");
        till.post(&format!("/v1/invoices/{}/cancel", id(&second)), json!({})).await.ok(200);
        let now = till.engine().clock.now_ms();
        let seen = sent(&told, 0xb1, now);
        let taken = crate::statuses::observe(&till, &till.scope(), &[seen]).await;
        assert!(taken[0].is_some());
        let of_second = till.payments_of(&id(&second)).await;
        assert_eq!((of_second.len(), &of_second[0]["status"]), (1, &json!("refundable")));
    }

    async fn a_block_s_whole_seconds_lie_before_the_binding_they_belong_to(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let binding = bound(&till, &invoice).await;
        let made = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
        let second = made / 1_000 * 1_000 - 1_000;
        let seen = sent(&binding, 0xa1, second);
        crate::statuses::observe(&till, &till.scope(), &[seen]).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "paid");
        // Two minutes and more before, it was somebody else's business.
        let late = till.invoice().await;
        let binding = bound(&till, &late).await;
        let seen = sent(&binding, 0xa2, second - 240_000);
        assert_eq!(crate::statuses::observe(&till, &till.scope(), &[seen]).await, [None]);
    }

    async fn a_proof_is_the_wallet_s_signature_of_this_very_binding(world: World) {
        let till = world.till_with(Setup { require_wallet_proof: true, ..Setup::default() }).await;
        let invoice = till.invoice().await;
        let evm = till_chains::evm::address::display(&payer().address());
        let tron = till_chains::tron::address::display(&payer().address());
        let lines = |invoice: &str, asset: &str, sender: &str| format!("Till wallet binding\n{invoice}\n{asset}\n{sender}");
        let own = id(&invoice);
        let refused = async |body: Value| {
            bind(&till, &invoice, body).await.refused(400, "sender_invalid", "sender");
        };
        refused(json!({ "asset": BASE, "sender": evm })).await;
        refused(json!({ "asset": BASE, "sender": evm, "proof": "0x12" })).await;
        let right = signed(&lines(&own, BASE, &evm), "Ethereum");
        refused(json!({ "asset": BASE, "sender": WALLET, "proof": right })).await;
        for wrong in [lines("inv_x", BASE, &evm), lines(&own, NILE, &evm), lines(&own, BASE, WALLET)] {
            refused(json!({ "asset": BASE, "sender": evm, "proof": signed(&wrong, "Ethereum") })).await;
        }
        refused(json!({ "asset": BASE, "sender": evm, "proof": signed(&lines(&own, BASE, &evm), "TRON") })).await;
        let binding = bind(&till, &invoice, json!({ "asset": BASE, "sender": evm, "proof": right })).await.ok(200);
        assert_eq!(binding["sender"], evm.as_str());
        // As the request has it: in lower case when the request is.
        let lower = evm.to_lowercase();
        let proof = signed(&lines(&own, BASE, &lower), "Ethereum");
        bind(&till, &invoice, json!({ "asset": BASE, "sender": lower, "proof": proof })).await.ok(200);
        let proof = signed(&lines(&own, NILE, &tron), "TRON");
        bind(&till, &invoice, json!({ "asset": NILE, "sender": tron, "proof": proof })).await.ok(200);
    }

    async fn a_proof_that_nobody_asked_for_must_be_right_all_the_same(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let proof = signed("Till wallet binding", "Ethereum");
        bind(&till, &invoice, json!({ "asset": BASE, "sender": WALLET, "proof": proof })).await
            .refused(400, "sender_invalid", "sender");
        bound(&till, &invoice).await;
    }
}
