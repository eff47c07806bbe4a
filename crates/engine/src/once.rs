//! Idempotency: the effect, its answer and the key commit together, or not at all.

use bytes::Bytes;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use sha2::{Digest as _, Sha256};
use till_core::error::{Code, Refusal};
use till_core::limits::IDEMPOTENCY_RETENTION_DAYS;
use till_core::scope::{Credential, Scope};
use till_core::time::DAY_MS;
use till_store::idempotency::{self, KeptAnswer, KeyOf, NewAnswer};
use till_store::{Queries, StoreError, Tx, Write};

use crate::base::fail::Fail;
use crate::base::{Answer, Asker, Context, Engine};
use crate::view::event_object;

const TABLE: &str = "idempotency_keys";

/// A key, whose it is, and what it was used for: the method, the path and the raw body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    /// Who asks.
    pub asker: Asker,
    pub credential: Credential,
    pub key: String,
    pub fingerprint: [u8; 32],
}

impl Once {
    pub fn new(
        asker: impl Into<Asker>,
        credential: Credential,
        key: String,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Once {
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(body);
        Once {
            asker: asker.into(),
            credential,
            key,
            fingerprint: hash.finalize().into(),
        }
    }

    pub fn key_of<'k>(&'k self, scope: &'k Scope) -> KeyOf<'k> {
        KeyOf::new(scope, self.credential, &self.key)
    }

    fn purpose(&self, scope: &Scope) -> String {
        purpose(scope, self.credential, &self.key)
    }
}

/// What an answer is sealed for. Merchants' keys have always had the shorter form.
pub fn purpose(scope: &Scope, credential: Credential, key: &str) -> String {
    let (account, mode) = (&scope.account, scope.mode.as_str());
    match credential {
        Credential::Merchant => format!("idempotency/{account}/{mode}/{key}"),
        other => format!("idempotency_of_{}/{account}/{mode}/{key}", other.as_str()),
    }
}

impl Engine {
    /// Runs a use case once per key. The key is claimed first and bound by the commit: a failure leaves no trace
    /// and frees it, and so does a process that dies.
    pub async fn once<'w, F>(&self, scope: &Scope, once: &Once, work: F) -> Result<Answer, Fail>
    where
        F: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<Answer, Fail>>
            + Send
            + Sync,
    {
        let work = &work;
        self.unit_by(&once.asker, scope, move |tx, context| {
            async move {
                let key = KeyHolder::of(context);
                if let Some(kept) = claim(tx, &key, once).await? {
                    return Ok(kept);
                }
                let answer = work(tx, context).await?;
                fulfil(tx, &key, once, &answer).await?;
                Ok(answer)
            }
            .scope_boxed()
        })
        .await
    }
}

/// Whose keys are looked at, and when.
#[derive(Clone, Copy)]
pub struct KeyHolder<'k> {
    pub engine: &'k Engine,
    pub scope: &'k Scope,
    pub real_now: i64,
}

impl<'k> KeyHolder<'k> {
    fn of(context: &'k Context<'_>) -> KeyHolder<'k> {
        KeyHolder {
            engine: context.engine,
            scope: &context.scope,
            real_now: context.real_now,
        }
    }
}

/// Claims the key, or gives back the answer that is bound to it.
pub async fn claim(
    tx: &mut Tx,
    holder: &KeyHolder<'_>,
    once: &Once,
) -> Result<Option<Answer>, Fail> {
    let (key, real_now) = (once.key_of(holder.scope), holder.real_now);
    let claimed = idempotency::claim(tx, &key, &once.fingerprint, real_now).await;
    if claimed.map_err(key_error)? {
        return Ok(None);
    }
    match kept_by(tx, holder, once).await? {
        KeyState::Answer(answer) => Ok(Some(answer)),
        KeyState::Expired => {
            idempotency::forget(tx, &key).await?;
            let claimed = idempotency::claim(tx, &key, &once.fingerprint, real_now).await;
            match claimed.map_err(key_error)? {
                true => Ok(None),
                false => Err(Fail::Again),
            }
        }
        // It was there a moment ago.
        KeyState::Nothing => Err(Fail::Again),
    }
}

