//! Who is signed in. Which mistake is told first is decided here, in one order for all requests by session.

use std::sync::Arc;

use axum::extract::MatchedPath;
use http::Method;
use http::request::Parts;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::role::{Permission, Role};
use till_core::scope::Scope;
use till_engine::team::changes;
use till_engine::team::founding;
use till_engine::team::organizations::{self, MembershipRow};
use till_engine::team::sessions::{self, Signed};
use till_engine::team::unit::{Confirmation, Needs, NeedsYes, SignedRequest};
use till_http::answer::Broken;
use till_http::layers::AccountOf;
use utoipa::IntoParams;

use super::access::{self, Access, Confirm, Need};
use super::client::{header, origin_of};
use super::failure::Failure;
use super::state::Api;
use super::{cookies, origin};

pub const MODE: &str = "Till-Mode";
const ACCOUNT: &str = "Till-Account";

/// The headers of endpoints that are an organisation's and have a mode, for the document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "described here, and read before anything else")]
pub struct ModeHeaders {
    /// `test` or `live`.
    #[param(rename = "Till-Mode")]
    till_mode: String,
    /// Which organisation; needed by those who are in several.
    #[param(rename = "Till-Account")]
    till_account: Option<String>,
}

/// Who is signed in, and on whose behalf a request is made.
pub struct Caller {
    pub signed: Signed,
    pub asked: SignedRequest,
    access: Access,
}

impl Caller {
    /// Refuses unless the caller's role has the permission, for what the body decides; the unit of work asks again.
    pub fn require(&self, permission: Permission) -> Result<(), Refusal> {
        let role = role_of(self);
        match role.is_some_and(|role| permission.is_granted(role, self.asked.mode)) {
            true => Ok(()),
            false => Err(Refusal::of(Code::PermissionDenied)),
        }
    }

    /// Account and mode, where the route has both.
    pub fn scope(&self) -> Result<Scope, Failure> {
        match (&self.asked.account, self.asked.mode) {
            (Some(account), Some(mode)) => Ok(Scope {
                account: Arc::clone(account),
                mode,
            }),
            _ => Err(Broken::new("a request without an organisation and a mode").into()),
        }
    }

    /// The organisation that the request is about; asked for only where the route has one.
    pub fn account(&self) -> Result<&str, Failure> {
        let account = self.asked.account.as_deref();
        account.ok_or_else(|| Broken::new("a request without an organisation").into())
    }

    /// The caller's place in it.
    pub fn membership(&self) -> Option<&MembershipRow> {
        let account = self.asked.account.as_deref()?;
        let mut all = self.signed.organizations.iter();
        all.find(|of| of.account == account)
    }

    fn confirm(&self) -> Confirm {
        match self.access {
            Access::Own(confirm) | Access::Operator(confirm) => confirm,
            Access::Organization { confirm, .. } => confirm,
            _ => Confirm::No,
        }
    }

    /// Whether a passkey must say yes, whatever the request turns out to be about.
    pub fn needs_yes(&self) -> NeedsYes {
        match self.confirm() {
            Confirm::No | Confirm::ByContent => NeedsYes::No,
            Confirm::IfPasskey => NeedsYes::IfPasskey,
            Confirm::Always | Confirm::ToGoLive => NeedsYes::Always,
            Confirm::InLiveMode if self.asked.mode == Some(Mode::Live) => NeedsYes::Always,
            Confirm::InLiveMode => NeedsYes::No,
        }
    }
}

