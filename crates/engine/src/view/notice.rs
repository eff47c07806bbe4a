//! What a payer is told about the address he left.

use serde::Serialize;
use utoipa::ToSchema;

/// The address a receipt goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PayerNotice)]
pub struct NoticeView {
    #[schema(example = "payer_notice", pattern = "^payer_notice$")]
    pub object: &'static str,
    /// Masked: whoever loads the page does not learn it.
    #[schema(example = "a***@example.com")]
    pub email: String,
    /// The language the mails are written in.
    #[schema(example = "en")]
    pub locale: String,
    /// `scheduled` or `sent`.
    #[schema(example = "scheduled")]
    pub status: String,
}
