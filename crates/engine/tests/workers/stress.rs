//! Several servers at once on one PostgreSQL, in an order that nobody decides: two would-be leaders tell of the same blocks and
//! replace some, payments are made up beside them, invoices are cancelled, timers fire. Afterwards the books must be the chain.

use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use till_core::chain::Block;
use till_core::money::Units;
use till_core::scope::Scope;
use till_engine::intake::chain::{Advanced, NetworkUpdate, SeenTransfer, Tip, advance, lead};
use till_engine::invoices::cancel;
use till_engine::workers::timers::run_due;
use till_engine::{Engine, Fail};
use till_store::testing::migrated;
use till_store::{Dialect, Queries as _};

use crate::world::{LIFE_MS, World, account, pay};

const NETWORK: &str = "eip155:84532";
const ASSET: &str = "USDC@eip155:84532";
const INVOICES: usize = 24;
const HEIGHTS: i64 = 8;

/// Block `height` of a branch, on top of the branch before it at heights below `fork`.
fn block(branch: &str, fork: i64, height: i64) -> Block {
    let name = |height: i64| match height < fork {
        true => format!("main-{height}"),
        false => format!("{branch}-{height}"),
    };
    Block {
        height,
        hash: name(height),
        parent: name(height - 1),
        time: crate::world::NOW,
    }
}

/// Every third transfer is in each block; the last block is safe and final once it is told so.
fn step(epoch: i64, blocks: Vec<Block>, addresses: &[String], is_final: bool) -> NetworkUpdate {
    let transfers = blocks.iter().flat_map(|block| {
        let mine = addresses.iter().enumerate();
        let mine = mine.filter(|(at, _)| i64::try_from(*at).unwrap() % HEIGHTS == block.height);
        mine.map(|(at, address)| SeenTransfer {
            tx_hash: format!("0x{at:064x}"),
            place: 0,
            asset: ASSET.into(),
            units: Units(25_000_000),
            arrived: None,
            strayed: false,
            registers: None,
            senders: Vec::new(),
            recipient: address.clone(),
            height: Some(block.height),
        })
    });
    let tip = blocks.last().filter(|_| is_final).map(|block| Tip {
        height: block.height,
        hash: block.hash.clone(),
    });
    NetworkUpdate {
        network: NETWORK.into(),
        epoch,
        transfers: transfers.collect(),
        dropped: Vec::new(),
        refuted: Vec::new(),
        safe: tip.clone(),
        last_final: tip,
        blocks,
    }
}

/// The branch that wins in the end.
fn fork() -> Vec<Block> {
    let heights = 4..HEIGHTS;
    heights.map(|height| block("fork", 4, height)).collect()
}

/// Tells of the blocks one by one, and then of others from half-way on; and again.
async fn follow(engine: Arc<Engine>, owner: &'static str, addresses: Arc<Vec<String>>) {
    for _ in 0..20 {
        let Ok(Some(epoch)) = lead(&engine, NETWORK, owner).await else {
            tokio::task::yield_now().await;
            continue;
        };
        let mut steps: Vec<NetworkUpdate> = (0..HEIGHTS)
            .map(|height| {
                step(
                    epoch,
                    vec![block("main", HEIGHTS, height)],
                    &addresses,
                    false,
                )
            })
            .collect();
        steps.push(step(epoch, fork(), &addresses, false));
        for step in &steps {
            match advance(&engine, step).await {
                Ok(Advanced::Done | Advanced::Loose) => {}
                Ok(_) => break,
                Err(fail) => assert!(is_passing(&fail), "{fail:?}"),
            }
        }
    }
}

/// Another was faster, or the database had enough of waiting: whoever asked asks again.
fn is_passing(fail: &Fail) -> bool {
    matches!(fail, Fail::Again | Fail::Store(..))
}

async fn cancel_some(engine: Arc<Engine>, scope: Scope, invoices: Vec<String>) {
    for id in &invoices {
        let cancelled = engine.unit(&scope, |tx, context| {
            async move { cancel(tx, context, id).await.map(drop) }.scope_boxed()
        });
        let refused = cancelled.await;
        assert!(
            matches!(refused, Ok(()) | Err(Fail::Refused(_))),
            "{refused:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_at_once_the_books_are_the_chain() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let second = account(&world.engine).await;
    let mut invoices = world.invoices(&world.scope, INVOICES / 2).await;
    invoices.extend(world.invoices(&second, INVOICES / 2).await);
    let mut addresses = Vec::new();
    for (at, id) in invoices.iter().enumerate() {
        let scope = if at < INVOICES / 2 {
            &world.scope
        } else {
            &second
        };
        let row = world.row(scope, id).await;
        addresses.push(row.options[0].deposit.as_ref().unwrap().address.clone());
    }
    let addresses = Arc::new(addresses);
    let leaders = [
        tokio::spawn(follow(world.beside(2), "one", Arc::clone(&addresses))),
        tokio::spawn(follow(world.beside(3), "two", Arc::clone(&addresses))),
    ];
    let beside = {
        let (engine, scope) = (world.beside(4), world.scope.clone());
        let some = invoices[..INVOICES / 2].to_vec();
        tokio::spawn(async move {
            for id in some.iter().step_by(3) {
                pay(&engine, &scope, id, &["included", "final"]).await;
            }
            cancel_some(engine, scope, some).await;
        })
    };
    let timers = {
        let engine = world.beside(5);
        tokio::spawn(async move {
            for _ in 0..20 {
                let _ = run_due(&engine).await;
                tokio::task::yield_now().await;
            }
        })
    };
    for task in leaders {
        task.await.unwrap();
    }
    beside.await.unwrap();
    timers.await.unwrap();
    // Nobody else is heard of any more.
    world.clock.advance(60_000);
    let since = "UPDATE networks SET heard_at = heard_at - 60000";
    world.run_sql(since, &[]).await;
    let epoch = lead(&world.engine, NETWORK, "last").await.unwrap().unwrap();
    let last = step(epoch, fork(), &addresses, true);
    let advanced = advance(&world.engine, &last).await.unwrap();
    assert_eq!(advanced, Advanced::Done);
    world.clock.advance(2 * LIFE_MS);
    run_due(&world.engine).await.unwrap();
    the_books_are_the_chain(&world).await;
}

async fn the_books_are_the_chain(world: &World) {
    let mut reader = world.db.read().await.unwrap();
    let never = [
        "SELECT tx_hash FROM transfers WHERE gone = 0 AND (payment IS NULL) = (reason IS NULL)",
        "SELECT tx_hash FROM transfers WHERE gone = 0 AND simulated = 0 AND block_hash NOT LIKE 'fork-%' AND height >= 4",
        "SELECT id FROM payments WHERE gone_at IS NULL AND status NOT IN ('credited', 'refundable')",
        "SELECT id FROM invoices WHERE status NOT IN ('paid', 'overpaid', 'cancelled')",
        "SELECT subject FROM journal GROUP BY subject HAVING SUM(CASE WHEN debit = 'received' THEN amount::numeric \
         WHEN credit = 'received' THEN -amount::numeric ELSE 0 END) <> 25000000",
        "SELECT id FROM payments p WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.subject = p.id)",
    ];
    for sql in never {
        let found: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
        assert_eq!(found, [], "{sql}");
    }
    let sql = "SELECT count(*) FROM payments WHERE simulated = 0";
    let (paid,): (i64,) = reader.one(sql, &[]).await.unwrap().unwrap();
    assert_eq!(usize::try_from(paid).unwrap(), INVOICES);
}
