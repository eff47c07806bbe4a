//! Customers.

use serde_json::{Value, json};

use crate::harness::{Till, data, id};

async fn customer(till: &Till, body: Value) -> Value {
    till.post("/v1/customers", body).await.ok(201)
}

on_every_engine! {
    async fn a_customer_reads_back_with_its_credit(world: World) {
        let till = world.till().await;
        let body = json!({ "name": "Ada", "email": "Ada@EXAMPLE.com", "metadata": { "crm": "7" } });
        let made = customer(&till, body).await;
        assert!(id(&made).starts_with("cus_"));
        assert_eq!((&made["object"], &made["livemode"]), (&json!("customer"), &json!(false)));
        assert_eq!((&made["name"], &made["email"]), (&json!("Ada"), &json!("Ada@example.com")));
        assert_eq!((&made["metadata"], made.get("credit")), (&json!({ "crm": "7" }), None));
        let mut found = till.get(&format!("/v1/customers/{}", id(&made))).await.ok(200);
        let credit = found.as_object_mut().unwrap().shift_remove("credit");
        assert_eq!((found, credit), (made.clone(), Some(json!([]))));
        let bare = till.call("POST", "/v1/customers").key(&till.account.test.secret_key).once("bare").send().await.ok(201);
        assert_eq!((&bare["name"], &bare["email"], &bare["metadata"]), (&Value::Null, &Value::Null, &json!({})));
        let listed = till.get("/v1/customers").await.ok(200);
        assert_eq!(data(&listed), [bare, made]);
    }

    async fn every_value_of_a_customer_is_checked(world: World) {
        let till = world.till().await;
        let check = |body: Value, code: &'static str, param: &'static str| {
            let till = till.clone();
            async move { till.post("/v1/customers", body).await.refused(400, code, param); }
        };
        check(json!({ "email": "nobody" }), "email_invalid", "email").await;
        check(json!({ "email": 7 }), "parameter_invalid", "email").await;
        check(json!({ "name": "x".repeat(201) }), "parameter_invalid", "name").await;
        check(json!({ "metadata": { "a": 1 } }), "parameter_invalid", "metadata.a").await;
        check(json!({ "phone": "1" }), "parameter_unknown", "phone").await;
        till.get("/v1/customers?limit=0").await.refused(400, "parameter_invalid", "limit");
        till.get("/v1/customers?status=x").await.refused(400, "parameter_unknown", "status");
        till.get("/v1/customers/cus_nothing").await.refused(404, "resource_missing", None);
    }

    async fn a_customer_is_its_own_accounts_alone(world: World) {
        let till = world.till().await;
        let made = customer(&till, json!({ "email": "ada@example.com" })).await;
        let other = till.another_account().await;
        other.get(&format!("/v1/customers/{}", id(&made))).await.refused(404, "resource_missing", None);
        assert!(data(&other.get("/v1/customers").await.ok(200)).is_empty());
    }
}
