//! Organisations and the people in them: who is signed in, who may do what, invitations.

pub mod confirmations;
pub mod emails;
pub mod invites;
pub mod organizations;
pub mod sessions;
pub mod tokens;
pub mod unit;
pub mod users;
