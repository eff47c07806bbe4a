//! SQL, once, for SQLite and PostgreSQL.
//!
//! Statements are written with `$1` placeholders over TEXT, BIGINT and BLOB/BYTEA columns, so that one text
//! and one row type serve both engines. Two habits keep it so: a computed integer is cast
//! (`CAST(sum(x) AS BIGINT)`, because PostgreSQL widens sums to NUMERIC and reads `1` as a 32-bit integer),
//! and a unit of work in which a statement failed is only ever rolled back (PostgreSQL insists; here SQLite
//! does too). Where a conflict is expected, `ON CONFLICT DO NOTHING` says so without failing.

mod dialect;
mod error;
mod group;
mod insert;
mod migrate;
mod rows;
mod tx;

#[doc(hidden)]
pub mod testing;

pub use dialect::{Db, DbConfig, Engine};
pub use error::{Retryable, StoreError};
pub use rows::{Row, Val};
pub use tx::{Queries, Reader, Tx};
