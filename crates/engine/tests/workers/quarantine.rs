//! A transfer that cannot be taken in is put aside with what is known of it, holds up nobody, and is tried again.

use till_core::chain::Block;
use till_core::money::Units;
use till_engine::intake::chain::{Advanced, NetworkUpdate, SeenTransfer, Tip, advance, lead};
use till_engine::workers::timers::look_after;
use till_store::{Queries as _, both_engines};

use crate::world::{NOW, World};

const NETWORK: &str = "eip155:84532";
const RETRY_MIN_MS: i64 = 10_000;

/// A final block that pays these invoices in full.
async fn paying(world: &World, invoices: &[String]) -> NetworkUpdate {
    let epoch = lead(&world.engine, NETWORK, "leader").await.unwrap();
    let block = Block {
        height: 1,
        hash: "block".into(),
        parent: "parent".into(),
        time: NOW,
    };
    let mut transfers = Vec::new();
    for (place, invoice) in (0..).zip(invoices) {
        let row = world.row(&world.scope, invoice).await;
        transfers.push(SeenTransfer {
            tx_hash: "transaction".into(),
            place,
            asset: "USDC@eip155:84532".into(),
            units: Units(25_000_000),
            arrived: None,
            strayed: false,
            registers: None,
            senders: Vec::new(),
            recipient: row.options[0].deposit.as_ref().unwrap().address.clone(),
            height: Some(1),
        });
    }
    let tip = Tip {
        height: 1,
        hash: "block".into(),
    };
    NetworkUpdate {
        network: NETWORK.into(),
        epoch: epoch.unwrap(),
        blocks: vec![block],
        transfers,
        dropped: Vec::new(),
        refuted: Vec::new(),
        safe: Some(tip.clone()),
        last_final: Some(tip),
    }
}

/// How often each transfer that is aside was tried.
async fn aside(world: &World) -> Vec<i64> {
    let mut reader = world.db.read().await.unwrap();
    let sql = "SELECT attempts FROM quarantine ORDER BY place";
    let rows: Vec<(i64,)> = reader.all(sql, &[]).await.unwrap();
    rows.into_iter().map(|(attempts,)| attempts).collect()
}

async fn statuses(world: &World, invoices: &[String]) -> Vec<&'static str> {
    let mut statuses = Vec::new();
    for invoice in invoices {
        statuses.push(world.status(invoice).await);
    }
    statuses
}

both_engines! {
    async fn a_transfer_that_cannot_be_taken_in_is_put_aside_alone_and_tried_again(db: Db) {
        let world = World::new(db).await;
        let invoices = world.invoices(&world.scope, 3).await;
        let step = paying(&world, &invoices).await;
        let away = "UPDATE leases SET invoice = 'away' WHERE invoice = $1";
        world.run_sql(away, &[invoices[1].as_str().into()]).await;
        assert_eq!(advance(&world.engine, &step).await.unwrap(), Advanced::Done);
        assert_eq!(statuses(&world, &invoices).await, ["paid", "awaiting_payment", "paid"]);
        assert_eq!(aside(&world).await, [1]);
        // Told once more, it is nothing new; before its time nobody tries it.
        let again = NetworkUpdate { blocks: Vec::new(), ..step };
        assert_eq!(advance(&world.engine, &again).await.unwrap(), Advanced::Done);
        world.clock.advance(RETRY_MIN_MS - 1);
        look_after(&world.engine).await.unwrap();
        assert_eq!(aside(&world).await, [1]);
        world.clock.advance(1);
        look_after(&world.engine).await.unwrap();
        assert_eq!(aside(&world).await, [2]);
        let back = "UPDATE leases SET invoice = $1 WHERE invoice = 'away'";
        world.run_sql(back, &[invoices[1].as_str().into()]).await;
        world.clock.advance(2 * RETRY_MIN_MS);
        look_after(&world.engine).await.unwrap();
        assert_eq!(statuses(&world, &invoices).await, ["paid", "paid", "paid"]);
        assert!(aside(&world).await.is_empty());
    }
}
