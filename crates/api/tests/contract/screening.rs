//! Screening by the operator's lists and by registers on the chain: who is named is not paid, and a list that says
//! nothing clears nobody.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;
use till_engine::lists::{Format, ListConfig, ListSource};
use till_engine::refunds;
use till_engine::workers::lists::{refresh_all, refresh_due};

use crate::claims::{PAYER, claim};
use crate::harness::{Mood, Node, Setup, Till, World, id, text};
use crate::refunds::{act, received, refund, tx};

const LISTED: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const OTHER: &str = "0x3333333333333333333333333333333333333333";

fn own(path: &Path) -> Setup {
    let list = ListConfig {
        name: "own".to_owned(),
        source: ListSource::File(path.to_owned()),
        format: Format::Plain,
    };
    Setup {
        lists: vec![list],
        ..Setup::default()
    }
}

/// A server with a list of its own, which it has read.
async fn with_list(world: &World, folder: &TempDir, content: &str) -> Till {
    let path = folder.path().join("own.txt");
    std::fs::write(&path, content).unwrap();
    let till = world.till_with(own(&path)).await;
    refresh(&till).await;
    till
}

/// Reads what is due; the server's own worker may be doing the same at this moment.
async fn refresh(till: &Till) {
    crate::harness::until("the list is read", || async {
        refresh_due(till.engine()).await.unwrap();
        let mut reader = till.engine().db.read().await.unwrap();
        let rows = till_store::lists::all(&mut reader).await.unwrap();
        rows.iter().all(|row| row.busy_until == 0).then_some(())
    })
    .await;
    till_engine::workers::lists::follow(till.engine())
        .await
        .unwrap();
}

async fn claimed(till: &Till, address: &str) -> Value {
    let invoice = received(till, "25").await;
    let made = refund(till, &invoice, json!({ "amount": "5" }))
        .await
        .ok(201);
    claim(till, &made, "eip155:84532", address).await.ok(200);
    let path = format!("/v1/refunds/{}", id(&made));
    till.get(&path).await.ok(200)
}

/// What the list of that name said.
fn said(refund: &Value, list: &str) -> Option<String> {
    let lists = refund["payout"]["screening"]["lists"].as_array().unwrap();
    let found = lists.iter().find(|one| one["list"] == list)?;
    Some(text(&found["result"]))
}

