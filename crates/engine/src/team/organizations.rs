//! Organisations, as their members see and name them.

use serde_json::json;
use till_core::actor::Action;
use till_core::application::ApplicationStatus;
use till_core::error::{Code, Refusal};
use till_core::time;
use till_store::Tx;
use till_store::accounts::OrganizationRow;
pub use till_store::members::MembershipRow;

use super::unit::TeamContext;
use crate::base::fail::Fail;
use crate::view::OrganizationView;

const APPROVED: &str = ApplicationStatus::Approved.as_str();

pub fn views(of_user: &[MembershipRow]) -> Vec<OrganizationView> {
    of_user.iter().map(view).collect()
}

pub fn view(membership: &MembershipRow) -> OrganizationView {
    let status = membership.application_status.as_deref().unwrap_or("draft");
    OrganizationView {
        id: membership.account.clone(),
        object: "organization",
        name: membership.name.clone(),
        role: Some(membership.role.clone()),
        live: is_live(membership),
        application_status: status.to_owned(),
        disabled: membership.disabled_at.is_some(),
        created_at: time::show(membership.created_at),
    }
}

/// An organisation as an operator sees it, who is nothing in it.
pub fn view_of(row: &OrganizationRow) -> OrganizationView {
    let status = row.application_status.as_deref().unwrap_or("draft");
    OrganizationView {
        id: row.id.clone(),
        object: "organization",
        name: row.name.clone(),
        role: None,
        live: status == APPROVED,
        application_status: status.to_owned(),
        disabled: row.disabled_at.is_some(),
        created_at: time::show(row.created_at),
    }
}

/// Whether its application for live mode is approved.
pub fn is_live(membership: &MembershipRow) -> bool {
    membership.application_status.as_deref() == Some(APPROVED)
}

/// Gives the organisation another name.
pub async fn rename(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    name: &str,
) -> Result<OrganizationView, Fail> {
    let account = context.account()?;
    till_store::accounts::rename(tx, account, name).await?;
    let details = json!({"name": name});
    context
        .record(tx, Action::OrganizationRenamed, account, details)
        .await?;
    let all = till_store::members::of_user(tx, &context.asked.user).await?;
    let own = all.iter().find(|of| *of.account == **account);
    let own = own.ok_or_else(|| Refusal::of(Code::PermissionDenied))?;
    Ok(view(own))
}
