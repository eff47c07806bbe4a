//! One key, one effect, one answer.

use futures::future::join_all;
use serde_json::{Value, json};
use till_core::actor::Actor;
use till_core::scope::Credential;
use till_engine::once::Once;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{Call, NILE, Reply, Setup, Till, data, id, live, until};

fn body() -> Value {
    json!({ "amount": "25.00", "currency": "USD" })
}

fn create(till: &Till, key: &str) -> Call {
    till.posting("/v1/invoices", body()).once(key)
}

async fn count(till: &Till) -> usize {
    data(&till.get("/v1/invoices?limit=100").await.ok(200)).len()
}

on_every_engine! {
    memory

    async fn a_key_is_1_to_255_characters_of_visible_ascii(world: World) {
        let till = world.till().await;
        let param = "Idempotency-Key";
        let long = "k".repeat(256);
        for key in ["", "a b", "ключ", "a\tb", long.as_str()] {
            create(&till, key).send().await.refused(400, "idempotency_key_invalid", param);
        }
        let twice = create(&till, "a").and_header("idempotency-key", "a");
        twice.send().await.refused(400, "idempotency_key_invalid", param);
        create(&till, &"k".repeat(255)).send().await.ok(201);
        create(&till, "!").send().await.ok(201);
    }

    async fn the_same_request_again_gets_the_first_answer_byte_for_byte(world: World) {
        let till = world.till().await;
        let first = create(&till, "k").send().await;
        first.ok(201);
        assert_eq!(first.header("idempotent-replayed"), None);
        // What happens in between does not change what was answered.
        till.simulate(&id(&first.json()), json!({})).await;
        let second = create(&till, "k").send().await;
        second.ok(201);
        assert!(second.is_replay());
        assert_eq!(first.body, second.body);
        assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
        assert_eq!(count(&till).await, 1);
    }

    async fn every_action_is_done_once_per_key(world: World) {
        let till = world.till().await;
        let cancelled = id(&till.invoice().await);
        let paid = id(&till.invoice().await);
        let pay = format!("/v1/test_helpers/invoices/{paid}/simulate_payment");
        for (path, body) in [
            (format!("/v1/invoices/{cancelled}/cancel"), json!({})),
            (pay.clone(), json!({ "amount": "1.00" })),
            ("/v1/merchant/settings".to_owned(), json!({ "display_name": "A" })),
            ("/v1/merchant/webhook_secret/roll".to_owned(), json!({})),
            ("/v1/test_helpers/clock".to_owned(), json!({ "advance_seconds": 60 })),
        ] {
            let call = till.posting(&path, body);
            let first = call.clone().send().await;
            first.ok(200);
            assert!(!first.is_replay(), "{path}");
            let second = call.send().await;
            assert!(second.is_replay(), "{path}");
            assert_eq!((second.ok(200), &second.body), (first.json(), &first.body), "{path}");
        }
        assert_eq!(till.payments_of(&paid).await.len(), 1);
        let payment = id(&till.payments_of(&paid).await[0]);
        let call = till.posting(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({}));
        let first = call.clone().send().await;
        assert_eq!(first.ok(200)["status"], "reversed");
        assert_eq!(call.send().await.body, first.body);
    }

    async fn a_key_used_for_another_request_is_refused(world: World) {
        let till = world.till().await;
        let invoice = create(&till, "k").send().await.ok(201);
        let param = "Idempotency-Key";
        let other_body = till.posting("/v1/invoices", json!({ "amount": "26.00", "currency": "USD" }));
        other_body.once("k").send().await.refused(409, "idempotency_key_reused", param);
        // The fingerprint is of the raw bytes: the same meaning in other bytes is another request.
        let spaced = create(&till, "k").bytes(b"{ \"amount\": \"25.00\", \"currency\": \"USD\" }");
        spaced.send().await.refused(409, "idempotency_key_reused", param);
        let other_path = till.posting(&format!("/v1/invoices/{}/cancel", id(&invoice)), json!({}));
        other_path.once("k").send().await.refused(409, "idempotency_key_reused", param);
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "awaiting_payment");
        assert_eq!(count(&till).await, 1);
    }

    async fn a_bound_key_wins_over_values_that_are_wrong(world: World) {
        let till = world.till().await;
        create(&till, "k").send().await.ok(201);
        let reply = create(&till, "k").bytes(b"{\"amount\":\"0\",\"currency\":\"USD\"}").send().await;
        reply.refused(409, "idempotency_key_reused", "Idempotency-Key");
        for wrong in [json!({ "underpay_tolerance_bps": -1 }), json!({ "webhook_url": "http://" })] {
            let settings = till.posting("/v1/merchant/settings", wrong).once("k");
            settings.send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        }
        // Nor is it told of a request that cannot be read at all.
        let plain = create(&till, "k").bytes(b"amount=25").header("content-type", "text/plain");
        plain.send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        let large = create(&till, "k").bytes(&vec![b' '; 300 * 1024]);
        large.send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        let asked = till.posting("/v1/invoices?x=1", json!({})).once("k");
        asked.send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
    }

    async fn payers_can_neither_burn_nor_probe_nor_hold_the_merchants_keys(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/checkout/invoices/{invoice}/payment_option");
        let publishable = &till.account.test.publishable_key;
        let pick = |key: &str| till.posting(&path, json!({ "asset": NILE })).once(key);
        let payer = |key: &str| pick(key).key(publishable);
        let is_new = |reply: Reply, status: u16| {
            reply.ok(status);
            assert!(!reply.is_replay());
        };
        is_new(payer("burnt").send().await, 200);
        is_new(create(&till, "burnt").send().await, 201);
        is_new(create(&till, "probed").send().await, 201);
        is_new(payer("probed").send().await, 200);
        assert!(payer("probed").send().await.is_replay());
        assert!(create(&till, "burnt").send().await.is_replay());
        // A secret key at the checkout is still the merchant's.
        pick("probed").send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");

        // Whoever asks before the payer's request was begun has its key instead: then another is held.
        let tries = std::cell::Cell::new(0);
        let (mut socket, last, held) = until("the payer's request to hold its key", || async {
            tries.set(tries.get() + 1);
            let key = format!("held-{}", tries.get());
            let (socket, last) = payer(&key).send_all_but_one().await;
            let is_held = payer(&key).send().await.code() == "idempotency_key_in_use";
            is_held.then_some((socket, last, key))
        })
        .await;
        is_new(create(&till, &held).send().await, 201);
        socket.write_u8(last).await.unwrap();
        let mut said = Vec::new();
        socket.read_to_end(&mut said).await.unwrap();
        is_new(Reply::parse(&said, &path), 200);
    }

    async fn a_request_that_failed_left_no_trace(world: World) {
        let till = world.till().await;
        let wrong = till.posting("/v1/invoices", json!({ "amount": "25.001", "currency": "USD" })).once("k");
        wrong.send().await.refused(400, "parameter_invalid", "amount");
        let corrected = create(&till, "k").send().await;
        corrected.ok(201);
        assert!(!corrected.is_replay());
        let invoice = id(&corrected.json());
        till.simulate(&invoice, json!({})).await;
        let cancel = format!("/v1/invoices/{invoice}/cancel");
        let refused = till.posting(&cancel, json!({})).once("c").send().await;
        refused.refused(409, "invoice_not_cancellable", None);
        let other = id(&till.invoice().await);
        let again = till.posting(&format!("/v1/invoices/{other}/cancel"), json!({})).once("c").send().await;
        assert_eq!(again.ok(200)["status"], "cancelled");
    }

    async fn accounts_and_modes_have_keys_of_their_own(world: World) {
        let till = world.till_with(live()).await;
        let other = till.another_account().await;
        let first = create(&till, "k").send().await.ok(201);
        let second = create(&other, "k").send().await;
        assert!(!second.is_replay());
        assert_ne!(id(&second.ok(201)), id(&first));
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": ["USDC@eip155:8453"] });
        let live = till.posting("/v1/invoices", body).once("k").key(till.live_key()).send().await;
        assert!(!live.is_replay());
        live.ok(201);
    }

    async fn keys_are_kept_for_thirty_days_of_real_time(world: World) {
        let till = world.till().await;
        let first = create(&till, "k").send().await;
        // The test clock moves business time only.
        till.advance(40 * 86_400).await;
        assert_eq!(create(&till, "k").send().await.body, first.body);
        world.clock.advance_s(29 * 86_400);
        assert_eq!(create(&till, "k").send().await.body, first.body);
        world.clock.advance_s(86_400 + 60);
        let anew = create(&till, "k").send().await;
        anew.ok(201);
        assert!(!anew.is_replay());
        assert_ne!(id(&anew.json()), id(&first.json()));
        assert!(create(&till, "k").send().await.is_replay());
    }

    async fn fifty_parallel_creates_with_one_key_make_one_invoice(world: World) {
        let till = world.till().await;
        let replies = join_all((0..50).map(|_| create(&till, "k").send())).await;
        let mut bodies = Vec::new();
        for reply in &replies {
            if reply.status == 201 {
                bodies.push(reply.body.clone());
            } else {
                reply.refused(409, "idempotency_key_in_use", "Idempotency-Key");
            }
        }
        assert!(!bodies.is_empty());
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "every answer is the same");
        assert_eq!(replies.iter().filter(|reply| reply.status == 201 && !reply.is_replay()).count(), 1);
        assert_eq!(count(&till).await, 1);
        let mut leases = Vec::new();
        for options in data(&till.get("/v1/invoices").await.ok(200)) {
            leases.push(options["payment_options"][0]["address"].clone());
        }
        assert_eq!(leases.len(), 1);
    }

    async fn a_client_that_hung_up_finds_its_answer(world: World) {
        let till = world.till().await;
        for n in 0..5 {
            let key = format!("k{n}");
            create(&till, &key).send_and_leave().await;
            let answer = until("an answer", || async {
                let reply = create(&till, &key).send().await;
                (reply.code() != "idempotency_key_in_use").then_some(reply)
            });
            answer.await.ok(201);
        }
        // Whether the first or the second request was the effect: there is one of each.
        assert_eq!(count(&till).await, 5);
    }

    async fn many_different_creates_at_once_are_all_made_and_share_no_address(world: World) {
        let till = world.till().await;
        let calls = (0..60).map(|n| {
            let asset = if n % 3 == 0 { json!([NILE]) } else { json!(null) };
            let body = json!({ "amount": format!("{}.00", n + 1), "currency": "USD", "assets": asset });
            till.posting("/v1/invoices", body).once(&format!("k{n}")).send()
        });
        let mut addresses: Vec<String> = Vec::new();
        for (n, reply) in join_all(calls).await.into_iter().enumerate() {
            let invoice = reply.ok(201);
            assert_eq!(invoice["amount"]["amount"], format!("{}.00", n + 1));
            let mut own: Vec<String> = invoice["payment_options"].as_array().unwrap().iter()
                .map(|option| option["address"].as_str().unwrap().to_owned()).collect();
            own.sort();
            own.dedup();
            addresses.extend(own);
        }
        let all = addresses.len();
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), all);
    }
}

