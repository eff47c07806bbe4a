//! Requests of people who are signed in.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use http::request::Parts;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use sha2::{Digest as _, Sha256};
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::error::Refusal;
use till_core::scope::{Credential, Scope};
use till_engine::once::{Once, answer_of, in_use, reused};
use till_engine::team::unit::{SignedRequest, TeamContext, key_scope, user_key};
use till_engine::{Answer, Fail, Tx};
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency::{self, InFlightGuard};
use till_http::query::Query;

use crate::handler::answers::answered;
use crate::handler::pager::{Listing, Pager};
use crate::handler::request::{Body, NoBody, NoParams, Params};
use crate::handler::session::authenticate;
pub use crate::handler::session::{Caller, check_csrf};
use crate::handler::{Answered, Api, Failure, HeldKey};

/// A GET by session.
pub struct SignedGot<Q = NoParams> {
    pub caller: Caller,
    pub query: Q,
}

impl<Q: Params> FromRequestParts<Arc<Api>> for SignedGot<Q> {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        api: &Arc<Api>,
    ) -> Result<SignedGot<Q>, Failure> {
        let caller = authenticate(api, parts).await?;
        let mut known = Vec::new();
        Q::names(&mut known);
        let mut query = Query::of(parts.uri.query(), &known)?;
        Ok(SignedGot {
            caller,
            query: Q::read(&mut query)?,
        })
    }
}

impl<Q> SignedGot<Q> {
    pub fn scope(&self) -> Result<Scope, Failure> {
        self.caller.scope()
    }
}

impl<F> SignedGot<Listing<F>> {
    pub fn filter(&self) -> &F {
        &self.query.filter
    }

    /// `list` names it in its cursors.
    pub fn pager<'a>(&self, api: &'a Api, list: &str) -> Result<Pager<'a>, Refusal> {
        let SignedRequest {
            user,
            account,
            mode,
            ..
        } = &self.caller.asked;
        let (account, mode) = (
            account.as_deref().unwrap_or("-"),
            mode.map_or("-", Mode::as_str),
        );
        let purpose = format!("cursor/dashboard/{list}/{user}/{account}/{mode}");
        self.query.pager(api, purpose)
    }
}

/// A POST by session, its idempotency key held against a second use at the same time.
pub struct SignedPosted<B = NoBody> {
    pub caller: Caller,
    pub once: Once,
    pub body: B,
    _held: InFlightGuard<HeldKey>,
}

impl<B: Body> FromRequest<Arc<Api>> for SignedPosted<B> {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<SignedPosted<B>, Failure> {
        let (parts, content) = request.into_parts();
        let mut caller = authenticate(api, &parts).await?;
        let key = user_key(&caller.asked, &idempotency::key(&parts.headers)?);
        let scope = key_scope(&caller.asked);
        let held = (scope.clone(), Credential::User, key.clone());
        let held = api.in_flight.enter(held).ok_or_else(in_use)?;
        let query = Query::of(parts.uri.query(), &[]).map(drop);
        let bytes = body::read(&parts.headers, content, READ_TIME_LIMIT).await;
        // A body that cannot be read is none that the key was used with.
        let raw = bytes.as_ref().ok().and_then(Option::as_deref);
        let raw = raw.unwrap_or_default();
        caller.asked.confirmation.body_hash = Sha256::digest(raw).into();
        let (actor, path) = (
            Actor::Member(Arc::clone(&caller.asked.user)),
            parts.uri.path(),
        );
        let once = Once::new(
            actor,
            Credential::User,
            key,
            parts.method.as_str(),
            path,
            raw,
        );
        let read = || {
            query?;
            B::read(bytes?.as_deref())
        };
        let body = match read() {
            Ok(body) => body,
            Err(wrong) => {
                let bound = reused(&api.engine, &scope, &once).await?;
                return Err(bound.unwrap_or(wrong).into());
            }
        };
        Ok(SignedPosted {
            caller,
            once,
            body,
            _held: held,
        })
    }
}

impl<B> SignedPosted<B> {
    /// What was answered before under the same idempotency key.
    pub async fn kept(&self, api: &Api) -> Result<Option<Response>, Failure> {
        let scope = key_scope(&self.caller.asked);
        let kept = answer_of(&api.engine, &scope, &self.once).await?;
        Ok(kept.map(answered))
    }

    /// Does what was asked, in one unit of work; the answer, 200, is what `work` gives back.
    pub async fn perform<'w, W>(&self, api: &Api, work: W) -> Answered
    where
        W: for<'t> Fn(
                &'t mut Tx,
                &'t TeamContext<'t>,
            ) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        self.perform_once(api, 200, &work).await
    }

    /// The same for what makes something new: 201.
    pub async fn create<'w, W>(&self, api: &Api, work: W) -> Answered
    where
        W: for<'t> Fn(
                &'t mut Tx,
                &'t TeamContext<'t>,
            ) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        self.perform_once(api, 201, &work).await
    }

    async fn perform_once<'w, W>(&self, api: &Api, status: u16, work: &W) -> Answered
    where
        W: for<'t> Fn(
                &'t mut Tx,
                &'t TeamContext<'t>,
            ) -> ScopedBoxFuture<'w, 't, Result<String, Fail>>
            + Send
            + Sync,
    {
        let (asked, needs_yes) = (&self.caller.asked, self.caller.needs_yes());
        let done = api
            .engine
            .once_by_user(asked, needs_yes, &self.once, |tx, context| {
                async move { Ok(Answer::new(status, work(tx, context).await?)) }.scope_boxed()
            });
        Ok(answered(done.await?))
    }
}
