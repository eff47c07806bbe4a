//! Who may call, as types in handlers' signatures: a handler that takes a `Secret` cannot be reached with
//! anything less, and one that takes a `Posted` has its idempotency key.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use bytes::Bytes;
use http::Method;
use http::request::Parts;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_engine::merchants::accounts::{Caller, KeyKind};
use till_engine::once::{Once, in_use, reused};

use crate::face::state::{Api, fail};
use till_http::answer::Failure;
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::credentials::{KeyMode, KeyShape, Presented, presented};
use till_http::idempotency::{self, InFlightGuard};
use till_http::query::{Query, peek};

/// Which keys an endpoint takes.
pub trait Rights: Send + Sync + 'static {
    /// Whether the key of a GET may come in the query, for browsers' event sources.
    const KEY_IN_QUERY: bool = false;

    fn admit(api: &Api, caller: &Caller) -> Result<(), Refusal>;

    /// What a live key is told by a server without live mode.
    fn no_live_mode(_: &Api) -> Refusal {
        Refusal::of(Code::LivemodeDisabled)
    }
}

/// Secret keys only.
pub struct Secret;

/// Secret test keys only: the helpers do not exist where money is real.
pub struct TestSecret;

/// Any key: what payers' pages may ask.
pub struct Payer;

impl Rights for Secret {
    fn admit(_: &Api, caller: &Caller) -> Result<(), Refusal> {
        match caller.kind {
            KeyKind::Secret => Ok(()),
            KeyKind::Publishable => Err(Refusal::of(Code::PublishableKeyNotAllowed)),
        }
    }
}

impl Rights for TestSecret {
    fn admit(api: &Api, caller: &Caller) -> Result<(), Refusal> {
        if caller.kind == KeyKind::Secret && caller.scope.mode == Mode::Test {
            return Ok(());
        }
        Err(test_mode_only(api))
    }

    fn no_live_mode(api: &Api) -> Refusal {
        match api.engine.config.demo {
            true => test_mode_only(api),
            false => Refusal::of(Code::LivemodeDisabled),
        }
    }
}

fn test_mode_only(api: &Api) -> Refusal {
    let refusal = Refusal::of(Code::TestModeOnly);
    match api.engine.config.demo {
        true => refusal.status(409),
        false => refusal,
    }
}

impl Rights for Payer {
    const KEY_IN_QUERY: bool = true;

    fn admit(_: &Api, _: &Caller) -> Result<(), Refusal> {
        Ok(())
    }
}

async fn authenticate<R: Rights>(api: &Api, parts: &Parts) -> Result<Caller, Failure> {
    // A publishable key in the query of what is the merchant's alone is a key, and told what it lacks. A payer's
    // POST must have it in the header, where no log and no history keeps it.
    let query_key = match R::KEY_IN_QUERY && parts.method == Method::POST {
        false => peek(parts.uri.query(), "key"),
        true => None,
    };
    let key = match presented(&parts.headers, query_key)? {
        Presented::None => return Err(Refusal::of(Code::ApiKeyMissing).into()),
        Presented::Bearer(key) | Presented::Basic(key) | Presented::Query(key) => key,
    };
    // Whoever's it is: what a key says of itself is enough where there is no live mode to be in.
    let is_live = KeyShape::parse(&key).is_some_and(|shape| shape.mode == KeyMode::Live);
    if is_live && !api.engine.config.live_mode {
        return Err(R::no_live_mode(api).into());
    }
    let caller = api.caller(&key).await?;
    R::admit(api, &caller)?;
    Ok(caller)
}

/// A GET: the caller and the query, unread.
pub struct Got<R> {
    pub caller: Caller,
    query: Option<String>,
    rights: PhantomData<R>,
}

impl<R: Rights> Got<R> {
    /// The query, read against the names this endpoint knows.
    pub fn query(&self, names: &[&str]) -> Result<Query, Failure> {
        let mut known = names.to_vec();
        if R::KEY_IN_QUERY {
            known.push("key");
        }
        Ok(Query::of(self.query.as_deref(), &known)?)
    }

    pub fn raw_query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    pub fn scope(&self) -> &Scope {
        &self.caller.scope
    }
}

impl<R: Rights> FromRequestParts<Arc<Api>> for Got<R> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Got<R>, Failure> {
        let caller = authenticate::<R>(api, parts).await?;
        Ok(Got {
            caller,
            query: parts.uri.query().map(str::to_owned),
            rights: PhantomData,
        })
    }
}

/// A POST: the caller, its idempotency key held against a second use at the same time, and the raw body.
pub struct Posted<R> {
    pub caller: Caller,
    pub once: Once,
    pub body: Option<Bytes>,
    _held: InFlightGuard<(Scope, String)>,
    rights: PhantomData<R>,
}

impl<R: Rights> FromRequest<Arc<Api>> for Posted<R> {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Posted<R>, Failure> {
        let (parts, content) = request.into_parts();
        let caller = authenticate::<R>(api, &parts).await?;
        let key = idempotency::key(&parts.headers)?;
        let held = api
            .in_flight
            .enter((caller.scope.clone(), key.clone()))
            .ok_or_else(in_use)?;
        Query::of(parts.uri.query(), &[])?;
        let body = body::read(&parts.headers, content, READ_TIME_LIMIT).await?;
        let raw = body.as_deref().unwrap_or_default();
        let once = Once::new(key, parts.method.as_str(), parts.uri.path(), raw);
        Ok(Posted {
            caller,
            once,
            body,
            _held: held,
            rights: PhantomData,
        })
    }
}

impl<R> Posted<R> {
    pub fn scope(&self) -> &Scope {
        &self.caller.scope
    }

    /// What was read from the request. What is wrong with it is told only while its key is free: a key bound
    /// to another request is the mistake that comes first.
    pub async fn read<T>(&self, api: &Api, read: Result<T, Failure>) -> Result<T, Failure> {
        let Err(wrong) = read else { return read };
        let reused = reused(&api.engine, self.scope(), &self.once).await;
        Err(reused.map_err(fail)?.map_or(wrong, Failure::from))
    }
}

/// The id in a path. One that cannot be decoded is nobody's id, which is the look-up's to say: after the key
/// was checked, and in the same words as for any other.
pub struct Id(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Self::Rejection> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Id(path.map(|Path(id)| id).unwrap_or_default()))
    }
}
