//! The home page, deposits that are nobody's payment, and the audit log.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::money::Units;
use till_core::role::Role;
use till_store::transfers::TransferRow;
use till_store::{StoreError, Tx};

use crate::browser::{Browser, member, owner};
use crate::given::{give_passkey, user_of};
use crate::harness::{BASE, Receiver, Till, address, data, id, live, text, until};

async fn home(browser: &Browser) -> Value {
    browser.get("home").await.ok(200)
}

fn step(home: &Value, step: &str) -> bool {
    let steps = home["setup"].as_array().unwrap();
    let of = steps.iter().find(|of| of["step"] == step).unwrap();
    of["done"].as_bool().unwrap()
}

fn needs(home: &Value) -> Vec<(String, i64)> {
    let needs = home["needs_you"].as_array().unwrap();
    let mut all: Vec<_> = needs
        .iter()
        .map(|need| (text(&need["kind"]), need["count"].as_i64().unwrap()))
        .collect();
    all.sort();
    all
}

/// Transfers to an address that are nobody's payment.
pub async fn stray(till: &Till, recipient: &str, count: u8) {
    let seen = till.engine().clock.now_ms();
    let rows: Vec<TransferRow> = (0..count)
        .map(|n| TransferRow {
            network: "eip155:84532".to_owned(),
            tx_hash: format!("0x{n:064x}"),
            place: 3,
            asset: match n {
                1 => "0x00000000000000000000000000000000000000aa".to_owned(),
                _ => BASE.to_owned(),
            },
            units: Units(2_000_000),
            arrived: None,
            whole: false,
            registers: None,
            senders: Vec::new(),
            recipient: recipient.to_owned(),
            simulated: false,
            // Some at one moment.
            first_seen_at: seen - i64::from(n / 3),
            height: None,
            block_hash: None,
            block_time: Some(seen),
            gone: false,
            payment: None,
            unattributed: Some(
                match n {
                    2 => "ambiguous",
                    _ => "no_lease",
                }
                .to_owned(),
            ),
        })
        .collect();
    let write = &till_store::transfers::facts_and_meaning(&rows);
    let done: Result<(), StoreError> = till
        .engine()
        .db
        .write(|tx| async move { tx.write(write).await.map(drop) }.scope_boxed())
        .await;
    done.unwrap();
}

