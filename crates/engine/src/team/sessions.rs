//! Sessions: a cookie's token, whose it is, and how long it is good.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Origin};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::role::{Permission, Role};
use till_core::scope::Scope;
use till_core::time;
use till_store::members::MembershipRow;
use till_store::sessions::SessionRow;
use till_store::users::UserRow;
use till_store::{Queries, Tx};

use super::own_log::{self, LogOwner};
use super::tokens::{self, Token};
use super::unit::TeamContext;
use super::{organizations, users};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::SessionView;

/// How long the second factor is awaited.
const PENDING_MS: i64 = 10 * 60_000;
/// Beyond this a user's oldest session ends.
const SESSIONS_MAX: usize = 20;
/// A session's last use is written down no more often than this, but several times before it would end.
const USED_STEP_MS: i64 = 60_000;
const USES_BEFORE_END: i64 = 4;

pub const ACTIVE: &str = "active";
pub const PENDING: &str = "second_factor_pending";

/// Who is signed in, as read when a request began. What a unit of work decides by it reads again.
#[derive(Clone, Debug)]
pub struct Signed {
    pub session: SessionRow,
    pub user: UserRow,
    pub passkeys: i64,
    pub organizations: Vec<MembershipRow>,
    pub csrf: String,
}

impl Signed {
    pub fn is_pending(&self) -> bool {
        self.session.state == PENDING
    }
}

/// A session that was made or renewed, with the token for its cookie.
#[derive(Clone, Debug)]
pub struct Issued {
    pub session: SessionRow,
    pub token: Token,
    pub csrf: String,
}

/// When a session ends if it is not used again.
pub fn ends_at(engine: &Engine, session: &SessionRow) -> i64 {
    let idle = session.last_used_at + engine.config.dashboard.session_idle_ms;
    session.expires_at.min(idle)
}

/// Whose token it is. Unknown, ended and expired ones are told apart by nobody.
pub async fn signed_in(engine: &Engine, token: &str) -> Result<Signed, Fail> {
    let expired = || Refusal::of(Code::SessionExpired);
    let mut reader = engine.db.read().await?;
    let found = till_store::sessions::by_token(&mut reader, &tokens::hash(token)).await?;
    let session = found.ok_or_else(expired)?;
    let now = engine.clock.now_ms();
    if session.ended_at.is_some() || now >= ends_at(engine, &session) {
        return Err(expired().into());
    }
    load(engine, &mut reader, session).await
}

pub async fn load(
    engine: &Engine,
    q: &mut impl Queries,
    session: SessionRow,
) -> Result<Signed, Fail> {
    let user = till_store::users::find(q, &session.user_id).await?;
    let user = user.ok_or_else(|| Fail::broken("a session has no user"))?;
    Ok(Signed {
        passkeys: till_store::passkeys::count_of(q, &user.id).await?,
        organizations: till_store::members::of_user(q, &user.id).await?,
        csrf: open_csrf(engine, &session)?,
        user,
        session,
    })
}

/// Whether a session is still good, and its user may read what the account has in this mode. For what goes on after
/// the request that began it.
pub async fn check_reader(engine: &Engine, session: &str, scope: &Scope) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::sessions::find(&mut reader, session).await?;
    let now = engine.clock.now_ms();
    let good = found.filter(|of| of.ended_at.is_none() && now < ends_at(engine, of));
    let session = good.ok_or_else(|| Refusal::of(Code::SessionExpired))?;
    let all = till_store::members::of_user(&mut reader, &session.user_id).await?;
    let of = all.iter().find(|of| *of.account == *scope.account);
    let of = of.ok_or_else(|| Refusal::of(Code::PermissionDenied))?;
    if of.disabled_at.is_some() {
        return Err(Refusal::of(Code::AccountDisabled).into());
    }
    let role = Role::parse(&of.role);
    match role.is_some_and(|role| Permission::Read.is_granted(role, Some(scope.mode))) {
        true => Ok(()),
        false => Err(Refusal::of(Code::PermissionDenied).into()),
    }
}

/// Writes down that a session is in use, now and then.
pub async fn touch(engine: &Engine, signed: &Signed) -> Result<(), Fail> {
    let now = engine.clock.now_ms();
    let idle_ms = engine.config.dashboard.session_idle_ms;
    let step_ms = USED_STEP_MS.min(idle_ms / USES_BEFORE_END);
    if now - signed.session.last_used_at < step_ms {
        return Ok(());
    }
    let (session, user) = (&*signed.session.id, &*signed.user.id);
    let written = engine.db.write(move |tx: &mut Tx| {
        async move {
            till_store::sessions::set_used(tx, session, now).await?;
            till_store::members::set_active(tx, user, now).await
        }
        .scope_boxed()
    });
    written.await.map_err(Fail::from)
}

/// Signs a user in. `method` says how; whoever has a second factor and came by a link must still give it.
pub async fn start(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
    method: &str,
    state: &str,
    origin: &Origin,
) -> Result<Issued, Fail> {
    let now = engine.clock.now_ms();
    let open = till_store::sessions::open_of(tx, &user.id).await?;
    for oldest in open.iter().skip(SESSIONS_MAX - 1) {
        till_store::sessions::end(tx, &oldest.id, now).await?;
    }
    let (token, csrf) = (Token::new(engine), Token::new(engine));
    let id = engine.ids.make(IdKind::Session);
    let life = match state {
        PENDING => PENDING_MS,
        _ => engine.config.dashboard.session_max_ms,
    };
    let session = SessionRow {
        user_id: user.id.clone(),
        token_hash: token.hash().into(),
        csrf: engine
            .vault
            .seal(&engine.ids, &csrf_purpose(&id), csrf.0.as_bytes())?,
        state: state.to_owned(),
        method: method.to_owned(),
        created_at: now,
        last_used_at: now,
        expires_at: now + life,
        ended_at: None,
        ip: origin.ip.clone(),
        user_agent: origin.user_agent.clone(),
        id,
    };
    till_store::sessions::insert(tx, &session).await?;
    Ok(Issued {
        session,
        token,
        csrf: csrf.0,
    })
}

