//! What operators do with organisations: see them, make them, stop them. Their invoices, customers and keys they do not
//! see.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor};
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::role::Role;
use till_core::scope::Scope;
use till_core::time::{self, DAY_MS};
use till_store::Tx;
pub use till_store::accounts::OrganizationFilter;
use till_store::accounts::OrganizationRow;
use till_store::attempts::AttemptRow;
use till_store::audit::AuditRow;
use till_store::users::UserRow;

use super::emails::{self, Email};
use super::invites::NewInvite;
use super::notices::{self, To};
use super::unit::TeamContext;
use super::{changes, inviting, organizations};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::merchants::accounts::{self, Modes};
use crate::once::in_use;
use crate::smtp::Mail;
use crate::view::{
    InvitedOrganizationView, MailTestView, OperatedOrganizationView, OrganizationView, QueueView,
    QueuesView,
};

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

/// Nobody decides on an organisation they belong to.
pub async fn check_conflict(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    account: &str,
) -> Result<(), Fail> {
    let own = till_store::members::find(tx, account, &context.asked.user).await?;
    match own {
        Some(_) => Err(Refusal::of(Code::OperatorConflict).into()),
        None => Ok(()),
    }
}

/// Nor on the application of one they belonged to: who leaves to decide may be let in again.
pub async fn check_former(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    account: &str,
) -> Result<(), Fail> {
    match till_store::audit::was_member(tx, account, &context.asked.user).await? {
        true => Err(Refusal::of(Code::OperatorConflict).into()),
        false => Ok(()),
    }
}

fn view(row: &OrganizationRow) -> OperatedOrganizationView {
    let last = row.last_test_invoice.max(row.last_live_invoice);
    let OrganizationView {
        id,
        object,
        name,
        role,
        live,
        application_status,
        disabled,
        created_at,
    } = organizations::view_of(row);
    OperatedOrganizationView {
        id,
        object,
        name,
        role,
        live,
        application_status,
        disabled,
        created_at,
        members: row.members,
        disabled_reason: row.disabled_reason.clone(),
        last_invoice_at: last.map(time::show),
    }
}

/// A page of all organisations.
pub async fn list(
    engine: &Engine,
    filter: &OrganizationFilter,
    page: &Page,
) -> Result<Paged<OperatedOrganizationView>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::accounts::organizations(&mut reader, filter, &page.and_one()).await?;
    let paged = page.cut(found, |organization| &organization.id);
    Ok(paged.map(|organization| view(&organization)))
}

/// Makes an organisation in test mode, and invites its owner. The keys that come with it nobody has seen: its owner
/// makes new ones.
pub async fn create(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    name: &str,
    owner: &Email,
) -> Result<InvitedOrganizationView, Fail> {
    let engine = context.engine;
    let account =
        accounts::create_in(tx, engine, name, Modes::TestOnly, &[], &Actor::Operator).await?;
    let new = NewInvite {
        account: &account.id,
        email: owner,
        role: Role::Owner,
        makes_operator: false,
        invited_by: None,
        link: inviting::link_given(engine),
    };
    let (invite, link) = inviting::offer(tx, engine, &new).await?;
    let (log, details) = (Some(&*account.id), json!({"name": name}));
    let made = context.audit_of(log, Action::OrganizationCreated, &account.id, &details);
    let role = json!({"role": Role::Owner.as_str()});
    let invited = context.audit_of(log, Action::InviteCreated, &invite.id, &role);
    till_store::audit::insert(tx, &[made, invited]).await?;
    let row = till_store::accounts::organization(tx, &account.id).await?;
    let mut invite = inviting::view(tx, engine, &invite).await?;
    invite.link = link;
    Ok(InvitedOrganizationView {
        organization: organizations::view_of(&row.ok_or_else(missing)?),
        invite,
    })
}

/// Refuses an organisation's members and keys from now on, or lets them in again. `reason` is why it is disabled.
pub async fn set_disabled(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
    disable: Option<&str>,
) -> Result<OperatedOrganizationView, Fail> {
    let found = till_store::accounts::organization_for_update(tx, id).await?;
    let row = found.ok_or_else(missing)?;
    check_conflict(tx, context, id).await?;
    if row.disabled_at.is_some() == disable.is_some() {
        return Err(Refusal::of(Code::NoChange).into());
    }
    let details = json!({"reason": disable});
    let event = context.audit_of(Some(id), switched(disable.is_some()), id, &details);
    switch(tx, context.engine, id, disable.is_some(), disable, event).await?;
    let row = till_store::accounts::organization(tx, id).await?;
    Ok(view(&row.ok_or_else(missing)?))
}