on_every_engine! {
    async fn the_home_page_says_what_is_left_to_set_up(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let first = home(&browser).await;
        assert_eq!((&first["object"], &first["livemode"]), (&json!("home"), &json!(false)));
        for left in ["passkey", "destinations", "webhook_url", "api_key_used", "first_payment"] {
            assert!(!step(&first, left), "{left}");
        }
        assert!(step(&first, "application"));
        assert_eq!(needs(&first), []);
        let networks = first["networks"].as_array().unwrap();
        assert!(networks.iter().all(|network| network["status"] == "simulated"), "{networks:?}");
        give_passkey(&till, &browser).await;
        browser.post("changes", json!({ "kind": "destination", "family": "eip155", "address": "0x1111111111111111111111111111111111111111" })).await.ok(201);
        till.set(json!({ "webhook_url": "https://example.com/hooks" })).await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let after = home(&browser).await;
        for done in ["passkey", "destinations", "webhook_url", "api_key_used", "first_payment"] {
            assert!(step(&after, done), "{done}");
        }
        browser.get("home?days=0").await.refused(400, "parameter_invalid", "days");
        browser.get("home?days=91").await.refused(400, "parameter_invalid", "days");
    }

    async fn in_live_mode_it_says_what_the_server_lacks(world: World) {
        let till = world.till_with(live()).await;
        let browser = owner(&till).await;
        give_passkey(&till, &browser).await;
        assert_eq!(home(&browser.clone().in_mode("test")).await["missing"], json!([]));
        let live = browser.in_mode("live");
        assert_eq!(home(&live).await["missing"], json!(["screening_lists", "mail", "backups"]));
        let copied = |days: i64| {
            let (db, at) = (&till.engine().db, till.engine().clock.now_ms() - days * 86_400_000);
            db.write(move |tx: &mut Tx| till_store::installation::note_backup(tx, at).scope_boxed())
        };
        let noted: Result<(), StoreError> = copied(6).await;
        noted.unwrap();
        assert_eq!(home(&live).await["missing"], json!(["screening_lists", "mail"]));
        let noted: Result<(), StoreError> = copied(8).await;
        noted.unwrap();
        assert_eq!(home(&live).await["missing"], json!(["screening_lists", "mail", "backups"]));
    }

    async fn volumes_are_what_was_credited_day_by_day(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        for _ in 0..2 {
            let invoice = id(&till.invoice().await);
            till.simulate(&invoice, json!({})).await;
        }
        till.advance(86_400).await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let seen = home(&browser).await;
        let volumes = seen["volumes"].as_array().unwrap();
        let shown: Vec<(String, String, i64)> = volumes.iter().map(|of| (text(&of["asset"]), text(&of["amount"]), of["payments"].as_i64().unwrap())).collect();
        assert_eq!(shown, [(BASE.to_owned(), "50.00".to_owned(), 2), (BASE.to_owned(), "25.00".to_owned(), 1)]);
        assert!(text(&volumes[0]["day"]) < text(&volumes[1]["day"]));
        assert_eq!(home_days(&browser, 1).await, 1);
    }

    async fn what_waits_for_somebody_is_counted(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        till.set(json!({ "manual_review_amount": "25" })).await;
        let invoice = till.invoice().await;
        till.simulate(&id(&invoice), json!({})).await;
        browser.post("changes", json!({ "kind": "webhook_secret", "delay_seconds": 60 })).await.ok(201);
        stray(&till, &address(&invoice, BASE), 2).await;
        assert_eq!(needs(&home(&browser).await), [("change_pending".to_owned(), 1), ("review_open".to_owned(), 1), ("unattributed_deposit".to_owned(), 2)]);
    }

    async fn a_webhook_that_waits_for_another_try_needs_somebody(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let receiver = Receiver::start().await;
        receiver.answer(500, b"");
        till.set(json!({ "webhook_url": receiver.url() })).await;
        till.invoice().await;
        receiver.wait_for(1).await;
        until("the refused webhook is counted", || async {
            let needed = needs(&home(&browser).await);
            (needed == [("webhook_failing".to_owned(), 1)]).then_some(())
        })
        .await;
    }

    async fn deposits_of_nobody_are_listed_and_dismissed(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let to = address(&till.invoice().await, BASE);
        stray(&till, &to, 7).await;
        let all = data(&browser.get("unattributed_deposits?limit=100").await.ok(200));
        assert_eq!(all.len(), 7);
        let mut ids: Vec<String> = all.iter().map(id).collect();
        assert!(ids.is_sorted_by(|a, b| a > b), "newest first: {ids:?}");
        // The same, two at a time.
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = browser.get(&format!("unattributed_deposits?limit=2{cursor}")).await.ok(200);
            paged.extend(data(&page).iter().map(id));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(paged, ids);
        let of = |tx: u8| all.iter().find(|of| of["tx_hash"] == format!("0x{tx:064x}")).unwrap();
        assert_eq!((&of(0)["reason"], &of(0)["amount"], &of(0)["symbol"], &of(0)["status"], &of(0)["to"]), (&json!("no_lease"), &json!("2.00"), &json!("USDC"), &json!("open"), &json!(to)));
        assert_eq!((&of(1)["reason"], &of(1)["amount"], &of(1)["symbol"]), (&json!("unknown_token"), &json!("2000000"), &Value::Null));
        assert_eq!(of(2)["reason"], "ambiguous");
        let dismiss = |deposit: &str, note: &str| {
            let (by, path, body) = (browser.clone(), format!("unattributed_deposits/{deposit}/dismiss"), json!({ "note": note }));
            async move { by.post(&path, body).await }
        };
        let gone = dismiss(&id(of(0)), "a friend's").await.ok(200);
        assert_eq!((&gone["status"], &gone["note"]), (&json!("dismissed"), &json!("a friend's")));
        assert_eq!(data(&browser.get("unattributed_deposits?status=dismissed").await.ok(200)), [gone]);
        let on = async |network: &str| browser.get(&format!("unattributed_deposits?network={network}")).await;
        assert_eq!(on("tron:0xcd8690dc").await.ok(200)["data"], on("tron:3448148188").await.ok(200)["data"]);
        on("foo").await.refused(400, "parameter_invalid", "network");
        assert_eq!(data(&browser.get("unattributed_deposits?status=open").await.ok(200)).len(), 6);
        assert_eq!(data(&browser.get("unattributed_deposits?network=eip155:1").await.ok(200)).len(), 0);
        assert_eq!(needs(&home(&browser).await), [("unattributed_deposit".to_owned(), 6)]);
        dismiss("udp_00000000000000000000000000", "x").await.refused(404, "resource_missing", "id");
        dismiss("nothing", "x").await.refused(404, "resource_missing", "id");
        dismiss(&ids.remove(0), "").await.refused(400, "parameter_invalid", "note");
        browser.get("unattributed_deposits?status=lost").await.refused(400, "parameter_invalid", "status");
        let stranger = till.another_account().await;
        let stranger = member(&stranger, "x@example.com", Role::Owner).await.in_mode("test");
        assert!(data(&stranger.get("unattributed_deposits").await.ok(200)).is_empty());
        stranger.post(&format!("unattributed_deposits/{}/dismiss", ids[0]), json!({ "note": "x" })).await.refused(404, "resource_missing", "id");
    }

    async fn the_audit_log_is_read_with_filters_and_names(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let (browser, user) = (owner.in_mode("test"), user_of(&owner).await);
        let key = browser.post("api_keys", json!({ "kind": "secret", "name": "shop" })).await.ok(201);
        till.posting("/v1/merchant/settings", json!({ "display_name": "Anna's" })).key(&text(&key["key"])).send().await.ok(200);
        let list = |query: String| { let owner = owner.clone(); async move { data(&owner.get(&format!("audit_events?limit=100{query}")).await.ok(200)) } };
        let all = list(String::new()).await;
        assert_eq!(all[0]["action"], "settings.updated");
        assert_eq!(all[0]["actor"], json!({ "type": "api_key", "id": &key["id"], "label": "shop" }));
        assert_eq!(all[0]["target"], json!({ "type": "organization", "id": &till.account.id }));
        assert_eq!((&all[0]["mode"], &all[0]["object"], &all[0]["details"]), (&json!("test"), &json!("audit_event"), &json!({ "settings": ["display_name"] })));
        assert_eq!(all[1]["actor"], json!({ "type": "user", "id": &user, "label": "owner@example.com" }));
        assert_eq!(all[1]["target"], json!({ "type": "api_key", "id": &key["id"] }));
        assert!(all[1]["session"].is_string() && all[1]["ip"].is_string() && all[1]["request_id"].is_string());
        assert!(!all.iter().any(|event| event.to_string().contains(&text(&key["key"]))));
        assert_eq!(list(format!("&actor={user}")).await.len(), 3, "signing in, joining, and the key");
        assert_eq!(list("&actor=cli".to_owned()).await.len(), all.len() - 4);
        assert_eq!(list(format!("&target={}", id(&key))).await.len(), 1);
        assert_eq!(list("&action=settings.updated".to_owned()).await.len(), 1);
        assert_eq!(list("&from=2100-01-01".to_owned()).await.len(), 0);
        assert_eq!(list("&to=2100-01-01".to_owned()).await.len(), all.len());
        owner.get("audit_events?from=yesterday").await.refused(400, "parameter_invalid", "from");
        let stranger = till.another_account().await;
        let stranger = member(&stranger, "x@example.com", Role::Admin).await;
        assert!(data(&stranger.get(&format!("audit_events?actor={user}")).await.ok(200)).is_empty());
    }
}

on_every_engine! {
    async fn signed_days_of_the_journal_are_listed(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        assert!(data(&browser.get("ledger_digests").await.ok(200)).is_empty());
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        world.clock.advance_s(86_400);
        till_engine::workers::digests::make_due(till.engine()).await.unwrap();
        let browser = member(&till, "later@example.com", Role::Admin).await.in_mode("test");
        let digests = data(&browser.get("ledger_digests").await.ok(200));
        assert_eq!((digests.len(), &digests[0]["object"]), (1, &json!("ledger_digest")));
    }
}

async fn home_days(browser: &Browser, days: u8) -> usize {
    let home = browser.get(&format!("home?days={days}")).await.ok(200);
    home["volumes"].as_array().unwrap().len()
}
