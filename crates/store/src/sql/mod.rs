//! Sending statements to either engine: connections, units of work, many rows at once, migrations.

mod backoff;
mod checkpoint;
mod config;
mod conn;
mod copies;
mod dialect;
mod error;
mod group;
pub(crate) mod listing;
mod look_up;
mod many;
mod migrate;
mod migration;
pub(crate) mod packed;
mod postgres;
mod reader;
mod rows;
mod servers;
mod sqlite;
mod table;
mod tx;
mod write;

pub use config::DbConfig;
pub use conn::Queries;
pub use copies::{check_file, copy_file};
pub use dialect::{Db, Dialect};
pub use error::{Retryable, StoreError, Unwritable};
pub use listing::{Filter, Page};
pub(crate) use look_up::{LookUp, PerKey};
pub use migrate::Schema;
pub(crate) use migrate::{MIGRATIONS, apply};
pub use reader::Reader;
pub use rows::{Row, Val};
pub use servers::server_urls;
pub use table::Record;
pub(crate) use table::{Cells, Field, columns, corrupt, select, table};
pub use tx::Tx;
pub(crate) use write::Conflict;
#[cfg(test)]
pub(crate) use write::chunks;
pub use write::{Write, merged};