fn switched(is_disabled: bool) -> Action {
    match is_disabled {
        true => Action::OrganizationDisabled,
        false => Action::OrganizationEnabled,
    }
}

async fn switch(
    tx: &mut Tx,
    engine: &Engine,
    account: &str,
    disable: bool,
    reason: Option<&str>,
    event: AuditRow,
) -> Result<(), Fail> {
    let at = disable.then_some(event.created_at);
    till_store::accounts::set_disabled(tx, account, at, reason).await?;
    if disable {
        for mode in [Mode::Test, Mode::Live] {
            changes::end_all(tx, engine, &Scope::new(account, mode)).await?;
        }
    }
    let kind = event.action.as_str();
    till_store::audit::insert(tx, &[event]).await?;
    notices::tell(tx, engine, To::Managers(account), kind, account).await
}

/// The same at the command line. False where it was so already; nothing where there is no such account.
pub async fn set_disabled_at_command_line(
    engine: &Engine,
    account: &str,
    disable: bool,
) -> Result<Option<bool>, Fail> {
    let done = engine.db.write(move |tx: &mut Tx| {
        async move {
            let found = till_store::accounts::organization_for_update(tx, account).await?;
            let Some(row) = found else {
                return Ok(None);
            };
            if row.disabled_at.is_some() == disable {
                return Ok(Some(false));
            }
            let event = AuditRow {
                id: engine.ids.make(IdKind::AuditEvent),
                account: Some(account.to_owned()),
                mode: None,
                user_id: None,
                created_at: engine.clock.now_ms(),
                actor: Actor::Operator,
                action: switched(disable),
                target: account.to_owned(),
                ip: None,
                user_agent: None,
                session_id: None,
                request_id: None,
                details: json!({}).to_string(),
            };
            switch(tx, engine, account, disable, None, event).await?;
            Ok(Some(true))
        }
        .scope_boxed()
    });
    done.await
}

/// How much work waits.
pub async fn queues(engine: &Engine) -> Result<QueuesView, Fail> {
    let now = engine.clock.now_ms();
    let since = now - DAY_MS;
    let mut reader = engine.db.read().await?;
    let q = &mut reader;
    let found = [
        ("webhooks", till_store::queues::webhooks(q, since).await?),
        ("mail", till_store::queues::mail(q, since).await?),
        ("timers", till_store::queues::timers(q, now, since).await?),
    ];
    let shown = found.map(|(queue, row)| QueueView {
        queue,
        waiting: row.waiting,
        oldest_due_at: row.oldest_due_at.map(time::show),
        failed_24h: row.failed,
    });
    Ok(QueuesView {
        object: "queues",
        queues: shown.into(),
    })
}

/// Takes an idempotency key for a mail that leaves before its answer is kept: of several servers that are asked at once,
/// one sends.
async fn take_key(engine: &Engine, key: &str) -> Result<(), Fail> {
    let id = hex::encode(engine.vault.tag("mail_test", key.as_bytes()));
    let taken = &AttemptRow {
        subject: b"mail_test".into(),
        at: engine.clock.now_ms(),
        id,
    };
    let taken = engine.db.write(move |tx: &mut Tx| {
        async move { Ok::<_, Fail>(till_store::attempts::insert(tx, taken).await?) }.scope_boxed()
    });
    match taken.await {
        Err(Fail::Store(error, _)) if error.violates("attempts") => Err(in_use().into()),
        taken => taken,
    }
}

/// Sends a mail to the operator's own address, to see whether it arrives. `key` is the request's own: it is sent once.
pub async fn test_mail(engine: &Engine, user: &UserRow, key: &str) -> Result<MailTestView, Fail> {
    let Some(mailer) = &engine.mailer else {
        let message = "This server sends no mail: `mail.smtp_url` and `mail.from` are not set.";
        return Err(Refusal::new(Code::FeatureUnavailable, message).into());
    };
    let to = emails::open(engine, &user.id, &user.email)?;
    let text = "This is the mail that you asked for in the dashboard. Mail works.";
    let mail = Mail {
        from_name: None,
        to: to.clone(),
        subject: "A test mail of your Till server".to_owned(),
        text: format!("{text}\n"),
        html: format!("<p>{text}</p>\n"),
        message_id: engine.ids.make(IdKind::Notice),
        date_ms: engine.clock.now_ms(),
    };
    take_key(engine, key).await?;
    let sent = mailer.send(&mail).await;
    Ok(MailTestView {
        object: "mail_test",
        to,
        status: if sent.is_ok() { "sent" } else { "failed" },
        detail: sent.err().map(|error| error.to_string()),
    })
}
