//! Organisations and the people in them: who is signed in, who may do what, invitations.

pub mod applications;
pub mod attempts;
pub mod audit_log;
pub mod ceremonies;
pub mod command_line;
pub mod confirmations;
pub mod confirming;
pub mod emails;
pub mod entry;
pub mod founding;
pub mod invites;
pub mod inviting;
pub mod link_mails;
pub mod links;
pub mod members;
pub mod notices;
pub mod operator;
pub mod organizations;
pub mod own_log;
pub mod passkeys;
pub mod sessions;
pub mod tokens;
pub mod totp;
pub mod unit;
pub mod users;