/// Gives a session another token; the one before ends at once. Its CSRF token stays.
pub async fn renew(
    tx: &mut Tx,
    engine: &Engine,
    session: &SessionRow,
    method: &str,
) -> Result<Issued, Fail> {
    let token = Token::new(engine);
    let expires_at = match &*session.state {
        PENDING => session.created_at + engine.config.dashboard.session_max_ms,
        _ => session.expires_at,
    };
    till_store::sessions::renew(tx, &session.id, &token.hash(), ACTIVE, method, expires_at).await?;
    let session = SessionRow {
        token_hash: token.hash().into(),
        state: ACTIVE.to_owned(),
        method: method.to_owned(),
        expires_at,
        ..session.clone()
    };
    let csrf = open_csrf(engine, &session)?;
    Ok(Issued {
        session,
        token,
        csrf,
    })
}

/// What the CSRF token of a session is encrypted for.
pub fn csrf_purpose(session: &str) -> String {
    format!("csrf_of/{session}")
}

fn open_csrf(engine: &Engine, session: &SessionRow) -> Result<String, Fail> {
    let plain = engine.vault.open(&csrf_purpose(&session.id), &session.csrf);
    String::from_utf8(plain.map_err(Fail::broken)?).map_err(Fail::broken)
}

/// The user's own sessions that are good, the newest first.
pub async fn list(
    engine: &Engine,
    signed: &Signed,
    page: &Page,
) -> Result<Paged<SessionView>, Fail> {
    let mut reader = engine.db.read().await?;
    let open = till_store::sessions::open_of(&mut reader, &signed.user.id).await?;
    let now = engine.clock.now_ms();
    let good = open.into_iter().filter(|of| now < ends_at(engine, of));
    let after = good.filter(|of| page.before.as_ref().is_none_or(|before| of.id < *before));
    let mut items = Vec::new();
    for session in after {
        let of = Signed {
            session,
            ..signed.clone()
        };
        let is_current = of.session.id == signed.session.id;
        let mut shown = view(engine, &of, is_current)?;
        shown.csrf_token = None;
        items.push(shown);
    }
    let limit = usize::try_from(page.limit).map_err(Fail::broken)?;
    let next = (items.len() > limit).then(|| items[limit - 1].id.clone());
    items.truncate(limit);
    Ok(Paged { items, next })
}

/// Ends the session that asks.
pub async fn end(tx: &mut Tx, context: &TeamContext<'_>, session: &str) -> Result<(), Fail> {
    if till_store::sessions::end(tx, session, context.now).await? {
        record(tx, context, Action::SessionEnded, session).await?;
    }
    Ok(())
}

async fn record(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    action: Action,
    session: &str,
) -> Result<(), Fail> {
    let of = LogOwner {
        user: &context.asked.user,
        origin: &context.asked.origin,
    };
    own_log::record(tx, context.engine, of, action, session, &json!({})).await
}

/// Ends one of the user's sessions; one that is over already is shown as it is.
pub async fn revoke(tx: &mut Tx, context: &TeamContext<'_>, id: &str) -> Result<SessionView, Fail> {
    let engine = context.engine;
    let found = till_store::sessions::find(tx, id).await?;
    let own = found.filter(|session| *session.user_id == *context.asked.user);
    let session = own.ok_or_else(|| Refusal::of(Code::ResourceMissing).param("id"))?;
    if till_store::sessions::end(tx, id, context.now).await? {
        record(tx, context, Action::SessionRevoked, id).await?;
    }
    let is_current = *session.id == *context.asked.session;
    let signed = load(engine, tx, session).await?;
    let mut shown = view(engine, &signed, is_current)?;
    shown.csrf_token = None;
    Ok(shown)
}

/// Ends all of the user's sessions but the one that asks.
pub async fn revoke_others(tx: &mut Tx, context: &TeamContext<'_>) -> Result<u64, Fail> {
    let (user, kept) = (&context.asked.user, &context.asked.session);
    let count = till_store::sessions::end_all_but(tx, user, kept, context.now).await?;
    if count > 0 {
        record(tx, context, Action::SessionRevoked, user).await?;
    }
    Ok(count)
}

/// A session as its own user sees it; `current` is the one that asks.
pub fn view(engine: &Engine, signed: &Signed, current: bool) -> Result<SessionView, Fail> {
    let session = &signed.session;
    let pending = signed.is_pending();
    let mut second_factors = Vec::new();
    if signed.passkeys > 0 {
        second_factors.push("passkey");
    }
    if signed.user.totp_seed.is_some() {
        second_factors.push("totp");
    }
    Ok(SessionView {
        object: "session",
        id: session.id.clone(),
        state: session.state.clone(),
        method: session.method.clone(),
        current,
        csrf_token: current.then(|| signed.csrf.clone()),
        user: match pending {
            true => None,
            false => Some(users::view(engine, &signed.user, signed.passkeys)?),
        },
        second_factors,
        organizations: match pending {
            true => Vec::new(),
            false => organizations::views(&signed.organizations),
        },
        created_at: time::show(session.created_at),
        last_used_at: time::show(session.last_used_at),
        expires_at: time::show(ends_at(engine, session)),
        ip: session.ip.clone(),
        user_agent: session.user_agent.clone(),
    })
}
