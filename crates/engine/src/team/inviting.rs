//! Inviting: what members and operators do with invitations, as long as they have the right to.

use std::collections::HashMap;

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::member;
use till_core::page::{Page, Paged};
use till_core::role::Role;
use till_core::time;
use till_store::invites::InviteRow;
use till_store::{Queries, Tx};

use super::attempts::{self, Counted};
use super::emails::{self, Email};
use super::invites::{self, LinkGiven, MEMBERS_MAX, NewInvite};
use super::unit::TeamContext;
use super::{link_mails, users};
use crate::base::fail::Fail;
use crate::base::{Engine, Signup};
use crate::view::{InviteView, PersonView};

/// How many invitations of one organisation may be open.
const OPEN_MAX: i64 = 50;

/// Invites somebody. Without mail the link is in the answer, for the inviter to hand over.
pub async fn invite(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    email: &Email,
    role: Role,
) -> Result<InviteView, Fail> {
    let engine = context.engine;
    if engine.config.dashboard.signup == Signup::Closed {
        let message =
            "Only the server's command line lets people in here: `dashboard.signup` is `closed`.";
        return Err(Refusal::new(Code::FeatureUnavailable, message).into());
    }
    let account = context.account()?;
    let (address, user) = (lower(email), &context.asked.user);
    if engine.mailer.is_some() {
        attempts::check(tx, engine, Counted::InvitesToAddress, &address).await?;
    }
    if !context.role.is_some_and(|own| own.may_assign(role)) {
        return Err(Refusal::of(Code::RoleNotAssignable).param("role").into());
    }
    check_member(tx, engine, account, email).await?;
    check_replaced(tx, context, email).await?;
    let is_live = till_store::applications::is_approved(tx, account).await?;
    if member::needs_passkey(is_live, &[role]) {
        context.require_confirmation();
    }
    let new = NewInvite {
        account,
        email,
        role,
        makes_operator: false,
        invited_by: Some(&context.asked.user),
        link: link_given(engine),
    };
    let (row, link) = offer(tx, engine, &new).await?;
    // What is wrong with the request is told before it is counted.
    if engine.mailer.is_some() {
        attempts::take(tx, engine, Counted::InvitesByUser, user).await?;
    }
    let details = json!({"role": role.as_str()});
    context
        .record(tx, Action::InviteCreated, &row.id, details)
        .await?;
    let mut shown = view(tx, engine, &row).await?;
    shown.link = link;
    Ok(shown)
}

fn lower(email: &Email) -> String {
    email.as_str().to_ascii_lowercase()
}

/// Who gets to see the links of invitations that are made at the dashboard.
pub fn link_given(engine: &Engine) -> LinkGiven {
    match engine.mailer {
        Some(_) => LinkGiven::ByMail,
        None => LinkGiven::ToInviter,
    }
}

/// Nobody is invited where they are already, nor where there is no room.
pub async fn check_member(
    tx: &mut Tx,
    engine: &Engine,
    account: &str,
    email: &Email,
) -> Result<(), Fail> {
    let members = till_store::members::all(tx, account).await?;
    let known = users::by_email(engine, tx, email).await?;
    let is_member = |user: &str| members.iter().any(|member| member.user_id == user);
    if known.is_some_and(|user| is_member(&user.id)) {
        return Err(Refusal::of(Code::AlreadyMember).into());
    }
    match members.len() >= MEMBERS_MAX {
        true => Err(invites::too_many_members().into()),
        false => Ok(()),
    }
}

/// An invitation ends those to the same address: not by whoever could not have made them.
async fn check_replaced(tx: &mut Tx, context: &TeamContext<'_>, email: &Email) -> Result<(), Fail> {
    let (engine, account) = (context.engine, context.account()?);
    let open = till_store::invites::open_to(tx, account, &email.tags(engine), context.now).await?;
    let may_give = |role: &Role| context.role.is_some_and(|own| own.may_assign(*role));
    match open.iter().all(may_give) {
        true => Ok(()),
        false => {
            let message =
                "There is an open invitation of this address that only an owner may replace.";
            Err(Refusal::new(Code::RoleNotAssignable, message).into())
        }
    }
}

