//! The domain of Till: money, assets, invoices, payments, ledger, events, webhooks.
//!
//! Pure by rule: no I/O, no clock, no randomness. Time, ids and prices are arguments; answers are data.

pub mod actor;
pub mod application;
pub mod asset;
pub mod attribution;
pub mod binding;
pub mod calendar;
pub mod chain;
pub mod change;
pub mod country;
pub mod credit;
pub mod digest;
pub mod email;
pub mod error;
pub mod event;
pub mod exchange;
pub mod id;
pub mod invoice;
pub mod ledger;
pub mod limits;
pub mod link;
pub mod member;
pub mod money;
pub mod organization;
pub mod page;
pub mod page_link;
pub mod payment;
pub mod plan;
pub mod pricing;
pub mod reconciliation;
pub mod refund;
pub mod role;
pub mod scope;
pub mod screening;
pub mod subject;
pub mod subscription;
pub mod text;
pub mod time;
pub mod timer;
pub mod webhook;
