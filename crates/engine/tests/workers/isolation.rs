//! An account whose rows somebody holds, and everybody else. Only PostgreSQL has such rows.

use std::time::Duration;

use futures::future::join_all;
use till_engine::Fail;
use till_engine::invoices::gather::Gatherer;
use till_store::testing::migrated;
use till_store::{Db, Dialect, Queries as _};

use crate::world::{World, account};

/// Callers of the held account hang up after this; whoever waits for them is found out by `LONG`.
const SOON: Duration = Duration::from_secs(4);
/// The row is held for as long as the test runs: no busy machine makes this too short, and waiting for it never ends.
const LONG: Duration = Duration::from_secs(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_somebody_holds_does_not_hold_up_the_others() {
    let Some(test) = migrated(Dialect::Postgres).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let other = account(&world.engine).await;
    // From now on there is a pool of addresses, which the next invoices take from.
    world.invoice().await;
    let gatherer = Gatherer::start(&world.engine, 2);
    // As another process would that was paused in the middle of it, if nobody ended it.
    let peer = Db::open(&test.config).await.unwrap();
    let mut holder = peer.begin().await.unwrap();
    let stay = "SET LOCAL idle_in_transaction_session_timeout = 0";
    holder.run(stay, &[]).await.unwrap();
    let lock = "SELECT family FROM address_pools WHERE account = $1 FOR UPDATE";
    let account_id = &*world.scope.account;
    let locked: Vec<(String,)> = holder.all(lock, &[account_id.into()]).await.unwrap();
    assert!(!locked.is_empty());

    let create = async |scope, time| {
        let asked = gatherer.create(world.request(scope));
        tokio::time::timeout(time, asked).await
    };
    // In the same groups: the others are made all the same, a moment later.
    let (held, free) = futures::join!(
        join_all((0..6).map(|_| create(&world.scope, SOON))),
        join_all((0..20).map(|_| create(&other, LONG)))
    );
    for made in free {
        made.expect("nobody waits for another account").unwrap();
    }
    for refused in held.into_iter().flatten() {
        let refusal = refused.unwrap_err().into_refusal().unwrap();
        assert_eq!(refusal.code.as_str(), "service_unavailable");
    }
    // By now it is known: the others wait for nothing.
    for _ in 0..20 {
        let held = gatherer.create(world.request(&world.scope));
        let made = tokio::select! {
            biased;
            made = create(&other, LONG) => made,
            refused = held => panic!("a lock that is held is waited for: {refused:?}"),
        };
        made.unwrap().unwrap();
    }
    drop(holder);
    let again: Result<_, Fail> = loop {
        match gatherer.create(world.request(&world.scope)).await {
            Err(fail) if fail.is_lock() => {}
            done => break done,
        }
    };
    again.expect("nobody holds it any more");
    drop(gatherer);
    peer.close().await;
    test.remove().await;
}
