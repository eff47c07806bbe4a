//! Units of work of people who are signed in: rights are those at commit time, and what needs a passkey's yes is
//! committed only with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use scoped_futures::{ScopedBoxFuture, ScopedFutureExt as _};
use till_core::actor::{Action, Actor, Origin};
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::role::{Permission, Role};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::audit::AuditRow;

pub use crate::base::asker::Confirmation;
use crate::base::asker::{self, Means, Member};
use crate::base::fail::Fail;
use crate::base::{Answer, Asker, Effects, Engine};
use crate::once::{self, KeyHolder, Once};

/// A request by session: who asks, where, and what it needs.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    pub user: Arc<str>,
    pub session: Arc<str>,
    /// The organisation it is about, and the mode where one is asked for.
    pub account: Option<Arc<str>>,
    pub mode: Option<Mode>,
    pub needs: Needs,
    pub origin: Origin,
    pub confirmation: Confirmation,
}

impl SignedRequest {
    /// The same request for a resource of the API, whose body has this hash.
    pub fn asker(&self, body_hash: [u8; 32]) -> Asker {
        Asker {
            actor: Actor::Member(Arc::clone(&self.user)),
            origin: self.origin.clone(),
            key: None,
            member: Some(Member {
                user: Arc::clone(&self.user),
                needs: match self.needs {
                    Needs::Permission(permission) => Some(permission),
                    _ => None,
                },
                by: Means::Session {
                    id: Arc::clone(&self.session),
                    confirmation: Confirmation {
                        body_hash,
                        ..self.confirmation.clone()
                    },
                },
            }),
        }
    }
}

/// What the caller must be, looked at again when the change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but the session.
    Session,
    /// To be a member, whatever the role.
    Membership,
    Permission(Permission),
    Operator,
}

impl Needs {
    /// Whether the request may change who belongs to the organisation, or the organisation itself. Then all members are
    /// held from the start: two who each hold their own row and ask for the other's would wait for each other.
    fn may_change_members(self) -> bool {
        matches!(
            self,
            Needs::Membership
                | Needs::Permission(Permission::MembersWrite | Permission::OrganizationWrite)
        )
    }
}

/// Whether a passkey's yes is needed, whatever the request turns out to be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsYes {
    No,
    /// If the user has a passkey when the change is made.
    IfPasskey,
    Always,
}

/// What a use case of a signed-in user is given.
pub struct TeamContext<'e> {
    pub engine: &'e Engine,
    pub asked: &'e SignedRequest,
    /// Real time.
    pub now: i64,
    /// The caller's role in the organisation, as of this unit of work.
    pub role: Option<Role>,
    pub effects: &'e Effects,
    needs_confirmation: AtomicBool,
    /// What the confirmation must be about.
    about: OnceLock<String>,
}

