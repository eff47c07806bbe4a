//! The members of an organisation: their roles, and their leaving.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::member;
use till_core::page::{Page, Paged};
use till_core::role::Role;
use till_core::time;
use till_store::members::{MemberRow, PersonRow};
use till_store::{Queries, Tx};

use super::notices::{self, To};
use super::unit::TeamContext;
use super::{changes, emails, inviting};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{MemberKeys, MemberView};

/// A page of the members.
pub async fn list(engine: &Engine, account: &str, page: &Page) -> Result<Paged<MemberView>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::members::people(&mut reader, account, &page.and_one()).await?;
    let paged = page.cut(found, |person| &person.user_id);
    paged.try_map(|person| view(engine, &person))
}

fn view(engine: &Engine, person: &PersonRow) -> Result<MemberView, Fail> {
    Ok(MemberView {
        id: person.user_id.clone(),
        object: "member",
        email: emails::open(engine, &person.user_id, &person.email)?,
        name: person.name.clone(),
        role: person.role.clone(),
        passkeys: person.passkeys,
        totp_enabled: person.totp > 0,
        joined_at: time::show(person.joined_at),
        last_active_at: person.last_active_at.map(time::show),
        keys: MemberKeys {
            test: person.test_keys,
            live: person.live_keys,
        },
    })
}

async fn shown(
    q: &mut impl Queries,
    engine: &Engine,
    account: &str,
    user: &str,
) -> Result<MemberView, Fail> {
    let person = till_store::members::person(q, account, user).await?;
    view(engine, &person.ok_or_else(|| Fail::from(missing()))?)
}

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

/// The role of whoever asks.
fn own_role(context: &TeamContext<'_>) -> Result<Role, Fail> {
    let role = context.role;
    role.ok_or_else(|| Refusal::of(Code::PermissionDenied).into())
}

/// The member that the request is about. All members are held since the unit of work began.
async fn target(tx: &mut Tx, context: &TeamContext<'_>, user: &str) -> Result<MemberRow, Fail> {
    let found = till_store::members::find(tx, context.account()?, user).await?;
    Ok(found.ok_or_else(missing)?)
}

/// Asks for a passkey's yes where the organisation is live and somebody who leads it is touched.
async fn ask_passkey(tx: &mut Tx, context: &TeamContext<'_>, roles: &[Role]) -> Result<(), Fail> {
    let is_live = till_store::applications::is_approved(tx, context.account()?).await?;
    if member::needs_passkey(is_live, roles) {
        context.require_confirmation();
    }
    Ok(())
}

/// Gives a member another role.
pub async fn set_role(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    user: &str,
    role: Role,
) -> Result<MemberView, Fail> {
    let account = context.account()?;
    let before = target(tx, context, user).await?.role;
    let is_self = *user == *context.asked.user;
    member::change_role(own_role(context)?, is_self, before, role)?;
    ask_passkey(tx, context, &[before, role]).await?;
    till_store::members::set_role(tx, account, user, role).await?;
    lose_rights(tx, context, user, Some(role)).await?;
    let details = json!({"from": before.as_str(), "to": role.as_str()});
    context
        .record(tx, Action::MemberRoleChanged, user, details)
        .await?;
    let to = To::Managers(account);
    notices::tell(tx, context.engine, to, "member.role_changed", user).await?;
    shown(tx, context.engine, account, user).await
}

/// Ends a member's access at once. Their sessions stay, and with them what is theirs elsewhere.
pub async fn remove(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    user: &str,
) -> Result<MemberView, Fail> {
    let role = target(tx, context, user).await?.role;
    let is_self = *user == *context.asked.user;
    member::remove(own_role(context)?, is_self, role)?;
    ask_passkey(tx, context, &[role]).await?;
    part(tx, context, user, Action::MemberRemoved).await
}

/// The caller leaves the organisation, unless nobody would own it.
pub async fn leave(tx: &mut Tx, context: &TeamContext<'_>) -> Result<MemberView, Fail> {
    let all = till_store::members::all(tx, context.account()?).await?;
    let owners = all.iter().filter(|of| of.role == Role::Owner).count();
    member::leave(own_role(context)?, owners)?;
    let user = &context.asked.user;
    part(tx, context, user, Action::MemberLeft).await
}

/// Ends what a member began and may not do any more, in the role they have now; none where they are gone.
async fn lose_rights(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    user: &str,
    role: Option<Role>,
) -> Result<(), Fail> {
    inviting::end_beyond(tx, context, user, role).await?;
    changes::end_of_member(tx, context.engine, context.account()?, user, role).await
}

async fn part(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    user: &str,
    action: Action,
) -> Result<MemberView, Fail> {
    let account = context.account()?;
    let before = shown(tx, context.engine, account, user).await?;
    till_store::members::remove(tx, account, user).await?;
    lose_rights(tx, context, user, None).await?;
    let details = json!({"role": &before.role});
    context.record(tx, action, user, details).await?;
    let to = To::Managers(account);
    notices::tell(tx, context.engine, to, "member.removed", user).await?;
    Ok(before)
}