/// What a failure to write a key means.
pub fn key_error(error: StoreError) -> Fail {
    match error {
        // Another process bound it meanwhile: its answer is there by now.
        error if error.violates(TABLE) => Fail::Again,
        // Another process has it claimed and is at work.
        error if error.waited_for(TABLE) => in_use().into(),
        error => error.into(),
    }
}

pub fn in_use() -> Refusal {
    Refusal::of(Code::IdempotencyKeyInUse).param("Idempotency-Key")
}

/// What a key stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    Answer(Answer),
    /// Its answer is past its retention: whoever writes may forget it and use the key anew.
    Expired,
    Nothing,
}

pub async fn key_state(
    q: &mut impl Queries,
    context: &Context<'_>,
    once: &Once,
) -> Result<KeyState, Fail> {
    kept_by(q, &KeyHolder::of(context), once).await
}

async fn kept_by(
    q: &mut impl Queries,
    holder: &KeyHolder<'_>,
    once: &Once,
) -> Result<KeyState, Fail> {
    match idempotency::kept_answer(q, &once.key_of(holder.scope)).await? {
        None => Ok(KeyState::Nothing),
        Some(kept) if kept.created_at < oldest_kept(holder.real_now) => Ok(KeyState::Expired),
        Some(kept) => replay(holder.engine, holder.scope, once, &kept).map(KeyState::Answer),
    }
}

/// Frees a key whose answer is past its retention.
pub async fn forget(tx: &mut Tx, context: &Context<'_>, once: &Once) -> Result<(), Fail> {
    if key_state(tx, context, once).await? == KeyState::Expired {
        idempotency::forget(tx, &once.key_of(&context.scope)).await?;
    }
    Ok(())
}

/// The answer that is bound to a key, for requests whose effect no unit of work can hold.
pub async fn answer_of(
    engine: &Engine,
    scope: &Scope,
    once: &Once,
) -> Result<Option<Answer>, Fail> {
    let mut reader = engine.db.read().await?;
    let holder = KeyHolder {
        engine,
        scope,
        real_now: engine.clock.now_ms(),
    };
    match kept_by(&mut reader, &holder, once).await? {
        KeyState::Answer(answer) => Ok(Some(answer)),
        KeyState::Expired | KeyState::Nothing => Ok(None),
    }
}

/// The refusal of a key that is bound to another request.
pub async fn reused(engine: &Engine, scope: &Scope, once: &Once) -> Result<Option<Refusal>, Fail> {
    let mut reader = engine.db.read().await?;
    let kept = idempotency::kept_answer(&mut reader, &once.key_of(scope)).await?;
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
            let opened = engine.vault.open(&once.purpose(scope), &kept.response);
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

/// Binds the answer to the key, encrypted: some carry secrets that are shown once.
pub async fn fulfil(
    tx: &mut Tx,
    holder: &KeyHolder<'_>,
    once: &Once,
    answer: &Answer,
) -> Result<(), Fail> {
    let (engine, scope) = (holder.engine, holder.scope);
    let purpose = once.purpose(scope);
    let sealed = engine.vault.seal(&engine.ids, &purpose, &answer.body)?;
    Ok(idempotency::fulfil(tx, &once.key_of(scope), answer.status, sealed).await?)
}

/// Rows that bind keys to answers which are the objects of events, by the events' ids.
pub fn rows_by_event(answers: &[(&Scope, &Once, &Answer, &str)], real_now: i64) -> Write {
    let mut rows: Vec<NewAnswer<'_>> = answers
        .iter()
        .map(|(scope, once, answer, event)| NewAnswer {
            key: once.key_of(scope),
            fingerprint: &once.fingerprint,
            status: answer.status,
            response: Vec::new(),
            event: Some(event),
        })
        .collect();
    // One order for everybody: two processes that bind the same keys wait for each other, never in a circle.
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    idempotency::rows(rows, real_now)
}
