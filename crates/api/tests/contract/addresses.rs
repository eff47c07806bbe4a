//! Deposit addresses: one per invoice and family, leased from pools with limits.

use std::collections::HashSet;

use serde_json::{Value, json};
use till_chains::Derivation;
use till_core::asset::{Family, Mode};

use crate::harness::{BASE, BTC, NILE, SEPOLIA, Setup, Till, address, id, text};

fn on(assets: &[&str]) -> Value {
    json!({ "amount": "25.00", "currency": "USD", "assets": assets })
}

async fn exhausted(till: &Till, assets: &[&str]) {
    till.post("/v1/invoices", on(assets))
        .await
        .refused(409, "deposit_addresses_exhausted", None);
}

on_every_engine! {
    async fn all_evm_options_share_one_address_and_no_two_invoices_do(world: World) {
        let till = world.till().await;
        let every_evm: Vec<String> = ["84532", "11155111", "11155420", "421614", "80002", "43113"]
            .iter().map(|chain| format!("USDC@eip155:{chain}")).collect();
        let mut all: Vec<&str> = every_evm.iter().map(String::as_str).collect();
        all.extend([NILE, BTC]);
        let mut seen = HashSet::new();
        for _ in 0..5 {
            let invoice = till.create(on(&all)).await;
            let shared: HashSet<String> = every_evm.iter().map(|asset| address(&invoice, asset)).collect();
            assert_eq!(shared.len(), 1);
            for address in shared.into_iter().chain([address(&invoice, NILE), address(&invoice, BTC)]) {
                assert!(seen.insert(address));
            }
        }
        assert_eq!(seen.len(), 15);
        let invoice = till.create(on(&all)).await;
        assert!(address(&invoice, BASE).starts_with("0x"));
        assert!(address(&invoice, NILE).starts_with('T'));
        assert!(address(&invoice, BTC).starts_with("tb1q"));
    }

    async fn anyone_can_recompute_the_address_from_what_the_payer_is_shown(world: World) {
        let till = world.till().await;
        let invoice = till.create(on(&[BASE, SEPOLIA, NILE, BTC])).await;
        let mut stream = crate::stream::follow(&till, &id(&invoice), "").await;
        let (_, event) = stream.next().await.unwrap();
        let options = event["invoice"]["payment_options"].as_array().unwrap();
        assert_eq!(options.len(), 4);
        for option in options {
            let derivation: Derivation = serde_json::from_value(option["address_derivation"].clone()).unwrap();
            assert_eq!(derivation.address().unwrap(), text(&option["address"]));
            let family = match &derivation {
                Derivation::Evm { destination, .. } | Derivation::Tron { destination, .. } => destination,
                Derivation::Bitcoin { account_xpub, .. } => account_xpub,
                Derivation::Solana { destination, .. } => destination,
            };
            assert!(Family::ALL.iter().any(|f| till_chains::example_destination(*f) == family), "{family}");
        }
    }

    async fn an_exhausted_pool_says_so_and_leases_nothing(world: World) {
        let till = world.till_with(Setup { pool_max: 2, ..Setup::default() }).await;
        till.create(on(&[BASE])).await;
        till.create(on(&[SEPOLIA])).await;
        exhausted(&till, &[BASE]).await;
        // One family short refuses the invoice, and takes nothing from the other.
        exhausted(&till, &[NILE, BASE]).await;
        exhausted(&till, &[BTC, BASE]).await;
        till.create(on(&[NILE])).await;
        till.create(on(&[NILE])).await;
        exhausted(&till, &[NILE]).await;
        till.create(on(&[BTC])).await;
        till.create(on(&[BTC])).await;
        exhausted(&till, &[BTC]).await;
        assert_eq!(till.get("/v1/invoices").await.ok(200)["data"].as_array().unwrap().len(), 6);
    }

    async fn an_address_is_leased_again_after_it_has_cooled_down(world: World) {
        let till = world.till_with(Setup { pool_max: 1, ..Setup::default() }).await;
        let first = till.create(on(&[BASE])).await;
        exhausted(&till, &[BASE]).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&first)), json!({})).await.ok(200);
        exhausted(&till, &[BASE]).await;
        till.advance(3_000).await;
        exhausted(&till, &[BASE]).await;
        till.advance(700).await;
        let second = till.create(on(&[BASE])).await;
        assert_eq!(address(&second, BASE), address(&first, BASE));
        exhausted(&till, &[BASE]).await;
        // An invoice that expires by itself gives its address back, too.
        till.advance(3_601).await;
        assert_eq!(till.retrieve(&id(&second)).await["status"], "expired");
        till.advance(3_601).await;
        let third = till.create(on(&[BASE])).await;
        // What arrives now belongs to the invoice that holds the lease.
        till.simulate(&id(&third), json!({})).await;
        assert_eq!(till.retrieve(&id(&third)).await["status"], "paid");
        assert_eq!(till.retrieve(&id(&second)).await["status"], "expired");
        assert!(till.payments_of(&id(&second)).await.is_empty());
    }

    async fn the_bitcoin_gap_limit_counts_from_the_last_address_that_was_paid(world: World) {
        let till = world.till_with(Setup { bitcoin_gap_limit: 2, ..Setup::default() }).await;
        let first = till.create(on(&[BTC])).await;
        till.create(on(&[BTC])).await;
        exhausted(&till, &[BTC]).await;
        // Other families have no such limit.
        for _ in 0..3 {
            till.create(on(&[BASE])).await;
        }
        till.simulate(&id(&first), json!({})).await;
        till.create(on(&[BTC])).await;
        exhausted(&till, &[BTC]).await;
    }

    async fn a_chain_without_a_payout_address_is_not_offered(world: World) {
        let evm = till_chains::example_destination(Family::Evm).to_owned();
        let setup = Setup { destinations: Some(vec![(Family::Evm, Mode::Test, evm)]), ..Setup::default() };
        let till = world.till_with(setup).await;
        till.post("/v1/invoices", on(&[BASE, NILE])).await.refused(400, "asset_unavailable", "assets[1]");
        till.post("/v1/invoices", on(&[BTC])).await.refused(400, "asset_unavailable", "assets[0]");
        let settings = till.get("/v1/merchant/settings").await.ok(200);
        assert_eq!(settings["default_assets"], json!([BASE, SEPOLIA]));
        assert_eq!(till.invoice().await["payment_options"].as_array().unwrap().len(), 2);
        let reply = till.post("/v1/merchant/settings", json!({ "default_assets": [BASE, NILE] })).await;
        reply.refused(400, "asset_unavailable", "default_assets[1]");
    }
}
