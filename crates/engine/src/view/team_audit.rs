//! The audit log, as members read it.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Who changed what, and from where.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditEvent)]
pub struct AuditEventView {
    pub id: String,
    #[schema(example = "audit_event", pattern = "^audit_event$")]
    pub object: &'static str,
    #[schema(format = DateTime)]
    pub created_at: String,
    pub actor: AuditActorView,
    pub action: &'static str,
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

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub struct AuditActorView {
    /// `user`, `api_key`, `cli` or `system`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[schema(required)]
    pub id: Option<String>,
    /// What people know it by.
    #[schema(required)]
    pub label: Option<String>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditTarget)]
pub struct AuditTargetView {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
}
