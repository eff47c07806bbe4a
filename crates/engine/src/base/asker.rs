//! Who asks for a change: where the request came from, and what they must be allowed when the change is made.

use std::sync::Arc;

use till_core::actor::{Actor, Origin};
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::role::{Permission, Role};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::confirmations::Spent;

use super::fail::Fail;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    pub actor: Actor,
    pub origin: Origin,
    /// The API key that was shown, by its id: it must still be good when the change is made.
    pub key: Option<Arc<str>>,
    /// The member whose role decides; none for payers, the command line and Till itself.
    pub member: Option<Member>,
}

impl From<Actor> for Asker {
    fn from(actor: Actor) -> Asker {
        Asker {
            actor,
            origin: Origin::default(),
            key: None,
            member: None,
        }
    }
}

/// A member on whose role a request rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: Arc<str>,
    /// What the request needs; nothing where to be a member is enough.
    pub needs: Option<Permission>,
    pub by: Means,
}

/// What a member asks with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// A secret key that they made or took over.
    Key,
    Session {
        id: Arc<str>,
        confirmation: Confirmation,
    },
}

/// The passkey's yes that a request carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// `Till-Confirmation`.
    pub id: Option<String>,
    pub path: String,
    pub body_hash: [u8; 32],
}

impl Member {
    /// Whether this role is enough for the permission, in the words of what they ask with.
    pub fn check(
        &self,
        role: Option<Role>,
        permission: Permission,
        mode: Mode,
    ) -> Result<(), Refusal> {
        match role.is_some_and(|role| permission.is_granted(role, Some(mode))) {
            true => Ok(()),
            false => Err(self.denied()),
        }
    }

    fn denied(&self) -> Refusal {
        Refusal::of(match self.by {
            Means::Key => Code::ApiKeyPermissionDenied,
            Means::Session { .. } => Code::PermissionDenied,
        })
    }

    /// What is said of a disabled organisation, in the words of what they ask with.
    fn disabled(&self) -> Refusal {
        Refusal::of(match self.by {
            Means::Key => Code::ApiKeyInvalid,
            Means::Session { .. } => Code::AccountDisabled,
        })
    }

    /// The member's role as of this unit of work, which nobody changes before it ends. Refuses where it is not enough, and
    /// where the organisation was disabled or lost its live mode since the request came in.
    async fn admit(&self, tx: &mut Tx, scope: &Scope) -> Result<Role, Fail> {
        if let Means::Session { id, .. } = &self.by {
            let session = till_store::sessions::find_for_share(tx, id).await?;
            if session.is_none_or(|session| session.ended_at.is_some()) {
                return Err(Refusal::of(Code::SessionExpired).into());
            }
        }
        let found = till_store::members::standing_for_share(tx, &scope.account, &self.user).await?;
        let (role, is_disabled) = found.ok_or_else(|| self.denied())?;
        if is_disabled {
            return Err(self.disabled().into());
        }
        if let Some(permission) = self.needs {
            self.check(Some(role), permission, scope.mode)?;
        }
        if matches!(self.by, Means::Session { .. }) {
            check_approved(tx, &scope.account, scope.mode).await?;
        }
        Ok(role)
    }
}

impl Asker {
    /// The role of the member that the request rests on, if it rests on one; refuses where it is not enough, and where the
    /// key that was shown was revoked or rolled since.
    pub async fn admit(&self, tx: &mut Tx, scope: &Scope) -> Result<Option<Role>, Fail> {
        if let Some(key) = &self.key
            && !till_store::keys::is_good_for_share(tx, scope, key).await?
        {
            return Err(Refusal::of(Code::ApiKeyInvalid).into());
        }
        match &self.member {
            None => Ok(None),
            Some(member) => member.admit(tx, scope).await.map(Some),
        }
    }

    /// Uses up the confirmation that a request by session carries, given about this. Others need none.
    pub async fn confirm(
        &self,
        tx: &mut Tx,
        scope: &Scope,
        about: &str,
        now: i64,
    ) -> Result<(), Fail> {
        let Some(member) = &self.member else {
            return Ok(());
        };
        let Means::Session { id, confirmation } = &member.by else {
            return Ok(());
        };
        let (account, mode) = (&*scope.account, scope.mode.as_str());
        let of = (account, mode, about);
        spend(tx, (&member.user, id), of, confirmation, now).await
    }
}

/// Refuses what a session asks for in live mode where the organisation's application is not approved. The caller holds
/// the account.
pub async fn check_approved(tx: &mut Tx, account: &str, mode: Mode) -> Result<(), Fail> {
    match mode.is_live() && !till_store::applications::is_approved(tx, account).await? {
        true => Err(Refusal::of(Code::ApplicationNotApproved).into()),
        false => Ok(()),
    }
}

/// Uses up the confirmation that a request of this user and session carries, or refuses. `about` is what the thing is now
/// that it was given about, where the request does not say it all.
pub async fn spend(
    tx: &mut Tx,
    (user, session): (&str, &str),
    (account, mode, about): (&str, &str, &str),
    confirmation: &Confirmation,
    now: i64,
) -> Result<(), Fail> {
    if till_store::passkeys::count_of(tx, user).await? == 0 {
        return Err(Refusal::of(Code::PasskeyRequired).into());
    }
    let wanted = Refusal::of(Code::StepUpRequired);
    let Some(id) = &confirmation.id else {
        return Err(wanted.into());
    };
    let request = Spent {
        id,
        session,
        account,
        mode,
        path: &confirmation.path,
        body_hash: &confirmation.body_hash,
        about,
    };
    match till_store::confirmations::spend(tx, &request, now).await? {
        true => Ok(()),
        false => Err(wanted.into()),
    }
}
