//! An invoice is not announced as expired while a payment from before its deadline may lie in blocks that nobody has read.

use till_core::chain::Block;
use till_core::money::Units;
use till_engine::intake::chain::{Advanced, NetworkUpdate, SeenTransfer, Tip, advance, lead, thaw};
use till_engine::workers::timers::run_due;
use till_store::both_engines;

use crate::world::{LIFE_MS, NOW, World};

const NETWORK: &str = "eip155:84532";
const WAIT_MS: i64 = 600_000;

/// The next block, made at a time; the last one that was read.
async fn read(world: &World, epoch: i64, height: i64, time: i64, transfers: Vec<SeenTransfer>) {
    let tip = Tip {
        height,
        hash: format!("block {height}"),
    };
    let step = NetworkUpdate {
        network: NETWORK.into(),
        epoch,
        blocks: vec![Block {
            height,
            hash: tip.hash.clone(),
            parent: format!("block {}", height - 1),
            time,
        }],
        transfers,
        dropped: Vec::new(),
        refuted: Vec::new(),
        safe: None,
        last_final: Some(tip),
    };
    let advanced = advance(&world.engine, &step).await.unwrap();
    assert_eq!(advanced, Advanced::Done);
}

async fn leading(world: &World) -> i64 {
    let epoch = lead(&world.engine, NETWORK, "leader").await.unwrap();
    epoch.unwrap()
}

both_engines! {
    async fn an_expiry_waits_until_the_chain_was_read_up_to_it(db: Db) {
        let world = World::watching(db, NETWORK, WAIT_MS).await;
        let (unpaid, paid) = (world.invoice().await, world.invoice().await);
        let epoch = leading(&world).await;
        read(&world, epoch, 1, NOW + LIFE_MS - 60_000, Vec::new()).await;
        world.clock.advance(LIFE_MS + 1_000);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&unpaid).await, "awaiting_payment");
        assert_eq!(world.timers().await.len(), 2, "they are looked at again");

        let row = world.row(&world.scope, &paid).await;
        let transfer = SeenTransfer {
            tx_hash: "transaction".into(),
            place: 0,
            asset: "USDC@eip155:84532".into(),
            units: Units(25_000_000),
            arrived: None, strayed: false,
            registers: None,
            senders: Vec::new(),
            recipient: row.options[0].deposit.as_ref().unwrap().address.clone(),
            height: Some(2),
        };
        read(&world, epoch, 2, NOW + LIFE_MS - 1_000, vec![transfer]).await;
        read(&world, epoch, 3, NOW + LIFE_MS + 1_000, Vec::new()).await;
        world.clock.advance(2_000);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&unpaid).await, "expired");
        assert_eq!(world.status(&paid).await, "paid");
        let told = world.event_types(&paid).await;
        assert!(!told.contains(&"invoice.expired".to_owned()), "{told:?}");
    }

    async fn an_expiry_waits_no_longer_than_it_may(db: Db) {
        let world = World::watching(db, NETWORK, WAIT_MS).await;
        let invoice = world.invoice().await;
        let epoch = leading(&world).await;
        read(&world, epoch, 1, NOW, Vec::new()).await;
        world.clock.advance(LIFE_MS + WAIT_MS - 1);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "awaiting_payment");
        world.clock.advance(2_000);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "expired");
    }

    async fn an_expiry_waits_for_a_network_of_which_no_block_is_known(db: Db) {
        let world = World::watching(db, NETWORK, WAIT_MS).await;
        let invoice = world.invoice().await;
        let epoch = leading(&world).await;
        read(&world, epoch, 1, NOW + LIFE_MS + 60_000, Vec::new()).await;
        thaw(&world.engine, NETWORK, Some(0)).await.unwrap();
        world.clock.advance(LIFE_MS + 1_000);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "awaiting_payment");
    }

    async fn a_network_that_nobody_watches_holds_up_nothing(db: Db) {
        let world = World::watching(db, "eip155:11155111", WAIT_MS).await;
        let invoice = world.invoice().await;
        world.clock.advance(LIFE_MS);
        run_due(&world.engine).await.unwrap();
        assert_eq!(world.status(&invoice).await, "expired");
    }
}
