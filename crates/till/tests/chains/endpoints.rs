//! Endpoints that are wrong, away, slow or lying.

use serde_json::json;

use crate::common::until;
use crate::lies;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::{Shop, until_reading};
use crate::watched::{USDC, Watched};

fn two(one: &str, two: &str) -> String {
    format!("[networks.\"eip155:84532\"]\nrpc = [{one:?}, {two:?}]\n")
}

// N01, N02: whoever leaves logs out is found out by the block's bloom and another's answer, and nothing waits for it.
#[test]
fn logs_that_one_of_two_leaves_out_are_read_from_the_other_without_a_pause() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&two(&proxy.url, &node.url));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    proxy.becomes(Manner::Omits);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    server.log_until("it left out logs");
    node.mine(8);
    shop.until_status(&server, &id, "paid");
    let ready = server.client("").get("/readyz").unwrap().json();
    // Its blocks count as before.
    assert_eq!(ready["networks"][0]["endpoints_usable"], 2, "{ready}");
    assert_eq!(ready["networks"][0]["state"], "watching");
    let (next, deposit) = shop.invoice(&server, "7.00", USDC);
    node.pay(USDC, &[(&deposit, 7_000_000)]);
    node.mine(8);
    shop.until_status(&server, &next, "paid");
    assert_eq!(shop.payments(&server, &next).len(), 1);
    server.stop();
}

// N01, N02: where contents can be proven, of two that contradict each other the one that is right is believed at once.
#[test]
fn a_payment_that_one_of_two_denies_in_every_way_is_paid_without_a_pause() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    for liar_is_first in [true, false] {
        let liar = Proxy::before(&node);
        let (first, second) = match liar_is_first {
            true => (&liar.url, &node.url),
            false => (&node.url, &liar.url),
        };
        let shop = Shop::new(&two(first, second));
        let server = shop.open();
        let (id, deposit) = shop.invoice(&server, "25.00", USDC);
        server.log_until("watching");
        liar.tells(lies::denies(&deposit));
        node.pay(USDC, &[(&deposit, 25_000_000)]);
        node.mine(8);
        shop.until_status(&server, &id, "paid");
        let ready = server.client("").get("/readyz").unwrap().json();
        assert_eq!(ready["networks"][0]["endpoints_usable"], 2, "{ready}");
        server.stop();
    }
}

// Receipts do not name their transaction: under another hash they make up the same root.
#[test]
fn true_receipts_under_another_hash_prove_nothing() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    for hides in [true, false] {
        let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
        let rpc = [&liar.url, &node.url, &other.url];
        let network = &node.network.id;
        let shop = Shop::new(&format!("[networks.{network:?}]\nrpc = {rpc:?}\n"));
        let server = shop.open();
        let (id, deposit) = shop.invoice(&server, "25.00", USDC);
        until_reading(&server);
        liar.tells(lies::renames(hides));
        node.pay(USDC, &[(&deposit, 25_000_000)]);
        node.mine(8);
        shop.until_status(&server, &id, "paid");
        liar.tells_the_truth();
        let (next, to_next) = shop.invoice(&server, "7.00", USDC);
        node.pay(USDC, &[(&to_next, 7_000_000)]);
        node.mine(8);
        shop.until_status(&server, &next, "paid");
        let payments = shop.payments(&server, &id);
        assert_eq!(payments.len(), 1, "{payments:?}");
        let hash = &payments[0]["tx_hash"];
        let receipt = node.ask("eth_getTransactionReceipt", json!([hash]));
        assert_eq!(receipt["status"], "0x1", "a transaction that is there");
        server.stop();
    }
}

// N04: and what one of two invents is nobody's, and holds up nobody.
#[test]
fn a_transfer_that_one_of_two_invents_holds_up_nobody_where_contents_are_proven() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let liar = Proxy::before(&node);
    let shop = Shop::new(&two(&liar.url, &node.url));
    let server = shop.open();
    let (invented, to_invented) = shop.invoice(&server, "25.00", USDC);
    let (id, deposit) = shop.invoice(&server, "7.00", USDC);
    server.log_until("watching");
    // In a block whose bloom does not tell, because the token was moved there.
    let height = node.height() + 1;
    liar.tells(lies::invents(
        &node,
        height,
        USDC,
        (&to_invented, 25_000_000),
    ));
    node.pay(USDC, &[(&deposit, 7_000_000)]);
    node.mine(8);
    server.log_until("a transfer that its block does not have");
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.read(&server, &invented)["status"], "awaiting_payment");
    assert!(shop.payments(&server, &invented).is_empty());
    server.stop();
}

// Some nodes give entries twice, or such as were removed from the chain, after a reorganisation.
#[test]
fn what_is_given_twice_or_was_removed_is_passed_over() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.proxies[0].tells(lies::repeats_logs_and_adds_removed_ones());
    one.pay(25_000_000);
    one.node.mine(8);
    one.until("paid");
    assert_eq!(one.amount(), "25.00");
    assert_eq!(one.shop.payments(&one.server, &one.id).len(), 1);
    one.server.stop();
}

