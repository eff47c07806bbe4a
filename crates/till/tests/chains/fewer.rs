//! What fewer endpoints tell than must agree is seen, and changes nothing of what is known; and nobody is left alone because
//! another speaks ill of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{comes_true_within, until};
use crate::lies;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::{Shop, until_reading};
use crate::watched::{USDC, Watched};

type Three = Watched<3>;

fn network(three: &Three) -> Value {
    let ready = three.server.client("").get("/readyz").unwrap().json();
    ready["networks"][0].clone()
}

fn until_one_is_left(three: &Three) {
    for proxy in &three.proxies[1..] {
        proxy.becomes(Manner::Garbage);
    }
    until("one is left", || {
        network(three)["reason"] == "1 of 2 endpoints that must agree can be used"
    });
}

fn all_are_back(three: &Three) {
    three.proxies[0].tells_the_truth();
    for proxy in &three.proxies[1..] {
        proxy.becomes(Manner::Honest);
    }
}

fn checked(shop: &Shop) -> Option<i64> {
    let list = ["network", "list", "--config", "till.toml", "--json"];
    shop.place.till(&list).json()[0]["checked_height"].as_i64()
}

// N01, F1: a final payment, said to be in a newer block by who is left alone.
#[test]
fn a_payment_does_not_move_because_one_endpoint_says_so() {
    let Some(three) = Three::open() else {
        return;
    };
    let tx_hash = three.node.pay(USDC, &[(&three.deposit, 25_000_000)]);
    let height = three.node.height();
    three.node.mine(12);
    three.until("paid");
    until("it was looked at twice", || {
        checked(&three.shop) > Some(height)
    });
    until_one_is_left(&three);
    let (later, to_later) = three.shop.invoice(&three.server, "7.00", USDC);
    let next = three.node.height() + 1;
    three.proxies[0].tells(lies::repeats(&tx_hash, next));
    three.node.pay(USDC, &[(&to_later, 7_000_000)]);
    three.shop.until_status(&three.server, &later, "detected");
    let [seen] = &*three.shop.payments(&three.server, &later) else {
        panic!("one payment")
    };
    assert_eq!(
        [&seen["status"], &seen["block_number"]],
        [&json!("pending"), &Value::Null]
    );
    assert!(network(&three)["height"].as_i64() < Some(next));
    all_are_back(&three);
    three.node.mine(3);
    three.shop.until_status(&three.server, &later, "paid");
    assert_eq!(three.until("paid")["status"], "paid");
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    three.shop.until_told(&three.id, &told);
    three.server.stop();
}

// N08: the others say which chain they are on, and are enough.
#[test]
fn a_reorganisation_is_followed_though_one_of_three_does_not_name_its_chain() {
    let Some(three) = Three::open() else {
        return;
    };
    three.pay(25_000_000);
    three.until("detected");
    three.proxies[0].tells(lies::names_no_chain());
    three.node.reorganise(1);
    three.until("awaiting_payment");
    three.server.stop();
}

// N03: one that takes seconds for every answer is first in the operator's order.
#[test]
fn one_of_three_that_answers_late_makes_nobody_late() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[0].becomes(Manner::Late(6_000));
    three.pay(25_000_000);
    three.node.mine(8);
    three.until("paid");
    for _ in 0..5 {
        three.node.mine(2);
        let height = three.node.height();
        let is_read = || network(&three)["height"].as_i64() == Some(height);
        assert!(
            comes_true_within(Duration::from_secs(5), is_read),
            "in less time than one of its answers takes"
        );
    }
    let network = network(&three);
    assert_eq!(network["endpoints_usable"], 3, "{network}");
    three.server.stop();
}

// N13: what it names is no block, and ends nothing.
#[test]
fn a_height_beyond_all_numbers_ends_nothing_and_readiness_names_who_said_it() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[0].tells(lies::is_beyond_all_numbers());
    three.pay(25_000_000);
    three.node.mine(8);
    three.until("paid");
    let set_aside = network(&three)["endpoints_set_aside"].clone();
    let failing = json!({
        "endpoint": "endpoint 1", "state": "failing", "reason": "it does not answer as it should",
    });
    assert_eq!(set_aside, json!([failing]));
    three.server.stop();
}

