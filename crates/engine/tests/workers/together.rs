//! What one step of a network brings is taken in together: nobody hears of a moment that never was.

use till_core::chain::Block;
use till_core::money::Units;
use till_core::payment::Level;
use till_engine::intake::chain::{NetworkUpdate, SeenTransfer, Tip, advance};
use till_store::both_engines;

use crate::remined::{USDC, block, is_done, mined, payments, step, transfer};
use crate::world::{LIFE_MS, NOW, World};

const NETWORK: &str = "eip155:84532";

/// A transfer of one transaction for an invoice of 25.
async fn part(world: &World, invoice: &str, place: i64, units: u128) -> SeenTransfer {
    let whole = transfer(world, invoice, USDC, 2).await;
    SeenTransfer {
        place,
        units: Units(units),
        ..whole
    }
}

both_engines! {
    async fn two_transfers_of_one_transaction_that_pay_in_full_are_never_a_part(db: Db) {
        let world = World::new(db).await;
        let invoice = world.invoice().await;
        let both = vec![part(&world, &invoice, 0, 10_000_000).await, part(&world, &invoice, 1, 15_000_000).await];
        mined(&world, "second", both, true).await;
        assert_eq!(world.status(&invoice).await, "paid");
        let told = world.event_types(&invoice).await;
        assert_eq!(told, ["invoice.created", "invoice.detected", "invoice.paid"]);
    }

    async fn what_replaces_a_payment_in_one_step_leaves_the_invoice_paid(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
        let invoice = world.invoice().await;
        let parts = vec![part(&world, &invoice, 0, 10_000_000).await, part(&world, &invoice, 1, 15_000_000).await];
        mined(&world, "second", parts, false).await;
        let paid_at = world.row(&world.scope, &invoice).await.paid_at;
        // In another block the second one stands at another place of its transaction.
        let moved = vec![part(&world, &invoice, 0, 10_000_000).await, part(&world, &invoice, 2, 15_000_000).await];
        mined(&world, "another", moved, false).await;
        let told = world.event_types(&invoice).await;
        assert_eq!(told[2..], ["invoice.paid", "invoice.payment_reversed"]);
        let row = world.row(&world.scope, &invoice).await;
        assert_eq!((row.status.as_str(), row.paid_at), ("paid", paid_at));
    }

    async fn what_comes_back_in_a_block_that_is_not_deep_enough_is_told_as_both(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
        let invoice = world.invoice().await;
        mined(&world, "second", vec![transfer(&world, &invoice, USDC, 2).await], false).await;
        let again = NetworkUpdate {
            blocks: vec![block(2, "another", "first")],
            transfers: vec![transfer(&world, &invoice, USDC, 2).await],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &again).await);
        let told = world.event_types(&invoice).await;
        assert_eq!(told[2..], ["invoice.paid", "invoice.payment_reversed", "invoice.detected"]);
        let [payment] = &payments(&world, &invoice).await[..] else { panic!("one payment") };
        assert_eq!((payment.status.as_str(), payment.entries), ("confirming", 2));
    }

    async fn what_was_credited_in_time_stays_so_when_a_later_block_has_it(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
        let invoice = world.invoice().await;
        world.clock.advance(LIFE_MS + 60_000);
        mined(&world, "second", vec![transfer(&world, &invoice, USDC, 2).await], false).await;
        assert_eq!(world.status(&invoice).await, "paid");
        let later = Block { time: NOW + LIFE_MS + 1_000, ..block(2, "another", "first") };
        let again = NetworkUpdate {
            safe: Some(Tip::of(&later)),
            blocks: vec![later],
            transfers: vec![transfer(&world, &invoice, USDC, 2).await],
            ..step(&world).await
        };
        is_done(advance(&world.engine, &again).await);
        assert_eq!(world.status(&invoice).await, "paid");
        let told = world.event_types(&invoice).await;
        assert_eq!(told, ["invoice.created", "invoice.detected", "invoice.paid"]);
    }
}
