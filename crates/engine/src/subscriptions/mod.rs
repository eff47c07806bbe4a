//! Subscriptions: plans, and who is charged by them.

pub mod plans;
