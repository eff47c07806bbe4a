//! Mails to payers: words, rendering, and the address they go to, sealed.

pub mod address;
mod html;
pub mod locale;
pub mod render;
mod words;

pub use locale::Locale;

use serde::{Deserialize, Serialize};

use crate::view::TokenAmount;

/// What a refund's notice tells; never how to claim it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefundDetail {
    pub refunded: TokenAmount,
    pub created_at: i64,
}
