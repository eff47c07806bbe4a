//! The list of payments.

use serde_json::{Value, json};

use crate::harness::{BASE, NILE, data, id, text};

on_every_engine! {
    memory

    async fn a_payment_has_every_field(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let sender = "0x52908400098527886E0F7030069857D2E4169EE7";
        till.simulate(&id(&invoice), json!({ "amount": "5", "sender": sender.to_lowercase() })).await;
        let payment = till.payments_of(&id(&invoice)).await.remove(0);
        let mut names: Vec<_> = payment.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [
            "amount", "asset", "attributed_by", "block_hash", "block_number", "block_time", "credited_at", "finality",
            "first_seen_at", "from", "id", "index", "invoice", "livemode", "network", "object", "status", "symbol", "to", "tx_hash",
        ]);
        assert!(id(&payment).starts_with("pay_"));
        let expected = json!({
            "object": "payment", "livemode": false, "invoice": id(&invoice), "status": "credited", "finality": "final",
            "asset": BASE, "symbol": "USDC", "network": "eip155:84532", "amount": "5.00", "index": 0,
            "to": invoice["payment_options"][0]["address"], "from": sender, "attributed_by": "deposit_address",
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&payment[name], value, "{name}");
        }
        let hash = text(&payment["tx_hash"]);
        assert!(hash.starts_with("0x") && hash.len() == 66, "{hash}");
        assert!(payment["block_number"].is_i64() && payment["block_hash"].is_string() && payment["block_time"].is_string());
        assert!(payment["credited_at"].is_string() && payment["first_seen_at"].is_string());
        let pending = id(&till.invoice().await);
        till.simulate(&pending, json!({ "finality_steps": ["pending"] })).await;
        let pending = till.payments_of(&pending).await.remove(0);
        for name in ["block_number", "block_hash", "block_time", "credited_at"] {
            assert_eq!(pending[name], Value::Null, "{name}");
        }
    }

    async fn payments_are_filtered_by_what_they_are(world: World) {
        let till = world.till().await;
        let first = id(&till.invoice().await);
        till.simulate(&first, json!({ "amount": "5" })).await;
        till.simulate(&first, json!({ "amount": "6", "finality_steps": ["included"] })).await;
        let second = id(&till.invoice().await);
        till.simulate(&second, json!({ "asset": NILE })).await;
        let all = data(&till.get("/v1/payments").await.ok(200));
        assert_eq!(all.len(), 3);
        let listed = |query: String| {
            let till = &till;
            async move { data(&till.get(&format!("/v1/payments?{query}")).await.ok(200)).iter().map(id).collect::<Vec<_>>() }
        };
        let ids: Vec<_> = all.iter().map(id).collect();
        assert_eq!(listed(format!("invoice={first}")).await, ids[1..]);
        assert_eq!(listed(format!("invoice={second}")).await, ids[..1]);
        assert_eq!(listed("status=credited".into()).await, [ids[0].clone(), ids[2].clone()]);
        assert_eq!(listed("status=confirming".into()).await, ids[1..2]);
        assert!(listed("status=reversed".into()).await.is_empty());
        assert_eq!(listed(format!("asset={NILE}")).await, ids[..1]);
        assert_eq!(listed(format!("tx_hash={}", text(&all[1]["tx_hash"]))).await, ids[1..2]);
        assert_eq!(listed(format!("status=credited&asset={BASE}&invoice={first}")).await, ids[2..]);
        assert!(listed("tx_hash=0x00".into()).await.is_empty());
        till.get("/v1/payments?status=paid").await.refused(400, "parameter_invalid", "status");
        till.get("/v1/payments?network=x").await.refused(400, "parameter_unknown", "network");
        let page = till.get("/v1/payments?limit=2").await.ok(200);
        let rest = till.get(&format!("/v1/payments?limit=2&cursor={}", text(&page["next_cursor"]))).await.ok(200);
        assert_eq!(data(&rest).iter().map(id).collect::<Vec<_>>(), ids[2..]);
        assert!(rest["next_cursor"].is_null());
    }
}
