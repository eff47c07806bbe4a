//! What merchants' servers call, a file for each resource: its requests, its handlers and its routes.

pub mod customers;
pub mod events;
pub mod invoices;
pub mod merchant;
pub mod payment_links;
pub mod payments;
pub mod plans;
pub mod reconciliation;
pub mod refunds;
pub mod subscriptions;
pub mod test_helpers;
pub mod webhook_deliveries;
