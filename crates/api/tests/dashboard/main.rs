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
mod confirmed;
mod given;

mod api_keys;
mod applications;
mod changes;
mod confirmations;
mod described;
mod examples;
mod ground_rules;
mod home;
mod inviting;
mod let_in;
mod links;
mod members;
mod operator;
mod organizations;
mod pages;
mod passkeys;
mod resources;
mod retention;
mod rights;
mod rotation;
mod second_factor;
mod sessions;
mod sign_in;
mod stopped;
mod told;
mod totp;
mod unproven;
mod user;
