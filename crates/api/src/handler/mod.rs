//! What every handler is made of: who calls, how requests are read, how lists are paged and answers given.

pub mod access;
pub mod answers;
pub mod callers;
pub mod client;
pub mod cookies;
pub mod errors;
pub mod failure;
pub mod got;
pub mod min_seq;
pub mod origin;
pub mod packed;
pub mod pager;
pub mod pages;
pub mod posted;
pub mod request;
pub mod session;
pub mod state;
pub mod words;

pub use answers::{Answered, List, shown, text};
pub use callers::{Counted, Id, Payer, Secret, TestSecret};
pub use client::Client;
pub use errors::Refusals;
pub use failure::Failure;
pub use got::{Got, KeyParam};
pub use pager::{Listing, PageParams};
pub use posted::{IdempotencyKey, Posted};
pub use session::ModeHeaders;
pub use state::{Api, HeldKey};