// N01: the right block, said to have been made yesterday.
#[test]
fn when_a_block_was_made_is_what_enough_endpoints_say() {
    let Some(three) = Three::open() else {
        return;
    };
    until_one_is_left(&three);
    let next = three.node.height() + 1;
    three.proxies[0].tells(lies::dates_back(next, 86_400));
    three.pay(25_000_000);
    three.until("detected");
    all_are_back(&three);
    three.node.mine(3);
    three.until("paid");
    three.server.stop();
}

// What one invents is waited for until the others have been asked about it.
#[test]
fn what_one_alone_announces_goes_when_the_others_do_not_have_it() {
    let Some(three) = Three::open() else {
        return;
    };
    until_one_is_left(&three);
    let next = three.node.height() + 1;
    let invented = (&*three.deposit, 25_000_000);
    let invents = lies::invents(&three.node, next, USDC, invented);
    three.proxies[0].tells(lies::both(invents, lies::full_blooms()));
    three.node.mine(1);
    three.until("detected");
    let shop = &three.shop;
    three.server.signal("KILL");
    // Whoever leads next knows what was announced.
    let server = shop.open();
    all_are_back(&three);
    three.node.mine(2);
    shop.until_status(&server, &three.id, "awaiting_payment");
    assert_eq!(shop.payments(&server, &three.id)[0]["status"], "reversed");
    server.stop();
}

// F5 after a rescan: whoever was read at first leaves the same out again.
#[test]
fn what_is_read_again_is_looked_at_twice_again() {
    let Some(three) = Three::open() else {
        return;
    };
    for proxy in &three.proxies {
        proxy.tells(lies::leaves_out(&three.deposit));
    }
    three.pay(25_000_000);
    let height = three.node.height();
    three.node.mine(12);
    until("it was looked at twice", || {
        checked(&three.shop) > Some(height)
    });
    assert!(three.shop.payments(&three.server, &three.id).is_empty());
    three.proxies[2].tells_the_truth();
    let from = height.to_string();
    let thaw = [
        "network",
        "thaw",
        "--config",
        "till.toml",
        "--network",
        "eip155:84532",
    ];
    three
        .shop
        .place
        .till(&[&thaw[..], &["--rescan-from", &from]].concat())
        .ok();
    three.until("paid");
    three.server.stop();
}

// F5 after a long time: what is read in haste is looked at twice, too.
#[test]
fn what_was_missed_is_found_however_much_there_is_to_catch_up_with() {
    let Some(three) = Three::open() else {
        return;
    };
    until("it was read", || {
        network(&three)["height"].as_i64() == Some(three.node.height())
    });
    three.server.signal("TERM");
    three.pay(25_000_000);
    three.node.mine(2_300);
    for proxy in &three.proxies[..2] {
        proxy.tells(lies::leaves_out(&three.deposit));
    }
    let server = three.shop.open();
    three.shop.until_status(&server, &three.id, "paid");
    server.stop();
}

// N19: an honest endpoint does not become a liar by what another says of a transaction that it has.
#[test]
fn nobody_is_left_alone_for_a_log_that_its_own_receipts_do_not_have() {
    let Some(three) = Three::open() else {
        return;
    };
    let eurc = three.node.contract("EURC@eip155:84532");
    for proxy in &three.proxies[1..] {
        proxy.tells(lies::full_blooms());
    }
    three.proxies[0].tells(lies::both(lies::adds_logs_of(&eurc), lies::full_blooms()));
    for _ in 0..4 {
        three.node.send_coins(1);
        three.node.mine(1);
    }
    three.pay(25_000_000);
    three.node.mine(2);
    three.until("paid");
    assert_eq!(network(&three)["endpoints_usable"], 3);
    three.server.stop();
}

