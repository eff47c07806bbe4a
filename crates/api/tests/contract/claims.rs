//! Refund claims: the token alone opens them, the first one wins, and bad addresses are refused.

use serde_json::{Value, json};
use till_core::asset::Family;

use crate::harness::{BASE, BTC, NILE, Reply, Till, address, id, text};
use crate::refunds::{act, received, refund, tx};

const BASE_NETWORK: &str = "eip155:84532";
/// A wallet that is on no list.
pub const PAYER: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
pub const TRON_PAYER: &str = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";

fn path(refund: &Value) -> String {
    format!("/v1/refund_claims/{}", text(&refund["claim_token"]))
}

pub async fn claim(till: &Till, refund: &Value, network: &str, address: &str) -> Reply {
    let body = json!({ "network": network, "address": address });
    till.posting(&path(refund), body).no_key().send().await
}

async fn open(till: &Till, refund: &Value) -> Reply {
    till.call("GET", &path(refund)).no_key().send().await
}

async fn made(till: &Till) -> Value {
    let invoice = received(till, "25").await;
    refund(till, &invoice, json!({ "amount": "5" }))
        .await
        .ok(201)
}

async fn shown(till: &Till, refund: &Value) -> Value {
    till.get(&format!("/v1/refunds/{}", id(refund)))
        .await
        .ok(200)
}

fn listed(family: Family, list: &str) -> &'static str {
    let entry = till_chains::test_screening()
        .iter()
        .find(|(of, name, _)| (*of, *name) == (family, list));
    entry.expect("the list is documented").2
}

