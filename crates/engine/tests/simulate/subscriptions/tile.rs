//! Periods tile: from the first payment on each begins where the one before it ended, or where the merchant resumed after a
//! pause, or as much later as pauses lasted. Read from the charges and from what merchants were told, without the engine's
//! rules.

use std::collections::{BTreeMap, BTreeSet};

use till_store::Queries as _;

use super::Story;
use super::hold::of;
use crate::world::Check;

/// Where a period may begin after pauses: where one ended, or later by as long as those lasted that came one after the other.
fn after_pauses(before: Option<i64>, pauses: &[(i64, Option<i64>)]) -> BTreeSet<i64> {
    let mut starts: BTreeSet<i64> = before.into_iter().collect();
    for (paused, resumed) in pauses {
        let Some(resumed) = *resumed else { continue };
        let moved = starts.iter().map(|start| start + (resumed - paused));
        starts = moved.chain(starts.clone()).chain([resumed]).collect();
    }
    starts
}

/// Subscription, period, whether it is paid, and where it begins and ends; the attempts in their order.
type Attempt = (String, i64, String, i64, i64);

pub async fn always(story: &mut Story) -> Check {
    let sql = "SELECT subscription, period, state, period_start, period_end FROM subscription_charges \
         WHERE account = $1 AND mode = $2 ORDER BY subscription, number";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let attempts: Vec<Attempt> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let sql = "SELECT subject, type, created_at FROM events WHERE account = $1 AND mode = $2 \
         AND type IN ('subscription.paused', 'subscription.resumed') ORDER BY id";
    let told: Vec<(String, String, i64)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    drop(reader);
    let mut pauses: BTreeMap<String, Vec<(i64, Option<i64>)>> = BTreeMap::new();
    for (id, event, at) in told {
        let of = pauses.entry(id).or_default();
        match (&*event, of.last_mut()) {
            ("subscription.resumed", Some(last)) => last.1 = Some(at),
            _ => of.push((at, None)),
        }
    }
    let mut periods: BTreeMap<String, BTreeMap<i64, (bool, i64, i64)>> = BTreeMap::new();
    for (subscription, period, state, start, end) in attempts {
        let known = periods.entry(subscription).or_default();
        let is_paid = state == "paid";
        // What paid says where the period is; without it, what was last asked for.
        if is_paid || !known.get(&period).is_some_and(|(paid, ..)| *paid) {
            known.insert(period, (is_paid, start, end));
        }
    }
    for (id, periods) in periods {
        let Some(last) = periods.iter().rev().find(|(_, (paid, ..))| *paid) else {
            continue;
        };
        let (mut before, mut paid_until) = (None, i64::MIN);
        let pauses = pauses.get(&id).map_or(&[][..], Vec::as_slice);
        for number in 0..=*last.0 {
            let Some((is_paid, start, end)) = periods.get(&number) else {
                return Err(format!("{id} was never charged for period {number}"));
            };
            let is_anew = *start >= paid_until && after_pauses(before, pauses).contains(start);
            if before.is_some_and(|before| before != *start) && !is_anew {
                return Err(format!(
                    "period {number} of {id} begins at {start}, not at {before:?}"
                ));
            }
            if before.is_some() && is_anew {
                story.world.visit("a pause that moved a period");
            }
            before = Some(*end);
            if *is_paid {
                paid_until = *end;
            }
        }
    }
    Ok(())
}