/// Makes the invitation and mails its link; the link itself where there is no mail.
pub async fn offer(
    tx: &mut Tx,
    engine: &Engine,
    new: &NewInvite<'_>,
) -> Result<(InviteRow, Option<String>), Fail> {
    let (row, token) = invites::create(tx, engine, new).await?;
    let open = till_store::invites::count_open(tx, new.account, row.created_at).await?;
    if open > OPEN_MAX {
        let message = format!("An organization has at most {OPEN_MAX} open invitations.");
        return Err(Refusal::new(Code::ParameterInvalid, message).into());
    }
    let link = invites::link(engine, &token);
    if new.link != LinkGiven::ByMail {
        return Ok((row, Some(link)));
    }
    // Whoever invites, from however many organisations, must not flood somebody's mailbox.
    let (counted, address) = (Counted::InvitesToAddress, lower(new.email));
    attempts::take(tx, engine, counted, &address).await?;
    let to = (new.email, None);
    link_mails::queue(tx, engine, "invite", to, &link, row.expires_at).await?;
    Ok((row, None))
}

/// A page of the invitations, whatever became of them.
pub async fn list(engine: &Engine, account: &str, page: &Page) -> Result<Paged<InviteView>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::invites::list(&mut reader, account, &page.and_one()).await?;
    let paged = page.cut(found, |invite| &invite.id);
    let mut people = HashMap::new();
    for inviter in paged.items.iter().filter_map(|it| it.invited_by.as_ref()) {
        if !people.contains_key(inviter) {
            let shown = person(&mut reader, engine, Some(inviter)).await?;
            people.insert(inviter.clone(), shown);
        }
    }
    let now = engine.clock.now_ms();
    paged.try_map(|invite| {
        let inviter = invite.invited_by.as_ref();
        let inviter = inviter.and_then(|id| people.get(id).cloned().flatten());
        view_by(engine, &invite, inviter, now)
    })
}

/// Ends an invitation. One that is over stays as it is.
pub async fn withdraw(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
) -> Result<InviteView, Fail> {
    let account = context.account()?;
    let found = till_store::invites::find_for_update(tx, account, id).await?;
    let missing = || Refusal::of(Code::ResourceMissing).param("id");
    let mut invite = found.ok_or_else(missing)?;
    if invite.is_open(context.now) {
        till_store::invites::set_withdrawn(tx, id, context.now).await?;
        invite.withdrawn_at = Some(context.now);
        let details = json!({"role": invite.role.as_str()});
        context
            .record(tx, Action::InviteWithdrawn, id, details)
            .await?;
    }
    view(tx, context.engine, &invite).await
}

/// Ends the invitations of a member whose role is now this one, or who is gone, as far as it gives no right to them.
pub async fn end_beyond(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    user: &str,
    role: Option<Role>,
) -> Result<(), Fail> {
    let may_give = |other: &Role| role.is_some_and(|role| role.may_assign(*other));
    let kept: Vec<Role> = Role::ALL.into_iter().filter(may_give).collect();
    let (engine, account) = (context.engine, context.account()?);
    let ended = till_store::invites::end_by(tx, account, user, &kept, context.now).await?;
    invites::record_ended(tx, engine, account, &ended).await
}

/// An invitation as members see it, without its link.
pub async fn view(
    q: &mut impl Queries,
    engine: &Engine,
    invite: &InviteRow,
) -> Result<InviteView, Fail> {
    let inviter = person(q, engine, invite.invited_by.as_deref()).await?;
    view_by(engine, invite, inviter, engine.clock.now_ms())
}

async fn person(
    q: &mut impl Queries,
    engine: &Engine,
    id: Option<&str>,
) -> Result<Option<PersonView>, Fail> {
    let Some(id) = id else {
        return Ok(None);
    };
    let user = till_store::users::find(q, id).await?;
    let shown = user.map(|user| {
        Ok::<_, Fail>(PersonView {
            email: emails::open(engine, &user.id, &user.email)?,
            id: user.id,
        })
    });
    shown.transpose()
}

fn view_by(
    engine: &Engine,
    invite: &InviteRow,
    invited_by: Option<PersonView>,
    now: i64,
) -> Result<InviteView, Fail> {
    let status = match (invite.accepted_at, invite.withdrawn_at) {
        (Some(_), _) => "accepted",
        (None, Some(_)) => "withdrawn",
        (None, None) if invite.is_open(now) => "open",
        (None, None) => "expired",
    };
    Ok(InviteView {
        id: invite.id.clone(),
        object: "invite",
        email: emails::open(engine, &invite.id, &invite.email)?,
        role: invite.role.as_str(),
        status,
        invited_by,
        created_at: time::show(invite.created_at),
        expires_at: time::show(invite.expires_at),
        link: None,
    })
}
