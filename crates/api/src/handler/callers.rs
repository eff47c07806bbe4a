//! Who may call, as types in handlers' signatures: a handler that takes a `Secret` cannot be reached with
//! anything less.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Path};
use http::Method;
use http::request::Parts;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_engine::base::asker::{Means, Member};
use till_engine::merchants::accounts::{self, Caller, KeyKind};
use till_http::credentials::{KeyMode, KeyShape, Presented, presented};
use till_http::layers::AccountOf;
use till_http::query::peek;

use super::access::Access;
use super::client::Client;
use super::failure::Failure;
use super::session;
use super::state::Api;

/// Which keys an endpoint takes, and how often.
pub trait Rights: Send + Sync + 'static {
    /// Whether the key of a GET may come in the query, for browsers' event sources.
    const KEY_IN_QUERY: bool = false;

    /// Whether calls are limited per endpoint, key and client.
    const COUNTED: bool = false;

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

/// The same, but only so often.
pub struct Counted<R>(PhantomData<R>);

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
        // The demo server answers a key of live mode in its own way; this one is of test mode, and a payer's.
        match caller.scope.mode {
            Mode::Live => Err(session::test_mode_only(api)),
            Mode::Test => Err(Refusal::of(Code::TestModeOnly)),
        }
    }

    fn no_live_mode(api: &Api) -> Refusal {
        match api.engine.config.demo {
            true => session::test_mode_only(api),
            false => Refusal::of(Code::LivemodeDisabled),
        }
    }
}

impl Rights for Payer {
    const KEY_IN_QUERY: bool = true;

    fn admit(_: &Api, _: &Caller) -> Result<(), Refusal> {
        Ok(())
    }
}

impl<R: Rights> Rights for Counted<R> {
    const KEY_IN_QUERY: bool = R::KEY_IN_QUERY;
    const COUNTED: bool = true;

    fn admit(api: &Api, caller: &Caller) -> Result<(), Refusal> {
        R::admit(api, caller)
    }

    fn no_live_mode(api: &Api) -> Refusal {
        R::no_live_mode(api)
    }
}

/// Whoever calls, and what they showed for it.
pub struct Authenticated {
    pub caller: Arc<Caller>,
    pub proof: Proof,
}

/// What a caller showed.
pub enum Proof {
    Key(String),
    Session(Box<session::Caller>),
}

/// Whether a request is one by session: it names a mode, shows no key, and its endpoint is a resource's.
fn is_by_session(parts: &Parts, shown: &Presented) -> Result<bool, Refusal> {
    let takes_session = matches!(session::access_of(parts), Some(Access::Resource(_)));
    if !takes_session || !parts.headers.contains_key(session::MODE) {
        return Ok(false);
    }
    match shown {
        Presented::None => Ok(true),
        _ => {
            let message = "`Till-Mode` is for requests by session: a key has its mode already.";
            Err(Refusal::new(Code::ParameterInvalid, message).param(session::MODE))
        }
    }
}

async fn by_session(api: &Api, parts: &Parts) -> Result<Authenticated, Failure> {
    let signed = session::authenticate(api, parts).await?;
    let scope = signed.scope()?;
    let caller = accounts::caller_by_session(&api.engine, &scope, &signed.asked.session).await?;
    Ok(Authenticated {
        caller: Arc::new(caller),
        proof: Proof::Session(Box::new(signed)),
    })
}

/// What a secret key may do is what whoever made it may do now.
fn check_creator(parts: &Parts, caller: &Caller) -> Result<(), Refusal> {
    let Some(member) = creator_of(parts, caller) else {
        return Ok(());
    };
    let role = caller.creator.as_ref().and_then(|creator| creator.role);
    let is_allowed = match member.needs {
        Some(permission) => return member.check(role, permission, caller.scope.mode),
        None => role.is_some(),
    };
    match is_allowed {
        true => Ok(()),
        false => Err(Refusal::of(Code::ApiKeyPermissionDenied)),
    }
}

/// The member whom a request with a secret key rests on.
pub(super) fn creator_of(parts: &Parts, caller: &Caller) -> Option<Member> {
    let creator = caller.creator.as_ref();
    let creator = creator.filter(|_| caller.kind == KeyKind::Secret)?;
    Some(Member {
        user: Arc::clone(&creator.user),
        needs: match session::access_of(parts) {
            Some(Access::Resource(permission)) => Some(permission),
            _ => None,
        },
        by: Means::Key,
    })
}

/// Who calls: whoever's the key is that was presented, or whoever is signed in.
pub(super) async fn authenticate<R: Rights>(
    api: &Api,
    parts: &Parts,
) -> Result<Authenticated, Failure> {
    // A publishable key in the query of what is the merchant's alone is a key, and told what it lacks. A payer's
    // POST must have it in the header, where no log and no history keeps it.
    let query_key = match R::KEY_IN_QUERY && parts.method == Method::POST {
        false => peek(parts.uri.query(), "key"),
        true => None,
    };
    let shown = presented(&parts.headers, query_key)?;
    let takes_sessions = api.engine.config.dashboard.is_enabled;
    if takes_sessions && is_by_session(parts, &shown)? {
        let found = Box::pin(by_session(api, parts)).await?;
        R::admit(api, &found.caller)?;
        return Ok(found);
    }
    let key = match shown {
        Presented::None => return Err(Refusal::of(Code::ApiKeyMissing).into()),
        Presented::Bearer(key) | Presented::Basic(key) | Presented::Query(key) => key,
    };
    // Whoever's it is: what a key says of itself is enough where there is no live mode to be in.
    let is_live = KeyShape::parse(&key).is_some_and(|shape| shape.mode == KeyMode::Live);
    if is_live && !api.engine.config.live_mode {
        return Err(R::no_live_mode(api).into());
    }
    let caller = api.caller(&key).await?;
    if let Some(account) = parts.extensions.get::<AccountOf>() {
        account.set(&caller.scope.account);
    }
    R::admit(api, &caller)?;
    check_creator(parts, &caller)?;
    let now = api.engine.clock.now_ms();
    api.engine.key_uses.note(&caller.key_id, now);
    let proof = Proof::Key(key);
    Ok(Authenticated { caller, proof })
}

/// Counts the call, where calls are counted. An endpoint is known by its route.
pub(super) fn count<R: Rights>(api: &Api, parts: &Parts, caller: &Caller) -> Result<(), Failure> {
    if !R::COUNTED {
        return Ok(());
    }
    let client = Client::of(api, parts)?;
    let route = parts.extensions.get::<MatchedPath>();
    let route = route.map_or(parts.uri.path(), MatchedPath::as_str);
    Ok(api.limiter.check(route, &caller.key_id, client.0)?)
}

/// The id in a path. One that cannot be decoded, or has a NUL in it, which PostgreSQL takes in no text, is nobody's id. That is the
/// look-up's to say: after the key was checked, and in the same words as for any other.
pub struct Id(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Self::Rejection> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.map(|Path(id)| id).ok();
        Ok(Id(id.filter(|id| !id.contains('\0')).unwrap_or_default()))
    }
}
