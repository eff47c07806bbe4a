//! Mails to payers: words, rendering, and the address they go to, sealed.

pub mod address;
mod free_text;
mod html;
pub mod locale;
pub mod render;
pub mod team;
mod words;

pub use locale::Locale;
