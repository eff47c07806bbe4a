//! Secret keys that turned up in URLs: whatever read such a URL has the key now, and its owner is to be told.
//!
//! Anybody can send a URL with something like a key in it, as often as they like. So the note is written by one task,
//! which asks a reader first: what is no key of ours, or is noted already, never waits for the writer.

use std::collections::HashSet;
use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use tokio::sync::mpsc;

use super::notices::{self, To};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::merchants::accounts::hash_key;

/// What comes beyond this is not looked at: a real key that is drowned is seen again with its next use.
const WAITING_MAX: usize = 256;

type Hash = [u8; 32];

/// Where keys that were seen are told. Dropping it ends the task behind it.
pub struct Exposures {
    queue: mpsc::Sender<Hash>,
}

impl Exposures {
    pub fn start(engine: &Arc<Engine>) -> Exposures {
        let (queue, seen) = mpsc::channel(WAITING_MAX);
        tokio::spawn(run(Arc::clone(engine), seen));
        Exposures { queue }
    }

    /// Never waits.
    pub fn tell(&self, key: &str) {
        if self.queue.try_send(hash_key(key)).is_err() {
            metrics::counter!("till_exposed_keys_dropped_total").increment(1);
        }
    }
}

async fn run(engine: Arc<Engine>, mut seen: mpsc::Receiver<Hash>) {
    // Only keys that exist get in, so this is never larger than the table.
    let mut noted = HashSet::new();
    while let Some(hash) = seen.recv().await {
        if noted.contains(&hash) {
            continue;
        }
        match note(&engine, hash).await {
            Ok(ExposedKey::Known) => {
                metrics::counter!("till_exposed_keys_total").increment(1);
                noted.insert(hash);
            }
            Ok(ExposedKey::Unknown) => {}
            Err(fail) => tracing::warn!(
                ?fail,
                "that a secret key was sent in a URL could not be recorded; roll the key all the same"
            ),
        }
    }
}

/// Whether a hash that was seen in a URL is that of a key of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExposedKey {
    Unknown,
    Known,
}

/// Notes beside the key that it was seen, the first time, and tells those who can roll it.
pub async fn note(engine: &Engine, hash: Hash) -> Result<ExposedKey, Fail> {
    let mut reader = engine.db.read().await?;
    let exposure = till_store::keys::exposure(&mut reader, &hash).await?;
    drop(reader);
    match exposure {
        None => return Ok(ExposedKey::Unknown),
        Some(Some(_since)) => return Ok(ExposedKey::Known),
        Some(None) => {}
    }
    let now = engine.clock.now_ms();
    let marked = engine.db.write(move |tx| {
        async move {
            let is_first = till_store::keys::mark_exposed(tx, &hash, now).await? > 0;
            let key = till_store::keys::key_by_hash(tx, &hash).await?;
            if let Some(key) = key.filter(|key| is_first && key.rolled_at.is_none()) {
                let to = To::Managers(&key.account);
                notices::tell(tx, engine, to, "key.exposed", &key.id).await?;
            }
            Ok::<_, Fail>(ExposedKey::Known)
        }
        .scope_boxed()
    });
    marked.await
}
