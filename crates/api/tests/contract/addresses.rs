//! Deposit addresses: one per invoice and family, leased from pools with limits.

use std::collections::HashSet;

use serde_json::{Value, json};
use till_chains::Derivation;
use till_core::asset::{Family, Mode};
use till_core::payment::Level;
use till_engine::Fail;
use till_engine::intake::TransferOrigin;
use till_engine::merchants::accounts::{Modes, NewAccount, create_account};

use crate::harness::{BASE, BTC, NILE, SEPOLIA, Setup, Till, address, id, text};
use crate::statuses::{observe, transfer};

/// m/84'/0'/0' of the mnemonic in BIP84's test vectors.
const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

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
            let own = |f: &Family| till_chains::example_destination_of(*f, &till.account.id).unwrap();
            assert!(Family::ALL.iter().any(|f| own(f) == *family), "{family}");
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

    async fn unconfirmed_bitcoin_moves_no_gap(world: World) {
        let till = world.till_with(Setup { bitcoin_gap_limit: 2, ..Setup::default() }).await;
        let first = till.create(on(&[BTC])).await;
        till.create(on(&[BTC])).await;
        for steps in [json!(["pending"]), json!(["pending", "included"])] {
            till.simulate(&id(&first), json!({ "finality_steps": steps })).await;
            exhausted(&till, &[BTC]).await;
        }
        till.simulate(&id(&first), json!({})).await;
        till.create(on(&[BTC])).await;
        exhausted(&till, &[BTC]).await;
    }

    async fn an_address_that_nothing_was_sent_to_rests_for_a_shorter_time(world: World) {
        let till = world.till_with(Setup { bitcoin_gap_limit: 1, unpaid_cooldown_ms: 1_800_000, ..Setup::default() }).await;
        let first = till.create(on(&[BTC])).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&first)), json!({})).await.ok(200);
        till.advance(1_700).await;
        exhausted(&till, &[BTC]).await;
        till.advance(102).await;
        let second = till.create(on(&[BTC])).await;
        assert_eq!(address(&second, BTC), address(&first, BTC));
        till.simulate(&id(&second), json!({ "amount": "0.0001", "finality_steps": ["pending"] })).await;
        let payment = till.payments_of(&id(&second)).await[0].clone();
        till.post(&format!("/v1/test_helpers/payments/{}/reverse", id(&payment)), json!({})).await.ok(200);
        till.advance(900).await;
        assert_eq!(till.retrieve(&id(&second)).await["status"], "expired");
        till.advance(3_500).await;
        exhausted(&till, &[BTC]).await;
        till.advance(200).await;
        till.create(on(&[BTC])).await;
    }

    async fn payers_picks_leave_the_merchant_half_of_the_bitcoin_gap(world: World) {
        let till = world.till_with(Setup { bitcoin_gap_limit: 6, ..Setup::default() }).await;
        let body = json!({ "amount_type": "fixed", "currency": "USD", "amount": "5.00", "assets": [BTC, BASE] });
        let link = till.post("/v1/payment_links", body).await.ok(201);
        let pick = async |asset: &str| {
            let path = format!("/v1/checkout/links/{}/invoices", text(&link["slug"]));
            let invoice = till.post(&path, json!({})).await.ok(201);
            till.post(&format!("/v1/checkout/invoices/{}/payment_option", id(&invoice)), json!({ "asset": asset })).await
        };
        let mut picked = Vec::new();
        for _ in 0..3 {
            picked.push(pick(BTC).await.ok(200));
        }
        pick(BTC).await.refused(409, "deposit_addresses_exhausted", None);
        pick(BASE).await.ok(200);
        for _ in 0..3 {
            till.create(on(&[BTC])).await;
        }
        exhausted(&till, &[BTC]).await;
        // What a payer paid for is no longer ahead of anything.
        till.simulate(&id(&picked[2]), json!({})).await;
        pick(BTC).await.ok(200);
    }

    async fn no_two_accounts_have_a_bitcoin_address_in_common(world: World) {
        let till = world.till().await;
        let other = till.another_account().await;
        let (mine, theirs) = (till.create(on(&[BTC])).await, other.create(on(&[BTC])).await);
        assert_ne!(address(&mine, BTC), address(&theirs, BTC));
        let xpub = till_chains::example_destination_of(Family::Bitcoin, &till.account.id).unwrap();
        let settings = till.get("/v1/merchant/settings").await.ok(200);
        assert_eq!(settings["registered_destinations"]["bip122"], xpub.as_str());
        till.simulate(&id(&mine), json!({})).await;
        assert_eq!(other.retrieve(&id(&theirs)).await["status"], "awaiting_payment");
    }

    async fn one_account_key_belongs_to_one_account_and_mode(world: World) {
        let till = world.till().await;
        let make = async |key: &str, mode: Mode| {
            let own = till_chains::parse_destination(Family::Bitcoin, mode, key).unwrap();
            let destinations = [(Family::Bitcoin, mode, own)];
            create_account(till.engine(), "again", Modes::TestAndLive, &destinations).await
        };
        let taken = |made: Result<NewAccount, Fail>| {
            let Err(Fail::Refused(refusal)) = made else { panic!("{made:?}") };
            assert_eq!(refusal.code.as_str(), "destination_invalid");
        };
        make(ZPUB, Mode::Live).await.unwrap();
        taken(make(ZPUB, Mode::Live).await);
        let own = till_chains::example_destination_of(Family::Bitcoin, &till.account.id).unwrap();
        taken(make(&own, Mode::Test).await);
        // At once, too: the database holds it.
        let documented = till_chains::example_destination(Family::Bitcoin);
        let (one, two) = tokio::join!(make(documented, Mode::Test), make(documented, Mode::Test));
        match (one, two) {
            (Ok(_), lost) | (lost, Ok(_)) => taken(lost),
            both => panic!("{both:?}"),
        }
    }

    async fn an_invoice_reopened_after_its_address_went_to_another_gets_a_fresh_one(world: World) {
        let till = world.till_with(Setup { cooldown_ms: 60_000, pool_max: 3, ..Setup::default() }).await;
        let first = till.create(on(&[BASE, NILE])).await;
        let others = [till.create(on(&[BASE])).await, till.create(on(&[BASE])).await];
        till.simulate(&id(&first), json!({ "asset": BASE })).await;
        till.advance(1).await;
        for other in &others {
            till.post(&format!("/v1/invoices/{}/cancel", id(other)), json!({})).await.ok(200);
        }
        till.advance(61).await;
        let second = till.create(on(&[BASE])).await;
        assert_eq!(address(&second, BASE), address(&first, BASE), "all are used: what cooled down longest comes first");
        let payment = till.payments_of(&id(&first)).await[0].clone();
        till.post(&format!("/v1/test_helpers/payments/{}/reverse", id(&payment)), json!({})).await.ok(200);
        let reopened = till.retrieve(&id(&first)).await;
        assert_eq!(reopened["status"], "awaiting_payment");
        assert_ne!(address(&reopened, BASE), address(&second, BASE));
        // What nobody took meanwhile is kept.
        assert_eq!(address(&reopened, NILE), address(&first, NILE));
        let told = till.events(&id(&first)).await;
        let last = &told.last().unwrap()["data"]["object"];
        assert_eq!(address(last, BASE), address(&reopened, BASE));
        assert_eq!(till.simulate(&id(&first), json!({ "asset": BASE })).await["status"], "paid");
        assert_eq!(till.retrieve(&id(&second)).await["status"], "awaiting_payment");
        // Its own is nobody else's while it waits.
        let third = till.create(on(&[BASE])).await;
        assert!(![address(&reopened, BASE), address(&second, BASE)].contains(&address(&third, BASE)));
    }

    async fn a_closed_invoice_shows_its_address_until_it_has_cooled_down(world: World) {
        let till = world.till_with(Setup { cooldown_ms: 9 * 86_400_000, ..Setup::default() }).await;
        let invoice = till.create(on(&[BASE])).await;
        till.simulate(&id(&invoice), json!({ "amount": "10" })).await;
        // Its hour, and the day in which it waits for the rest.
        till.advance(26 * 3_600).await;
        let closed = till.retrieve(&id(&invoice)).await;
        assert_eq!((&closed["status"], address(&closed, BASE)), (&json!("partially_paid"), address(&invoice, BASE)));
        assert_ne!(closed["closed_at"], Value::Null);
        till.advance(9 * 86_400).await;
        let cooled = till.retrieve(&id(&invoice)).await;
        assert_eq!(cooled["payment_options"][0]["address"], Value::Null);
        assert_eq!(cooled["amount_remaining"], closed["amount_remaining"], "a fact, not a request");
        let listed = till.get("/v1/invoices").await.ok(200);
        assert_eq!(listed["data"][0]["payment_options"][0]["address"], Value::Null);
        // What goes there is still its own, as long as nobody else has been given the address, and is told without it.
        let payment = till.payments_of(&id(&invoice)).await[0].clone();
        let made = till_core::time::parse(&text(&invoice["created_at"])).unwrap() + 20 * 86_400_000;
        let tx = format!("0x{}", "c1".repeat(32));
        let mut late = transfer(&invoice, BASE, 15_000_000, &tx, 0, Level::Final, made);
        late.source = TransferOrigin::Simulation;
        observe(&till, &till.scope(), &[late]).await;
        let told = till.events(&id(&invoice)).await;
        let last = &told.last().unwrap()["data"]["object"];
        assert_eq!((&last["status"], &last["payment_options"][0]["address"]), (&json!("paid_late"), &Value::Null));
        // A reversal that makes it ask again gives it an address again.
        till.post(&format!("/v1/test_helpers/payments/{}/reverse", id(&payment)), json!({})).await.ok(200);
        let again = till.retrieve(&id(&invoice)).await;
        assert_eq!(again["closed_at"] == Value::Null, again["payment_options"][0]["address"] != Value::Null);
    }

    async fn a_number_never_used_comes_before_a_cooled_one(world: World) {
        let till = world.till_with(Setup { cooldown_ms: 60_000, pool_max: 2, ..Setup::default() }).await;
        let cancelled = till.create(on(&[BASE, NILE])).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&cancelled)), json!({})).await.ok(200);
        till.advance(61).await;
        let (fresh, cooled) = (till.create(on(&[BASE, NILE])).await, till.create(on(&[BASE, NILE])).await);
        for asset in [BASE, NILE] {
            assert_ne!(address(&fresh, asset), address(&cancelled, asset));
            assert_eq!(address(&cooled, asset), address(&cancelled, asset));
        }
        exhausted(&till, &[BASE]).await;
    }

    async fn a_block_s_whole_seconds_lie_before_the_lease_they_belong_to(world: World) {
        let till = world.till_with(Setup { cooldown_ms: 60_000, pool_max: 1, ..Setup::default() }).await;
        let first = till.create(on(&[BASE])).await;
        let made = till_core::time::parse(&text(&first["created_at"])).unwrap();
        let tx = |byte: &str| format!("0x{}", byte.repeat(32));
        let seen = transfer(&first, BASE, 25_000_000, &tx("b1"), 0, Level::Final, made / 1_000 * 1_000 - 1_000);
        observe(&till, &till.scope(), &[seen]).await;
        assert_eq!(till.retrieve(&id(&first)).await["status"], "paid");
        till.advance(100).await;
        // The address is free for 40 seconds and more when it is leased again: those are the second's.
        let second = till.create(on(&[BASE])).await;
        let made = till_core::time::parse(&text(&second["created_at"])).unwrap();
        let mut seen = transfer(&second, BASE, 25_000_000, &tx("b2"), 0, Level::Final, made / 1_000 * 1_000 - 30_000);
        // On a chain of the account's own time: a real one's blocks do not follow a test clock.
        seen.source = TransferOrigin::Simulation;
        observe(&till, &till.scope(), &[seen]).await;
        assert_eq!(till.retrieve(&id(&second)).await["status"], "paid");
        let mut seen = transfer(&second, BASE, 5_000_000, &tx("b3"), 0, Level::Final, made - 90_000);
        seen.source = TransferOrigin::Simulation;
        observe(&till, &till.scope(), &[seen]).await;
        assert_eq!(till.retrieve(&id(&first)).await["status"], "overpaid");
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
