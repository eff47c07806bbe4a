//! What the dashboard shows of a user's own: passkeys, ceremonies with them, and what they confirm.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::team::OrganizationView;

/// A passkey, as its user knows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Passkey)]
pub struct PasskeyView {
    pub id: String,
    #[schema(example = "passkey", pattern = "^passkey$")]
    pub object: &'static str,
    pub name: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(required, format = DateTime)]
    pub last_used_at: Option<String>,
    /// Whether its owner has it on more than one device.
    pub backed_up: bool,
}

/// What a passkey is asked, to be answered once within five minutes.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Ceremony)]
pub struct CeremonyView {
    #[schema(example = "ceremony", pattern = "^ceremony$")]
    pub object: &'static str,
    pub id: String,
    /// What the browser's `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` takes.
    #[schema(value_type = Object)]
    pub options: Value,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// A passkey's yes to one request.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Confirmation)]
pub struct ConfirmationView {
    #[schema(example = "confirmation", pattern = "^confirmation$")]
    pub object: &'static str,
    pub id: String,
    /// `pending` or `confirmed`.
    pub status: &'static str,
    pub path: String,
    /// What the browser's `parseRequestOptionsFromJSON` takes; null once it is confirmed.
    #[schema(required, value_type = Option<Object>)]
    pub options: Option<Value>,
    /// Until then it waits for the passkey, and once confirmed for the request.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// A new secret for authenticator codes, shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TotpSetup)]
pub struct TotpSetupView {
    #[schema(example = "totp_setup", pattern = "^totp_setup$")]
    pub object: &'static str,
    /// In base 32, to be typed.
    pub secret: String,
    /// The same for a QR code.
    pub otpauth_url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// What a member or operator was told.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Notice)]
pub struct MemberNoticeView {
    pub id: String,
    #[schema(example = "notice", pattern = "^notice$")]
    pub object: &'static str,
    #[schema(example = "passkey.added")]
    pub kind: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The id of what it is about.
    pub target: String,
    /// `sent`, `queued`, `failed`, or `off` where there is no mail.
    pub mail: String,
    #[schema(required, format = DateTime)]
    pub read_at: Option<String>,
}

/// An organisation that was just made, with the keys of its test mode, shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NewOrganization)]
pub struct NewOrganizationView {
    pub organization: OrganizationView,
    pub test: TestKeysView,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TestKeys)]
pub struct TestKeysView {
    pub secret_key: String,
    pub publishable_key: String,
    pub webhook_secret: String,
}
