//! What a transaction does may be another thing in another block, or was never done at all.

use till_core::chain::Block;
use till_core::money::Units;
use till_core::payment::Level;
use till_engine::intake::chain::{Advanced, NetworkUpdate, SeenTransfer, Tip, advance, lead};
use till_store::payments::PaymentRow;
use till_store::{Queries as _, both_engines};

use crate::world::{NOW, World};

const NETWORK: &str = "eip155:84532";
pub const USDC: &str = "USDC@eip155:84532";
const EURC: &str = "EURC@eip155:84532";

pub fn block(height: i64, hash: &str, parent: &str) -> Block {
    Block {
        height,
        hash: hash.into(),
        parent: parent.into(),
        time: NOW,
    }
}

/// A transfer of 25 in a block.
pub async fn transfer(world: &World, invoice: &str, asset: &str, height: i64) -> SeenTransfer {
    let row = world.row(&world.scope, invoice).await;
    SeenTransfer {
        tx_hash: "transaction".into(),
        place: 0,
        asset: asset.into(),
        units: Units(25_000_000),
        arrived: None,
        strayed: false,
        registers: None,
        senders: Vec::new(),
        recipient: row.options[0].deposit.as_ref().unwrap().address.clone(),
        height: Some(height),
    }
}

pub async fn step(world: &World) -> NetworkUpdate {
    let epoch = lead(&world.engine, NETWORK, "leader").await.unwrap();
    NetworkUpdate::new(NETWORK, epoch.unwrap())
}

#[track_caller]
pub fn is_done(advanced: Result<Advanced, till_engine::Fail>) {
    assert_eq!(advanced.unwrap(), Advanced::Done);
}

/// What a transaction does in a block above the first that replaces what was there.
pub async fn mined(world: &World, branch: &str, transfers: Vec<SeenTransfer>, is_final: bool) {
    let second = block(2, branch, "first");
    let tip = Tip::of(&second);
    let told = NetworkUpdate {
        blocks: vec![block(1, "first", "root"), second],
        transfers,
        safe: Some(tip.clone()),
        last_final: Some(tip).filter(|_| is_final),
        ..step(world).await
    };
    is_done(advance(&world.engine, &told).await);
}

pub async fn payments(world: &World, invoice: &str) -> Vec<PaymentRow> {
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::payments::of_invoice(&mut reader, &world.scope, invoice);
    found.await.unwrap()
}

async fn address(world: &World, invoice: &str) -> String {
    let row = world.row(&world.scope, invoice).await;
    row.options[0].deposit.as_ref().unwrap().address.clone()
}

