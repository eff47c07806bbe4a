//! What the dashboard shows of API keys.

use serde::Serialize;
use utoipa::ToSchema;

/// A key of the API. Of a secret one only its making shows the whole.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub struct ApiKeyView {
    pub id: String,
    #[schema(example = "api_key", pattern = "^api_key$")]
    pub object: &'static str,
    pub livemode: bool,
    /// `secret` or `publishable`.
    pub kind: String,
    #[schema(required)]
    pub name: Option<String>,
    /// How it begins and ends.
    pub hint: String,
    /// The whole key: of a publishable one always, of a secret one only in the answer that made it.
    #[schema(required)]
    pub key: Option<String>,
    pub created_by: KeyCreatorView,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Right to a minute.
    #[schema(required, format = DateTime)]
    pub last_used_at: Option<String>,
    /// Since when it counts as exposed, because it was seen in a URL.
    #[schema(required, format = DateTime)]
    pub exposed_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Whose role decides what a secret key may do.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ApiKeyCreator)]
pub struct KeyCreatorView {
    /// `user`, or `cli` for a key from the command line, which may do everything.
    pub r#type: &'static str,
    #[schema(required)]
    pub id: Option<String>,
    #[schema(required)]
    pub email: Option<String>,
}
