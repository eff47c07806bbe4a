//! The HTTP contract, rule by rule, against the real server on every database. The modules mirror the URLs.

#[macro_use]
mod harness;

mod addresses;
mod assets;
mod attempts;
mod auth;
mod branding;
mod checkout;
mod claims;
mod concurrency;
mod credit;
mod credit_once;
mod customers;
mod described_requests;
mod errors;
mod fairness;
mod idempotency;
mod invoices;
mod links;
mod lists;
mod lookup;
mod money;
mod pages;
mod patience;
mod payments;
mod periods;
mod plans;
mod reconciliation;
mod refund_payouts;
mod refund_reviews;
mod refunds;
mod reviews;
mod rotation;
mod screening;
mod settings;
mod statuses;
mod stream;
mod subscriptions;
mod test_helpers;
mod wallets;
mod webhooks;
mod year;
