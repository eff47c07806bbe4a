//! Lists: newest first, page by page, filtered, and only by cursors they gave out.

use serde_json::{Value, json};

use crate::harness::{BASE, LIVE_USDC, Till, data, id, live, text};

async fn pages(till: &Till, path: &str, limit: usize) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = till
            .get(&format!("{path}limit={limit}{cursor}"))
            .await
            .ok(200);
        assert_eq!(page["object"], "list");
        let mut names: Vec<_> = page.as_object().unwrap().keys().cloned().collect();
        names.sort();
        assert_eq!(names, ["data", "next_cursor", "object"]);
        pages.push(data(&page).iter().map(id).collect());
        match &page["next_cursor"] {
            Value::Null => return pages,
            next => cursor = format!("&cursor={}", text(next)),
        }
    }
}

on_every_engine! {
    memory

    async fn pages_follow_one_another_newest_first_and_end_with_null(world: World) {
        let till = world.till().await;
        assert_eq!(pages(&till, "/v1/invoices?", 10).await, [Vec::<String>::new()]);
        let mut made = Vec::new();
        for _ in 0..7 {
            made.push(id(&till.invoice().await));
        }
        made.reverse();
        let by_three = pages(&till, "/v1/invoices?", 3).await;
        assert_eq!(by_three, [&made[..3], &made[3..6], &made[6..]]);
        // A last page that is exactly full is still the last.
        assert_eq!(pages(&till, "/v1/invoices?", 7).await, [made.clone()]);
        assert_eq!(pages(&till, "/v1/invoices?", 100).await, [made.clone()]);
        assert_eq!(pages(&till, "/v1/invoices?", 1).await.len(), 7);
        for _ in 0..4 {
            till.invoice().await;
        }
        assert_eq!(data(&till.get("/v1/invoices").await.ok(200)).len(), 10);
    }

    async fn a_cursor_is_stable_while_new_objects_arrive(world: World) {
        let till = world.till().await;
        let old: Vec<String> = { let mut ids = Vec::new(); for _ in 0..3 { ids.push(id(&till.invoice().await)); } ids };
        let first = till.get("/v1/invoices?limit=2").await.ok(200);
        till.invoice().await;
        let rest = till.get(&format!("/v1/invoices?limit=2&cursor={}", text(&first["next_cursor"]))).await.ok(200);
        assert_eq!(data(&rest).iter().map(id).collect::<Vec<_>>(), &old[..1]);
    }

    async fn bad_limits_and_cursors_are_refused_by_name(world: World) {
        let till = world.till().await;
        for list in ["invoices", "payments", "events", "webhook_deliveries"] {
            for limit in ["0", "101", "-1", "1.5", "x", "", "%31%30%30%30"] {
                till.get(&format!("/v1/{list}?limit={limit}")).await.refused(400, "parameter_invalid", "limit");
            }
            let long = "A".repeat(300);
            for cursor in ["", "x", "inv_01jcnx2v9k7q3w8s5d1f6h4m2t", "AAAAAAAAAAAAAAAAAAAAAAAA", "%00", long.as_str()] {
                till.get(&format!("/v1/{list}?cursor={cursor}")).await.refused(400, "parameter_invalid", "cursor");
            }
            let twice = till.get(&format!("/v1/{list}?limit=5&limit=5")).await;
            twice.refused(400, "parameter_invalid", "limit");
        }
    }

    async fn a_write_tells_how_far_the_database_is_and_a_list_takes_that_back(world: World) {
        let till = world.till().await;
        let written = till.post("/v1/customers", json!({ "name": "Ada" })).await;
        // There are no replicas here that could be behind.
        assert_eq!((written.status, written.header("till-min-seq")), (201, Some("0")));
        let refused = till.post("/v1/customers", json!({ "email": "x" })).await;
        assert_eq!((refused.status, refused.header("till-min-seq")), (400, None));
        let listed = |value: &'static str| till.call("GET", "/v1/customers").header("till-min-seq", value).send();
        let found = listed("0").await;
        assert_eq!((data(&found.ok(200)).len(), found.header("till-min-seq")), (1, None));
        assert_eq!(data(&listed("5042").await.ok(200)).len(), 1);
        for wrong in ["-1", "x", "1.5", "9223372036854775808"] {
            listed(wrong).await.refused(400, "parameter_invalid", "Till-Min-Seq");
        }
        let twice = till.call("GET", "/v1/customers").header("till-min-seq", "1").and_header("till-min-seq", "1");
        twice.send().await.refused(400, "parameter_invalid", "Till-Min-Seq");
    }

    async fn a_cursor_of_another_list_account_or_mode_is_refused(world: World) {
        let till = world.till_with(live()).await;
        for _ in 0..2 {
            till.invoice().await;
        }
        let page = till.get("/v1/invoices?limit=1").await.ok(200);
        let cursor = text(&page["next_cursor"]);
        till.get(&format!("/v1/invoices?cursor={cursor}")).await.ok(200);
        till.get(&format!("/v1/payments?cursor={cursor}")).await.refused(400, "parameter_invalid", "cursor");
        let other = till.another_account().await;
        other.get(&format!("/v1/invoices?cursor={cursor}")).await.refused(400, "parameter_invalid", "cursor");
        let live = till.call("GET", &format!("/v1/invoices?cursor={cursor}")).key(till.live_key());
        live.send().await.refused(400, "parameter_invalid", "cursor");
        let mut tampered = cursor.into_bytes();
        let last = tampered.len() - 2;
        tampered[last] = if tampered[last] == b'A' { b'B' } else { b'A' };
        let tampered = String::from_utf8(tampered).unwrap();
        till.get(&format!("/v1/invoices?cursor={tampered}")).await.refused(400, "parameter_invalid", "cursor");
    }

    async fn invoices_are_filtered_by_status_and_customer_ref(world: World) {
        let till = world.till().await;
        let body = |reference: &str| json!({ "amount": "5.00", "currency": "USD", "customer_ref": reference });
        let ann = id(&till.create(body("ann")).await);
        let bob = id(&till.create(body("bob & co")).await);
        till.simulate(&ann, json!({})).await;
        let listed = |query: &'static str| {
            let till = &till;
            async move { data(&till.get(&format!("/v1/invoices?{query}")).await.ok(200)).iter().map(id).collect::<Vec<_>>() }
        };
        for query in ["status=paid", "customer_ref=ann", "status=paid&customer_ref=ann"] {
            assert_eq!(listed(query).await, std::slice::from_ref(&ann), "{query}");
        }
        for query in ["status=awaiting_payment", "customer_ref=bob%20%26+co"] {
            assert_eq!(listed(query).await, std::slice::from_ref(&bob), "{query}");
        }
        assert!(listed("status=expired").await.is_empty());
        assert!(listed("status=awaiting_payment&customer_ref=ann").await.is_empty());
        for status in ["done", "", "Paid", "paid,expired"] {
            till.get(&format!("/v1/invoices?status={status}")).await.refused(400, "parameter_invalid", "status");
        }
    }

    async fn invoices_are_filtered_by_when_they_were_made(world: World) {
        let till = world.till_with(live()).await;
        for (key, asset) in [(&*till.account.test.secret_key, BASE), (till.live_key(), LIVE_USDC)] {
            let body = json!({ "amount": "5.00", "currency": "USD", "assets": [asset] });
            let made = till.posting("/v1/invoices", body).key(key).send().await.ok(201);
            let at = made["created_at"].as_str().unwrap();
            let day = &at[..10];
            let listed = |query: String| {
                let till = &till;
                async move {
                    let list = till.call("GET", &format!("/v1/invoices?{query}")).key(key).send().await.ok(200);
                    data(&list).iter().map(id).collect::<Vec<_>>()
                }
            };
            let only = [id(&made)];
            for query in [format!("from={at}"), format!("from={day}"), "from=2020-01-01&to=2120-01-01".to_owned()] {
                assert_eq!(listed(query.clone()).await, only, "{query}");
            }
            for query in [format!("to={at}"), format!("to={day}"), "from=2120-01-01".to_owned(), "from=2020-01-01&to=2020-01-02".to_owned()] {
                assert!(listed(query.clone()).await.is_empty(), "{query}");
            }
        }
        for param in ["from", "to"] {
            till.get(&format!("/v1/invoices?{param}=yesterday")).await.refused(400, "parameter_invalid", param);
        }
    }

    async fn pages_of_a_filtered_list_hold_only_what_fits(world: World) {
        let till = world.till().await;
        let mut paid = Vec::new();
        for n in 0..6 {
            let invoice = id(&till.invoice().await);
            if n % 2 == 0 {
                till.simulate(&invoice, json!({})).await;
                paid.insert(0, invoice);
            }
        }
        assert_eq!(pages(&till, "/v1/invoices?status=paid&", 2).await, [&paid[..2], &paid[2..]]);
    }
}
