//! Invitations: made by a member or at the command line, accepted once.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor, Origin};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::role::Role;
use till_core::time;
use till_store::Tx;
use till_store::audit::AuditRow;
use till_store::invites::InviteRow;
use till_store::members::MemberRow;
use till_store::users::UserRow;

use super::emails::{self, Email};
use super::entry;
use super::notices::{self, To};
use super::sessions::{self, Issued, Signed};
use super::tokens::{self, Token};
use super::users::{self, Proof};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{InviteOfferView, OfferedOrganization};

const LIFE_MS: i64 = 7 * 24 * 3_600_000;
pub const MEMBERS_MAX: usize = 100;

/// An invitation to be made.
#[derive(Clone, Debug)]
pub struct NewInvite<'i> {
    pub account: &'i str,
    pub email: &'i Email,
    pub role: Role,
    /// Whether accepting it makes an operator.
    pub makes_operator: bool,
    /// None at the command line.
    pub invited_by: Option<&'i str>,
    pub link: LinkGiven,
}

/// Who gets to see the link of an invitation: who accepts it shows by it that the address is theirs, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkGiven {
    /// Whoever reads the mail to the address.
    ByMail,
    /// Whoever invites.
    ToInviter,
    /// Whoever has the server's command line.
    AtShell,
}

/// Makes an invitation and ends older ones to the same address; the token goes into its link.
pub async fn create(
    tx: &mut Tx,
    engine: &Engine,
    new: &NewInvite<'_>,
) -> Result<(InviteRow, Token), Fail> {
    let now = engine.clock.now_ms();
    let (id, token) = (engine.ids.make(IdKind::Invite), Token::new(engine));
    let ended =
        till_store::invites::end_older(tx, new.account, &new.email.tags(engine), now).await?;
    record_ended(tx, engine, new.account, &ended).await?;
    let invite = InviteRow {
        account: new.account.to_owned(),
        token_hash: token.hash().into(),
        email: new.email.seal(engine, &id)?,
        email_tag: new.email.tag(engine),
        role: new.role,
        makes_operator: new.makes_operator,
        is_mailed: new.link == LinkGiven::ByMail,
        is_from_shell: new.link == LinkGiven::AtShell,
        invited_by: new.invited_by.map(str::to_owned),
        created_at: now,
        expires_at: now + LIFE_MS,
        accepted_at: None,
        withdrawn_at: None,
        id,
    };
    till_store::invites::insert(tx, &invite).await?;
    Ok((invite, token))
}

/// Tells in the log of an organisation that invitations to it ended by themselves, before anybody accepted them.
pub async fn record_ended(
    tx: &mut Tx,
    engine: &Engine,
    account: &str,
    ended: &[String],
) -> Result<(), Fail> {
    let event = |invite: &String| AuditRow {
        id: engine.ids.make(IdKind::AuditEvent),
        account: Some(account.to_owned()),
        mode: None,
        user_id: None,
        created_at: engine.clock.now_ms(),
        actor: Actor::System,
        action: Action::InviteWithdrawn,
        target: invite.clone(),
        ip: None,
        user_agent: None,
        session_id: None,
        request_id: None,
        details: json!({}).to_string(),
    };
    let events: Vec<AuditRow> = ended.iter().map(event).collect();
    Ok(till_store::audit::insert(tx, &events).await?)
}

/// The address to open; the token stands in its fragment, which no server and no log sees.
pub fn link(engine: &Engine, token: &Token) -> String {
    format!("{}/link#invite={}", engine.config.dashboard.url, token.0)
}

pub fn too_many_members() -> Refusal {
    let message = format!("An organization has at most {MEMBERS_MAX} members.");
    Refusal::new(Code::ParameterInvalid, message)
}

fn invalid() -> Refusal {
    Refusal::of(Code::InviteInvalid)
}

/// What an invitation offers to whoever has its token.
pub async fn open(engine: &Engine, token: &str) -> Result<InviteOfferView, Fail> {
    let mut reader = engine.db.read().await?;
    let invite = till_store::invites::by_token(&mut reader, &tokens::hash(token)).await?;
    let open = |invite: &InviteRow| invite.is_open(engine.clock.now_ms());
    let invite = invite.filter(open).ok_or_else(invalid)?;
    if till_store::accounts::is_disabled(&mut reader, &invite.account).await? {
        return Err(invalid().into());
    }
    let email = emails::open(engine, &invite.id, &invite.email)?;
    let user = users::by_email(engine, &mut reader, &Email::parse(&email)?).await?;
    let name = till_store::accounts::name(&mut reader, &invite.account).await?;
    Ok(InviteOfferView {
        object: "invite_offer",
        organization: OfferedOrganization {
            name: name.unwrap_or_default(),
        },
        email,
        role: invite.role.as_str(),
        expires_at: time::show(invite.expires_at),
        user_exists: user.is_some(),
    })
}

