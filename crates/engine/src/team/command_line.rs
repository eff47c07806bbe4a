//! What whoever has a shell on the server's machine does with people: lets them in, makes them operators, and helps
//! those who are locked out.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Action, Actor};
use till_core::id::IdKind;
use till_core::role::Role;
use till_store::Tx;
use till_store::audit::AuditRow;
use till_store::users::UserRow;

use super::emails::Email;
use super::invites::{self, LinkGiven, NewInvite};
use super::inviting;
use super::links::{self, NewLink};
use super::notices::{self, To};
use super::users::{self, Proof};
use crate::base::Engine;
use crate::base::fail::Fail;

fn entry(
    engine: &Engine,
    (account, user): (Option<&str>, Option<&str>),
    action: Action,
    target: &str,
    details: &Value,
) -> AuditRow {
    AuditRow {
        id: engine.ids.make(IdKind::AuditEvent),
        account: account.map(str::to_owned),
        mode: None,
        user_id: user.map(str::to_owned),
        created_at: engine.clock.now_ms(),
        actor: Actor::Operator,
        action,
        target: target.to_owned(),
        ip: None,
        user_agent: None,
        session_id: None,
        request_id: None,
        details: details.to_string(),
    }
}

/// An invitation that was made, with its link in the clear.
#[derive(Clone, Debug)]
pub struct Invited {
    pub invite: String,
    pub link: NewLink,
}

/// Invites somebody, whether there is mail or not. Nothing where there is no such account.
pub async fn invite(
    engine: &Engine,
    account: &str,
    email: &Email,
    role: Role,
    makes_operator: bool,
) -> Result<Option<Invited>, Fail> {
    let invited = engine.db.write(move |tx: &mut Tx| {
        async move {
            if !till_store::accounts::account_exists(tx, account).await? {
                return Ok(None);
            }
            till_store::members::all_for_update(tx, account).await?;
            inviting::check_member(tx, engine, account, email).await?;
            let new = NewInvite {
                account,
                email,
                role,
                makes_operator,
                invited_by: None,
                link: LinkGiven::AtShell,
            };
            let (row, token) = invites::create(tx, engine, &new).await?;
            let details = json!({"role": role.as_str(), "operator": makes_operator});
            let log = (Some(account), None);
            let event = entry(engine, log, Action::InviteCreated, &row.id, &details);
            till_store::audit::insert(tx, &[event]).await?;
            let link = NewLink {
                link: invites::link(engine, &token),
                expires_at: row.expires_at,
            };
            let invite = row.id;
            Ok(Some(Invited { invite, link }))
        }
        .scope_boxed()
    });
    invited.await
}

/// A user and a link to sign in with.
#[derive(Clone, Debug)]
pub struct UserLink {
    pub user: String,
    pub link: NewLink,
    /// Whether passkeys, codes and sessions were removed that somebody else may have set up.
    pub was_reset: bool,
}

async fn link_for(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
    was_reset: bool,
) -> Result<UserLink, Fail> {
    Ok(UserLink {
        user: user.id.clone(),
        link: links::create_cli_link(tx, engine, user).await?,
        was_reset,
    })
}

/// Makes whoever has this address an operator, and a user if need be. Where nobody ever showed that the address is theirs,
/// as on a server without mail on which whoever invites is shown the link, all that was set up under it is removed first.
pub async fn create_operator(engine: &Engine, email: &Email) -> Result<UserLink, Fail> {
    let made = engine.db.write(move |tx: &mut Tx| {
        async move {
            let (user, was_reset) = match users::by_email(engine, tx, email).await? {
                Some(user) if user.is_proven() => (user, false),
                Some(user) => {
                    recover(tx, engine, &user).await?;
                    (user, true)
                }
                None => {
                    let proof = Some(Proof::Shell);
                    (users::create(tx, engine, email, proof).await?, false)
                }
            };
            till_store::users::set_operator(tx, &user.id, true).await?;
            link_for(tx, engine, &user, was_reset).await
        }
        .scope_boxed()
    });
    made.await
}

/// Takes the flag away. False where it was not there; nothing where nobody has this address.
pub async fn remove_operator(engine: &Engine, email: &Email) -> Result<Option<bool>, Fail> {
    let removed = engine.db.write(move |tx: &mut Tx| {
        async move {
            let Some(user) = users::by_email(engine, tx, email).await? else {
                return Ok(None);
            };
            till_store::users::set_operator(tx, &user.id, false).await?;
            Ok(Some(user.is_operator))
        }
        .scope_boxed()
    });
    removed.await
}

/// A link to sign in with; nothing where nobody has this address.
pub async fn sign_in_link(engine: &Engine, email: &Email) -> Result<Option<UserLink>, Fail> {
    let made = engine.db.write(move |tx: &mut Tx| {
        async move {
            match users::by_email(engine, tx, email).await? {
                Some(user) => link_for(tx, engine, &user, false).await.map(Some),
                None => Ok(None),
            }
        }
        .scope_boxed()
    });
    made.await
}

/// The same for somebody who lost what they sign in with: passkeys and authenticator codes are removed, and sessions end.
pub async fn reset(engine: &Engine, email: &Email) -> Result<Option<UserLink>, Fail> {
    let reset = engine.db.write(move |tx: &mut Tx| {
        async move {
            let Some(user) = users::by_email(engine, tx, email).await? else {
                return Ok(None);
            };
            recover(tx, engine, &user).await?;
            link_for(tx, engine, &user, true).await.map(Some)
        }
        .scope_boxed()
    });
    reset.await
}

/// From here on only a link of the command line leads in, or of the mailbox.
async fn recover(tx: &mut Tx, engine: &Engine, user: &UserRow) -> Result<(), Fail> {
    take_away(tx, engine, user).await?;
    till_store::users::set_shell_verified(tx, &user.id).await?;
    let (to, kind) = (To::User(&user.id), "account.recovered");
    notices::tell(tx, engine, to, kind, &user.id).await
}

async fn take_away(tx: &mut Tx, engine: &Engine, user: &UserRow) -> Result<(), Fail> {
    let now = engine.clock.now_ms();
    let passkeys = till_store::passkeys::remove_all(tx, &user.id).await?;
    let had_codes = user.totp_seed.is_some();
    till_store::users::disable_totp(tx, &user.id).await?;
    let sessions = till_store::sessions::end_all_but(tx, &user.id, "", now).await?;
    let done = [
        (Action::PasskeyRemoved, passkeys),
        (Action::TotpDisabled, u64::from(had_codes)),
        (Action::SessionRevoked, sessions),
    ];
    let organizations = till_store::members::of_user(tx, &user.id).await?;
    let mut entries = Vec::new();
    for (action, count) in done.into_iter().filter(|(_, count)| *count > 0) {
        let details = json!({"count": count});
        let own = (None, Some(&*user.id));
        let logs = organizations.iter().map(|at| (Some(&*at.account), None));
        for log in [own].into_iter().chain(logs) {
            entries.push(entry(engine, log, action, &user.id, &details));
        }
    }
    Ok(till_store::audit::insert(tx, &entries).await?)
}
