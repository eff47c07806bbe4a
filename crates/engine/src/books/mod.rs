//! The books: what was posted, what arrived and what invoices show, held against each other. Reads only, some rows at
//! a time.

mod amounts;
mod balances;
mod csv;
mod pieces;
mod prefetch;
mod query;
mod report;
mod sent_refunds;
mod signed;
mod views;

pub use balances::{BalanceView, BalancesView, balances};
pub use pieces::{Form, Pieces};
pub use query::BooksRequest;
pub use report::Walk;
pub use views::{AssetView, DiscrepancyView, Figure, ReportView};
