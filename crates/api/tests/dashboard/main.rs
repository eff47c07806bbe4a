//! The dashboard's contract, rule by rule, against the real server on every database.

#[macro_use]
#[path = "../contract/harness/mod.rs"]
#[expect(
    dead_code,
    reason = "the harness of all contract tests; these need a part of it"
)]
mod harness;

mod browser;
mod passkeys;

mod api_keys;
mod changes;
mod ground_rules;
mod home;
mod resources;
mod rights;
mod sessions;