/// Accepts an invitation. `signed` is whoever is signed in already: an unknown address becomes a user and is signed
/// in, a known one must be. Gives back who is signed in then, and the token of a session that is new.
pub async fn accept(
    engine: &Engine,
    token: &str,
    signed: Option<Signed>,
    origin: &Origin,
) -> Result<(Signed, Option<Token>), Fail> {
    let signed = &signed;
    let accepted = engine.db.write(move |tx: &mut Tx| {
        async move {
            let issued = accept_in(tx, engine, token, signed.as_ref(), origin).await?;
            let session = match (&issued, signed) {
                (Some(issued), _) => issued.session.clone(),
                (None, Some(signed)) => signed.session.clone(),
                (None, None) => return Err(Fail::broken("nobody is signed in")),
            };
            if issued.is_some() {
                entry::succeeded(tx, engine, &session, origin).await?;
            }
            let signed = sessions::load(engine, tx, session).await?;
            Ok((signed, issued.map(|issued| issued.token)))
        }
        .scope_boxed()
    });
    accepted.await
}

async fn accept_in(
    tx: &mut Tx,
    engine: &Engine,
    token: &str,
    signed: Option<&Signed>,
    origin: &Origin,
) -> Result<Option<Issued>, Fail> {
    let now = engine.clock.now_ms();
    let hash = tokens::hash(token);
    let signed = still_signed(tx, signed).await?;
    // Members first, as everybody who changes them does: whoever ends invitations holds them already.
    let found = till_store::invites::by_token(tx, &hash).await?;
    let found = found.ok_or_else(invalid)?;
    till_store::members::all_for_update(tx, &found.account).await?;
    if till_store::accounts::is_disabled_for_share(tx, &found.account).await? {
        return Err(invalid().into());
    }
    let invite = till_store::invites::by_token_for_update(tx, &hash).await?;
    let invite = invite
        .filter(|invite| invite.is_open(now))
        .ok_or_else(invalid)?;
    let email = Email::parse(&emails::open(engine, &invite.id, &invite.email)?)?;
    let known = users::by_email(engine, tx, &email).await?;
    let (user, issued) = match (known, signed) {
        (Some(_), None) => return Err(Refusal::of(Code::SessionMissing).into()),
        (Some(known), Some(signed)) if known.id == signed.user.id => (known, None),
        (_, Some(_)) => return Err(invalid().into()),
        (None, None) => {
            let user = users::create(tx, engine, &email, proof(&invite)).await?;
            let session =
                sessions::start(tx, engine, &user, "invite", sessions::ACTIVE, origin).await?;
            (user, Some(session))
        }
    };
    join(tx, engine, &invite, &user, origin).await?;
    Ok(issued)
}

/// Whoever is signed in, unless their session ended since the request came in.
async fn still_signed<'s>(
    tx: &mut Tx,
    signed: Option<&'s Signed>,
) -> Result<Option<&'s Signed>, Fail> {
    let Some(signed) = signed else {
        return Ok(None);
    };
    let session = till_store::sessions::find_for_share(tx, &signed.session.id).await?;
    let is_good = session.is_some_and(|session| session.ended_at.is_none());
    Ok(is_good.then_some(signed))
}

/// What accepting an invitation says about the address of somebody who is new.
fn proof(invite: &InviteRow) -> Option<Proof> {
    match (invite.is_mailed, invite.is_from_shell) {
        (true, _) => Some(Proof::Mail),
        (false, true) => Some(Proof::Shell),
        (false, false) => None,
    }
}

/// Nobody becomes an operator under an address that was never shown to be theirs.
fn check_operator(invite: &InviteRow, user: &UserRow) -> Result<(), Refusal> {
    match invite.makes_operator && !user.is_proven() {
        true => {
            let message = "This invitation makes an operator, and nobody has shown yet that the address is yours. \
                 Have `till user reset` give you a link to sign in with first.";
            Err(Refusal::new(Code::InviteInvalid, message))
        }
        false => Ok(()),
    }
}

async fn join(
    tx: &mut Tx,
    engine: &Engine,
    invite: &InviteRow,
    user: &UserRow,
    origin: &Origin,
) -> Result<(), Fail> {
    check_operator(invite, user)?;
    let now = engine.clock.now_ms();
    let members = till_store::members::all_for_update(tx, &invite.account).await?;
    if members.iter().any(|member| member.user_id == user.id) {
        return Err(Refusal::of(Code::AlreadyMember).into());
    }
    if members.len() >= MEMBERS_MAX {
        return Err(too_many_members().into());
    }
    let member = MemberRow {
        account: invite.account.clone(),
        user_id: user.id.clone(),
        role: invite.role,
        joined_at: now,
        last_active_at: None,
    };
    till_store::members::insert(tx, &member).await?;
    till_store::invites::set_accepted(tx, &invite.id, now).await?;
    if invite.makes_operator {
        till_store::users::set_operator(tx, &user.id, true).await?;
    }
    let joined = AuditRow {
        id: engine.ids.make(IdKind::AuditEvent),
        account: Some(invite.account.clone()),
        mode: None,
        user_id: None,
        created_at: now,
        actor: Actor::member(&user.id),
        action: Action::MemberJoined,
        target: user.id.clone(),
        ip: origin.ip.clone(),
        user_agent: origin.user_agent.clone(),
        session_id: origin.session.clone(),
        request_id: origin.request.clone(),
        details: json!({"role": invite.role.as_str(), "invite": &invite.id}).to_string(),
    };
    till_store::audit::insert(tx, &[joined]).await?;
    let to = To::Managers(&invite.account);
    notices::tell(tx, engine, to, "member.joined", &user.id).await
}
