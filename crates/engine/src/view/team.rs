//! What the dashboard shows of users, their sessions and their organisations.

use serde::Serialize;
use utoipa::ToSchema;

/// A person who signs in.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    pub id: String,
    #[schema(example = "user", pattern = "^user$")]
    pub object: &'static str,
    pub email: String,
    /// Whether a mailed link was used.
    pub email_verified: bool,
    #[schema(required)]
    pub name: Option<String>,
    #[schema(required)]
    pub locale: Option<String>,
    /// Whether this person operates the server. It gives no right inside any organisation.
    pub operator: bool,
    /// How many there are.
    pub passkeys: i64,
    pub totp_enabled: bool,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// An account and the people who work with it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Organization)]
pub struct OrganizationView {
    pub id: String,
    #[schema(example = "organization", pattern = "^organization$")]
    pub object: &'static str,
    pub name: String,
    /// What the signed-in user is in it.
    #[schema(required)]
    pub role: Option<String>,
    /// Whether its application for live mode is approved.
    pub live: bool,
    pub application_status: String,
    pub disabled: bool,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A browser that is signed in.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView {
    #[schema(example = "session", pattern = "^session$")]
    pub object: &'static str,
    pub id: String,
    /// `active` or `second_factor_pending`.
    pub state: String,
    /// How its user signed in.
    pub method: String,
    /// Whether it is the one that asks.
    pub current: bool,
    /// What every POST of this session repeats in `Till-CSRF`; null in lists.
    #[schema(required)]
    pub csrf_token: Option<String>,
    /// Null while the second factor is awaited.
    #[schema(required)]
    pub user: Option<UserView>,
    pub second_factors: Vec<&'static str>,
    pub organizations: Vec<OrganizationView>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub last_used_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    #[schema(required)]
    pub ip: Option<String>,
    #[schema(required)]
    pub user_agent: Option<String>,
}

/// What an invitation offers, before it is accepted.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = InviteOffer)]
pub struct InviteOfferView {
    #[schema(example = "invite_offer", pattern = "^invite_offer$")]
    pub object: &'static str,
    pub organization: OfferedOrganization,
    pub email: String,
    pub role: &'static str,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Whether somebody has this address already, who must be signed in to accept.
    pub user_exists: bool,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OfferedOrganization {
    pub name: String,
}

/// Somebody, by name.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Person)]
pub struct PersonView {
    pub id: String,
    pub email: String,
}

/// A person in an organisation.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Member)]
pub struct MemberView {
    /// The user's id.
    pub id: String,
    #[schema(example = "member", pattern = "^member$")]
    pub object: &'static str,
    pub email: String,
    #[schema(required)]
    pub name: Option<String>,
    pub role: String,
    /// How many there are.
    pub passkeys: i64,
    pub totp_enabled: bool,
    #[schema(format = DateTime)]
    pub joined_at: String,
    #[schema(required, format = DateTime)]
    pub last_active_at: Option<String>,
    /// Secret keys that the member made and that work.
    pub keys: MemberKeys,
}

/// How many keys there are in each mode.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct MemberKeys {
    pub test: i64,
    pub live: i64,
}

/// An invitation into an organisation.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Invite)]
pub struct InviteView {
    pub id: String,
    #[schema(example = "invite", pattern = "^invite$")]
    pub object: &'static str,
    pub email: String,
    pub role: &'static str,
    /// `open`, `accepted`, `withdrawn` or `expired`.
    pub status: &'static str,
    /// Null for one from the command line or the operator.
    #[schema(required)]
    pub invited_by: Option<PersonView>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What the invited person opens; only in the answer to the inviter, and only where no mail is sent.
    #[schema(required)]
    pub link: Option<String>,
}
