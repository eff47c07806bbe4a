//! POSTs: performed once per idempotency key.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use http::request::Parts;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use sha2::{Digest as _, Sha256};
use till_core::actor::Actor;
use till_core::scope::{Credential, Scope};
use till_engine::base::Asker;
use till_engine::invoices::Via;
use till_engine::merchants::accounts::{Caller, KeyKind};
use till_engine::once::{Once, answer_of, in_use, reused};
use till_engine::{Answer, Context, Fail, Tx};
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency::{self, InFlightGuard};
use till_http::query::Query;
use utoipa::IntoParams;

use super::answers::{Answered, answered};
use super::callers::{Authenticated, Proof, Rights, authenticate, count, creator_of};
use super::client::origin_of;
use super::failure::Failure;
use super::request::{Body, NoBody};
use super::state::{Api, HeldKey};

/// The header of every POST, for the document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "described here, and read by till_http")]
pub struct IdempotencyKey {
    /// 1 to 255 visible ASCII characters. A retry with the same key and body returns the first result.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255)]
    idempotency_key: String,
}

/// A POST: who asks and for what, its idempotency key held against a second use at the same time.
///
/// The body is read here, so that no handler can forget which mistake comes first: one in a body is told only
/// while the key is free, and a key that is bound to another request is told before.
pub struct Posted<R, B = NoBody> {
    pub caller: Arc<Caller>,
    pub once: Once,
    pub body: B,
    _held: InFlightGuard<HeldKey>,
    rights: PhantomData<R>,
}

impl<R: Rights, B: Body> FromRequest<Arc<Api>> for Posted<R, B> {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Posted<R, B>, Failure> {
        let (parts, content) = request.into_parts();
        let Authenticated { caller, proof } = authenticate::<R>(api, &parts).await?;
        let key = idempotency::key(&parts.headers)?;
        let credential = match caller.kind {
            KeyKind::Secret => Credential::Merchant,
            KeyKind::Publishable => Credential::Payer,
        };
        let held = api
            .in_flight
            .enter((caller.scope.clone(), credential, key.clone()))
            .ok_or_else(in_use)?;
        let query = Query::of(parts.uri.query(), &[]).map(drop);
        let bytes = body::read(&parts.headers, content, READ_TIME_LIMIT).await;
        // A body that cannot be read is none that the key was used with.
        let raw = bytes.as_ref().ok().and_then(Option::as_deref);
        let raw = raw.unwrap_or_default();
        let once = Once::new(
            asker(api, &parts, &caller, proof, raw)?,
            credential,
            key,
            parts.method.as_str(),
            parts.uri.path(),
            raw,
        );
        count::<R>(api, &parts, &caller)?;
        let read = || {
            query?;
            B::read(bytes?.as_deref())
        };
        let body = match read() {
            Ok(body) => body,
            // Boxed to keep the future small.
            Err(wrong) => return Err(Box::pin(first(api, &caller, &once, wrong.into())).await),
        };
        if let Err(wrong) = body.check(api, &caller).await
            && !Box::pin(is_answered(api, &caller, &once)).await?
        {
            return Err(wrong);
        }
        Ok(Posted {
            caller,
            once,
            body,
            _held: held,
            rights: PhantomData,
        })
    }
}

/// Who asks, in the engine's terms.
fn asker(
    api: &Api,
    parts: &Parts,
    caller: &Caller,
    proof: Proof,
    raw: &[u8],
) -> Result<Asker, Failure> {
    let key = Some(caller.key_id.as_str().into());
    if caller.kind == KeyKind::Publishable {
        return Ok(Asker {
            key,
            ..Actor::Payer.into()
        });
    }
    match proof {
        Proof::Key(_) => Ok(Asker {
            actor: Actor::key(&caller.key_id),
            origin: origin_of(api, parts)?,
            key,
            member: creator_of(parts, caller),
        }),
        Proof::Session(signed) => Ok(signed.asked.asker(Sha256::digest(raw).into())),
    }
}

/// Whether the same request was answered before under its key: what it is judged by may have changed since, and the answer is the
/// first one all the same.
async fn is_answered(api: &Api, caller: &Caller, once: &Once) -> Result<bool, Failure> {
    let kept = answer_of(&api.engine, &caller.scope, once).await?;
    Ok(kept.is_some())
}

/// Which mistake is told, of a wrong body and a key that may be bound to another request.
async fn first(api: &Api, caller: &Caller, once: &Once, wrong: Failure) -> Failure {
    match reused(&api.engine, &caller.scope, once).await {
        Ok(None) => wrong,
        Ok(Some(refusal)) => refusal.into(),
        Err(fail) => fail.into(),
    }
}

impl<R, B> Posted<R, B> {
    /// Refuses a key that is bound to another request, where something is looked up before the unit of work.
    pub async fn check_key(&self, api: &Api) -> Result<(), Failure> {
        match reused(&api.engine, &self.caller.scope, &self.once).await? {
            None => Ok(()),
            Some(refusal) => Err(refusal.into()),
        }
    }

    pub fn scope(&self) -> &Scope {
        &self.caller.scope
    }

    /// How a decision is made: by a person on the dashboard, or with a key.
    pub fn via(&self) -> Via {
        match self.once.asker.actor {
            Actor::Member(_) => Via::Dashboard,
            _ => Via::Api,
        }
    }

    /// Does what was asked, in one unit of work; the answer, 200, is what `work` gives back.
    pub async fn perform<'w, W>(&self, api: &Api, work: W) -> Answered
    where
        W: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        self.perform_once(api, 200, &work).await
    }

    /// The same for what makes something new: 201.
    pub async fn create<'w, W>(&self, api: &Api, work: W) -> Answered
    where
        W: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        self.perform_once(api, 201, &work).await
    }

    async fn perform_once<'w, W>(&self, api: &Api, status: u16, work: &W) -> Answered
    where
        W: for<'t> Fn(&'t mut Tx, &'t Context<'t>) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        let done = api.engine.once(self.scope(), &self.once, |tx, context| {
            async move { Ok(Answer::new(status, work(tx, context).await?)) }.scope_boxed()
        });
        Ok(answered(done.await?))
    }
}
