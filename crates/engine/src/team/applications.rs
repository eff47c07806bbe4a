//! The application for live mode: filled in and handed in by an owner, decided by an operator or at the command line.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor};
use till_core::application::ApplicationStatus;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_core::time;
use till_store::Tx;
use till_store::applications::ApplicationRow;
use till_store::audit::AuditRow;

use super::emails::{self, Email};
use super::notices::{self, To};
use super::unit::TeamContext;
use super::{changes, invites, operator, organizations};
use crate::base::fail::Fail;
use crate::base::{Change, Engine};
use crate::merchants::accounts;
use crate::view::{ApplicationView, DecidedBy, ReviewedApplicationView};

/// Who decided, where it was the command line.
const CLI: &str = "cli";

/// What an owner writes into the application.
#[derive(Clone, Debug, Default)]
pub struct ApplicationChange {
    pub business_name: Change<String>,
    pub website: Change<String>,
    pub country: Change<String>,
    pub contact_email: Change<Email>,
    pub business_description: Change<String>,
    pub expected_monthly_volume: Change<String>,
}

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

fn none_there() -> Fail {
    Fail::broken("an organisation without an application")
}

pub fn view(engine: &Engine, row: &ApplicationRow) -> Result<ApplicationView, Fail> {
    let contact = row.contact_email.as_ref();
    let contact = contact.map(|sealed| emails::open(engine, &row.id, sealed));
    Ok(ApplicationView {
        id: row.id.clone(),
        object: "application",
        status: row.status.as_str(),
        business_name: row.business_name.clone(),
        website: row.website.clone(),
        country: row.country.clone(),
        contact_email: contact.transpose()?,
        business_description: row.business_description.clone(),
        expected_monthly_volume: row.expected_monthly_volume.clone(),
        submitted_at: row.submitted_at.map(time::show),
        decided_at: row.decided_at.map(time::show),
        decided_by: row.decided_by.as_deref().map(decided_by),
        reason: row.reason.clone(),
    })
}

fn decided_by(by: &str) -> DecidedBy {
    match by {
        CLI => DecidedBy {
            r#type: CLI,
            id: None,
        },
        user => DecidedBy {
            r#type: "operator",
            id: Some(user.to_owned()),
        },
    }
}

pub async fn retrieve(engine: &Engine, account: &str) -> Result<ApplicationView, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::applications::of_account(&mut reader, account).await?;
    view(engine, &found.ok_or_else(none_there)?)
}

async fn held(tx: &mut Tx, context: &TeamContext<'_>) -> Result<ApplicationRow, Fail> {
    let account = context.account()?;
    let found = till_store::applications::of_account_for_update(tx, account).await?;
    found.ok_or_else(none_there)
}

/// Writes the application down and shows it.
async fn keep(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    row: &ApplicationRow,
    action: Action,
    details: serde_json::Value,
) -> Result<ApplicationView, Fail> {
    till_store::applications::update(tx, row).await?;
    context.record(tx, action, &row.id, details).await?;
    view(context.engine, row)
}

/// Changes fields. What was rejected becomes a draft again.
pub async fn edit(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    change: &ApplicationChange,
) -> Result<ApplicationView, Fail> {
    let mut row = held(tx, context).await?;
    row.status = row.status.edited()?;
    change.business_name.apply(&mut row.business_name);
    change.website.apply(&mut row.website);
    change.country.apply(&mut row.country);
    change
        .business_description
        .apply(&mut row.business_description);
    change
        .expected_monthly_volume
        .apply(&mut row.expected_monthly_volume);
    if let Change::Set(email) = &change.contact_email {
        row.contact_email = Some(email.seal(context.engine, &row.id)?);
    }
    keep(tx, context, &row, Action::ApplicationUpdated, json!({})).await
}

/// The first field that is asked for and empty.
fn first_missing(row: &ApplicationRow) -> Option<&'static str> {
    let asked = [
        ("business_name", row.business_name.is_none()),
        ("country", row.country.is_none()),
        ("contact_email", row.contact_email.is_none()),
        ("business_description", row.business_description.is_none()),
        (
            "expected_monthly_volume",
            row.expected_monthly_volume.is_none(),
        ),
    ];
    let empty = asked.into_iter().find(|(_, is_empty)| *is_empty);
    empty.map(|(field, _)| field)
}

/// Hands the application in.
pub async fn submit(tx: &mut Tx, context: &TeamContext<'_>) -> Result<ApplicationView, Fail> {
    let mut row = held(tx, context).await?;
    row.status = row.status.submitted(first_missing(&row))?;
    row.submitted_at = Some(context.now);
    (row.decided_at, row.decided_by, row.reason) = (None, None, None);
    let (to, kind) = (To::Operators, "application.submitted");
    notices::tell(tx, context.engine, to, kind, &row.id).await?;
    keep(tx, context, &row, Action::ApplicationSubmitted, json!({})).await
}

/// Takes it back before anybody decided.
pub async fn withdraw(tx: &mut Tx, context: &TeamContext<'_>) -> Result<ApplicationView, Fail> {
    let mut row = held(tx, context).await?;
    row.status = row.status.withdrawn()?;
    row.submitted_at = None;
    keep(tx, context, &row, Action::ApplicationWithdrawn, json!({})).await
}

/// A page of all organisations' applications, for operators.
pub async fn list(
    engine: &Engine,
    status: Option<ApplicationStatus>,
    page: &Page,
) -> Result<Paged<ReviewedApplicationView>, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::applications::list(&mut reader, status, &page.and_one()).await?;
    let paged = page.cut(found, |application| &application.id);
    let mut items = Vec::with_capacity(paged.items.len());
    for row in &paged.items {
        items.push(reviewed(&mut reader, engine, row).await?);
    }
    Ok(Paged {
        items,
        next: paged.next,
    })
}

