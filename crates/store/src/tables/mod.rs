//! One file per table, or for the few that are always written together.

pub mod accounts;
pub mod audit;
pub mod bindings;
pub mod books;
pub mod credits;
pub mod customers;
pub mod deliveries;
pub mod destinations;
pub mod events;
pub mod idempotency;
pub mod installation;
pub mod invoices;
pub mod journal;
pub mod keys;
pub mod leases;
pub mod links;
pub mod lists;
pub mod networks;
pub mod notices;
pub mod payments;
pub mod payout_looks;
pub mod plans;
#[cfg(test)]
mod query_plans;
pub mod refunds;
pub mod retention;
pub mod reviews;
pub mod screenings;
pub mod sealed;
pub mod subscriptions;
pub mod sums;
pub mod timers;
pub mod transfers;
