//! Idempotency: the effect, its answer and the key commit together, or not at all.

use bytes::Bytes;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use sha2::{Digest as _, Sha256};
use till_core::error::{Code, Refusal};
use till_core::limits::IDEMPOTENCY_RETENTION_DAYS;
use till_core::scope::Scope;
use till_core::time::DAY_MS;
use till_store::idempotency::{KeptAnswer, NewAnswer};
use till_store::{Queries, StoreError, Tx, Write};

use crate::base::fail::Fail;
use crate::base::{Answer, Context, Engine};
use crate::view::event_object;

/// A key and what it was used for: the method, the path and the raw body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    pub key: String,
    pub fingerprint: [u8; 32],
}

impl Once {
    pub fn new(key: String, method: &str, path: &str, body: &[u8]) -> Once {
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(body);
        Once {
            key,
            fingerprint: hash.finalize().into(),
        }
    }
}

impl Engine {
    /// Runs a use case once per key. A failure leaves no trace and frees the key.
    pub async fn once<'w, F>(&self, scope: &Scope, once: &Once, work: F) -> Result<Answer, Fail>
    where
        F: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<Answer, Fail>>
            + Send
            + Sync,
    {
        let work = &work;
        let run = || {
            self.unit(scope, move |tx, context| {
                async move {
                    if let Some(kept) = look_up(tx, context, once).await? {
                        return Ok(kept);
                    }
                    let answer = work(tx, context).await?;
                    keep(tx, context, &[(scope, once, &answer)]).await?;
                    Ok(answer)
                }
                .scope_boxed()
            })
        };
        match run().await {
            // Another process committed the same key while we worked: ours is undone, theirs is the answer.
            Err(Fail::Store(error, _)) if is_key_taken(&error) => run().await,
            Err(Fail::Store(StoreError::LockTimeout, _)) => Err(in_use().into()),
            done => done,
        }
    }
}

pub fn in_use() -> Refusal {
    Refusal::of(Code::IdempotencyKeyInUse).param("Idempotency-Key")
}

/// What the store says when a key was bound meanwhile.
pub fn key_taken() -> StoreError {
    StoreError::Unique {
        constraint: "idempotency_keys(account,mode,key)".into(),
    }
}

pub fn is_key_taken(error: &StoreError) -> bool {
    error.violates("idempotency_keys")
}

/// What a key stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    Answer(Answer),
    /// Its answer is past its retention: whoever writes may forget it and use the key anew.
    Expired,
    Nothing,
}

/// The answer already given under this key, if it was to the same request.
pub async fn look_up(
    tx: &mut Tx,
    context: &Context<'_>,
    once: &Once,
) -> Result<Option<Answer>, Fail> {
    match kept(tx, context, once).await? {
        Kept::Answer(answer) => Ok(Some(answer)),
        Kept::Expired => {
            till_store::idempotency::forget(tx, &context.scope, &once.key).await?;
            Ok(None)
        }
        Kept::Nothing => Ok(None),
    }
}

pub async fn kept(q: &mut impl Queries, context: &Context<'_>, once: &Once) -> Result<Kept, Fail> {
    let kept = till_store::idempotency::kept_answer(q, &context.scope, &once.key).await?;
    match kept {
        None => Ok(Kept::Nothing),
        Some(kept) if kept.created_at < oldest_kept(context.real_now) => Ok(Kept::Expired),
        Some(kept) => replay(context.engine, &context.scope, once, &kept).map(Kept::Answer),
    }
}

/// The refusal of a key that is bound to another request.
pub async fn reused(engine: &Engine, scope: &Scope, once: &Once) -> Result<Option<Refusal>, Fail> {
    let mut reader = engine.db.read().await?;
    let kept = till_store::idempotency::kept_answer(&mut reader, scope, &once.key).await?;
    let oldest = oldest_kept(engine.clock.now_ms());
    Ok(kept
        .filter(|kept| kept.created_at >= oldest && kept.fingerprint != once.fingerprint)
        .map(|_| key_reused()))
}

fn key_reused() -> Refusal {
    Refusal::of(Code::IdempotencyKeyReused).param("Idempotency-Key")
}

fn oldest_kept(real_now: i64) -> i64 {
    real_now - i64::from(IDEMPOTENCY_RETENTION_DAYS) * DAY_MS
}

fn replay(engine: &Engine, scope: &Scope, once: &Once, kept: &KeptAnswer) -> Result<Answer, Fail> {
    if kept.fingerprint != once.fingerprint {
        return Err(key_reused().into());
    }
    let body = match &kept.event_body {
        Some(body) => Bytes::from(event_object(body).map_err(Fail::broken)?.to_owned()),
        None => {
            let opened = engine
                .vault
                .open(&purpose(scope, &once.key), &kept.response);
            Bytes::from(opened.map_err(Fail::broken)?)
        }
    };
    let status = u16::try_from(kept.status).map_err(Fail::broken)?;
    Ok(Answer {
        status,
        body,
        replayed: true,
    })
}

/// Binds answers to their keys, encrypted: some of them carry secrets that are shown once.
pub async fn keep(
    tx: &mut Tx,
    context: &Context<'_>,
    answers: &[(&Scope, &Once, &Answer)],
) -> Result<(), StoreError> {
    let engine = context.engine;
    let rows = answers
        .iter()
        .map(|(scope, once, answer)| NewAnswer {
            scope,
            key: &once.key,
            fingerprint: &once.fingerprint,
            status: answer.status,
            response: engine
                .vault
                .seal(&engine.ids, &purpose(scope, &once.key), &answer.body),
            event: None,
        })
        .collect();
    tx.write_all(&[in_order(rows, context.real_now)]).await
}

/// Rows that bind keys to answers which are the objects of events, by the events' ids.
pub fn rows_by_event(answers: &[(&Scope, &Once, &Answer, &str)], real_now: i64) -> Write {
    let rows = answers
        .iter()
        .map(|(scope, once, answer, event)| NewAnswer {
            scope,
            key: &once.key,
            fingerprint: &once.fingerprint,
            status: answer.status,
            response: Vec::new(),
            event: Some(event),
        })
        .collect();
    in_order(rows, real_now)
}

fn in_order(mut rows: Vec<NewAnswer<'_>>, real_now: i64) -> Write {
    // One order for everybody: two processes that bind the same keys wait for each other, never in a circle.
    rows.sort_by(|a, b| (&a.scope.account, a.key).cmp(&(&b.scope.account, b.key)));
    till_store::idempotency::rows(rows, real_now)
}

fn purpose(scope: &Scope, key: &str) -> String {
    format!(
        "idempotency/{}/{}/{key}",
        scope.account,
        scope.mode.as_str()
    )
}
