//! Who leads a network is not decided by the clock of one server.

use till_engine::intake::chain::lead;
use till_store::both_engines;

use crate::world::{NOW, World};

const NETWORK: &str = "eip155:84532";
const AHEAD_MS: i64 = 600_000;

/// So many milliseconds pass since the leader was heard of.
async fn pass(world: &World, ms: i64) {
    let sql = "UPDATE networks SET heard_at = heard_at - $1";
    world.run_sql(sql, &[ms.into()]).await;
}

both_engines! {
    async fn a_leader_whose_clock_ran_ahead_is_waited_for_as_long_as_any_other(db: Db) {
        let world = World::new(db).await;
        let ahead = world.with_clock(2, NOW + AHEAD_MS);
        assert_eq!(lead(&ahead, NETWORK, "ahead").await.unwrap(), Some(1));
        // With a clock that they share, they do not take turns either.
        let shared = world.db.clock_ms().await.unwrap();
        if shared.is_some() {
            assert_eq!(lead(&world.engine, NETWORK, "right").await.unwrap(), None);
        }
        pass(&world, 15_001).await;
        assert_eq!(lead(&world.engine, NETWORK, "right").await.unwrap(), Some(2));
    }

    async fn nobody_is_heard_of_in_a_future_that_no_lease_reaches(db: Db) {
        let world = World::new(db).await;
        assert_eq!(lead(&world.engine, NETWORK, "first").await.unwrap(), Some(1));
        assert_eq!(lead(&world.engine, NETWORK, "second").await.unwrap(), None);
        pass(&world, -10_000).await;
        assert_eq!(lead(&world.engine, NETWORK, "second").await.unwrap(), None);
        pass(&world, -AHEAD_MS).await;
        assert_eq!(lead(&world.engine, NETWORK, "second").await.unwrap(), Some(2));
    }
}
