//! Requests of people who are signed in. Which mistake is told first is decided here, in one order for all of them.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Request};
use http::Method;
use http::request::Parts;
use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::role::{Permission, Role};
use till_core::scope::Credential;
use till_engine::once::{Once, in_use, reused};
use till_engine::team::sessions::{self, Signed};
use till_engine::team::unit::{Asked, Confirmation, Needs, TeamContext, key_scope, user_key};
use till_engine::team::{founding, organizations};
use till_engine::{Answer, Fail, Tx};
use till_http::answer::Broken;
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency::{self, InFlightGuard};
use till_http::query::Query;

use super::entering::{header, origin_of};
use super::{cookies, origin};
use crate::handler::access::{self, Access, Confirm, Need};
use crate::handler::answers::answered;
use crate::handler::pager::{Listing, Pager};
use crate::handler::request::{Body, NoBody, NoParams, Params};
use crate::handler::{Answered, Api, Failure, HeldKey};

const MODE: &str = "Till-Mode";
const ACCOUNT: &str = "Till-Account";

/// Who is signed in, and on whose behalf a request is made.
pub struct Caller {
    pub signed: Signed,
    pub asked: Asked,
    access: Access,
}

impl Caller {
    /// Whether a passkey must say yes, whatever the request turns out to be about.
    fn must_confirm(&self) -> bool {
        let confirm = match self.access {
            Access::Own(confirm) | Access::Operator(confirm) => confirm,
            Access::Organization { confirm, .. } => confirm,
            _ => Confirm::No,
        };
        match confirm {
            Confirm::No | Confirm::ByContent => false,
            Confirm::IfPasskey => self.signed.passkeys > 0,
            Confirm::Always => true,
            Confirm::InLiveMode => self.asked.mode == Some(Mode::Live),
        }
    }
}

/// Everything that is looked at before the idempotency key and the body.
async fn authenticate(api: &Api, parts: &Parts) -> Result<Caller, Failure> {
    let config = &api.engine.config.dashboard;
    origin::check(config, parts)?;
    let route = parts.extensions.get::<MatchedPath>();
    let route = route.map_or(parts.uri.path(), MatchedPath::as_str);
    let access = access::of(&parts.method, route)
        .ok_or_else(|| Broken::new(format!("{route} is not in the table of rights")))?;
    let token = cookies::session(config, &parts.headers);
    let token = token.ok_or_else(|| Refusal::of(Code::SessionMissing))?;
    let signed = sessions::signed_in(&api.engine, token).await?;
    if parts.method == Method::POST {
        check_csrf(&signed, header(parts, "till-csrf").as_deref())?;
    }
    check_state(&signed, access)?;
    let asked = asked(api, parts, &signed, access)?;
    let caller = Caller {
        signed,
        asked,
        access,
    };
    check_rights(&caller)?;
    check_route(api, route, &caller.signed)?;
    check_live(api, &caller)?;
    sessions::touch(&api.engine, &caller.signed).await?;
    Ok(caller)
}

pub fn check_csrf(signed: &Signed, sent: Option<&str>) -> Result<(), Refusal> {
    let sent = sent.unwrap_or_default().as_bytes();
    match bool::from(sent.ct_eq(signed.csrf.as_bytes())) {
        true => Ok(()),
        false => Err(Refusal::of(Code::CsrfFailed)),
    }
}

/// A session that awaits its second factor can do little else.
fn check_state(signed: &Signed, access: Access) -> Result<(), Refusal> {
    match (access, signed.is_pending()) {
        (Access::Pending, false) => Err(Refusal::of(Code::MfaNotPending)),
        (Access::Pending | Access::AnySession, _) | (_, false) => Ok(()),
        (_, true) => Err(Refusal::of(Code::SecondFactorRequired)),
    }
}

fn asked(api: &Api, parts: &Parts, signed: &Signed, access: Access) -> Result<Asked, Failure> {
    let (mut account, mut mode) = (None, None);
    let mut needs = Needs::Session;
    match access {
        Access::Organization {
            needs: need,
            has_mode,
            ..
        } => {
            if has_mode {
                mode = Some(read_mode(parts)?);
            }
            account = Some(read_account(parts, signed)?);
            needs = match need {
                Need::AnyRole | Need::ByContent => Needs::Membership,
                Need::Permission(permission) => Needs::Permission(permission),
            };
        }
        Access::Operator(_) => needs = Needs::Operator,
        _ => {}
    }
    let mut origin = origin_of(api, parts)?;
    origin.session = Some(signed.session.id.clone());
    Ok(Asked {
        user: signed.user.id.as_str().into(),
        session: signed.session.id.as_str().into(),
        account,
        mode,
        needs,
        origin,
        confirmation: Confirmation {
            id: header(parts, "till-confirmation"),
            path: parts.uri.path().to_owned(),
            body_hash: Sha256::digest([]).into(),
        },
    })
}

