//! Reads the operator's lists again when they are due, and keeps this process's copy of them current.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use till_core::time::{MINUTE_MS, SECOND_MS};
use till_store::Reader;
use till_store::lists::{self as table, ListRow, NewEdition};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::lists::{self, Content, ListConfig, Lists, LoadedList, LoadedLists};

/// How long reading a list may take; whoever dies meanwhile is taken over after it.
const CLAIM_MS: i64 = 30 * MINUTE_MS;
/// A list that could not be read is tried again after this.
const RETRY_MS: i64 = 5 * MINUTE_MS;
/// Whoever writes to a file may not be done for so long.
const WRITING_MS: i64 = 2 * SECOND_MS;
/// One server waits half a minute for what another is reading; after that the worker follows it.
const LOOKS: usize = 300;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const ROWS_AT_ONCE: usize = 1_000;
const ADDRESSES_AT_ONCE: i64 = 10_000;

/// Reads every list that is due, each by one server.
pub async fn refresh_due(engine: &Engine) -> Result<(), Fail> {
    let Some(lists) = &engine.lists else {
        return Ok(());
    };
    let known = rows(engine).await?;
    for list in &lists.config.lists {
        let known = known.iter().find(|row| row.name == list.name);
        let (now, changed_at) = (engine.clock.now_ms(), lists::changed_at(list).await);
        if is_due(lists, list, known, (changed_at, now)) {
            refresh(engine, lists, list).await?;
        }
    }
    follow(engine).await
}

/// Reads every list now, whether it is due or not, and says how many there are.
pub async fn refresh_all(engine: &Engine) -> Result<usize, Fail> {
    let Some(lists) = &engine.lists else {
        return Ok(0);
    };
    for list in &lists.config.lists {
        refresh(engine, lists, list).await?;
    }
    let names: Vec<&str> = lists.config.lists.iter().map(|list| &*list.name).collect();
    others_are_done(engine, &names).await?;
    follow(engine).await?;
    Ok(lists.config.lists.len())
}

