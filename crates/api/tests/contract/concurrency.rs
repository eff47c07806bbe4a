//! What must hold when many do things at once, on one server and on several.

use std::collections::HashSet;

use futures::future::join_all;
use serde_json::json;

use crate::harness::{
    BASE, NILE, Receiver, Setup, address, data, finished_deliveries, id, text, until,
};
use crate::statuses::balances;

on_every_engine! {
    memory

    async fn a_cancel_and_a_payment_at_once_leave_one_of_two_stories(world: World) {
        let till = world.till().await;
        for _ in 0..6 {
            let invoice = id(&till.invoice().await);
            let path = format!("/v1/invoices/{invoice}/cancel");
            let cancel = till.post(&path, json!({}));
            let pay = till.simulate(&invoice, json!({}));
            let (cancelled, _) = tokio::join!(cancel, pay);
            let after = till.retrieve(&invoice).await;
            let payment = till.payments_of(&invoice).await.remove(0);
            if cancelled.status == 200 {
                assert_eq!((&after["status"], &payment["status"]), (&json!("cancelled"), &json!("refundable")));
            } else {
                cancelled.refused(409, "invoice_not_cancellable", None);
                assert_eq!((&after["status"], &payment["status"]), (&json!("paid"), &json!("credited")));
            }
        }
    }

    async fn parallel_payments_of_one_invoice_all_add_up(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        join_all((0..10).map(|_| till.simulate(&invoice, json!({ "amount": "2.5" })))).await;
        let paid = till.retrieve(&invoice).await;
        assert_eq!((&paid["status"], &paid["amounts_received"][0]["amount"]), (&json!("paid"), &json!("25.00")));
        assert_eq!(till.payments_of(&invoice).await.len(), 10);
        let types = till.event_types(&invoice).await;
        assert_eq!(types.iter().filter(|event| *event == "invoice.paid").count(), 1);
        assert_eq!(types.iter().filter(|event| *event == "invoice.detected").count(), 1);
        let settled = balances(&till).await.into_iter().find(|(group, _)| group.starts_with("settled"));
        assert_eq!(settled.unwrap().1, 25_000_000);
    }

    async fn two_decisions_at_once_decide_once(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "1" })).await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let path = format!("/v1/invoices/{invoice}/resolve_review");
        let replies = join_all(["accept", "reject", "accept", "reject"].map(|decision| {
            till.post(&path, json!({ "decision": decision, "reason": "r" }))
        })).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            reply.refused(409, "review_not_open", None);
        }
        let types = till.event_types(&invoice).await;
        assert_eq!(types.iter().filter(|event| *event == "invoice.review_resolved").count(), 1);
    }

    async fn parallel_changes_of_different_settings_are_all_kept(world: World) {
        let till = world.till().await;
        tokio::join!(
            till.set(json!({ "display_name": "A" })),
            till.set(json!({ "underpay_tolerance_bps": 7 })),
            till.set(json!({ "manual_review_amount": "9.00" })),
            till.set(json!({ "default_assets": [NILE] })),
        );
        let settings = till.get("/v1/merchant/settings").await.ok(200);
        assert_eq!(
            (&settings["display_name"], &settings["underpay_tolerance_bps"], &settings["manual_review_amount"], &settings["default_assets"]),
            (&json!("A"), &json!(7), &json!("9.00"), &json!([NILE]))
        );
    }

    async fn parallel_clock_moves_add_up(world: World) {
        let till = world.till().await;
        let before = till.get("/v1/test_helpers/clock").await.ok(200);
        join_all((0..5).map(|_| till.advance(1_000))).await;
        let after = till.get("/v1/test_helpers/clock").await.ok(200);
        let ms = |clock: &serde_json::Value| till_core::time::parse(&text(&clock["now"])).unwrap();
        assert!(ms(&after) - ms(&before) >= 5_000_000);
    }

    async fn many_at_once_have_addresses_of_their_own_also_after_some_cooled(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "1.00", "currency": "USD", "assets": [BASE, NILE] });
        let mut made = Vec::new();
        for _ in 0..2 {
            let replies = join_all((0..60).map(|_| till.post("/v1/invoices", body.clone()))).await;
            made.extend(replies.iter().map(|reply| reply.ok(201)));
        }
        for asset in [BASE, NILE] {
            let addresses: HashSet<_> = made.iter().map(|invoice| address(invoice, asset)).collect();
            assert_eq!(addresses.len(), 120);
        }
        let first = &made[0];
        till.post(&format!("/v1/invoices/{}/cancel", text(&first["id"])), json!({})).await.ok(200);
        till.advance(90 * 86_400).await;
        let next = till.post("/v1/invoices", body.clone()).await.ok(201);
        let known: HashSet<_> = made.iter().map(|invoice| address(invoice, BASE)).collect();
        assert!(!known.contains(&address(&next, BASE)), "a number never used comes first");
    }

    async fn a_nearly_empty_pool_is_shared_out_exactly(world: World) {
        let till = world.till_with(Setup { pool_max: 5, ..Setup::default() }).await;
        let body = |n: usize| {
            let assets = if n.is_multiple_of(2) { json!([BASE]) } else { json!([BASE, NILE]) };
            json!({ "amount": "1.00", "currency": "USD", "assets": assets })
        };
        let replies = join_all((0..20).map(|n| till.post("/v1/invoices", body(n)))).await;
        let made: Vec<_> = replies.iter().filter(|reply| reply.status == 201).map(|reply| reply.json()).collect();
        assert_eq!(made.len(), 5);
        for reply in replies.iter().filter(|reply| reply.status != 201) {
            reply.refused(409, "deposit_addresses_exhausted", None);
        }
        let addresses: HashSet<_> = made.iter().map(|invoice| address(invoice, BASE)).collect();
        assert_eq!(addresses.len(), 5);
        // Those that were refused took nothing from the other family's pool.
        let tron = made.iter().filter(|invoice| invoice["payment_options"].as_array().unwrap().len() == 2).count();
        let more = join_all((0..5).map(|_| till.post("/v1/invoices", json!({ "amount": "1.00", "currency": "USD", "assets": [NILE] })))).await;
        assert_eq!(more.iter().filter(|reply| reply.status == 201).count(), 5 - tron);
    }
}

