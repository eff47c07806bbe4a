//! Expiry. The clock is a fact like any other: the invoices are looked at again now that it has moved.

use std::collections::{HashMap, HashSet};

use till_core::scope::Scope;
use till_store::Tx;
use till_store::timers::Due;

use super::fired::Fired;
use super::unread::put_off;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{Change, LockedInvoice, hold_free, hold_many, settle_all};

/// What becomes of invoices that somebody else holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenLocked {
    /// They keep their timers, for the next look.
    Left,
    Awaited,
}

pub(super) async fn expire(
    tx: &mut Tx,
    mut due: Vec<(&Context<'_>, &Due)>,
    locked: WhenLocked,
) -> Result<Fired, Fail> {
    let ids: Vec<(&Scope, &str)> = due.iter().map(invoice_of).collect();
    let held = match locked {
        WhenLocked::Left => hold_free(tx, &ids).await?,
        WhenLocked::Awaited => hold_many(tx, &ids).await?,
    };
    let mut held: HashMap<String, LockedInvoice> = held
        .into_iter()
        .map(|held| (held.id().to_owned(), held))
        .collect();
    if locked == WhenLocked::Awaited {
        due.truncate(until_something_follows(&due, &held));
    }
    // A test clock that is moved does not wait for real blocks.
    let unread = match locked {
        WhenLocked::Left => put_off(tx, &due, &held).await?,
        WhenLocked::Awaited => Vec::new(),
    };
    due.retain(|(_, timer)| !unread.contains(timer));
    let ours = without_locked(tx, &due, &held).await?;
    let taken: HashSet<Due> = till_store::timers::take(tx, &ours)
        .await?
        .into_iter()
        .collect();
    let changes = due.iter().filter(|(_, timer)| taken.contains(timer));
    let changes = changes.filter_map(|(context, timer)| {
        Some(Change {
            context,
            held: held.remove(&timer.subject)?,
            extra: None,
        })
    });
    settle_all(tx, changes.collect()).await?;
    Ok(Fired {
        seen: due.len(),
        taken: taken.len(),
    })
}

fn invoice_of<'d>((context, timer): &(&'d Context<'_>, &'d Due)) -> (&'d Scope, &'d str) {
    (&context.scope, &timer.subject)
}

/// When a subscription's invoice expires, its next attempt may fall due before the next of these does.
fn until_something_follows(
    due: &[(&Context<'_>, &Due)],
    held: &HashMap<String, LockedInvoice>,
) -> usize {
    let follows = |(_, timer): &(&Context<'_>, &Due)| {
        let held = held.get(&timer.subject);
        held.is_some_and(|held| held.invoice.is.subscription.is_some())
    };
    due.iter()
        .position(follows)
        .map_or(due.len(), |first| first + 1)
}

/// The timers of the invoices that are held here, and those whose invoices do not exist.
async fn without_locked(
    tx: &mut Tx,
    due: &[(&Context<'_>, &Due)],
    held: &HashMap<String, LockedInvoice>,
) -> Result<Vec<Due>, Fail> {
    let missing: Vec<(&Scope, &str)> = due
        .iter()
        .filter(|(_, timer)| !held.contains_key(&timer.subject))
        .map(invoice_of)
        .collect();
    let locked: HashSet<String> = match missing.is_empty() {
        true => HashSet::new(),
        false => {
            let found = till_store::invoices::find_many(tx, &missing).await?;
            found.into_iter().map(|row| row.id).collect()
        }
    };
    let ours = due
        .iter()
        .filter(|(_, timer)| !locked.contains(&timer.subject));
    Ok(ours.map(|(_, timer)| (*timer).clone()).collect())
}