#[test]
fn each_is_held_to_what_it_says_of_a_block_itself() {
    let Some(two) = Watched::<2>::open() else {
        return;
    };
    two.pay(25_000_000);
    let height = two.node.height();
    two.node.mine(2);
    two.until("paid");
    two.proxies[1].tells(lies::empties_bloom(height));
    two.node.mine(10);
    let line = two.server.log_until("an endpoint is not believed");
    assert!(line.contains(&two.proxies[1].url), "{line}");
    two.proxies[1].tells_the_truth();
    two.server.stop();
}

// D18 with a credit before final.
#[test]
fn who_is_named_after_an_early_credit_is_held() {
    let early = "credit_at = \"included\"\n";
    let Some(two) = Watched::<2>::open_with(early) else {
        return;
    };
    two.node.block(&two.node.contract(USDC), &two.node.payer());
    two.proxies[0].tells(lies::answers_no_calls());
    two.pay(25_000_000);
    two.until("paid");
    two.proxies[0].tells_the_truth();
    two.node.mine(3);
    two.is_held_as("blacklist");
    two.server.stop();
}

// Who has blocks and gives no logs of them is not waited for for ever.
#[test]
fn the_second_look_goes_on_without_who_gives_no_logs() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[2].tells(lies::gives_no_logs());
    three.node.mine(1_300);
    until("it says so", || {
        network(&three)["reason"]
            .as_str()
            .is_some_and(|why| why.ends_with("wait for their second look"))
    });
    let height = three.node.height();
    until("it goes on", || checked(&three.shop) > Some(height - 1_200));
    three.server.stop();
}

// A limit that is told in TRON's own way, and one of few questions a second.
#[test]
fn who_may_be_asked_seldom_is_asked_seldom() {
    for manner in [Manner::Seldom(8), Manner::SeldomOnTron(8)] {
        let Some(node) = Node::start("tron:3448148188") else {
            return;
        };
        let proxy = Proxy::before(&node);
        let shop = Shop::new(&format!(
            "[networks.{:?}]\nrpc = [{:?}]\n",
            node.network.id, proxy.url
        ));
        let server = shop.open();
        until_reading(&server);
        let usdt = "USDT@tron:3448148188";
        let (id, deposit) = shop.invoice(&server, "25.00", usdt);
        proxy.becomes(Manner::Garbage);
        node.pay(usdt, &[(&deposit, 25_000_000)]);
        node.mine(30);
        proxy.becomes(manner);
        shop.until_status(&server, &id, "paid");
        server.stop();
    }
}

// What it says of itself counts, not that it will be asked again.
#[test]
fn who_hangs_is_not_counted_among_those_who_answer() {
    let Some(two) = Watched::<2>::open() else {
        return;
    };
    let ready = || two.server.client("").get("/readyz").unwrap().json();
    two.proxies[1].becomes(Manner::Hangs);
    until("it is missed", || {
        ready()["networks"][0]["endpoints_usable"] == 1
    });
    // It is asked, and waited for, meanwhile.
    two.pay(25_000_000);
    two.until("detected");
    assert_eq!(ready()["networks"][0]["endpoints_usable"], 1);
    assert_eq!(
        ready()["networks"][0]["lag_s"]
            .as_i64()
            .map(|lag| lag < 600),
        Some(true)
    );
    two.proxies[1].becomes(Manner::Honest);
    two.node.mine(2);
    two.until("paid");
    two.server.stop();
}

// Whose a wallet's payment is depends on who sent how much, and when: one alone does not say so.
#[test]
fn a_wallets_payment_is_seen_when_enough_have_it() {
    let Some(three) = Three::open() else {
        return;
    };
    let (shop, server) = (&three.shop, &three.server);
    let (destination, units) = shop.bound(server, &three.id, USDC, &three.node.payer());
    until_one_is_left(&three);
    let (other, to_other) = shop.invoice(server, "7.00", USDC);
    three
        .node
        .pay(USDC, &[(&destination, units), (&to_other, 7_000_000)]);
    shop.until_status(server, &other, "detected");
    assert!(shop.payments(server, &three.id).is_empty());
    all_are_back(&three);
    three.node.mine(3);
    three.until("paid");
    three.server.stop();
}