// N02, F4: its logs are not asked for twice, but its receipts, which it cannot leave anything out of.
#[test]
fn one_of_two_logs_that_the_only_endpoint_leaves_out_is_found_in_the_receipts() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    let (other, to_other) = one.shop.invoice(&one.server, "7.00", USDC);
    one.proxies[0].tells(lies::leaves_out(&one.node.hex(&one.deposit)));
    // Two transactions: the receipt of one would tell both.
    for transfer in [(&*one.deposit, 25_000_000), (&*to_other, 7_000_000)] {
        let signed = one.node.signed(USDC, &[transfer]);
        one.node.send(&signed);
    }
    one.node.mine(3);
    one.shop.until_status(&one.server, &other, "paid");
    assert_eq!(
        one.shop.read(&one.server, &one.id)["status"],
        "awaiting_payment"
    );
    one.node.mine(5);
    one.until("paid");
    one.server.log_until("a transfer was missed at first");
    for id in [&one.id, &other] {
        assert_eq!(one.shop.payments(&one.server, id).len(), 1);
    }
    one.server.stop();
}

// N02, I11: who was paid by the same transaction is asked about again, and is not touched.
#[test]
fn what_the_second_look_finds_beside_what_is_known_undoes_nothing() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    let (other, to_other) = one.shop.invoice(&one.server, "7.00", USDC);
    one.proxies[0].tells(lies::leaves_out(&one.node.hex(&to_other)));
    let transfers = [(&*one.deposit, 25_000_000), (&*to_other, 7_000_000)];
    one.node.pay(USDC, &transfers);
    one.node.mine(2);
    one.until("paid");
    one.node.mine(5);
    one.shop.until_status(&one.server, &other, "paid");
    until("it is told", || {
        let told = one.shop.told_of(&other);
        told.iter().any(|kind| kind == "invoice.paid")
    });
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    one.shop.until_told(&one.id, &told);
    assert_eq!(one.shop.payments(&one.server, &one.id).len(), 1);
    one.server.stop();
}

// R01: a receipt that is not there for a moment is no transfer that is gone.
#[test]
fn a_receipt_that_the_only_endpoint_lacks_for_a_moment_takes_nothing_back() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.pay(25_000_000);
    one.until("detected");
    one.proxies[0].tells(lies::lacks_receipts_once());
    one.node.mine(2);
    one.until("paid");
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    one.shop.until_told(&one.id, &told);
    one.server.stop();
}

// N01, F4: with nobody to compare with, a block's head names the root of all its receipts.
#[test]
fn logs_that_the_only_endpoint_leaves_out_are_missed_by_nobody() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&format!(
        "[networks.\"eip155:84532\"]\nrpc = [{:?}]\n",
        proxy.url
    ));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    let before = node.height();
    proxy.becomes(Manner::Omits);
    // In a block of many, whose tree of receipts has more than one floor.
    let signed = node.signed(USDC, &[(&deposit, 25_000_000)]);
    node.send(&signed);
    node.send_coins(150);
    node.mine(3);
    server.log_until("it left out logs");
    let ready = server.client("").get("/readyz").unwrap().json();
    assert_eq!(ready["networks"][0]["height"], before, "{ready}");
    assert_eq!(shop.read(&server, &id)["status"], "awaiting_payment");
    server.stop();

    // Once it is honest again, nothing was passed over.
    proxy.becomes(Manner::Honest);
    let server = shop.open();
    shop.until_status(&server, &id, "paid");
    server.stop();
}

#[test]
fn a_block_that_may_have_a_token_and_has_none_is_read_from_the_only_endpoint() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&format!(
        "[networks.\"eip155:84532\"]\nrpc = [{:?}]\n",
        node.url
    ));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    // Another event of the token, whose first topic is the one of transfers in another contract's: both names are in
    // the bloom, and no transfer is there.
    let stranger = "0x1111111111111111111111111111111111111111";
    node.speak(&node.contract("EURC@eip155:84532"), stranger);
    node.send_coins(150);
    node.mine(1);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N05: final is what as many as must agree say.
