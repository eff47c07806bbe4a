//! Fairness at payment links: what abusers with a publishable key tried, and what they get.

use serde_json::{Value, json};

use crate::checkout::{WALLET, bind};
use crate::harness::{BASE, BTC, Reply, SEPOLIA, Setup, Till, World, data, id, text};
use crate::links::{fixed, fixed_with, invoices_of, link, status_of};

/// Behind a proxy, so that a test can come from many addresses.
async fn till(world: &World) -> Till {
    let setup = Setup {
        checkout_per_minute: 100_000,
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        ..Setup::default()
    };
    world.till_with(setup).await
}

async fn order(till: &Till, link: &Value, client: &str) -> Reply {
    let call = till.posting(&invoices_of(link), json!({}));
    let call = call.key(&till.account.test.publishable_key);
    call.header("x-forwarded-for", client).send().await
}

async fn pick(till: &Till, invoice: &Value, asset: &str) -> Reply {
    let path = format!("/v1/checkout/invoices/{}/payment_option", id(invoice));
    let call = till.posting(&path, json!({ "asset": asset }));
    call.key(&till.account.test.publishable_key).send().await
}

async fn status(till: &Till, invoice: &Value) -> String {
    text(&till.retrieve(&id(invoice)).await["status"])
}

on_every_engine! {
    async fn two_addresses_cannot_shut_a_merchants_links(world: World) {
        let till = till(&world).await;
        let links = [link(&till, fixed()).await, link(&till, fixed()).await, link(&till, fixed()).await];
        for client in ["192.0.2.1", "192.0.2.2"] {
            let mut opened = 0;
            for one in &links {
                for n in 0..12 {
                    let reply = order(&till, one, client).await;
                    match reply.status {
                        201 => opened += 1,
                        _ => drop(reply.refused(409, "payment_link_busy", None)),
                    }
                    assert!(n < 5 || reply.status == 409, "five at a link");
                }
            }
            assert_eq!(opened, 10, "ten over all links of a merchant");
        }
        // Everybody else finds the links open, and so does the merchant.
        for one in &links {
            order(&till, one, "198.51.100.7").await.ok(201);
            till.post(&invoices_of(one), json!({})).await.ok(201);
        }
    }

    async fn many_addresses_cannot_fill_a_link(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed()).await;
        let mut opened = Vec::new();
        for client in 0..10 {
            for _ in 0..5 {
                opened.push(order(&till, &made, &format!("192.0.2.{client}")).await.ok(201));
            }
        }
        // Fifty are open. A payer who has none takes the place of the oldest of those who have most.
        let payer = order(&till, &made, "198.51.100.7").await.ok(201);
        assert_eq!(status(&till, &opened[0]).await, "expired");
        assert_eq!(till.event_types(&id(&opened[0])).await.last().unwrap(), "invoice.expired");
        assert_eq!(status(&till, &opened[1]).await, "awaiting_payment");
        // The first client has four now, so the next is taken from the second.
        till.post(&invoices_of(&made), json!({})).await.ok(201);
        assert_eq!(status(&till, &opened[5]).await, "expired");
        // Who has as many as anybody takes nobody's place.
        order(&till, &made, "192.0.2.9").await.refused(409, "payment_link_busy", None);
        assert_eq!(status(&till, &payer).await, "awaiting_payment");
        // The displaced payer is told so, and can order again as long as somebody has more.
        pick(&till, &opened[0], BASE).await.refused(409, "invoice_not_awaiting_payment", None);
    }

    async fn many_addresses_cannot_fill_an_account(world: World) {
        let till = till(&world).await;
        let mut opened = Vec::new();
        for n in 0..4 {
            let made = link(&till, fixed()).await;
            for client in 0..10 {
                for _ in 0..5 {
                    opened.push(order(&till, &made, &format!("192.0.{n}.{client}")).await.ok(201));
                }
            }
        }
        // Two hundred are open; the fifth link has none of them.
        let fifth = link(&till, fixed()).await;
        let payer = order(&till, &fifth, "198.51.100.7").await.ok(201);
        assert_eq!(status(&till, &opened[0]).await, "expired");
        till.post(&invoices_of(&fifth), json!({})).await.ok(201);
        assert_eq!(status(&till, &opened[5]).await, "expired");
        pick(&till, &payer, BASE).await.ok(200);
        till.simulate(&id(&payer), json!({ "asset": BASE })).await;
        assert_eq!(status(&till, &payer).await, "paid");
    }

    async fn one_client_cannot_take_all_units_of_a_small_link(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed_with("quantity_limit", json!(3))).await;
        let mut taken = Vec::new();
        for _ in 0..3 {
            taken.push(order(&till, &made, "192.0.2.1").await.ok(201));
        }
        order(&till, &made, "192.0.2.1").await.refused(409, "payment_link_fully_reserved", None);
        assert_eq!(status_of(&till, &made).await, "active", "there is room for others");
        let path = format!("/v1/checkout/links/{}", text(&made["slug"]));
        let key = &till.account.test.publishable_key;
        let own = till.call("GET", &path).key(key).header("x-forwarded-for", "192.0.2.1").send().await.ok(200);
        assert_eq!(own["status"], "fully_reserved", "and none for who has them all");
        // What is picked keeps its place.
        pick(&till, &taken[0], BASE).await.ok(200);
        order(&till, &made, "198.51.100.1").await.ok(201);
        assert_eq!(status(&till, &taken[1]).await, "expired");
        assert_eq!(status(&till, &taken[0]).await, "awaiting_payment");
        // The abuser has two left, of which one is picked.
        order(&till, &made, "198.51.100.2").await.ok(201);
        assert_eq!(status(&till, &taken[2]).await, "expired");
        // Each has one now: nobody loses the only one, not even to the merchant.
        order(&till, &made, "198.51.100.3").await.refused(409, "payment_link_fully_reserved", None);
        till.post(&invoices_of(&made), json!({})).await.refused(409, "payment_link_fully_reserved", None);
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
    }

    async fn an_order_that_a_wallet_is_bound_to_makes_way_for_nobody(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed_with("quantity_limit", json!(2))).await;
        let first = order(&till, &made, "192.0.2.1").await.ok(201);
        let second = order(&till, &made, "192.0.2.1").await.ok(201);
        bind(&till, &first, BASE, WALLET).await.ok(200);
        order(&till, &made, "192.0.2.2").await.ok(201);
        assert_eq!(status(&till, &first).await, "awaiting_payment");
        assert_eq!(status(&till, &second).await, "expired");
    }

    async fn a_link_whose_orders_all_have_wallets_is_shown_as_reserved(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed_with("quantity_limit", json!(2))).await;
        for wallet in [WALLET, "0x2222222222222222222222222222222222222222"] {
            let opened = order(&till, &made, "192.0.2.1").await.ok(201);
            assert_eq!(status_of(&till, &made).await, "active");
            bind(&till, &opened, BASE, wallet).await.ok(200);
        }
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
        order(&till, &made, "192.0.2.2").await.refused(409, "payment_link_fully_reserved", None);
    }

    async fn whoever_comes_at_once_takes_a_place_each_and_no_unit_is_sold_twice(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed_with("quantity_limit", json!(4))).await;
        for _ in 0..4 {
            order(&till, &made, "192.0.2.1").await.ok(201);
        }
        let orders = (0..20).map(|client| {
            let (till, made) = (till.clone(), made.clone());
            tokio::spawn(async move { order(&till, &made, &format!("198.51.100.{client}")).await })
        });
        let mut taken = 0;
        for attempt in orders.collect::<Vec<_>>() {
            let reply = attempt.await.unwrap();
            match reply.status {
                201 => taken += 1,
                _ => drop(reply.refused(409, "payment_link_fully_reserved", None)),
            }
        }
        assert_eq!(taken, 3, "until everybody has one");
        let open = data(&till.get("/v1/invoices?limit=100&status=awaiting_payment").await.ok(200));
        assert_eq!(open.len(), 4);
        assert_eq!(status_of(&till, &made).await, "fully_reserved");
    }

    async fn one_client_cannot_pick_networks_for_all_it_has_open(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed_with("assets", json!([BASE, SEPOLIA]))).await;
        let mut opened = Vec::new();
        for _ in 0..4 {
            opened.push(order(&till, &made, "192.0.2.1").await.ok(201));
        }
        pick(&till, &opened[0], BASE).await.ok(200);
        pick(&till, &opened[1], BASE).await.ok(200);
        pick(&till, &opened[2], BASE).await.refused(409, "payment_link_busy", None);
        // Before anything else is said.
        pick(&till, &opened[2], "DOGE").await.refused(409, "payment_link_busy", None);
        // What is picked may be picked again.
        pick(&till, &opened[0], SEPOLIA).await.ok(200);
        let other = order(&till, &made, "192.0.2.2").await.ok(201);
        pick(&till, &other, BASE).await.ok(200);
        // One that is paid does not count any more, nor one that has expired.
        till.simulate(&id(&opened[0]), json!({ "asset": BASE })).await;
        pick(&till, &opened[2], BASE).await.ok(200);
        pick(&till, &opened[3], BASE).await.refused(409, "payment_link_busy", None);
        till.post(&format!("/v1/invoices/{}/cancel", id(&opened[1])), json!({})).await.ok(200);
        pick(&till, &opened[3], BASE).await.ok(200);
        // The merchant's own are not counted.
        for _ in 0..4 {
            let own = till.post(&invoices_of(&made), json!({})).await.ok(201);
            pick(&till, &own, BASE).await.ok(200);
        }
    }

    async fn one_payer_cannot_take_bitcoin_from_the_others(world: World) {
        let till = till(&world).await;
        let assets = fixed_with("assets", json!([BTC, BASE]));
        let links = [link(&till, assets.clone()).await, link(&till, assets.clone()).await];
        let mut with_address = 0;
        for one in &links {
            for _ in 0..2 {
                let invoice = order(&till, one, "192.0.2.1").await.ok(201);
                let reply = pick(&till, &invoice, BTC).await;
                match reply.status {
                    200 => with_address += 1,
                    _ => drop(reply.refused(409, "deposit_addresses_exhausted", None)),
                }
            }
        }
        assert_eq!(with_address, 2);
        let others = order(&till, &links[0], "192.0.2.2").await.ok(201);
        pick(&till, &others, BTC).await.ok(200);
        // Waiting until they expire does not help: their addresses cool down first.
        till.advance(1_000).await;
        let again = order(&till, &links[1], "192.0.2.1").await.ok(201);
        pick(&till, &again, BTC).await.refused(409, "deposit_addresses_exhausted", None);
        pick(&till, &again, BASE).await.ok(200);
        till.advance(3_600).await;
        let later = order(&till, &links[1], "192.0.2.1").await.ok(201);
        pick(&till, &later, BTC).await.ok(200);
    }

    async fn an_ipv6_customer_is_one_client(world: World) {
        let till = till(&world).await;
        let made = link(&till, fixed()).await;
        for n in 0..5 {
            order(&till, &made, &format!("2001:db8:0:12{n}{n}::{n}")).await.ok(201);
        }
        order(&till, &made, "2001:db8:0:12ff::1").await.refused(409, "payment_link_busy", None);
        order(&till, &made, "2001:db8:0:1300::1").await.ok(201);
    }
}