both_engines! {
    async fn reopened_together_two_invoices_never_share_an_address(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
        let invoices = world.invoices(&world.scope, 2).await;
        let mut paid = Vec::new();
        for (place, invoice) in (0..).zip(&invoices) {
            paid.push(SeenTransfer { place, ..transfer(&world, invoice, USDC, 2).await });
        }
        mined(&world, "paid", paid, false).await;
        let addresses = [address(&world, &invoices[0]).await, address(&world, &invoices[1]).await];
        let cool_down = "UPDATE leases SET free_at = $1 WHERE address = $2";
        // The pool is used up: the second one's address goes to a third invoice; the first one's has cooled down as well.
        world.run_sql("UPDATE address_pools SET next_number = 10000", &[]).await;
        world.run_sql(cool_down, &[(NOW - 1).into(), (&*addresses[1]).into()]).await;
        let third = world.invoice().await;
        assert_eq!(address(&world, &third).await, addresses[1]);
        world.run_sql(cool_down, &[(NOW - 1).into(), (&*addresses[0]).into()]).await;
        mined(&world, "empty", Vec::new(), false).await;
        for invoice in &invoices {
            assert_eq!(world.status(invoice).await, "awaiting_payment");
        }
        assert_eq!(address(&world, &invoices[0]).await, addresses[0], "it was still its own");
        let second = world.row(&world.scope, &invoices[1]).await.options.remove(0);
        assert_eq!(second.deposit, None, "no address is free, and none is shared");
    }

    async fn while_it_waits_the_last_word_on_its_amount_counts(db: Db) {
        let world = World::new(db).await;
        let invoice = world.invoice().await;
        for units in [25_000_000, 12_000_000] {
            let waiting = transfer(&world, &invoice, USDC, 2).await;
            let waiting = SeenTransfer { units: Units(units), height: None, ..waiting };
            let told = NetworkUpdate { transfers: vec![waiting], ..step(&world).await };
            is_done(advance(&world.engine, &told).await);
            let [payment] = &payments(&world, &invoice).await[..] else { panic!("one payment") };
            assert_eq!((payment.units, payment.status.as_str()), (Units(units), "pending"));
            assert_eq!(world.status(&invoice).await, "detected");
        }
    }

    async fn mined_again_with_another_token_it_is_what_it_is_now_and_refundable(db: Db) {
        let world = World::new(db).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        let first = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1")],
            transfers: vec![transfer(&world, invoice, USDC, 2).await],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &first).await);
        assert_eq!(world.status(invoice).await, "detected");
        let again = NetworkUpdate {
            blocks: vec![block(2, "b2", "a1"), block(3, "b3", "b2")],
            transfers: vec![transfer(&world, invoice, EURC, 3).await],
            last_final: Some(Tip { height: 3, hash: "b3".into() }),
            ..step(&world).await
        };
        is_done(advance(&world.engine, &again).await);
        let [payment] = &payments(&world, invoice).await[..] else { panic!("one payment") };
        assert_eq!((&*payment.asset, payment.status.as_str()), (EURC, "refundable"));
        assert_eq!(world.status(invoice).await, "awaiting_payment");
    }

    async fn what_enough_endpoints_say_is_not_there_is_taken_back(db: Db) {
        let world = World::new(db).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        let told = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1")],
            transfers: vec![transfer(&world, invoice, USDC, 2).await],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &told).await);
        assert_eq!(world.status(invoice).await, "detected");
        let refuted = NetworkUpdate {
            refuted: vec![("transaction".into(), 0)],
            last_final: Some(Tip { height: 2, hash: "a2".into() }),
            ..step(&world).await
        };
        is_done(advance(&world.engine, &refuted).await);
        assert_eq!(world.status(invoice).await, "awaiting_payment");
        let found = transfer(&world, invoice, USDC, 1).await;
        let found = NetworkUpdate { transfers: vec![found], ..step(&world).await };
        is_done(advance(&world.engine, &found).await);
        assert_eq!(world.status(invoice).await, "paid");
    }

    async fn read_again_and_not_found_it_is_gone(db: Db) {
        let world = World::new(db).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        let told = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1"), block(3, "a3", "a2")],
            transfers: vec![transfer(&world, invoice, USDC, 3).await],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &told).await);
        assert_eq!(world.status(invoice).await, "detected");
        till_engine::intake::chain::thaw(&world.engine, NETWORK, Some(2)).await.unwrap();
        let again = NetworkUpdate { blocks: vec![block(2, "a2", "a1"), block(3, "b3", "a2")], ..step(&world).await };
        is_done(advance(&world.engine, &again).await);
        assert_eq!(world.status(invoice).await, "awaiting_payment");
        let last_final = Some(Tip { height: 3, hash: "b3".into() });
        is_done(advance(&world.engine, &NetworkUpdate { last_final, ..step(&world).await }).await);
        assert_eq!(world.status(invoice).await, "awaiting_payment");
        let [payment] = &payments(&world, invoice).await[..] else { panic!("one payment") };
        assert_eq!(payment.status.as_str(), "reversed");
    }

    async fn read_again_and_not_found_where_it_was_final_the_network_freezes(db: Db) {
        let world = World::new(db).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        let told = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1"), block(3, "a3", "a2")],
            transfers: vec![transfer(&world, invoice, USDC, 2).await],
            last_final: Some(Tip { height: 3, hash: "a3".into() }),
            ..step(&world).await
        };
        is_done(advance(&world.engine, &told).await);
        assert_eq!(world.status(invoice).await, "paid");
        till_engine::intake::chain::thaw(&world.engine, NETWORK, Some(1)).await.unwrap();
        let again = NetworkUpdate { blocks: vec![block(1, "b1", "b0"), block(2, "b2", "b1")], ..step(&world).await };
        assert_eq!(advance(&world.engine, &again).await.unwrap(), Advanced::Frozen);
        assert_eq!(world.status(invoice).await, "under_review");
        till_engine::intake::chain::thaw(&world.engine, NETWORK, None).await.unwrap();
        assert_eq!(world.status(invoice).await, "awaiting_payment");
    }

    async fn what_brought_less_is_held_though_that_is_known_after_it_was_credited(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Included)].into()).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        let sent = transfer(&world, invoice, USDC, 2).await;
        mined(&world, "a2", vec![sent.clone()], false).await;
        assert_eq!(world.status(invoice).await, "paid");
        let less = SeenTransfer { arrived: Some(Units(sent.units.0 - 250_000)), ..sent.clone() };
        mined(&world, "a2", vec![less], true).await;
        assert_eq!(world.status(invoice).await, "under_review");
        let [payment] = &payments(&world, invoice).await[..] else { panic!("one payment") };
        assert_eq!((payment.status.as_str(), payment.units.0), ("held", sent.units.0 - 250_000));
    }

    async fn what_went_elsewhere_in_the_block_that_brought_it_is_held(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Included)].into()).await;
        let [known, late] = &world.invoices(&world.scope, 2).await[..] else { panic!("two") };
        let strayed = |sent: &SeenTransfer| SeenTransfer { arrived: Some(sent.units), strayed: true, ..sent.clone() };
        let first = transfer(&world, known, USDC, 2).await;
        let second = SeenTransfer { place: 1, ..transfer(&world, late, USDC, 2).await };
        mined(&world, "a2", vec![strayed(&first), second.clone()], false).await;
        assert_eq!((world.status(known).await, world.status(late).await), ("under_review", "paid"));
        mined(&world, "a2", vec![strayed(&second)], true).await;
        for invoice in [known, late] {
            assert_eq!(world.status(invoice).await, "under_review");
            let [payment] = &payments(&world, invoice).await[..] else { panic!("one payment") };
            assert_eq!((payment.status.as_str(), payment.units), ("held", first.units));
        }
    }

    async fn who_was_named_is_named_in_another_block_too(db: Db) {
        let world = World::new(db).await;
        let [invoice] = &world.invoices(&world.scope, 1).await[..] else { panic!("one") };
        for (place, (branch, says)) in (0..).zip([("a2", "match"), ("b2", "unavailable"), ("c2", "clear")]) {
            let seen = SeenTransfer {
                place,
                registers: Some(format!("issuer_blacklist={says}")),
                senders: vec!["0x1111111111111111111111111111111111111111".into()],
                ..transfer(&world, invoice, USDC, 2).await
            };
            mined(&world, branch, vec![seen], branch == "c2").await;
        }
        assert_eq!(world.status(invoice).await, "under_review");
    }

    async fn who_has_not_heard_that_it_is_to_be_read_again_leaves_no_gap(db: Db) {
        let world = World::new(db).await;
        let first = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1"), block(3, "a3", "a2")],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &first).await);
        till_engine::intake::chain::thaw(&world.engine, NETWORK, Some(2)).await.unwrap();
        let onward = NetworkUpdate { blocks: vec![block(4, "a4", "a3")], ..step(&world).await };
        assert_eq!(advance(&world.engine, &onward).await.unwrap(), Advanced::Loose);
        let again = NetworkUpdate { blocks: vec![block(2, "a2", "a1"), block(3, "a3", "a2")], ..step(&world).await };
        is_done(advance(&world.engine, &again).await);
        till_engine::intake::chain::thaw(&world.engine, NETWORK, Some(99)).await.unwrap();
        let mut reader = world.db.read().await.unwrap();
        let row: Option<(i64,)> = reader.one("SELECT cursor_height FROM networks", &[]).await.unwrap();
        assert_eq!(row, Some((3,)), "what was never read is not passed over");
    }
}
