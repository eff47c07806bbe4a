//! What the dashboard shows of an account at a glance: what needs somebody, what came in, and what nobody paid for.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::network_health::NetworkHealthView;

/// An account in one mode, at a glance.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Home)]
pub struct HomeView {
    #[schema(example = "home", pattern = "^home$")]
    pub object: &'static str,
    pub livemode: bool,
    /// The account's own time.
    #[schema(format = DateTime)]
    pub now: String,
    pub needs_you: Vec<NeedView>,
    pub volumes: Vec<VolumeView>,
    pub networks: Vec<NetworkHealthView>,
    pub setup: Vec<SetupStepView>,
    /// What the server lacks. `stale_lists`: a screening list could not be read for too long, so refund claims go to review. In live
    /// mode also `screening_lists`: there is none, so every refund claim goes to review; `mail`: nobody is sent receipts, reminders or
    /// notices; `backups`: no copy was made in seven days, so the books are lost with the disk.
    pub missing: Vec<&'static str>,
}

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = HomeNeed)]
pub struct NeedView {
    /// `review_open`, `refund_ready_to_send`, `refund_in_review`, `webhook_failing`, `change_pending`,
    /// `unattributed_deposit`, `network_degraded` or `key_exposed`.
    pub kind: &'static str,
    pub count: i64,
    #[schema(format = DateTime)]
    pub oldest_at: String,
}

/// What was credited of an asset on one day of UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = HomeVolume)]
pub struct VolumeView {
    pub asset: String,
    #[schema(format = Date)]
    pub day: String,
    /// Whole tokens.
    pub amount: String,
    /// How many payments.
    pub payments: u64,
}

/// A step of setting an account up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SetupStep)]
pub struct SetupStepView {
    /// `passkey`, `destinations`, `webhook_url`, `api_key_used`, `first_payment` or `application`.
    pub step: &'static str,
    pub done: bool,
}

/// A transfer to an address of the account that is no payment of any invoice.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = UnattributedDeposit)]
pub struct DepositView {
    pub id: String,
    #[schema(example = "unattributed_deposit", pattern = "^unattributed_deposit$")]
    pub object: &'static str,
    pub livemode: bool,
    /// `open` or `dismissed`.
    pub status: &'static str,
    /// `no_lease`, `ambiguous` or `unknown_token`.
    pub reason: &'static str,
    /// The asset's code; of a token that nobody knows, its contract.
    pub asset: String,
    #[schema(required)]
    pub symbol: Option<String>,
    pub network: String,
    /// Whole tokens; base units of a token that nobody knows.
    pub amount: String,
    pub tx_hash: String,
    pub index: i64,
    #[schema(required)]
    pub from: Option<String>,
    pub to: String,
    #[schema(required, format = DateTime)]
    pub block_time: Option<String>,
    #[schema(format = DateTime)]
    pub first_seen_at: String,
    /// Why it was dismissed.
    #[schema(required)]
    pub note: Option<String>,
}

/// An entry of the audit log.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditEvent)]
pub struct AuditEventView {
    pub id: String,
    #[schema(example = "audit_event", pattern = "^audit_event$")]
    pub object: &'static str,
    #[schema(format = DateTime)]
    pub created_at: String,
    pub actor: AuditActorView,
    #[schema(example = "change.requested")]
    pub action: &'static str,
    /// `test` or `live`; null where no mode is involved.
    #[schema(required)]
    pub mode: Option<&'static str>,
    pub target: AuditTargetView,
    #[schema(required)]
    pub ip: Option<String>,
    #[schema(required)]
    pub user_agent: Option<String>,
    #[schema(required)]
    pub session: Option<String>,
    #[schema(required)]
    pub request_id: Option<String>,
    #[schema(value_type = Object)]
    pub details: Value,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub struct AuditActorView {
    /// `user`, `api_key`, `cli` or `system`.
    pub r#type: &'static str,
    #[schema(required)]
    pub id: Option<String>,
    /// A user's address, a key's name or hint; looked up when it is read.
    pub label: String,
}

/// What something was done to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AuditTarget)]
pub struct AuditTargetView {
    pub r#type: &'static str,
    pub id: String,
}
