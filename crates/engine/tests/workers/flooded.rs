//! A stranger sends an invoice thousands of transfers: everybody else is paid as ever.

use till_core::money::Units;
use till_engine::intake::chain::{NetworkUpdate, SeenTransfer, Tip, advance};
use till_store::{Queries as _, both_engines};

use crate::remined::{USDC, block, is_done, payments, step, transfer};
use crate::world::World;

const FLOOD: usize = 3_000;
const CENT: u128 = 10_000;
const DUST: u128 = 1;

/// Cents and dust by turns, in one block.
async fn flood(world: &World, invoice: &str, height: i64) -> Vec<SeenTransfer> {
    let one = transfer(world, invoice, USDC, height).await;
    let nth = |number: usize| SeenTransfer {
        tx_hash: format!("flood {number}"),
        units: Units(if number.is_multiple_of(2) { CENT } else { DUST }),
        ..one.clone()
    };
    (0..FLOOD).map(nth).collect()
}

both_engines! {
    async fn a_flood_of_transfers_is_taken_in_and_holds_up_nobody(db: Db) {
        let world = World::new(db).await;
        let [flooded, other] = &world.invoices(&world.scope, 2).await[..] else { panic!("two") };
        let mut transfers = flood(&world, flooded, 2).await;
        transfers.push(transfer(&world, other, USDC, 2).await);
        let first = NetworkUpdate {
            blocks: vec![block(1, "a1", "a0"), block(2, "a2", "a1")],
            transfers,
            ..step(&world).await
        };
        is_done(advance(&world.engine, &first).await);
        assert_eq!(world.status(other).await, "detected");
        // They stand in another block then, and nothing replaces that.
        let mut transfers = flood(&world, flooded, 3).await;
        transfers.push(transfer(&world, other, USDC, 3).await);
        let again = NetworkUpdate {
            blocks: vec![block(2, "b2", "a1"), block(3, "b3", "b2")],
            transfers,
            last_final: Some(Tip { height: 3, hash: "b3".into() }),
            ..step(&world).await
        };
        is_done(advance(&world.engine, &again).await);
        assert_eq!(world.status(other).await, "paid");
        assert_eq!(world.status(flooded).await, "partially_paid");
        let payments = payments(&world, flooded).await;
        let (status, count) = ("credited", payments.len());
        assert!(payments.iter().all(|payment| payment.status.as_str() == status));
        assert_eq!(count, FLOOD);
        let mut reader = world.db.read().await.unwrap();
        let sql = "SELECT CAST(SUM(CAST(amount AS BIGINT)) AS BIGINT) FROM journal WHERE invoice = $1 AND debit = 'received'";
        let (posted,): (i64,) = reader.one(sql, &[till_store::Val::from(&**flooded)]).await.unwrap().unwrap();
        let half = u128::try_from(FLOOD / 2).unwrap();
        assert_eq!(u128::try_from(posted).unwrap(), half * (CENT + DUST));
    }
}
