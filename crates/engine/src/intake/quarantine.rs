//! One that fails holds up nobody: it is put aside with its error, and tried again later.

use std::collections::HashMap;

use scoped_futures::ScopedFutureExt as _;
use till_core::time::SECOND_MS;
use till_store::networks::NetworkRow;
use till_store::transfers::{QuarantineRow, TransferRow};
use till_store::{StoreError, Tx, Write};

use super::door::{Door, take_in};
use super::observation::{Identity, Observation};
use super::record::observe;
use crate::base::fail::Fail;
use crate::base::{Effects, Engine};

const RETRY_MIN_MS: i64 = 10 * SECOND_MS;
const RETRY_MAX_MS: i64 = 3_600 * SECOND_MS;
const AT_ONCE: i64 = 100;

/// Facts that are not taken in yet: should this process die before they are, another tries them.
pub(super) fn waiting<'o>(
    observations: impl IntoIterator<Item = &'o Observation>,
    why: &Fail,
    now: i64,
) -> Write {
    let row = |observation: &Observation| QuarantineRow {
        network: observation.network.clone(),
        tx_hash: observation.tx_hash.clone(),
        place: observation.place,
        error: format!("{why:?}"),
        attempts: 0,
        since: now,
        retry_at: now,
    };
    let mut rows: Vec<QuarantineRow> = observations.into_iter().map(row).collect();
    rows.sort_by(|a, b| a.identity().cmp(&b.identity()));
    rows.dedup_by(|a, b| a.identity() == b.identity());
    till_store::transfers::quarantines(&rows)
}

/// A database that is away is nobody's fault: all of it is tried again.
pub(super) fn is_outage(fail: &Fail) -> bool {
    matches!(
        fail,
        Fail::Again
            | Fail::Store(
                StoreError::Unavailable
                    | StoreError::Unwritable(_)
                    | StoreError::Busy
                    | StoreError::Serialization
                    | StoreError::LockTimeout { .. },
                _
            )
    )
}

/// Tries again what was put aside and is due, until nothing is. Says how many transfers were taken in.
pub async fn retry(engine: &Engine) -> Result<usize, Fail> {
    let mut done = 0;
    loop {
        let due = due(engine).await?;
        if due.is_empty() {
            return Ok(done);
        }
        done += match again(engine, &due).await {
            Ok(()) => due.len(),
            Err(fail) if is_outage(&fail) => return Err(fail),
            Err(_) => one_by_one(engine, &due).await?,
        };
    }
}

async fn one_by_one(engine: &Engine, due: &[QuarantineRow]) -> Result<usize, Fail> {
    let mut done = 0;
    for row in due {
        match again(engine, std::slice::from_ref(row)).await {
            Ok(()) => done += 1,
            Err(fail) if is_outage(&fail) => return Err(fail),
            Err(fail) => put_back(engine, row, &fail).await?,
        }
    }
    Ok(done)
}

/// Nothing is taken in on a frozen network until an operator has looked.
async fn due(engine: &Engine) -> Result<Vec<QuarantineRow>, Fail> {
    let mut reader = engine.db.read().await?;
    let now = engine.clock.now_ms();
    Ok(till_store::transfers::quarantined(&mut reader, now, AT_ONCE).await?)
}

/// Takes these in as what they are by now, and lets them go in the same unit of work.
async fn again(engine: &Engine, rows: &[QuarantineRow]) -> Result<(), Fail> {
    let effects = Effects::default();
    let effects_ref = &effects;
    engine
        .db
        .write(move |tx| {
            async move {
                effects_ref.clear();
                let door = Door {
                    engine,
                    effects: effects_ref,
                    only: None,
                };
                let identities: Vec<Identity<'_>> =
                    rows.iter().map(QuarantineRow::identity).collect();
                let observations = facts(tx, &identities).await?;
                take_in(tx, door, &observations).await?;
                till_store::transfers::release(tx, &identities).await?;
                Ok::<_, Fail>(())
            }
            .scope_boxed()
        })
        .await?;
    engine.tell(&effects);
    Ok(())
}

/// What the chain says of these now, in the order in which it happened.
async fn facts(tx: &mut Tx, identities: &[Identity<'_>]) -> Result<Vec<Observation>, Fail> {
    let mut facts = till_store::transfers::find_many(tx, identities).await?;
    facts.sort_by_key(|fact| fact.height);
    let mut networks: HashMap<String, Option<NetworkRow>> = HashMap::new();
    for fact in &facts {
        if !networks.contains_key(&fact.network) {
            let row = till_store::networks::find(tx, &fact.network).await?;
            networks.insert(fact.network.clone(), row);
        }
    }
    let seen = |fact: &TransferRow| {
        let network = networks.get(&fact.network).and_then(Option::as_ref);
        observe(network, fact)
    };
    Ok(facts.iter().map(seen).collect())
}

async fn put_back(engine: &Engine, row: &QuarantineRow, fail: &Fail) -> Result<(), Fail> {
    let (network, tx_hash, place) = row.identity();
    tracing::error!(
        network,
        tx_hash,
        place,
        ?fail,
        "a transfer could not be recorded; it is set aside and will be retried; please report it if it fails again"
    );
    metrics::counter!("till_transfers_quarantined_total").increment(1);
    let delay = RETRY_MIN_MS << row.attempts.clamp(0, 16);
    let row = &QuarantineRow {
        error: format!("{fail:?}"),
        attempts: row.attempts + 1,
        retry_at: engine.clock.now_ms() + delay.min(RETRY_MAX_MS),
        ..row.clone()
    };
    engine
        .db
        .write(move |tx| {
            async move {
                let row = till_store::transfers::quarantines([row]);
                Ok::<_, Fail>(tx.write(&row).await.map(drop)?)
            }
            .scope_boxed()
        })
        .await
}