on_every_engine! {
    async fn the_token_alone_opens_a_claim(world: World) {
        let till = world.till().await;
        till.set(json!({ "display_name": "Teahouse" })).await;
        let made = made(&till).await;
        let seen = open(&till, &made).await.ok(200);
        let mut names: Vec<_> = seen.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["amount", "asset", "expires_at", "merchant", "networks", "object", "payout", "status", "symbol", "tx_hash"]);
        assert_eq!((&seen["object"], &seen["status"], &seen["amount"], &seen["symbol"]), (&json!("refund_claim"), &json!("unclaimed"), &json!("5.00"), &json!("USDC")));
        assert_eq!((&seen["merchant"]["display_name"], &seen["payout"]), (&json!("Teahouse"), &Value::Null));
        let networks: Vec<_> = seen["networks"].as_array().unwrap().iter().map(|one| text(&one["network"])).collect();
        assert_eq!(networks[0], "eip155:84532", "its own network comes first");
        assert!(networks.contains(&"eip155:11155111".to_owned()));
        assert!(networks.iter().all(|network| network != "eip155:1"), "real networks are for real money");
        let wrong = "/v1/refund_claims/00000000000000000000000000000000";
        let message = till.call("GET", wrong).no_key().send().await.refused(404, "resource_missing", None);
        assert!(!message.contains("0000"), "a token is never repeated");
        till.posting(wrong, json!({ "network": "x", "address": "y" })).no_key().send().await.refused(404, "resource_missing", None);
    }

    async fn the_first_claim_wins_and_the_same_again_is_the_same(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        let first = claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        assert_eq!((&first["status"], &first["payout"]), (&json!("ready_to_send"), &json!({ "network": "eip155:84532", "address": PAYER })));
        assert_eq!(claim(&till, &made, "eip155:84532", &PAYER.to_lowercase()).await.ok(200), first);
        assert_eq!(open(&till, &made).await.ok(200), first);
        claim(&till, &made, "eip155:11155111", PAYER).await.refused(409, "claim_already_submitted", None);
        let other = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
        claim(&till, &made, "eip155:84532", other).await.refused(409, "claim_already_submitted", None);
        let seen = shown(&till, &made).await;
        assert_eq!((&seen["payout"]["address"], &seen["payout"]["network"]), (&json!(PAYER), &json!("eip155:84532")));
        assert_eq!(seen["payout"]["screening"]["result"], "clear");
        assert!(seen["claimed_at"].is_string());
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        assert_eq!(open(&till, &made).await.ok(200)["status"], "sent");
        claim(&till, &made, "eip155:84532", PAYER).await.refused(409, "claim_already_sent", None);
    }

    async fn parallel_claims_record_one(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        let others = ["0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", PAYER];
        let replies = futures::future::join_all((0..12).map(|n| claim(&till, &made, "eip155:84532", others[n % 3]))).await;
        let payout = shown(&till, &made).await["payout"]["address"].clone();
        for (n, reply) in replies.iter().enumerate() {
            match json!(others[n % 3]) == payout {
                true => drop(reply.ok(200)),
                false => drop(reply.refused(409, "claim_already_submitted", None)),
            }
        }
    }

    async fn addresses_are_checked_on_their_network(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        let own = address(&till.invoice().await, BASE);
        let registry = till_core::asset::Registry::builtin();
        let contract = registry.asset(BASE).unwrap().contract.clone().unwrap();
        let zero = format!("0x{}", "0".repeat(40));
        let wrong = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed";
        let elsewhere = registry.asset("USDC@eip155:1").unwrap().contract.clone().unwrap();
        let merchants = till_chains::example_destination(Family::Evm);
        let nobodys = [
            "0x000000000000000000000000000000000000dEaD", "0x0000000000000000000000000000000000000001",
            "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE", "0xdead000000000000000042069420694206942069",
            "0xcA11bde05977b3631167028862bE2a173976CA11", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb",
        ];
        for bad in nobodys {
            let refused = claim(&till, &made, "eip155:84532", bad).await.refused(400, "address_invalid", "address");
            assert!(refused.to_string().contains("nobody has the key"), "{refused}");
        }
        for bad in ["", "x", &zero, wrong, TRON_PAYER, &own, &own.to_lowercase(), &contract, &elsewhere, merchants] {
            claim(&till, &made, "eip155:84532", bad).await.refused(400, "address_invalid", "address");
        }
        for network in ["eip155:1", "eip155:999", "tron:3448148188", "", "base"] {
            claim(&till, &made, network, PAYER).await.refused(400, "network_unavailable", "network");
        }
        let post = |body: Value| till.posting(&path(&made), body).no_key().send();
        post(json!({ "network": "eip155:84532" })).await.refused(400, "parameter_missing", "address");
        post(json!({ "network": "eip155:84532", "address": PAYER, "memo": "x" })).await.refused(400, "parameter_unknown", "memo");
        assert_eq!(shown(&till, &made).await["status"], "unclaimed");
    }

    async fn every_family_takes_its_own_addresses(world: World) {
        let till = world.till().await;
        for (asset, network, good, bad) in [
            (NILE, "tron:3448148188", TRON_PAYER, PAYER),
            (BTC, "bip122:00000000da84f2bafbbc53dee25a72ae", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        ] {
            let body = json!({ "amount": "25.00", "currency": "USD", "assets": [asset] });
            let invoice = id(&till.create(body).await);
            till.simulate(&invoice, json!({})).await;
            let refund = refund(&till, &invoice, json!({ "amount": "0.0001" })).await.ok(201);
            claim(&till, &refund, network, bad).await.refused(400, "address_invalid", "address");
            if asset == NILE {
                let mut burnt = [0; 20];
                burnt[18..].copy_from_slice(&[0xde, 0xad]);
                let burnt = till_chains::tron::address::display(&burnt);
                claim(&till, &refund, network, &burnt).await.refused(400, "address_invalid", "address");
            }
            let claimed = claim(&till, &refund, network, good).await.ok(200);
            assert_eq!(claimed["payout"]["address"], good);
            let sent = act(&till, &refund, "mark_sent", json!({ "tx_hash": hex::encode([9; 32]) })).await.ok(200);
            assert_eq!(sent["tx_hash"], hex::encode([9; 32]));
        }
    }

    async fn a_listed_address_is_in_review_and_can_only_be_cancelled(world: World) {
        let till = world.till().await;
        for list in ["sanctions", "blacklist"] {
            let made = made(&till).await;
            let claimed = claim(&till, &made, "eip155:84532", listed(Family::Evm, list)).await.ok(200);
            assert_eq!(claimed["status"], "in_review");
            let seen = shown(&till, &made).await;
            let screening = &seen["payout"]["screening"];
            assert_eq!((&screening["result"], &seen["review_reason"]), (&json!("match"), &json!(list)));
            let matched: Vec<_> = screening["lists"].as_array().unwrap().iter().filter(|one| one["result"] == "match").collect();
            assert_eq!((matched.len(), &matched[0]["list"]), (1, &json!(list)));
            act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.refused(409, "refund_not_ready", None);
            assert_eq!(act(&till, &made, "cancel", json!({})).await.ok(200)["status"], "cancelled");
        }
    }

    async fn a_link_works_for_thirty_days_and_then_counts_no_more(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        till.advance(30 * 86_400 - 60).await;
        open(&till, &made).await.ok(200);
        refund(&till, &invoice, json!({ "amount": "1" })).await.refused(409, "refund_exceeds_received", "amount");
        till.advance(120).await;
        open(&till, &made).await.refused(409, "claim_expired", None);
        claim(&till, &made, "eip155:84532", PAYER).await.refused(409, "claim_expired", None);
        assert_eq!(shown(&till, &made).await["status"], "unclaimed");
        let second = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        // A refund that was claimed in time does not expire.
        claim(&till, &second, "eip155:84532", PAYER).await.ok(200);
        till.advance(60 * 86_400).await;
        assert_eq!(open(&till, &second).await.ok(200)["status"], "ready_to_send");
        assert_eq!(act(&till, &made, "cancel", json!({})).await.ok(200)["status"], "cancelled");
        refund(&till, &invoice, json!({ "amount": "1" })).await.refused(409, "refund_exceeds_received", "amount");
    }

    async fn a_link_noted_as_expired_is_closed_also_where_the_clock_is_behind(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        till.advance(31 * 86_400).await;
        // What a server sees whose clock has not reached the link's end.
        crate::reconciliation::run(&till, "UPDATE refunds SET expires_at = expires_at + 86400000000").await;
        let second = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        open(&till, &made).await.refused(409, "claim_expired", None);
        claim(&till, &made, "eip155:84532", PAYER).await.refused(409, "claim_expired", None);
        claim(&till, &second, "eip155:84532", PAYER).await.ok(200);
    }

    async fn a_claim_a_cancel_and_a_sending_at_once_leave_one_story(world: World) {
        let till = world.till().await;
        for _ in 0..4 {
            let made = made(&till).await;
            let (body, hash) = (json!({}), json!({ "tx_hash": tx(4) }));
            let (claimed, cancelled, sent) = futures::join!(
                claim(&till, &made, "eip155:84532", PAYER),
                act(&till, &made, "cancel", body),
                act(&till, &made, "mark_sent", hash),
            );
            let seen = shown(&till, &made).await;
            match text(&seen["status"]).as_str() {
                "cancelled" => {
                    cancelled.ok(200);
                    sent.refused(409, "refund_not_ready", None);
                    assert_eq!((&seen["sent_at"], &seen["tx_hash"]), (&Value::Null, &Value::Null));
                }
                "sent" => {
                    claimed.ok(200);
                    sent.ok(200);
                    cancelled.refused(409, "refund_already_sent", None);
                    return;
                }
                other => panic!("{other}"),
            }
        }
    }

    async fn a_cancelled_claim_is_closed(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        act(&till, &made, "cancel", json!({})).await.ok(200);
        open(&till, &made).await.refused(409, "claim_cancelled", None);
        claim(&till, &made, "eip155:84532", PAYER).await.refused(409, "claim_cancelled", None);
    }

    async fn a_key_of_one_token_is_free_for_every_other(world: World) {
        let till = world.till().await;
        let (one, two) = (made(&till).await, made(&till).await);
        let body = json!({ "network": "eip155:84532", "address": PAYER });
        let post = |refund: &Value| till.posting(&path(refund), body.clone()).no_key().once("same").send();
        let first = post(&one).await;
        assert!(!first.is_replay());
        let again = post(&one).await;
        assert_eq!((again.ok(200), again.is_replay()), (first.ok(200), true));
        assert!(!post(&two).await.is_replay());
        till.posting("/v1/invoices", json!({ "amount": "1.00", "currency": "USD" })).once("same").send().await.ok(201);
        till.posting(&path(&one), body.clone()).no_key().without("idempotency-key").send().await.refused(400, "idempotency_key_required", "Idempotency-Key");
    }

    async fn payers_pages_may_claim_from_any_origin(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        let reply = till.call("GET", &path(&made)).no_key().header("origin", "https://shop.example").send().await;
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }

    async fn a_refund_that_was_sent_says_so_whatever_is_claimed(world: World) {
        let till = world.till().await;
        let made = made(&till).await;
        claim(&till, &made, BASE_NETWORK, PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        for (network, address) in [(BASE_NETWORK, PAYER), ("zz", PAYER), (BASE_NETWORK, "zz")] {
            claim(&till, &made, network, address).await.refused(409, "claim_already_sent", None);
        }
        // A key that another request has used is told before the refund is looked for.
        till.posting("/v1/customers", json!({})).once("used").send().await.ok(201);
        let again = till.posting("/v1/refunds/rfd_x/mark_sent", json!({ "tx_hash": tx(2) })).once("used");
        again.send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
    }
}
