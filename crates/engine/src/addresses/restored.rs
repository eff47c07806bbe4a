//! After a copy was restored: addresses were handed out since it was made, of which it knows nothing. Whoever was shown one
//! may still pay to it, so nobody else is shown it.

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Family;
use till_store::Db;
use till_store::leases::NumberedPool;

use crate::base::fail::Fail;

/// So many numbers of each pool are passed over at least.
const PASSED_OVER_MIN: i64 = 10_000;

/// What an operator says about pools.
#[derive(Clone, Copy, Debug)]
pub struct Pools {
    pub pool_max: i64,
    pub bitcoin_gap_limit: i64,
    pub cooldown_ms: i64,
}

/// Passes over the numbers that may be out, and lets addresses that are free now, or will be, rest as if they had been used
/// until now.
pub async fn pass_over(db: &Db, pools: Pools, now: i64) -> Result<(), Fail> {
    let written = db.write(move |tx| {
        async move {
            till_store::leases::make_pools(tx).await?;
            for pool in till_store::leases::all_pools(tx).await? {
                let next = next_number(&pool, pools);
                if next > pool.next_number {
                    let (scope, family) = (&pool.scope, pool.family);
                    till_store::leases::grow_pool(tx, scope, family, next).await?;
                }
            }
            Ok::<_, Fail>(till_store::leases::rest_again(tx, now, pools.cooldown_ms).await?)
        }
        .scope_boxed()
    });
    written.await
}

/// As many again as there were, and never more than half of what is left. Where wallets look only so far ahead, to the end
/// of that: an address from there on is handed out once one of those was paid.
fn next_number(pool: &NumberedPool, pools: Pools) -> i64 {
    let next = pool.next_number;
    if pool.family == Family::Bitcoin {
        let end = pool.last_paid_number + 1 + pools.bitcoin_gap_limit;
        return next.max(end.min(pools.pool_max));
    }
    let half = (pools.pool_max - next).max(0) / 2;
    next + next.max(PASSED_OVER_MIN).min(half)
}

#[cfg(test)]
mod tests {
    use till_core::asset::Mode;
    use till_core::scope::Scope;

    use super::*;

    fn after(family: Family, next_number: i64, last_paid_number: i64) -> i64 {
        let pool = NumberedPool {
            scope: Scope::new("acct_1", Mode::Live),
            family,
            next_number,
            last_paid_number,
        };
        let pools = Pools {
            pool_max: 1_000_000,
            bitcoin_gap_limit: 20,
            cooldown_ms: 0,
        };
        super::next_number(&pool, pools)
    }

    #[test]
    fn as_many_numbers_again_are_passed_over_and_half_is_left() {
        assert_eq!(after(Family::Evm, 0, -1), 10_000);
        assert_eq!(after(Family::Tron, 7, 5), 10_007);
        assert_eq!(after(Family::Evm, 90_000, 5), 180_000);
        assert_eq!(after(Family::Evm, 800_000, 5), 900_000);
        assert_eq!(after(Family::Evm, 1_000_000, 5), 1_000_000);
    }

    #[test]
    fn where_wallets_look_only_so_far_ahead_it_is_as_far_as_they_look() {
        assert_eq!(after(Family::Bitcoin, 0, -1), 20);
        assert_eq!(after(Family::Bitcoin, 12, 4), 25);
        assert_eq!(after(Family::Bitcoin, 25, 4), 25);
    }
}
