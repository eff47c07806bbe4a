//! GETs.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use till_core::scope::Scope;
use till_engine::merchants::accounts::Caller;
use till_http::query::Query;
use utoipa::IntoParams;

use super::callers::{Authenticated, Proof, Rights, authenticate, count};
use super::failure::Failure;
use super::request::{NoParams, Params};
use super::state::Api;

/// How browsers' event sources present their key. It is taken by [`Rights::KEY_IN_QUERY`].
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described here, and read before anything else")]
pub struct KeyParam {
    /// A publishable key, where a header cannot be sent.
    key: Option<String>,
}

/// A GET: who asks, and with which parameters.
pub struct Got<R, Q = NoParams> {
    pub caller: Arc<Caller>,
    /// What was shown, for what outlives the request.
    pub proof: Proof,
    pub query: Q,
    rights: PhantomData<R>,
}

impl<R, Q> Got<R, Q> {
    pub fn scope(&self) -> &Scope {
        &self.caller.scope
    }

    /// The publishable key that addresses for payers carry.
    pub fn publishable_key(&self) -> Option<&str> {
        self.caller.publishable_key.as_deref()
    }
}

impl<R: Rights, Q: Params> FromRequestParts<Arc<Api>> for Got<R, Q> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Got<R, Q>, Failure> {
        let Authenticated { caller, proof } = authenticate::<R>(api, parts).await?;
        count::<R>(api, parts, &caller)?;
        let mut known = Vec::new();
        Q::names(&mut known);
        if R::KEY_IN_QUERY {
            known.push("key");
        }
        let mut query = Query::of(parts.uri.query(), &known)?;
        Ok(Got {
            caller,
            proof,
            query: Q::read(&mut query)?,
            rights: PhantomData,
        })
    }
}
