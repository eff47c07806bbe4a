//! SQL, once, for SQLite and PostgreSQL.
//!
//! Statements are written with `$1` placeholders over TEXT, BIGINT and BLOB/BYTEA columns, so that one text
//! and one row type serve both engines. Two habits keep it so: a computed integer is cast
//! (`CAST(sum(x) AS BIGINT)`, because PostgreSQL widens sums to NUMERIC and reads `1` as a 32-bit integer),
//! and a unit of work in which a statement failed is only ever rolled back (PostgreSQL insists; here SQLite
//! does too). Where a conflict is expected, `ON CONFLICT DO NOTHING` says so without failing.

mod sql;
mod stored;
mod tables;

#[doc(hidden)]
pub mod testing;

pub use sql::{
    Db, DbConfig, Dialect, Filter, OneReplica, Page, Position, Queries, ReadSource, Reader, Record,
    ReplicaFound, ReplicaUse, Retryable, Row, Schema, StoreError, Tx, Unusable, Unwritable, Val,
    Write, check_file, copy_file, merged, replica_name, server_urls,
};
pub use stored::{Metadata, RefundDetail};
pub use tables::{
    accounts, applications, attempts, audit, bindings, books, ceremonies, changes, confirmations,
    credits, customers, deliveries, destinations, digests, dismissals, events, home, idempotency,
    installation, invites, invoices, journal, keys, leases, ledger_keys, link_mails, links, lists,
    member_notices, members, networks, notices, passkeys, payments, payout_looks, plans, queues,
    refunds, retention, reviews, screenings, sealed, sessions, sign_in_links, subscriptions, sums,
    timers, transfers, users,
};

/// A statement's arguments, each turned into a [`Val`].
macro_rules! vals {
    ($($value:expr),* $(,)?) => {
        [$($crate::Val::from($value)),*]
    };
}
pub(crate) use vals;

/// A write that touched another number of rows than it was meant to is a defect, never silence.
pub(crate) fn touched(rows: u64, expected: u64, table: &str) -> Result<(), StoreError> {
    if rows == expected {
        Ok(())
    } else {
        Err(StoreError::Other(format!(
            "a write to {table} touched {rows} rows instead of {expected}"
        )))
    }
}
