//! Organisations and the people in them: who is signed in, who may do what, invitations.

pub mod attempts;
pub mod audit_log;
pub mod ceremonies;
pub mod confirmations;
pub mod confirming;
pub mod emails;
pub mod entry;
pub mod founding;
pub mod invites;
pub mod link_mails;
pub mod links;
pub mod notices;
pub mod organizations;
pub mod own_log;
pub mod passkeys;
pub mod sessions;
pub mod tokens;
pub mod totp;
pub mod unit;
pub mod users;