on_every_engine! { postgres
    async fn two_servers_never_lease_one_address_twice(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        let third = first.another_account().await;
        let body = json!({ "amount": "1.00", "currency": "USD" });
        let replies = join_all((0..200).map(|n| {
            let till = [&first, &second, &third][n % 3];
            till.posting("/v1/invoices", body.clone()).once(&format!("k{n}")).send()
        })).await;
        let mut seen = HashSet::new();
        for reply in replies {
            let invoice = reply.ok(201);
            assert_eq!(address(&invoice, BASE), address(&invoice, "USDC@eip155:11155111"));
            assert!(seen.insert(address(&invoice, BASE)), "leased twice");
            assert!(seen.insert(address(&invoice, NILE)), "leased twice");
        }
        assert_eq!(seen.len(), 400);
    }

    async fn two_servers_deliver_each_event_once(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        let receiver = Receiver::start().await;
        first.set(json!({ "webhook_url": receiver.url() })).await;
        join_all((0..30).map(|n| if n % 2 == 0 { first.invoice() } else { second.invoice() })).await;
        receiver.wait_for(30).await;
        let log = finished_deliveries(&first, 30).await;
        assert!(log.iter().all(|delivery| delivery["attempt"] == 1));
        let events: HashSet<_> = receiver.received().iter().map(|one| one.header("x-service-event-id").to_owned()).collect();
        assert_eq!((events.len(), receiver.received().len()), (30, 30));
    }

    async fn two_servers_expire_each_invoice_once(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        let mut invoices = Vec::new();
        for _ in 0..10 {
            invoices.push(id(&first.invoice().await));
        }
        world.clock.advance_s(3_601);
        let (one, two) = tokio::join!(
            till_engine::workers::timers::run_due(first.engine()),
            till_engine::workers::timers::run_due(second.engine()),
        );
        one.unwrap();
        two.unwrap();
        // The servers' own workers look for what is due, too, and may have some of it in their hands still.
        until("all of them are expired", || async {
            let expired = second.get("/v1/invoices?status=expired").await.ok(200);
            (data(&expired).len() == 10).then_some(())
        }).await;
        for invoice in &invoices {
            assert_eq!(first.event_types(invoice).await, ["invoice.created", "invoice.expired"]);
        }
    }

    async fn two_servers_crediting_one_transfer_credit_it_once(world: World) {
        let first = world.till().await;
        let second = world.beside(&first, Setup::default()).await;
        for round in 0..5 {
            let tx = format!("0xabc{round}");
            let invoice = first.invoice().await;
            let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
            for level in [till_core::payment::Level::Included, till_core::payment::Level::Final] {
                let seen = [crate::statuses::transfer(&invoice, BASE, 25_000_000, &tx, 3, level, now)];
                let scope = first.scope();
                tokio::join!(
                    crate::statuses::observe(&first, &scope, &seen),
                    crate::statuses::observe(&second, &scope, &seen),
                    crate::statuses::observe(&first, &scope, &seen),
                );
            }
            let paid = second.retrieve(&id(&invoice)).await;
            assert_eq!((&paid["status"], &paid["amounts_received"][0]["amount"]), (&json!("paid"), &json!("25.00")));
            assert_eq!(first.payments_of(&id(&invoice)).await.len(), 1);
            assert_eq!(first.event_types(&id(&invoice)).await, ["invoice.created", "invoice.detected", "invoice.paid"]);
        }
    }
}
