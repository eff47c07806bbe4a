//! What payers' pages ask for.

pub mod lookup;
pub mod notify;
mod page;
mod pick;
pub mod session;
pub mod stream;
pub mod wallets;

pub use page::{hosted_config, retrieve, shown};
pub use pick::pick_option;
