//! GETs.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use till_core::role::Permission;
use till_core::scope::Scope;
use till_engine::merchants::accounts::Caller;
use till_engine::{Position, ReadSource};
use till_http::query::Query;
use utoipa::IntoParams;

use super::callers::{Authenticated, Proof, Rights, Secret, authenticate, count};
use super::failure::Failure;
use super::min_seq;
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
    /// What a replica must have replayed to answer, where whoever asks says so.
    min_seq: Option<Position>,
    rights: PhantomData<R>,
}

impl<R, Q> Got<R, Q> {
    pub fn scope(&self) -> &Scope {
        &self.caller.scope
    }

    /// Whether whoever asks has this permission besides the one that the endpoint needs: a member by their role, a member's key by
    /// its maker's. A key from the command line may do everything.
    pub fn may(&self, permission: Permission) -> bool {
        let mode = Some(self.caller.scope.mode);
        match (&self.proof, &self.caller.creator) {
            (Proof::Session(signed), _) => signed.require(permission).is_ok(),
            (Proof::Key(_), None) => true,
            (Proof::Key(_), Some(creator)) => {
                let role = creator.role;
                role.is_some_and(|role| permission.is_granted(role, mode))
            }
        }
    }

    /// The publishable key that addresses for payers carry.
    pub fn publishable_key(&self) -> Option<&str> {
        self.caller.publishable_key.as_deref()
    }
}

/// What payers ask is never read at a replica.
impl<Q> Got<Secret, Q> {
    /// Where reports are read: at a replica, where there are some that are as far as whoever asks needs them. People who are signed in
    /// see what they have just done without asking for it.
    pub async fn reads(&self, api: &Api) -> ReadSource {
        self.reads_after(api, Position::START).await
    }

    /// The same for what goes on where something was read before.
    pub(super) async fn reads_after(&self, api: &Api, seen: Position) -> ReadSource {
        match (&self.proof, self.min_seq) {
            (Proof::Session(_), None) => api.engine.db.primary(),
            (_, min_seq) => {
                let at_least = min_seq.unwrap_or_default().max(seen);
                api.engine.db.replica(at_least).await
            }
        }
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
            min_seq: min_seq::asked(&parts.headers)?,
            rights: PhantomData,
        })
    }
}
