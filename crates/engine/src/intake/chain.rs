//! What a network's leader reports goes in here: blocks, tips and the transfers in them. Facts and what follows from them
//! for invoices are one unit of work, which checks that the leader still leads.

use scoped_futures::ScopedFutureExt as _;
use till_core::time::SECOND_MS;

use super::door::{Door, take_in};
pub use super::network_update::NetworkUpdate;
use super::quarantine::{is_outage, retry, waiting};
use super::record::{Recorded, record, thawed};
use crate::base::fail::Fail;
use crate::base::{Effects, Engine};
pub use till_watch::{SeenTransfer, Tip};

/// How long a leader that is not heard of is waited for.
const LEASE_MS: i64 = 15 * SECOND_MS;

/// What became of a leader's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    Done,
    /// Somebody else leads meanwhile: nothing was written.
    Fenced,
    /// Nothing is credited on this network until an operator has looked.
    Frozen,
    /// The blocks do not follow from those in the database: nothing was written.
    Loose,
}

/// Leads a network from now on: none while another leader was heard of lately. The epoch fences the one before.
pub async fn lead(engine: &Engine, network: &str, owner: &str) -> Result<Option<i64>, Fail> {
    let ours = engine.clock.now_ms();
    let leading = engine.db.write(move |tx| {
        async move {
            let now = till_store::networks::heard_by(tx, ours).await?;
            let epoch = till_store::networks::lead(tx, network, owner, now, LEASE_MS);
            Ok::<_, Fail>(epoch.await?)
        }
        .scope_boxed()
    });
    leading.await
}

/// Takes a leader's step in. Where some transfer's invoice cannot be settled, the facts are kept by themselves, and every
/// transfer is tried alone.
pub async fn advance(engine: &Engine, step: &NetworkUpdate) -> Result<Advanced, Fail> {
    let fail = match unit(engine, Work::Update(step), TransferRouting::TakeIn).await {
        Err(fail) if !is_outage(&fail) => fail,
        done => return done,
    };
    tracing::error!(network = %step.network, ?fail, "a network's transfers could not be recorded together, for the reason in `fail`; each is recorded alone, and one that fails again is set aside and retried");
    let done = unit(engine, Work::Update(step), TransferRouting::PutAside(&fail)).await?;
    retry(engine).await?;
    Ok(done)
}

/// An operator has looked: what replaced the final blocks is the chain now. What was in the replaced ones is gone until
/// it is read again, from there or from an earlier height.
pub async fn thaw(engine: &Engine, network: &str, rescan_from: Option<i64>) -> Result<(), Fail> {
    unit(
        engine,
        Work::Thaw(network, rescan_from),
        TransferRouting::TakeIn,
    )
    .await
    .map(drop)
}

#[derive(Clone, Copy)]
enum Work<'w> {
    Update(&'w NetworkUpdate),
    Thaw(&'w str, Option<i64>),
}

/// Where the transfers that changed go: to the door, or into quarantine for this reason.
#[derive(Clone, Copy)]
enum TransferRouting<'f> {
    TakeIn,
    PutAside(&'f Fail),
}

async fn unit(
    engine: &Engine,
    work: Work<'_>,
    routing: TransferRouting<'_>,
) -> Result<Advanced, Fail> {
    let effects = Effects::default();
    let effects_ref = &effects;
    let written = engine.db.write(move |tx| {
        async move {
            effects_ref.clear();
            let recorded = match work {
                Work::Update(step) => record(tx, engine, step).await?,
                Work::Thaw(network, from) => thawed(tx, network, from).await?,
            };
            let (news, advanced) = match recorded {
                Recorded::Fenced => return Ok(Advanced::Fenced),
                Recorded::Loose => return Ok(Advanced::Loose),
                Recorded::News(news) => (news, Advanced::Done),
                Recorded::Frozen(news) => (news, Advanced::Frozen),
            };
            let door = Door {
                engine,
                effects: effects_ref,
                only: None,
            };
            match routing {
                TransferRouting::TakeIn => drop(take_in(tx, door, &news).await?),
                TransferRouting::PutAside(why) => {
                    let rows = waiting(&news, why, engine.clock.now_ms());
                    tx.write(&rows).await?;
                }
            }
            Ok::<_, Fail>(advanced)
        }
        .scope_boxed()
    });
    let advanced = written.await?;
    engine.tell(&effects);
    Ok(advanced)
}
