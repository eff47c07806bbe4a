//! The dashboard's contract, rule by rule, against the real server on every database.

#[macro_use]
#[path = "../contract/harness/mod.rs"]
#[expect(
    dead_code,
    reason = "the harness of all contract tests; these need a part of it"
)]
mod harness;

mod browser;
mod confirmed;

mod applications;
mod ground_rules;
mod inviting;
mod members;
mod operator;
mod sessions;