#[test]
fn one_endpoint_alone_cannot_make_a_block_final() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&two(&proxy.url, &node.url));
    let server = shop.open();
    proxy.becomes(Manner::FinalAtOnce);
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let (other, to_other) = shop.invoice(&server, "5.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "detected");
    // A later block was seen, by both, and the earlier one is not final yet.
    node.pay(USDC, &[(&to_other, 5_000_000)]);
    shop.until_status(&server, &other, "detected");
    assert_eq!(shop.read(&server, &id)["status"], "confirming");
    node.mine(1);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N03, N09: one that hangs, lags or talks nonsense holds up nobody for long.
#[test]
fn an_endpoint_that_hangs_lags_or_talks_nonsense_is_done_without() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let quorum = format!("{}quorum = 1\n", two(&proxy.url, &node.url));
    let shop = Shop::new(&quorum);
    let server = shop.open();
    let lagging = Manner::StandsAt(node.height());
    for manner in [Manner::Garbage, lagging, Manner::Hangs] {
        proxy.becomes(manner);
        let (id, deposit) = shop.invoice(&server, "25.00", USDC);
        node.pay(USDC, &[(&deposit, 25_000_000)]);
        node.mine(2);
        shop.until_status(&server, &id, "paid");
        assert_eq!(shop.payments(&server, &id).len(), 1, "{manner:?}");
    }
    proxy.becomes(Manner::Honest);
    server.log_until("an endpoint answers again");
    server.stop();
}

// N03: one of two that must agree stands still. What the other has is seen; nothing is credited before both have it.
#[test]
fn an_endpoint_that_stands_still_hides_no_payment_and_nothing_is_paid_without_it() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&two(&proxy.url, &node.url));
    let server = shop.open();
    server.log_until("watching");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    proxy.becomes(Manner::StandsAt(node.height()));
    // More blocks than are looked at in one go.
    node.mine(450);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(3);
    server.log_until("an endpoint stands still; what the others have is seen");
    shop.until_status(&server, &id, "detected");
    until("readiness says why", || {
        let ready = server.client("").get("/readyz").unwrap().json();
        let reason = ready["networks"][0]["reason"].as_str().unwrap_or_default();
        reason.starts_with("an endpoint stands still at height")
    });
    assert_eq!(shop.read(&server, &id)["status"], "detected");
    proxy.becomes(Manner::Honest);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id).len(), 1);
    server.stop();
}

#[test]
fn an_endpoint_of_another_network_halts_what_has_no_other() {
    let Some(node) = Node::start("eip155:11155111") else {
        return;
    };
    let shop = Shop::new(&format!(
        "[networks.\"eip155:84532\"]\nrpc = [\"{}/?key=secret-key\"]\n",
        node.url
    ));
    let server = shop.open();
    let line = server.log_until("an endpoint is not used");
    assert!(line.contains("it is on eip155:11155111"), "{line}");
    assert!(!line.contains("secret-key"), "{line}");
    until("readiness names it", || {
        let ready = server.client("").get("/readyz").unwrap().expect(200);
        ready["networks"][0]["state"] == "halted"
    });
    let check = shop.place.till(&["check", "--config", "till.toml"]);
    assert_eq!(check.status, Some(1), "{}", check.stdout);
    server.stop();
}

#[test]
fn an_endpoint_that_is_away_at_the_start_is_used_when_it_comes() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    proxy.becomes(Manner::Garbage);
    let shop = Shop::new(&format!(
        "[networks.\"eip155:84532\"]\nrpc = [{:?}]\n",
        proxy.url
    ));
    let server = shop.open();
    server.log_until("an endpoint does not answer");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    proxy.becomes(Manner::Honest);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

#[test]
fn check_asks_a_node_what_it_is_and_has() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let place = crate::common::Place::new();
    let check = |network: &str, url: &str| {
        let setting = format!("networks.{network}.rpc={url}");
        place.till(&["check", "--set", &setting])
    };
    let right = check("eip155:84532", &node.url).ok();
    let line = format!("ok eip155:84532 at {}\n", node.url);
    assert!(right.stdout.contains(&line), "{}", right.stdout);
    let wrong = check("eip155:8453", &format!("{}/secret-key", node.url));
    assert_eq!(wrong.status, Some(1));
    assert!(!wrong.stdout.contains("secret-key"), "{}", wrong.stdout);
    let usdc = node.hex("0x036CbD53842c5426634e7929541eC2318f3dCF7e");
    node.ask("anvil_setCode", serde_json::json!([usdc, "0x"]));
    let bare = check("eip155:84532", &node.url);
    assert_eq!(bare.status, Some(1));
    assert!(
        bare.stdout.contains("USDC is not at 0x036CbD"),
        "{}",
        bare.stdout
    );
}

// F5: where no bloom tells, the second look does.
#[test]
fn what_an_endpoint_hides_at_first_is_found_by_the_second_look() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&format!(
        "[networks.\"tron:3448148188\"]\nrpc = [{:?}, {:?}]\nquorum = 1\n",
        proxy.url, node.url
    ));
    let server = shop.open();
    server.log_until("watching");
    proxy.becomes(Manner::Omits);
    let usdt = "USDT@tron:3448148188";
    let (id, deposit) = shop.invoice(&server, "25.00", usdt);
    node.pay(usdt, &[(&deposit, 25_000_000)]);
    node.mine(8);
    server.log_until("a transfer was missed at first");
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id).len(), 1);
    server.stop();
}
