//! The dashboard's contract, rule by rule, against the real server on every database.

#[macro_use]
#[path = "../contract/harness/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the harness of all contract tests; these need a part of it"
)]
mod harness;

mod authenticator;
mod browser;

mod confirmations;
mod described;
mod ground_rules;
mod links;
mod organizations;
mod passkeys;
mod retention;
mod rotation;
mod second_factor;
mod sessions;
mod sign_in;
mod totp;
mod user;
