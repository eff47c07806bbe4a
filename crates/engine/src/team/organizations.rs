//! Organisations, as their members see them.

use till_core::time;
use till_store::members::MembershipRow;

use crate::view::OrganizationView;

const APPROVED: &str = "approved";

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

/// Whether its application for live mode is approved.
pub fn is_live(membership: &MembershipRow) -> bool {
    membership.application_status.as_deref() == Some(APPROVED)
}
