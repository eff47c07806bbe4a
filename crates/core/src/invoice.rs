//! An invoice's status as a pure function of its facts.
//!
//! Nothing here remembers a transition. The terms, the payments with their finality, the verdicts on holds,
//! the cancellation and the clock go in; the status, what was received and where each payment stands come
//! out. A reorganisation changes a fact (a payment is gone), and nothing else is special about it.

mod assess;
mod excess;
mod judge;
mod model;
mod review;
mod weigh;
mod withdraw;

#[cfg(test)]
mod tests;

pub use assess::assess;
pub use judge::judge;
pub use model::{
    Assessment, Deposit, Facts, Part, PayOption, Purpose, Review, Standing, Status, Summary, Terms,
};
pub use review::{Decision, Question, Undecidable, Via, decide};
pub use withdraw::withdraw;