impl TeamContext<'_> {
    /// The organisation; asked for only where the route has one.
    pub fn account(&self) -> Result<&Arc<str>, Fail> {
        let account = self.asked.account.as_ref();
        account.ok_or_else(|| Fail::broken("a request without an organisation"))
    }

    /// Account and mode, where the route has both.
    pub fn scope(&self) -> Result<Scope, Fail> {
        let mode = self.asked.mode;
        let mode = mode.ok_or_else(|| Fail::broken("a request without a mode"))?;
        Ok(Scope {
            account: Arc::clone(self.account()?),
            mode,
        })
    }

    pub fn actor(&self) -> Actor {
        Actor::Member(Arc::clone(&self.asked.user))
    }

    /// The unit of work is committed only with a passkey's yes to exactly this request.
    pub fn require_confirmation(&self) {
        self.needs_confirmation.store(true, Ordering::Relaxed);
    }

    /// The same, where what the request is about may have changed since the passkey was asked: its yes counts only for the
    /// thing as it was then.
    pub fn require_confirmation_about(&self, about: &str) -> Result<(), Fail> {
        self.require_confirmation();
        let set = self.about.set(about.to_owned());
        set.map_err(|_| Fail::broken("a confirmation about two things"))
    }

    /// Uses up the confirmation that the request carries, or refuses: last of all, so that nobody is asked for a passkey in
    /// vain.
    async fn spend(&self, tx: &mut Tx) -> Result<(), Fail> {
        let asked = self.asked;
        let of = (
            asked.account.as_deref().unwrap_or_default(),
            asked.mode.map_or("", Mode::as_str),
            self.about.get().map_or("", String::as_str),
        );
        let by = (&*asked.user, &*asked.session);
        asker::spend(tx, by, of, &asked.confirmation, self.now).await
    }

    /// Uses the passkey's yes up now, where one is needed: for work that takes away the passkey that gave it.
    pub async fn spend_confirmation(&self, tx: &mut Tx) -> Result<(), Fail> {
        match self.needs_confirmation.swap(false, Ordering::Relaxed) {
            true => self.spend(tx).await,
            false => Ok(()),
        }
    }

    /// Refuses unless the caller's role has the permission, for what the body or the target decides.
    pub fn require(&self, permission: Permission) -> Result<(), Refusal> {
        let is_granted = |role| permission.is_granted(role, self.asked.mode);
        match self.role.is_some_and(is_granted) {
            true => Ok(()),
            false => Err(Refusal::of(Code::PermissionDenied)),
        }
    }

    /// An entry of the audit log, by the caller, in the log of this organisation.
    pub fn audit(&self, action: Action, target: &str, details: &serde_json::Value) -> AuditRow {
        let account = self.asked.account.as_deref();
        self.audit_of(account, action, target, details)
    }

    /// The same in the log of an organisation that the request names otherwise, as operators do.
    pub fn audit_of(
        &self,
        account: Option<&str>,
        action: Action,
        target: &str,
        details: &serde_json::Value,
    ) -> AuditRow {
        let origin = &self.asked.origin;
        AuditRow {
            id: self.engine.ids.make(IdKind::AuditEvent),
            account: account.map(str::to_owned),
            mode: self.asked.mode,
            user_id: None,
            created_at: self.now,
            actor: self.actor(),
            action,
            target: target.to_owned(),
            ip: origin.ip.clone(),
            user_agent: origin.user_agent.clone(),
            session_id: Some(self.asked.session.to_string()),
            request_id: origin.request.clone(),
            details: details.to_string(),
        }
    }

    pub async fn record(
        &self,
        tx: &mut Tx,
        action: Action,
        target: &str,
        details: serde_json::Value,
    ) -> Result<(), Fail> {
        let event = self.audit(action, target, &details);
        Ok(till_store::audit::insert(tx, &[event]).await?)
    }
}

impl Engine {
    /// Does what a signed-in user asks, once per idempotency key.
    pub async fn once_by_user<'w, F>(
        &self,
        asked: &SignedRequest,
        needs_yes: NeedsYes,
        once: &Once,
        work: F,
    ) -> Result<Answer, Fail>
    where
        F: for<'t> Fn(
                &'t mut Tx,
                &'t TeamContext<'t>,
            ) -> ScopedBoxFuture<'w, 't, Result<Answer, Fail>>
            + Send
            + Sync,
    {
        let scope = &key_scope(asked);
        let _turn = self.unit_limiter.take(scope).await?;
        let effects = Effects::default();
        let (effects_ref, work_ref) = (&effects, &work);
        let done = self.db.write(move |tx: &mut Tx| {
            async move {
                effects_ref.clear();
                let context = load(self, tx, asked, effects_ref).await?;
                let holder = KeyHolder {
                    engine: self,
                    scope,
                    real_now: context.now,
                };
                if let Some(kept) = once::claim(tx, &holder, once).await? {
                    return Ok(kept);
                }
                if wants_yes(tx, asked, needs_yes).await? {
                    context.require_confirmation();
                }
                let answer = work_ref(tx, &context).await?;
                if context.needs_confirmation.load(Ordering::Relaxed) {
                    context.spend(tx).await?;
                }
                once::fulfil(tx, &holder, once, &answer).await?;
                Ok(answer)
            }
            .scope_boxed()
        });
        let done: Result<Answer, Fail> = done.await;
        let done = done?;
        self.tell(&effects);
        Ok(done)
    }
}

