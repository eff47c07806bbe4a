//! What every endpoint stands on: who calls, what is shared, how lists are paged and answers given.

pub mod answers;
pub mod callers;
pub mod client;
pub mod cursor;
pub mod state;
#[expect(
    dead_code,
    reason = "requests are described for the document and never built"
)]
pub mod words;
