//! Forgets what is past its retention, in small steps with a pause after each, so that nobody waits for it. Nothing that the
//! books need is touched: invoices, payments, transfers and the journal stay.

use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Mode;
use till_core::id::{self, IdKind};
use till_core::scope::Scope;
use till_core::time::DAY_MS;
use till_store::retention::EntryTable;
use till_store::{StoreError, Tx, retention};

use crate::base::Engine;
use crate::base::fail::Fail;

const AT_ONCE: i64 = 500;
/// Between two steps of which the first found something.
const PAUSE: Duration = Duration::from_millis(50);
/// A rolled webhook secret signs for a day; kept somewhat longer for whoever asks what happened.
const SECRETS_D: i64 = 30;
/// Sessions that are over are kept as long, for the same.
const SESSIONS_D: i64 = 30;

/// One walk through everything.
pub async fn forget(engine: &Engine) -> Result<(), Fail> {
    let kept = engine.config.limits.retention;
    let now = engine.clock.now_ms();
    let before = |days: i64| now - days * DAY_MS;
    // What says most about people goes first.
    until_few(
        engine,
        ExpiredRows::PayerContacts(before(kept.payer_contacts_d)),
    )
    .await?;
    until_few(engine, ExpiredRows::LinkOpenings).await?;
    let oldest = id::make(IdKind::Delivery, before(kept.deliveries_d), 0, 0);
    for scope in scopes(engine).await? {
        until_few(engine, ExpiredRows::Deliveries(&scope, &oldest)).await?;
    }
    let oldest = id::make(IdKind::Event, before(kept.events_d), 0, 0);
    events(engine, &oldest).await?;
    leases(engine, before(kept.events_d)).await?;
    until_few(engine, ExpiredRows::Secrets(before(SECRETS_D))).await?;
    for table in EntryTable::ALL {
        let days = match table {
            EntryTable::Sessions => SESSIONS_D,
            _ => 1,
        };
        until_few(engine, ExpiredRows::Entry(table, before(days))).await?;
    }
    Ok(())
}

/// Rows past their retention, with the age or the owner that they are found by.
#[derive(Clone, Copy)]
enum ExpiredRows<'w> {
    PayerContacts(i64),
    LinkOpenings,
    Deliveries(&'w Scope, &'w str),
    Secrets(i64),
    /// Of signing in: links, ceremonies, confirmations, attempts, sessions.
    Entry(EntryTable, i64),
}

impl ExpiredRows<'_> {
    fn table(self) -> &'static str {
        match self {
            ExpiredRows::PayerContacts(_) => "notices",
            ExpiredRows::LinkOpenings => "link_openings",
            ExpiredRows::Deliveries(..) => "deliveries",
            ExpiredRows::Secrets(_) => "webhook_secrets",
            ExpiredRows::Entry(table, _) => table.name(),
        }
    }

    async fn delete(self, tx: &mut Tx) -> Result<u64, StoreError> {
        match self {
            ExpiredRows::PayerContacts(before) => {
                retention::payer_contacts(tx, before, AT_ONCE).await
            }
            ExpiredRows::LinkOpenings => retention::link_openings(tx, AT_ONCE).await,
            ExpiredRows::Deliveries(scope, before) => {
                retention::deliveries(tx, scope, before, AT_ONCE).await
            }
            ExpiredRows::Secrets(before) => retention::secrets(tx, before, AT_ONCE).await,
            ExpiredRows::Entry(table, before) => retention::entry(tx, table, before, AT_ONCE).await,
        }
    }
}

/// Steps until one finds less than it might have.
async fn until_few(engine: &Engine, rows: ExpiredRows<'_>) -> Result<(), Fail> {
    loop {
        let step = engine.db.write(move |tx: &mut Tx| {
            async move { rows.delete(tx).await.map_err(Fail::from) }.scope_boxed()
        });
        let deleted = step.await?;
        count(rows.table(), deleted).await;
        if deleted < AT_ONCE.cast_unsigned() {
            return Ok(());
        }
    }
}

async fn scopes(engine: &Engine) -> Result<Vec<Scope>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = retention::scopes(&mut reader).await?;
    let scope = |(account, mode): (String, String)| Some(Scope::new(&account, Mode::parse(&mode)?));
    Ok(found.into_iter().filter_map(scope).collect())
}

async fn events(engine: &Engine, before: &str) -> Result<(), Fail> {
    let mut at = Some(String::new());
    while let Some(after) = at {
        let after = after.as_str();
        let step = engine.db.write(move |tx: &mut Tx| {
            async move {
                let step = retention::events(tx, after, before, AT_ONCE).await;
                step.map_err(Fail::from)
            }
            .scope_boxed()
        });
        let step = step.await?;
        count("events", step.deleted).await;
        at = step.reached;
    }
    Ok(())
}

async fn leases(engine: &Engine, before: i64) -> Result<(), Fail> {
    let mut at = Some(i64::MIN);
    while let Some(after) = at {
        let step = engine.db.write(move |tx: &mut Tx| {
            async move {
                let step = retention::leases(tx, after, before, AT_ONCE).await;
                step.map_err(Fail::from)
            }
            .scope_boxed()
        });
        let step = step.await?;
        count("leases", step.deleted).await;
        at = step.reached;
    }
    Ok(())
}

/// Counts a step, and leaves the database to others for a while if it did something.
async fn count(table: &'static str, deleted: u64) {
    metrics::counter!("till_retention_deleted_total", "table" => table).increment(deleted);
    if deleted > 0 {
        tokio::time::sleep(PAUSE).await;
    }
}