/// Another server that was told at the same time may be reading them: what it reads counts here, too.
async fn others_are_done(engine: &Engine, names: &[&str]) -> Result<(), Fail> {
    for _ in 0..LOOKS {
        let (now, rows) = (engine.clock.now_ms(), rows(engine).await?);
        let is_read = |row: &ListRow| names.contains(&&*row.name) && row.busy_until > now;
        if !rows.iter().any(is_read) {
            break;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

async fn rows(engine: &Engine) -> Result<Vec<ListRow>, Fail> {
    Ok(table::all(&mut engine.db.read().await?).await?)
}

/// When its time has come, or its file was changed since anybody tried it.
fn is_due(
    lists: &Lists,
    list: &ListConfig,
    known: Option<&ListRow>,
    (changed_at, now): (Option<i64>, i64),
) -> bool {
    let Some(row) = known.filter(|row| row.digest == list.digest()) else {
        return true;
    };
    let tried_at = row.tried_at.max(row.fetched_at);
    if changed_at.is_some_and(|at| Some(at) > tried_at && at <= now - WRITING_MS) {
        return true;
    }
    let old = |at: Option<i64>, age: i64| at.is_none_or(|at| now.saturating_sub(at) >= age);
    old(row.fetched_at, lists.config.refresh_ms) && old(row.tried_at, RETRY_MS)
}

async fn refresh(engine: &Engine, lists: &Lists, list: &ListConfig) -> Result<(), Fail> {
    let (now, digest) = (engine.clock.now_ms(), list.digest());
    let (until, name, digest) = (now + CLAIM_MS, list.name.as_str(), &digest);
    let claimed = engine
        .db
        .write(move |tx| {
            async move { Ok::<_, Fail>(table::claim(tx, (name, digest), now, until).await?) }
                .scope_boxed()
        })
        .await?;
    if !claimed {
        return Ok(());
    }
    let read = lists::read(list, &lists.fetcher).await;
    let result = if read.is_ok() { "ok" } else { "failed" };
    metrics::counter!("till_screening_refreshes_total", "list" => list.name.clone(), "result" => result)
        .increment(1);
    match read {
        Ok(content) => replace(engine, name, until, &content).await,
        Err(error) => {
            let error = &error.to_string();
            tracing::error!(
                list = name,
                error,
                "a screening list could not be read; its last good edition stays in force until the file is mended"
            );
            engine
                .db
                .write(move |tx| {
                    async move { Ok(table::record_failure(tx, name, until, error).await?) }
                        .scope_boxed()
                })
                .await
        }
    }
}

/// Written beside the edition that holds, in pieces, and then put in its place at once.
async fn replace(engine: &Engine, name: &str, until: i64, content: &Content) -> Result<(), Fail> {
    let edition = content.edition.as_str();
    let known = rows(engine).await?;
    let is_known = known
        .iter()
        .any(|row| row.name == name && row.edition.as_deref() == Some(edition));
    for piece in content.addresses.chunks(ROWS_AT_ONCE) {
        if is_known {
            break;
        }
        let piece: &Vec<&str> = &piece.iter().map(|address| &**address).collect();
        engine
            .db
            .write(move |tx| {
                async move { Ok::<_, Fail>(table::add(tx, edition, piece).await?) }.scope_boxed()
            })
            .await?;
    }
    let new = &NewEdition {
        edition,
        version: &content.version,
        addresses: i64::try_from(content.addresses.len()).map_err(Fail::broken)?,
        bytes: i64::try_from(content.bytes).map_err(Fail::broken)?,
    };
    let now = engine.clock.now_ms();
    let replaced = engine
        .db
        .write(move |tx| {
            async move { Ok::<_, Fail>(table::replace(tx, name, until, new, now).await?) }
                .scope_boxed()
        })
        .await?;
    if replaced {
        let (version, addresses) = (new.version, new.addresses);
        tracing::info!(list = name, version, addresses, "a list was read");
    }
    Ok(())
}

/// Brings this process's copy to what the database has, and says how old and large it is.
pub async fn follow(engine: &Engine) -> Result<(), Fail> {
    let Some(lists) = &engine.lists else {
        return Ok(());
    };
    let mut reader = engine.db.read().await?;
    let (rows, before) = (table::all(&mut reader).await?, lists.loaded());
    let mut loaded = LoadedLists::default();
    for list in &lists.config.lists {
        let digest = list.digest();
        let row = rows
            .iter()
            .find(|row| row.name == list.name && row.digest == digest);
        if let Some(row) = row
            && let Some(list) = load_list(&mut reader, row, before.list(list)).await?
        {
            loaded.lists.push(list);
        }
    }
    drop(reader);
    lists.replace(loaded);
    measure(engine, lists, &rows);
    Ok(())
}

async fn load_list(
    reader: &mut Reader,
    row: &ListRow,
    before: Option<&LoadedList>,
) -> Result<Option<LoadedList>, Fail> {
    let Some((edition, fetched_at)) = row.edition.clone().zip(row.fetched_at) else {
        return Ok(None);
    };
    let same = before.filter(|before| before.edition == edition);
    let addresses = match same {
        Some(before) => Arc::clone(&before.addresses),
        None => {
            let read = addresses(reader, &edition).await?;
            // Replaced while it was read: what was known holds until the next look.
            if i64::try_from(read.len()).ok() != Some(row.addresses) {
                return Ok(before.cloned());
            }
            Arc::new(read)
        }
    };
    Ok(Some(LoadedList {
        name: row.name.clone(),
        digest: row.digest.clone(),
        edition,
        version: row.version.clone(),
        fetched_at,
        addresses,
    }))
}

async fn addresses(reader: &mut Reader, edition: &str) -> Result<HashSet<Box<str>>, Fail> {
    let (mut all, mut after) = (HashSet::new(), String::new());
    loop {
        let some = table::addresses(reader, edition, &after, ADDRESSES_AT_ONCE).await?;
        let Some(last) = some.last() else {
            return Ok(all);
        };
        after.clone_from(last);
        all.extend(some.into_iter().map(String::into_boxed_str));
    }
}

/// A list that was never read has the age of one that was read when time began.
fn measure(engine: &Engine, lists: &Lists, rows: &[ListRow]) {
    let now = engine.clock.now_ms();
    for list in &lists.config.lists {
        let row = rows.iter().find(|row| row.name == list.name);
        let fetched_at = row.and_then(|row| row.fetched_at).unwrap_or_default();
        let age_s = now.saturating_sub(fetched_at).max(0) / SECOND_MS;
        let set = |name: &'static str, value: i64| {
            let value = u32::try_from(value).unwrap_or(u32::MAX);
            metrics::gauge!(name, "list" => list.name.clone()).set(value);
        };
        set("till_screening_list_age_seconds", age_s);
        set(
            "till_screening_list_addresses",
            row.map_or(0, |row| row.addresses),
        );
        set("till_screening_list_bytes", row.map_or(0, |row| row.bytes));
    }
}
