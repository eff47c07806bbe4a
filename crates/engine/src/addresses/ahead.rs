//! Deposit addresses taken ahead for invoices that are about to be created.
//!
//! When many are wanted at once their numbers are taken in a unit of work of their own, so that everything about
//! an invoice can be worked out before its unit of work begins, and nobody waits for a pool while others write.
//! Only new numbers are taken, and only while a pool has plenty: otherwise, and when few are wanted, the unit of
//! work that leases addresses allocates them, exactly. What a process holds
//! when it dies is a gap in the numbers. Only Bitcoin's wallets would mind one; there nothing is taken ahead.

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::{Family, Network};
use till_core::invoice::Deposit;
use till_core::scope::Scope;

use super::pool::{derive, grow, left};
use crate::base::fail::Fail;
use crate::base::{Context, Engine};

/// With fewer wanted, none are taken: a shop with few customers at a time leaves no gaps.
const BUSY_MIN: usize = 8;
const AHEAD: i64 = 256;
/// A pool has plenty as long as so many times what is taken is left.
const PLENTY: i64 = 64;

/// As many addresses of one family as are wanted, or none at all: then they are to be allocated with
/// their leases. Those that are not leased are to be given back.
pub async fn take(
    context: &Context<'_>,
    network: &Network,
    wanted: usize,
) -> Result<Option<Vec<Deposit>>, Fail> {
    let (scope, family) = (&context.scope, network.family);
    if wanted < BUSY_MIN || family == Family::Bitcoin {
        return Ok(None);
    }
    let held = &context.engine.numbers;
    let mut numbers = held.take(scope, family, wanted);
    if numbers.len() < wanted {
        let missing = wanted - numbers.len();
        match fetch(context, family, missing).await {
            Ok(Some(fetched)) => {
                let mut fetched = fetched.into_iter();
                numbers.extend(fetched.by_ref().take(missing));
                held.put(scope, family, fetched);
            }
            scarce_or_failed => {
                held.put(scope, family, numbers);
                return scarce_or_failed.map(|_| None);
            }
        }
    }
    derive(context, network, &numbers).map(Some)
}

pub fn give_back(engine: &Engine, scope: &Scope, family: Family, deposit: &Deposit) {
    engine
        .numbers
        .put(scope, family, i64::try_from(deposit.number));
}

/// New numbers, at least as many as are missing, if they may be taken ahead.
async fn fetch(
    context: &Context<'_>,
    family: Family,
    missing: usize,
) -> Result<Option<Vec<i64>>, Fail> {
    let missing = i64::try_from(missing).map_err(Fail::broken)?;
    context
        .engine
        .db
        .write(move |tx| {
            async move {
                let pool = till_store::leases::lock_pool(tx, &context.scope, family).await?;
                let plenty = left(context, family, &pool) / PLENTY;
                if plenty < missing {
                    return Ok(None);
                }
                let wanted = plenty.min(missing + AHEAD);
                let numbers = grow(tx, context, family, &pool, wanted).await?;
                Ok::<_, Fail>(Some(numbers.collect()))
            }
            .scope_boxed()
        })
        .await
}