pub async fn retrieve_any(engine: &Engine, id: &str) -> Result<ReviewedApplicationView, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::applications::find(&mut reader, id).await?;
    let row = found.ok_or_else(missing)?;
    reviewed(&mut reader, engine, &row).await
}

async fn reviewed(
    q: &mut impl till_store::Queries,
    engine: &Engine,
    row: &ApplicationRow,
) -> Result<ReviewedApplicationView, Fail> {
    let organization = till_store::accounts::organization(q, &row.account).await?;
    let organization = organization.ok_or_else(none_there)?;
    let organization = organizations::view_of(&organization);
    Ok(ReviewedApplicationView::new(
        view(engine, row)?,
        organization,
    ))
}

/// Tells an application that was handed in again from the one before.
pub fn submission(row: &ApplicationRow) -> String {
    let at = row.submitted_at;
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// What an operator decides.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'d> {
    pub is_approved: bool,
    /// What the organisation is told with it.
    pub reason: Option<&'d str>,
    /// The `submitted_at` of the application that the operator read.
    pub read: Option<&'d str>,
}

/// Whether what the operator read is what they decide on.
fn check_read(row: &ApplicationRow, read: Option<&str>) -> Result<(), Refusal> {
    let submitted_at = row.submitted_at.map(time::show);
    match read.is_some() && submitted_at.as_deref() != read {
        true => {
            let message = "The application was handed in again since then. Read it anew.";
            Err(Refusal::new(Code::ApplicationNotReviewable, message).param("submitted_at"))
        }
        false => Ok(()),
    }
}

/// An operator's decision: on the submission that the passkey was asked about, and on no later one.
pub async fn decide(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
    decision: Decision<'_>,
) -> Result<ApplicationView, Fail> {
    let Decision {
        is_approved,
        reason,
        read,
    } = decision;
    let found = till_store::applications::find(tx, id).await?;
    let account = found.ok_or_else(missing)?.account;
    // The account first, which those who act in live mode share.
    till_store::accounts::is_disabled_for_update(tx, &account).await?;
    let found = till_store::applications::find_for_update(tx, id).await?;
    let mut row = found.ok_or_else(missing)?;
    operator::check_conflict(tx, context, &row.account).await?;
    operator::check_former(tx, context, &row.account).await?;
    let submission = submission(&row);
    row.status = row.status.decided(is_approved)?;
    check_read(&row, read)?;
    context.require_confirmation_about(&submission)?;
    row.decided_at = Some(context.now);
    row.decided_by = Some(context.asked.user.to_string());
    row.reason = reason.map(str::to_owned);
    let (account, action) = (Some(&*row.account), decided(is_approved));
    let event = context.audit_of(account, action, &row.id, &json!({"reason": reason}));
    settle(tx, context.engine, &row, event).await?;
    view(context.engine, &row)
}

fn decided(is_approved: bool) -> Action {
    match is_approved {
        true => Action::ApplicationApproved,
        false => Action::ApplicationRejected,
    }
}

/// Writes down what was decided, with all that follows from it.
async fn settle(
    tx: &mut Tx,
    engine: &Engine,
    row: &ApplicationRow,
    event: AuditRow,
) -> Result<(), Fail> {
    match row.status {
        ApplicationStatus::Approved => {
            accounts::set_up_live(tx, engine, &row.account).await?;
            end_leading_invites(tx, engine, &row.account).await?;
        }
        _ => {
            let live = Scope::new(&row.account, Mode::Live);
            changes::end_all(tx, engine, &live).await?;
        }
    }
    till_store::applications::update(tx, row).await?;
    till_store::audit::insert(tx, &[event]).await?;
    let to = To::Managers(&row.account);
    notices::tell(tx, engine, to, "application.decided", &row.id).await
}

/// In a live organisation nobody is invited to lead it without a passkey's yes: who was invited before is invited again.
async fn end_leading_invites(tx: &mut Tx, engine: &Engine, account: &str) -> Result<(), Fail> {
    let now = engine.clock.now_ms();
    let ended = till_store::invites::end_leading(tx, account, now).await?;
    invites::record_ended(tx, engine, account, &ended).await
}

/// Approves or ends live mode at the command line, whatever state the application is in. False where it was so
/// already; nothing where there is no such account.
pub async fn decide_at_command_line(
    engine: &Engine,
    account: &str,
    is_approved: bool,
) -> Result<Option<bool>, Fail> {
    let status = match is_approved {
        true => ApplicationStatus::Approved,
        false => ApplicationStatus::Rejected,
    };
    let decided = engine.db.write(move |tx: &mut Tx| {
        async move {
            till_store::accounts::is_disabled_for_update(tx, account).await?;
            let found = till_store::applications::of_account_for_update(tx, account).await?;
            let Some(mut row) = found else {
                return Ok(None);
            };
            if row.status == status {
                return Ok(Some(false));
            }
            let now = engine.clock.now_ms();
            (row.status, row.decided_at) = (status, Some(now));
            (row.decided_by, row.reason) = (Some(CLI.to_owned()), None);
            let event = AuditRow {
                id: engine.ids.make(IdKind::AuditEvent),
                account: Some(account.to_owned()),
                mode: None,
                user_id: None,
                created_at: now,
                actor: Actor::Operator,
                action: decided(is_approved),
                target: row.id.clone(),
                ip: None,
                user_agent: None,
                session_id: None,
                request_id: None,
                details: json!({}).to_string(),
            };
            settle(tx, engine, &row, event).await?;
            Ok(Some(true))
        }
        .scope_boxed()
    });
    decided.await
}