/// `Till-Mode`, where it is asked for.
pub fn read_mode(parts: &Parts) -> Result<Mode, Refusal> {
    if !parts.headers.contains_key(MODE) {
        let message = "Say with `Till-Mode` whether this is about `test` or `live`.";
        return Err(Refusal::new(Code::ParameterMissing, message).param(MODE));
    }
    let mode = header(parts, MODE);
    mode.and_then(|mode| Mode::parse(&mode)).ok_or_else(|| {
        let message = "`Till-Mode` is `test` or `live`.";
        Refusal::new(Code::ParameterInvalid, message).param(MODE)
    })
}

/// Which organisation is meant: the one that is named, or the only one there is.
pub fn read_account(parts: &Parts, signed: &Signed) -> Result<Arc<str>, Refusal> {
    let missing = || Refusal::of(Code::ResourceMissing).param(ACCOUNT);
    let all = &signed.organizations;
    let membership = match parts.headers.contains_key(ACCOUNT) {
        true => {
            let named = header(parts, ACCOUNT);
            let mut named = all
                .iter()
                .filter(|of| named.as_deref() == Some(&*of.account));
            named.next().ok_or_else(missing)?
        }
        false => match all.as_slice() {
            [] => return Err(Refusal::of(Code::NoOrganization)),
            [only] => only,
            _ => {
                let message = "Say with `Till-Account` which of your organizations this is about.";
                return Err(Refusal::new(Code::ParameterMissing, message).param(ACCOUNT));
            }
        },
    };
    match membership.disabled_at {
        Some(_) => Err(Refusal::of(Code::AccountDisabled)),
        None => Ok(membership.account.as_str().into()),
    }
}

/// What the caller may, as of now; the unit of work asks again.
fn check_rights(caller: &Caller) -> Result<(), Refusal> {
    let is_granted = |permission: Permission| {
        let role = role_of(caller);
        role.is_some_and(|role| permission.is_granted(role, caller.asked.mode))
    };
    let fits = match caller.asked.needs {
        Needs::Session | Needs::Membership => true,
        Needs::Permission(permission) => is_granted(permission),
        Needs::Operator => caller.signed.user.is_operator,
    };
    match fits {
        true => Ok(()),
        false => Err(Refusal::of(Code::PermissionDenied)),
    }
}

/// What a few endpoints need besides: the right to make organisations, or a passkey to begin a ceremony with.
fn check_route(api: &Api, route: &str, signed: &Signed) -> Result<(), Refusal> {
    match route {
        "/v1/dashboard/organizations" => founding::may_found(&api.engine, signed.user.is_operator),
        "/v1/dashboard/confirmations" | "/v1/dashboard/sign_in/second_factor/begin"
            if signed.passkeys == 0 =>
        {
            Err(Refusal::of(Code::PasskeyRequired))
        }
        _ => Ok(()),
    }
}

fn role_of(caller: &Caller) -> Option<Role> {
    let account = caller.asked.account.as_deref()?;
    let mut all = caller.signed.organizations.iter();
    let of = all.find(|of| of.account == account)?;
    Role::parse(&of.role)
}

fn check_live(api: &Api, caller: &Caller) -> Result<(), Refusal> {
    if caller.asked.mode == Some(Mode::Live) {
        if !api.engine.config.live_mode {
            return Err(Refusal::of(Code::LivemodeDisabled));
        }
        let account = caller.asked.account.as_deref();
        let mut all = caller.signed.organizations.iter();
        let of = all.find(|of| Some(&*of.account) == account);
        if !of.is_some_and(organizations::is_live) {
            return Err(Refusal::of(Code::ApplicationNotApproved));
        }
    }
    let needs_passkey = caller.asked.mode == Some(Mode::Live) || caller.must_confirm();
    match needs_passkey && caller.signed.passkeys == 0 {
        true => Err(Refusal::of(Code::PasskeyRequired)),
        false => Ok(()),
    }
}

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

impl<F> SignedGot<Listing<F>> {
    pub fn filter(&self) -> &F {
        &self.query.filter
    }

    /// `list` names it in its cursors.
    pub fn pager<'a>(&self, api: &'a Api, list: &str) -> Result<Pager<'a>, Refusal> {
        let Asked {
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
        Query::of(parts.uri.query(), &[])?;
        let bytes = body::read(&parts.headers, content, READ_TIME_LIMIT).await?;
        let raw = bytes.as_deref().unwrap_or_default();
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
        let body = match B::read(bytes.as_deref()) {
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
        let (asked, confirm) = (&self.caller.asked, self.caller.must_confirm());
        let done = api
            .engine
            .once_by_user(asked, confirm, &self.once, |tx, context| {
                async move { Ok(Answer::new(status, work(tx, context).await?)) }.scope_boxed()
            });
        Ok(answered(done.await?))
    }
}
