//! Applications for live mode, and what operators see of organisations.

use serde::Serialize;
use utoipa::ToSchema;

use super::team::{InviteView, OrganizationView};

/// An organisation's application for live mode.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Application)]
pub struct ApplicationView {
    pub id: String,
    #[schema(example = "application", pattern = "^application$")]
    pub object: &'static str,
    /// `draft`, `pending`, `approved` or `rejected`.
    pub status: &'static str,
    #[schema(required)]
    pub business_name: Option<String>,
    #[schema(required)]
    pub website: Option<String>,
    /// Two letters, by ISO 3166-1.
    #[schema(required)]
    pub country: Option<String>,
    #[schema(required)]
    pub contact_email: Option<String>,
    #[schema(required)]
    pub business_description: Option<String>,
    /// In US dollars.
    #[schema(required)]
    pub expected_monthly_volume: Option<String>,
    #[schema(required, format = DateTime)]
    pub submitted_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub decided_at: Option<String>,
    #[schema(required)]
    pub decided_by: Option<DecidedBy>,
    /// What was said with the decision.
    #[schema(required)]
    pub reason: Option<String>,
}

/// Who decided on an application.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DecidedBy {
    /// `operator` or `cli`.
    pub r#type: &'static str,
    /// The operator's user id.
    #[schema(required)]
    pub id: Option<String>,
}

/// An application, with whose it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ReviewedApplication)]
pub struct ReviewedApplicationView {
    pub id: String,
    #[schema(example = "application", pattern = "^application$")]
    pub object: &'static str,
    /// `draft`, `pending`, `approved` or `rejected`.
    pub status: &'static str,
    #[schema(required)]
    pub business_name: Option<String>,
    #[schema(required)]
    pub website: Option<String>,
    /// Two letters, by ISO 3166-1.
    #[schema(required)]
    pub country: Option<String>,
    #[schema(required)]
    pub contact_email: Option<String>,
    #[schema(required)]
    pub business_description: Option<String>,
    /// In US dollars.
    #[schema(required)]
    pub expected_monthly_volume: Option<String>,
    #[schema(required, format = DateTime)]
    pub submitted_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub decided_at: Option<String>,
    #[schema(required)]
    pub decided_by: Option<DecidedBy>,
    /// What was said with the decision.
    #[schema(required)]
    pub reason: Option<String>,
    pub organization: OrganizationView,
}

impl ReviewedApplicationView {
    pub fn new(of: ApplicationView, organization: OrganizationView) -> ReviewedApplicationView {
        ReviewedApplicationView {
            id: of.id,
            object: of.object,
            status: of.status,
            business_name: of.business_name,
            website: of.website,
            country: of.country,
            contact_email: of.contact_email,
            business_description: of.business_description,
            expected_monthly_volume: of.expected_monthly_volume,
            submitted_at: of.submitted_at,
            decided_at: of.decided_at,
            decided_by: of.decided_by,
            reason: of.reason,
            organization,
        }
    }
}

/// An organisation as operators see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = OperatedOrganization)]
pub struct OperatedOrganizationView {
    pub id: String,
    #[schema(example = "organization", pattern = "^organization$")]
    pub object: &'static str,
    pub name: String,
    /// Null: an operator is nothing in it.
    #[schema(required)]
    pub role: Option<String>,
    /// Whether its application for live mode is approved.
    pub live: bool,
    pub application_status: String,
    pub disabled: bool,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// How many there are.
    pub members: i64,
    #[schema(required)]
    pub disabled_reason: Option<String>,
    /// When its newest invoice was made, in either mode.
    #[schema(required, format = DateTime)]
    pub last_invoice_at: Option<String>,
}

/// An organisation that an operator made, and the invitation to its owner.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = InvitedOrganization)]
pub struct InvitedOrganizationView {
    pub organization: OrganizationView,
    pub invite: InviteView,
}