on_every_engine! { postgres
    async fn two_servers_make_one_invoice_of_one_key(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        for round in 0..10 {
            let key = format!("k{round}");
            let calls = (0..6).map(|n| create(if n % 2 == 0 { &first } else { &second }, &key).send());
            let replies = join_all(calls).await;
            let mut bodies: Vec<_> = replies.iter().filter(|reply| reply.status == 201).map(|reply| reply.body.clone()).collect();
            for reply in replies.iter().filter(|reply| reply.status != 201) {
                reply.refused(409, "idempotency_key_in_use", "Idempotency-Key");
            }
            assert!(!bodies.is_empty());
            bodies.dedup();
            assert_eq!(bodies.len(), 1);
            let again = create(&second, &key).send().await;
            assert!(again.is_replay());
            assert_eq!(again.body, bodies[0]);
        }
        assert_eq!(count(&first).await, 10);
    }

    async fn two_servers_pay_once_with_one_key(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        let invoice = id(&first.invoice().await);
        let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
        let calls = (0..8).map(|n| {
            let till = if n % 2 == 0 { &first } else { &second };
            till.posting(&path, json!({ "amount": "1.00" })).once("k").send()
        });
        for reply in join_all(calls).await {
            if reply.status != 200 {
                reply.refused(409, "idempotency_key_in_use", "Idempotency-Key");
            }
        }
        assert_eq!(first.payments_of(&invoice).await.len(), 1);
    }

    async fn a_key_held_by_another_process_is_in_use_until_that_ends(world: World) {
        let till = world.till().await;
        let other = till_store::Db::open(&world.config).await.unwrap();
        for (path, body, key, status) in [
            ("/v1/invoices", body(), "k", 201),
            ("/v1/merchant/settings", json!({ "display_name": "A" }), "s", 200),
        ] {
            let mut tx = other.begin().await.unwrap();
            let once = Once::new(Actor::key("key_1"), Credential::Merchant, key.to_owned(), "POST", path, b"");
            let scope = till.scope();
            till_store::idempotency::claim(&mut tx, &once.key_of(&scope), &once.fingerprint, 0).await.unwrap();
            let call = till.posting(path, body).once(key);
            call.clone().send().await.refused(409, "idempotency_key_in_use", "Idempotency-Key");
            drop(tx);
            let freed = until("the end of the other process", || async {
                let reply = call.clone().send().await;
                (reply.code() != "idempotency_key_in_use").then_some(reply)
            });
            freed.await.ok(status);
        }
        assert_eq!(count(&till).await, 1);
        other.close().await;
    }
}
