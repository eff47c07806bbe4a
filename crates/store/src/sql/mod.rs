//! Sending statements to either engine: connections, units of work, many rows at once, migrations.

mod checkpoint;
mod conn;
mod dialect;
mod error;
mod group;
mod insert;
pub(crate) mod listing;
mod migrate;
mod reader;
mod rows;
mod tx;

pub use conn::Queries;
pub use dialect::{Db, DbConfig, Dialect};
pub use error::{Retryable, StoreError};
pub use insert::Insert;
pub use listing::Page;
pub use reader::Reader;
pub use rows::{Row, Val};
pub use tx::Tx;
