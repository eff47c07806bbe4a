//! Organisations and the people in them: who is signed in, who may do what, invitations.

pub mod api_keys;
pub mod audit_log;
pub mod changes;
pub mod confirmations;
pub mod deposits;
pub mod destinations;
pub mod emails;
pub mod home;
pub mod invites;
pub mod networks;
pub mod notices;
pub mod organizations;
pub mod sessions;
pub mod tokens;
pub mod unit;
pub mod users;
