//! Webhooks: signed, the merchant's own, and at the end received. (I19)

use till_store::Queries as _;

use super::{and, of};
use crate::world::{Check, World};

/// Nothing that ever arrived was wrong.
pub fn received(world: &World) -> Check {
    match world.receiver.wrongs().first() {
        Some(wrong) => Err(wrong.clone()),
        None => Ok(()),
    }
}

/// A delivery that ended because the merchant had no URL, or after the last attempt, will not be received.
pub async fn excuse(world: &mut World) {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT event FROM deliveries WHERE status = 'failed' AND next_attempt_at IS NULL AND due_at IS NULL \
         AND (error = 'no webhook URL is set any more' OR attempt >= 16)";
    let ended: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    world
        .excused
        .extend(ended.into_iter().map(|(event,)| event));
    // A retry that was due when there was no URL leaves no row of its own.
    for merchant in world
        .model
        .merchants
        .iter()
        .filter(|merchant| merchant.url.is_none())
    {
        let sql = "SELECT event FROM deliveries WHERE account = $1 AND mode = $2 AND status = 'failed' \
             AND next_attempt_at IS NULL";
        let ended: Vec<(String,)> = reader.all(sql, &of(&merchant.scope)).await.unwrap();
        world
            .excused
            .extend(ended.into_iter().map(|(event,)| event));
    }
}

pub async fn none_due(world: &World) -> bool {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT CAST(count(*) AS BIGINT) FROM deliveries WHERE due_at IS NOT NULL";
    let (due,): (i64,) = reader.one(sql, &[]).await.unwrap().unwrap();
    due == 0
}

pub async fn all_received(world: &World) -> Check {
    if !none_due(world).await {
        return Err("deliveries are still waiting".into());
    }
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT DISTINCT event, event_type FROM deliveries";
    let events: Vec<(String, String)> = reader.all(sql, &[]).await.unwrap();
    let acknowledged = world.receiver.acknowledged();
    for (event, kind) in events {
        if !acknowledged.contains(&event) && !world.excused.contains(&event) {
            return Err(format!("{kind} {event} never arrived"));
        }
    }
    let sql = "SELECT DISTINCT event FROM deliveries WHERE status = 'succeeded'";
    let succeeded: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    match succeeded
        .iter()
        .find(|(event,)| !acknowledged.contains(event))
    {
        Some((event,)) => Err(format!("{event} is said to have arrived and did not")),
        None => Ok(()),
    }
}

/// A delivery and its event, for a replay.
pub async fn some_delivery(world: &mut World, m: usize) -> Option<(String, String)> {
    let scope = &world.model.merchants[m].scope;
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT id, event FROM deliveries WHERE account = $1 AND mode = $2 AND subject LIKE 'inv_%' ORDER BY id DESC LIMIT 20";
    let some: Vec<(String, String)> = reader.all(sql, &of(scope)).await.unwrap();
    (!some.is_empty()).then(|| world.rng.pick(&some).clone())
}

pub async fn note_replay(world: &mut World, m: usize, event: &str) {
    let merchant = &mut world.model.merchants[m];
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT subject, CAST((SELECT count(*) FROM events o WHERE o.subject = events.subject AND o.id < events.id) \
         AS BIGINT) FROM events WHERE account = $1 AND mode = $2 AND id = $3";
    let (invoice, place): (String, i64) = reader
        .one(sql, &and(&merchant.scope, event))
        .await
        .unwrap()
        .unwrap();
    let told = &mut merchant.invoices.get_mut(&invoice).unwrap().events;
    told[usize::try_from(place).unwrap()].replays += 1;
}