/// Everything that is looked at before the idempotency key and the body.
pub async fn authenticate(api: &Api, parts: &Parts) -> Result<Caller, Failure> {
    let config = &api.engine.config.dashboard;
    origin::check(config, parts)?;
    let access = access_of(parts).ok_or_else(|| {
        let path = parts.uri.path();
        Broken::new(format!("{path} is not in the table of rights"))
    })?;
    let token = cookies::session(config, &parts.headers);
    let token = token.ok_or_else(|| Refusal::of(Code::SessionMissing))?;
    let signed = sessions::signed_in(&api.engine, token).await?;
    if parts.method == Method::POST {
        check_csrf(&signed, header(parts, "till-csrf").as_deref())?;
    }
    check_state(&signed, access)?;
    let asked = asked(api, parts, &signed, access)?;
    if let (Some(of), Some(account)) = (parts.extensions.get::<AccountOf>(), &asked.account) {
        of.set(account);
    }
    let caller = Caller {
        signed,
        asked,
        access,
    };
    check_test_mode(api, &caller)?;
    check_rights(&caller)?;
    check_route(api, parts.uri.path(), &caller.signed)?;
    check_live(api, &caller)?;
    if let (Some(account), Some(mode)) = (&caller.asked.account, caller.asked.mode) {
        let account = Arc::clone(account);
        changes::catch_up(&api.engine, &Scope { account, mode }).await?;
    }
    sessions::touch(&api.engine, &caller.signed).await?;
    Ok(caller)
}

/// What the endpoint of a request needs of whoever is signed in; nothing where it takes no session.
pub fn access_of(parts: &Parts) -> Option<Access> {
    let route = parts.extensions.get::<MatchedPath>();
    let route = route.map_or(parts.uri.path(), MatchedPath::as_str);
    access::of(&parts.method, route)
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

fn asked(
    api: &Api,
    parts: &Parts,
    signed: &Signed,
    access: Access,
) -> Result<SignedRequest, Failure> {
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
        Access::Resource(permission) => {
            mode = Some(read_mode(parts)?);
            account = Some(read_account(parts, signed)?);
            needs = Needs::Permission(permission);
        }
        Access::Operator(_) => needs = Needs::Operator,
        _ => {}
    }
    let mut origin = origin_of(api, parts)?;
    origin.session = Some(signed.session.id.clone());
    Ok(SignedRequest {
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

/// The helpers of test mode do not exist where money is real, whoever asks.
fn check_test_mode(api: &Api, caller: &Caller) -> Result<(), Refusal> {
    let is_helper = caller.access == Access::Resource(Permission::TestHelpers);
    match is_helper && caller.asked.mode == Some(Mode::Live) {
        true => Err(test_mode_only(api)),
        false => Ok(()),
    }
}

/// What a helper of test mode answers in live mode; the demo server, which has no other mode, says it in its own way.
pub fn test_mode_only(api: &Api) -> Refusal {
    let refusal = Refusal::of(Code::TestModeOnly);
    match api.engine.config.demo {
        true => refusal.status(409),
        false => refusal,
    }
}

/// What the caller may, as of now; the unit of work asks again.
fn check_rights(caller: &Caller) -> Result<(), Refusal> {
    let fits = match caller.asked.needs {
        Needs::Session | Needs::Membership => true,
        Needs::Permission(permission) => return caller.require(permission),
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
    caller.membership().and_then(|of| Role::parse(&of.role))
}

fn check_live(api: &Api, caller: &Caller) -> Result<(), Refusal> {
    let is_live = caller.asked.mode == Some(Mode::Live);
    let is_about_live = is_live || caller.confirm() == Confirm::ToGoLive;
    if is_about_live && !api.engine.config.live_mode {
        let message =
            "This server runs in test mode only: the operator has not set `server.live_mode`.";
        return Err(Refusal::new(Code::LivemodeDisabled, message));
    }
    if is_live && !caller.membership().is_some_and(organizations::is_live) {
        return Err(Refusal::of(Code::ApplicationNotApproved));
    }
    let needs_passkey = is_live || caller.needs_yes() == NeedsYes::Always;
    match needs_passkey && caller.signed.passkeys == 0 {
        true => Err(Refusal::of(Code::PasskeyRequired)),
        false => Ok(()),
    }
}