on_every_engine! {
    async fn a_list_names_payers_until_it_is_too_old_to_clear_the_others(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, &format!("# ours\n{}\n", LISTED.to_lowercase())).await;
        let seen = claimed(&till, LISTED).await;
        assert_eq!((&seen["status"], said(&seen, "own").as_deref()), (&json!("in_review"), Some("match")));
        let seen = claimed(&till, PAYER).await;
        assert_eq!((&seen["status"], said(&seen, "own").as_deref()), (&json!("ready_to_send"), Some("clear")));
        // A file that is no list replaces nothing.
        std::fs::write(folder.path().join("own.txt"), "<html>moved</html>").unwrap();
        world.clock.advance_s(13 * 3_600);
        refresh(&till).await;
        let mut reader = till.engine().db.read().await.unwrap();
        let row = till_store::lists::all(&mut reader).await.unwrap().pop().unwrap();
        drop(reader);
        assert!(row.error.unwrap().contains("line 1") && row.addresses == 1 && row.edition.is_some());
        assert_eq!(claimed(&till, PAYER).await["status"], "ready_to_send");
        world.clock.advance_s(36 * 3_600);
        refresh(&till).await;
        let seen = claimed(&till, PAYER).await;
        assert_eq!((&seen["status"], said(&seen, "own").as_deref()), (&json!("in_review"), Some("unavailable")));
        assert_eq!(seen["payout"]["screening"]["result"], "unavailable");
        assert_eq!(said(&claimed(&till, LISTED).await, "own").as_deref(), Some("match"), "an old list still names");
        std::fs::write(folder.path().join("own.txt"), PAYER).unwrap();
        world.clock.advance_s(600);
        refresh(&till).await;
        assert_eq!(said(&claimed(&till, PAYER).await, "own").as_deref(), Some("match"));
        assert_eq!(said(&claimed(&till, LISTED).await, "own").as_deref(), Some("clear"), "it was replaced as a whole");
    }

    async fn a_file_that_was_changed_is_read_without_waiting_for_its_time(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, LISTED).await;
        let path = folder.path().join("own.txt");
        let change = |content: &str| {
            std::fs::write(&path, content).unwrap();
            let now = u64::try_from(till.engine().clock.now_ms()).unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_millis(now + 1)).unwrap();
            world.clock.advance_s(5);
        };
        // It broke off in the middle of an address: what was known stays.
        change(&format!("{PAYER}\n{}", &LISTED[..20]));
        refresh(&till).await;
        let seen = [claimed(&till, LISTED).await, claimed(&till, PAYER).await];
        assert_eq!(seen.map(|one| text(&one["status"])), ["in_review", "ready_to_send"]);
        change(PAYER);
        refresh(&till).await;
        let seen = [claimed(&till, LISTED).await, claimed(&till, PAYER).await];
        assert_eq!(seen.map(|one| text(&one["status"])), ["ready_to_send", "in_review"]);
    }

    async fn an_address_that_was_listed_after_the_claim_is_not_sent_to(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, LISTED).await;
        let ready = claimed(&till, PAYER).await;
        std::fs::write(folder.path().join("own.txt"), PAYER).unwrap();
        world.clock.advance_s(13 * 3_600);
        refresh(&till).await;
        act(&till, &ready, "mark_sent", json!({ "tx_hash": tx(1) })).await.refused(409, "refund_not_ready", None);
        let seen = till.get(&format!("/v1/refunds/{}", id(&ready))).await.ok(200);
        assert_eq!((&seen["status"], said(&seen, "own").as_deref()), (&json!("in_review"), Some("match")));
        assert_eq!(seen["review_reason"], "sanctions");
        let mut reader = till.engine().db.read().await.unwrap();
        let kept = till_store::screenings::of_subject(&mut reader, &till.scope(), &id(&ready)).await.unwrap();
        let results: Vec<_> = kept.iter().map(|one| one.result.as_str()).collect();
        assert_eq!(results, ["clear", "match"]);
        let editions: Vec<_> = kept.iter().map(|one| one.screening.lists.last().unwrap().version.clone()).collect();
        assert_ne!(editions[0], editions[1], "which edition of the list said so is on record");
        drop(reader);
        // It was paid out before that: who says so again is believed where the chain cannot be asked.
        let sent = act(&till, &ready, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        assert_eq!((&sent["status"], &sent["review_reason"]), (&json!("sent"), &Value::Null));
    }

    async fn who_is_told_to_read_a_list_waits_for_the_server_that_reads_it(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, LISTED).await;
        let engine = till.engine();
        let list = &engine.lists.as_ref().unwrap().config.lists[0];
        let (now, digest) = (engine.clock.now_ms(), list.digest());
        let until = now + 60_000;
        let mut tx = engine.db.begin().await.unwrap();
        assert!(till_store::lists::claim(&mut tx, ("own", &digest), now, until).await.unwrap());
        tx.commit().await.unwrap();
        let mut told = Box::pin(refresh_all(engine));
        let waited = tokio::time::timeout(Duration::from_millis(300), &mut told).await;
        assert!(waited.is_err(), "another server is reading it");
        let mut tx = engine.db.begin().await.unwrap();
        till_store::lists::record_failure(&mut tx, "own", until, "cut off").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(told.await.unwrap(), 1);
    }

    async fn a_refund_that_is_ready_goes_to_review_when_its_address_is_listed(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, LISTED).await;
        let ready = [claimed(&till, PAYER).await, claimed(&till, OTHER).await];
        let shown = async || {
            let mut shown = Vec::new();
            for one in &ready {
                let seen = till.get(&format!("/v1/refunds/{}", id(one))).await.ok(200);
                shown.push((text(&seen["status"]), seen["review_reason"].as_str().unwrap_or_default().to_owned()));
            }
            shown
        };
        let is = |status: &str, why: &str| (status.to_owned(), why.to_owned());
        refunds::screen_ready(till.engine()).await.unwrap();
        assert_eq!(shown().await, [is("ready_to_send", ""), is("ready_to_send", "")]);
        std::fs::write(folder.path().join("own.txt"), PAYER).unwrap();
        world.clock.advance_s(13 * 3_600);
        refresh(&till).await;
        refunds::screen_ready(till.engine()).await.unwrap();
        assert_eq!(shown().await, [is("in_review", "sanctions"), is("ready_to_send", "")]);
    }

    async fn addresses_that_could_not_be_screened_are_once_the_lists_are_there(world: World) {
        let folder = TempDir::new().unwrap();
        let till = world.till_with(own(&folder.path().join("own.txt"))).await;
        refresh(&till).await;
        assert!(till.engine().lists.as_ref().unwrap().has_stale(till.engine().clock.now_ms()));
        let waiting = [claimed(&till, PAYER).await, claimed(&till, LISTED).await];
        let shown = async || {
            let paths = waiting.each_ref().map(|one| format!("/v1/refunds/{}", id(one)));
            let mut shown = Vec::new();
            for path in paths {
                let seen = till.get(&path).await.ok(200);
                shown.push((text(&seen["status"]), seen["review_reason"].as_str().unwrap_or_default().to_owned()));
            }
            shown
        };
        // One at each turn.
        let screen = async || {
            for turn in 0..2 {
                refunds::screen_waiting(till.engine(), turn).await.unwrap();
            }
        };
        let both = |status: &str, why: &str| (status.to_owned(), why.to_owned());
        screen().await;
        assert_eq!(shown().await, [both("in_review", "screening_unavailable"), both("in_review", "screening_unavailable")]);
        std::fs::write(folder.path().join("own.txt"), LISTED).unwrap();
        world.clock.advance_s(13 * 3_600);
        refresh(&till).await;
        let lists = till.engine().lists.as_ref().unwrap();
        assert!(!lists.has_stale(till.engine().clock.now_ms()));
        assert!(lists.has_stale(till.engine().clock.now_ms() + 48 * 3_600_000 + 1));
        // A server without the list clears nobody.
        let other = world.till().await;
        for turn in 0..2 {
            refunds::screen_waiting(other.engine(), turn).await.unwrap();
        }
        assert_eq!(shown().await, [both("in_review", "screening_unavailable"), both("in_review", "screening_unavailable")]);
        screen().await;
        assert_eq!(shown().await, [both("ready_to_send", ""), both("in_review", "sanctions")]);
        act(&till, &waiting[0], "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        let mut reader = till.engine().db.read().await.unwrap();
        let kept = till_store::screenings::of_subject(&mut reader, &till.scope(), &id(&waiting[0])).await.unwrap();
        let results: Vec<_> = kept.iter().map(|one| one.result.as_str()).collect();
        assert_eq!(results, ["unavailable", "clear", "clear"], "what could not be asked again is not written again");
    }

    async fn a_listed_sender_is_held(world: World) {
        let folder = TempDir::new().unwrap();
        let till = with_list(&world, &folder, LISTED).await;
        let invoice = id(&till.invoice().await);
        let seen = till.simulate(&invoice, json!({ "sender": LISTED })).await;
        assert_eq!((&seen["status"], &seen["review"]["hold"]), (&json!("under_review"), &json!("sanctions")));
        let other = id(&till.invoice().await);
        assert_eq!(till.simulate(&other, json!({ "sender": PAYER })).await["status"], "paid");
    }

    async fn a_list_from_elsewhere_is_not_believed_until_it_was_read(world: World) {
        let folder = TempDir::new().unwrap();
        with_list(&world, &folder, LISTED).await;
        let elsewhere = folder.path().join("other.txt");
        let other = world.till_with(own(&elsewhere)).await;
        refresh(&other).await;
        let seen = claimed(&other, PAYER).await;
        assert_eq!((&seen["status"], said(&seen, "own").as_deref()), (&json!("in_review"), Some("unavailable")));
    }

    async fn issuers_are_asked_on_the_chain_and_silence_clears_nobody(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        node.names(LISTED);
        let setup = Setup {
            rpc: [("eip155:84532".to_owned(), vec![node.url()])].into(),
            ..Setup::default()
        };
        let till = world.till_with(setup).await;
        let seen = claimed(&till, LISTED).await;
        assert_eq!((&seen["status"], said(&seen, "issuer_blacklist").as_deref()), (&json!("in_review"), Some("match")));
        let ready = claimed(&till, PAYER).await;
        assert_eq!((&ready["status"], said(&ready, "issuer_blacklist").as_deref()), (&json!("ready_to_send"), Some("clear")));
        // A network without an endpoint is not asked.
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        assert_eq!(claim(&till, &made, "eip155:11155111", LISTED).await.ok(200)["status"], "ready_to_send");
        node.set_broken(true);
        let seen = claimed(&till, PAYER).await;
        assert_eq!((&seen["status"], said(&seen, "issuer_blacklist").as_deref()), (&json!("in_review"), Some("unavailable")));
        let hash = json!({ "tx_hash": tx(1) });
        act(&till, &ready, "mark_sent", hash.clone()).await.refused(503, "service_unavailable", None);
        node.set_broken(false);
        node.names(PAYER);
        act(&till, &ready, "mark_sent", hash).await.refused(409, "refund_not_ready", None);
        assert_eq!(till.get(&format!("/v1/refunds/{}", id(&ready))).await.ok(200)["status"], "in_review");
    }
}