/// Whether a passkey must say yes. Where that is for the user's passkeys to say, the user is held: nobody adds one before
/// the unit of work ends.
async fn wants_yes(tx: &mut Tx, asked: &SignedRequest, needs: NeedsYes) -> Result<bool, Fail> {
    match needs {
        NeedsYes::No => Ok(false),
        NeedsYes::Always => Ok(true),
        NeedsYes::IfPasskey => {
            till_store::users::find_for_update(tx, &asked.user).await?;
            Ok(till_store::passkeys::count_of(tx, &asked.user).await? > 0)
        }
    }
}

/// Where the idempotency keys of a request are kept; the key itself names the user and the mode.
pub fn key_scope(asked: &SignedRequest) -> Scope {
    Scope {
        account: Arc::clone(asked.account.as_ref().unwrap_or(&asked.user)),
        mode: Mode::Test,
    }
}

/// The idempotency key of a signed-in user: their own, and apart by mode.
pub fn user_key(asked: &SignedRequest, key: &str) -> String {
    let mode = asked.mode.map_or("-", Mode::as_str);
    format!("{}/{mode}/{key}", asked.user)
}

async fn load<'e>(
    engine: &'e Engine,
    tx: &mut Tx,
    asked: &'e SignedRequest,
    effects: &'e Effects,
) -> Result<TeamContext<'e>, Fail> {
    // Asked for, not counted on: nothing here may be dated by a server that was paused until now.
    let now = engine.ask_the_time(tx).await?;
    // Held as who writes it holds it: two who share a row and both want to write it wait for each other.
    let session = till_store::sessions::find_for_update(tx, &asked.session).await?;
    if session.is_none_or(|session| session.ended_at.is_some()) {
        return Err(Refusal::of(Code::SessionExpired).into());
    }
    let role = match &asked.account {
        Some(account) => role_in(tx, asked, account).await?,
        None => None,
    };
    let context = TeamContext {
        engine,
        asked,
        now,
        role,
        effects,
        needs_confirmation: AtomicBool::new(false),
        about: OnceLock::new(),
    };
    admit(tx, &context).await?;
    if let (Some(account), Some(mode)) = (&asked.account, asked.mode) {
        asker::check_approved(tx, account, mode).await?;
    }
    Ok(context)
}

/// What the caller is in the organisation. Neither that nor the organisation's state changes before the unit of work
/// ends; of a disabled one nothing is done.
async fn role_in(tx: &mut Tx, asked: &SignedRequest, account: &str) -> Result<Option<Role>, Fail> {
    let user = &*asked.user;
    // Members before the account, as everybody holds them.
    let (role, is_disabled) = if asked.needs.may_change_members() {
        let all = till_store::members::all_for_update(tx, account).await?;
        let own = all.into_iter().find(|member| member.user_id == user);
        let is_disabled = match asked.needs {
            Needs::Permission(Permission::OrganizationWrite) => {
                till_store::accounts::is_disabled_for_update(tx, account).await?
            }
            _ => till_store::accounts::is_disabled_for_share(tx, account).await?,
        };
        (own.map(|member| member.role), is_disabled)
    } else {
        let found = till_store::members::standing_for_share(tx, account, user).await?;
        found.map_or((None, false), |(role, is_disabled)| {
            (Some(role), is_disabled)
        })
    };
    match is_disabled {
        true => Err(Refusal::of(Code::AccountDisabled).into()),
        false => Ok(role),
    }
}

/// Whether the caller still is what the request needs.
async fn admit(tx: &mut Tx, context: &TeamContext<'_>) -> Result<(), Fail> {
    let denied = || Fail::from(Refusal::of(Code::PermissionDenied));
    match context.asked.needs {
        Needs::Session => Ok(()),
        Needs::Membership => context.role.map(drop).ok_or_else(denied),
        Needs::Permission(permission) => Ok(context.require(permission)?),
        Needs::Operator => {
            let user = till_store::users::find_for_share(tx, &context.asked.user).await?;
            match user.is_some_and(|user| user.is_operator) {
                true => Ok(()),
                false => Err(denied()),
            }
        }
    }
}
