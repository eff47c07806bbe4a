//! What one endpoint of three says alone, while the others are away or say otherwise: it decides nothing. The first is the
//! one that lies. And what the only one does not say at once.

use crate::common::until;
use crate::lies;
use crate::proxy::{Manner, Proxy};
use crate::watched::{USDC, Watched};

type Three = Watched<3>;

impl Three {
    fn others_become(&self, manner: Manner) {
        self.proxies[1..]
            .iter()
            .for_each(|proxy| proxy.becomes(manner));
    }

    fn until_one_is_left(&self) {
        self.others_become(Manner::Garbage);
        until("one is left", || {
            let ready = self.server.client("").get("/readyz").unwrap().json();
            ready["networks"][0]["reason"] == "1 of 2 endpoints that must agree can be used"
        });
    }
}

// D09, F1.
#[test]
fn what_arrived_is_what_enough_endpoints_say_and_one_that_is_left_alone_takes_nothing_away() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[0].tells(lies::keeps_balances());
    three.until_one_is_left();
    three.pay(25_000_000);
    three.until("detected");
    three.others_become(Manner::Honest);
    three.node.mine(2);
    three.until("paid");
    assert_eq!(three.amount(), "25.00");
    three.server.stop();
}

/// Of two nobody can say who is right.
type Two = Watched<2>;

impl Two {
    fn until_it_says(&self, reason: &str) {
        until("it says why", || {
            let ready = self.server.client("").get("/readyz").unwrap().json();
            let said = ready["networks"][0]["reason"].as_str().unwrap_or_default();
            said.contains(reason)
        });
    }
}

// D09.
#[test]
fn what_two_contradict_each_other_about_is_not_taken_in_before_they_agree() {
    let Some(two) = Two::open() else {
        return;
    };
    two.proxies[0].tells(lies::keeps_balances());
    two.pay(25_000_000);
    two.node.mine(3);
    two.until_it_says("disagree about a transfer at height");
    assert!(two.shop.payments(&two.server, &two.id).is_empty());
    two.proxies[0].tells_the_truth();
    two.until("paid");
    assert_eq!(two.amount(), "25.00");
    two.server.stop();
}

// D09: seen while one could not say, and contradicted before it is final.
#[test]
fn what_two_contradict_each_other_about_later_is_not_final_before_they_agree() {
    let Some(two) = Two::open() else {
        return;
    };
    two.proxies[0].tells(lies::answers_no_calls());
    two.pay(25_000_000);
    two.until("detected");
    two.proxies[0].tells(lies::keeps_balances());
    two.node.mine(3);
    two.until_it_says("disagree about a transfer at height");
    assert_eq!(two.shop.read(&two.server, &two.id)["status"], "confirming");
    two.proxies[0].tells_the_truth();
    two.until("paid");
    assert_eq!(two.amount(), "25.00");
    two.server.stop();
}

// D18.
#[test]
fn whom_one_of_two_clears_is_held_once_they_agree_and_not_paid_before() {
    let Some(two) = Two::open() else {
        return;
    };
    let node = &two.node;
    node.block(&node.contract(USDC), &node.payer());
    two.proxies[0].tells(lies::names_nobody());
    two.pay(25_000_000);
    node.mine(2);
    two.until_it_says("disagree about a transfer at height");
    assert!(two.shop.payments(&two.server, &two.id).is_empty());
    two.proxies[0].tells_the_truth();
    two.is_held_as("blacklist");
    two.server.stop();
}

// N03: what it would have said is not known, and that is all.
#[test]
fn who_hangs_where_contracts_are_called_is_named_and_holds_up_nobody() {
    let Some(two) = Two::open() else {
        return;
    };
    two.proxies[0].becomes(Manner::HangsOnCalls);
    two.pay(25_000_000);
    two.node.mine(2);
    two.until("paid");
    two.until_it_says("1 of 2 endpoints do not answer where contracts are called (eth_call)");
    let logged = "an endpoint does not answer where contracts are called";
    two.server.log_until(logged);
    two.server.stop();
}

// D09: it is asked again before the block is final, whatever was said at first.
#[test]
fn what_brought_nothing_by_the_word_of_enough_is_paid_when_they_come_to_their_senses() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[..2]
        .iter()
        .for_each(|proxy| proxy.tells(lies::keeps_balances()));
    three.pay(25_000_000);
    three.server.log_until("less arrived than a log says");
    three.proxies.iter().for_each(Proxy::tells_the_truth);
    three.node.mine(2);
    three.until("paid");
    assert_eq!(three.amount(), "25.00");
    three.server.stop();
}

// D09: less than was told, found out only when the others are back.
#[test]
fn what_brings_less_is_held_even_if_that_is_known_only_when_it_is_final() {
    let Some(three) = Three::open() else {
        return;
    };
    three.node.take_fees();
    three.until_one_is_left();
    three.pay(30_000_000);
    three.until("detected");
    assert_eq!(three.amount(), "30.00");
    three.others_become(Manner::Honest);
    three.node.mine(2);
    three.is_held_as("manual_review");
    assert_eq!(three.amount(), "29.70");
    three.server.stop();
}

// D18.
#[test]
fn one_that_clears_everybody_clears_nobody() {
    let Some(three) = Three::open() else {
        return;
    };
    let node = &three.node;
    node.block(&node.contract(USDC), &node.payer());
    three.proxies[0].tells(lies::names_nobody());
    three.pay(25_000_000);
    node.mine(2);
    three.is_held_as("blacklist");
    three.server.stop();
}

// D18.
#[test]
fn one_that_is_left_alone_names_nobody() {
    let Some(three) = Three::open() else {
        return;
    };
    three.proxies[0].tells(lies::names_everybody());
    three.until_one_is_left();
    three.pay(25_000_000);
    three.until("detected");
    three.proxies[0].tells_the_truth();
    three.others_become(Manner::Honest);
    three.node.mine(2);
    three.until("paid");
    three.server.stop();
}

// D18.
#[test]
fn one_that_is_left_alone_clears_nobody() {
    let Some(three) = Three::open() else {
        return;
    };
    let node = &three.node;
    node.block(&node.contract(USDC), &node.payer());
    three.proxies[0].tells(lies::names_nobody());
    three.until_one_is_left();
    three.pay(25_000_000);
    three.until("detected");
    three.others_become(Manner::Honest);
    node.mine(2);
    three.is_held_as("blacklist");
    three.server.stop();
}

// D18: what is final when it is read is asked about twice, too.
#[test]
fn a_register_that_falters_once_clears_nobody_however_old_the_block_is() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.server.stop();
    let node = &one.node;
    node.block(&node.contract(USDC), &node.payer());
    node.pay(USDC, &[(&one.deposit, 25_000_000)]);
    node.mine(6);
    one.proxies[0].tells(lies::registers_falter_once());
    let server = one.shop.open();
    let held = one.shop.until_status(&server, &one.id, "under_review");
    assert_eq!(held["review"]["hold"], "blacklist", "{held}");
    server.stop();
}
