//! What can go wrong below, in the terms in which those above must act.

use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::postgres::PgDatabaseError;

/// An error of the store. It is cloneable because units that commit together share one outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// SQLite was busy, or the unit was lost with the group it would have committed in. Nothing was kept.
    #[error("the database is busy")]
    Busy,
    /// PostgreSQL chose this unit to lose a conflict or a deadlock. Nothing was kept.
    #[error("the unit of work lost a conflict with another")]
    Serialization,
    /// A row with this key exists. On both engines `constraint` reads `table(column,column)`, columns in the
    /// order of the key; see [`StoreError::violates`].
    #[error("a unique key is taken: {constraint}")]
    Unique { constraint: String },
    /// Another unit held a row for longer than the wait allowed. `of` is the table or index it was waited for in,
    /// where the engine says so.
    #[error("a row of {} stayed locked by another unit of work", .of.as_deref().unwrap_or("some table"))]
    LockTimeout { of: Option<String> },
    /// No connection, or one that broke. If it broke during a commit, the outcome is not known.
    #[error("the database is not available")]
    Unavailable,
    /// The database answers and takes nothing in. Nothing was kept.
    #[error("{0}")]
    Unwritable(Unwritable),
    /// A stored value that cannot be what its column promises.
    #[error("{table}.{column} of {id} cannot be read: {detail}")]
    Corrupt {
        table: String,
        column: String,
        id: String,
        detail: String,
    },
    /// The schema is not the one this program was built with.
    #[error("schema: {0}")]
    Schema(String),
    /// Anything else: a defect in a statement, a broken constraint other than a key.
    #[error("database: {0}")]
    Other(String),
}

/// Why a database that answers takes nothing in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error("the database's disk is full; make room on it")]
    NoRoom,
    #[error("the database's disk takes nothing in; is it full or failing?")]
    Disk,
    #[error("the database is read-only; make it writable, or connect to one that is")]
    ReadOnly,
    #[error("the database is a read-only replica; connect to the primary")]
    Replica,
}

/// Whether running the same unit of work again can succeed and cannot act twice.
pub trait Retryable {
    fn retryable(&self) -> bool;

    /// Set where the database takes nothing in.
    fn unwritable(&self) -> Option<Unwritable> {
        None
    }
}

impl Retryable for StoreError {
    fn retryable(&self) -> bool {
        matches!(self, StoreError::Busy | StoreError::Serialization)
    }

    fn unwritable(&self) -> Option<Unwritable> {
        match self {
            StoreError::Unwritable(why) => Some(*why),
            _ => None,
        }
    }
}

impl StoreError {
    pub fn corrupt(table: &str, column: &str, id: &str, detail: impl ToString) -> StoreError {
        StoreError::Corrupt {
            table: table.into(),
            column: column.into(),
            id: id.into(),
            detail: detail.to_string(),
        }
    }

    /// Whether this is a taken key of `key`, which is either a table (`"refunds"`: any of its keys) or a key
    /// with its columns in order (`"refunds(account_id,number)"`).
    ///
    /// A unique index over an expression has no columns to name: SQLite reports the index's name, PostgreSQL
    /// `table(expression)`. Make such an index the only one of its table, or avoid it.
    pub fn violates(&self, key: &str) -> bool {
        let StoreError::Unique { constraint } = self else {
            return false;
        };
        constraint == key || constraint.split('(').next() == Some(key)
    }
}

impl StoreError {
    /// Whether a row of this table stayed locked, or a key of it was being taken by another unit for too long.
    pub fn waited_for(&self, table: &str) -> bool {
        let StoreError::LockTimeout { of: Some(of) } = self else {
            return false;
        };
        // Indexes are called after their tables.
        let rest = of.strip_prefix(table);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        let unavailable = |cause: &dyn std::fmt::Display| {
            tracing::warn!(%cause, "the database is not available; callers retry: check that it runs, and the network to it");
            StoreError::Unavailable
        };
        match error {
            sqlx::Error::Database(error) => {
                from_database(&*error).unwrap_or_else(|| unavailable(&error))
            }
            error @ (sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed) => unavailable(&error),
            // A record that knows its table, column and id says so itself.
            sqlx::Error::Decode(error) if error.is::<StoreError>() => match error.downcast() {
                Ok(error) => *error,
                Err(error) => StoreError::Other(error.to_string()),
            },
            // The driver knows the column only; those who ask know the table and the id and say so themselves.
            sqlx::Error::ColumnDecode { index, source } => {
                StoreError::corrupt("?", &index, "?", source)
            }
            error => StoreError::Other(error.to_string()),
        }
    }
}

/// Nothing when the database itself is what failed.
fn from_database(error: &dyn DatabaseError) -> Option<StoreError> {
    if error.kind() == ErrorKind::UniqueViolation {
        return Some(StoreError::Unique {
            constraint: constraint(error),
        });
    }
    let code = error.code().unwrap_or_default();
    match error.try_downcast_ref::<PgDatabaseError>() {
        Some(said) => match &*code {
            "40001" | "40P01" => Some(StoreError::Serialization),
            "55P03" => Some(StoreError::LockTimeout {
                of: said.r#where().and_then(relation),
            }),
            "25006" => Some(StoreError::Unwritable(Unwritable::ReadOnly)),
            "53100" => Some(StoreError::Unwritable(Unwritable::NoRoom)),
            // A statement or idle transaction that ran out of time.
            "57014" | "25P03" => None,
            code if ["08", "53", "57", "58"]
                .iter()
                .any(|class| code.starts_with(class)) =>
            {
                None
            }
            _ => Some(StoreError::Other(format!("{error} (SQLSTATE {code})"))),
        },
        None => from_sqlite(code.parse().unwrap_or_default())
            .unwrap_or_else(|| Some(StoreError::Other(error.to_string()))),
    }
}

/// The outer `None` is for codes that say nothing of the database's health.
fn from_sqlite(code: i32) -> Option<Option<StoreError>> {
    let unwritable = |why| Some(Some(StoreError::Unwritable(why)));
    match code {
        SQLITE_IOERR_WRITE | SQLITE_IOERR_FSYNC | SQLITE_IOERR_TRUNCATE => {
            return unwritable(Unwritable::Disk);
        }
        _ => {}
    }
    // Extended codes carry the primary one in their lowest byte.
    match code & 0xff {
        SQLITE_BUSY | SQLITE_LOCKED => Some(Some(StoreError::Busy)),
        SQLITE_READONLY => unwritable(Unwritable::ReadOnly),
        SQLITE_FULL => unwritable(Unwritable::NoRoom),
        SQLITE_IOERR | SQLITE_CANTOPEN => Some(None),
        _ => None,
    }
}

const SQLITE_BUSY: i32 = 5;
const SQLITE_LOCKED: i32 = 6;
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_IOERR_WRITE: i32 = 10 | (3 << 8);
const SQLITE_IOERR_FSYNC: i32 = 10 | (4 << 8);
const SQLITE_IOERR_TRUNCATE: i32 = 10 | (6 << 8);
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;

fn constraint(error: &dyn DatabaseError) -> String {
    match error.try_downcast_ref::<PgDatabaseError>() {
        Some(error) => postgres_key(error.table(), error.detail())
            .or_else(|| error.constraint().map(str::to_owned))
            .unwrap_or_default(),
        None => sqlite_key(error.message()),
    }
}

/// `Key (a, b)=(1, 2) already exists.` names the columns between its first parenthesis and `)=(`, in every
/// language the server may speak. The values after it are of no use and may be secret.
fn postgres_key(table: Option<&str>, detail: Option<&str>) -> Option<String> {
    let table = table?;
    let columns = detail
        .and_then(|detail| detail.split_once(")=("))
        .and_then(|(key, _)| key.split_once('('))
        .map(|(_, columns)| columns.replace(", ", ","));
    Some(match columns {
        Some(columns) => format!("{table}({columns})"),
        None => table.to_owned(),
    })
}

/// `while locking tuple (0,1) in relation "invoices"` names what was waited for last, in every language the
/// server may speak.
fn relation(context: &str) -> Option<String> {
    let line = context.lines().next()?;
    line.rsplit('"').nth(1).map(str::to_owned)
}

/// `UNIQUE constraint failed: t.a, t.b`, or `UNIQUE constraint failed: index 'name'` for an expression.
fn sqlite_key(message: &str) -> String {
    let (_, key) = message
        .split_once("constraint failed: ")
        .unwrap_or(("", message));
    if let Some(index) = key.strip_prefix("index ") {
        return index.trim_matches('\'').to_owned();
    }
    let mut table = "";
    let mut columns = Vec::new();
    for part in key.split(", ") {
        let (owner, column) = part.split_once('.').unwrap_or((part, ""));
        table = owner;
        columns.push(column);
    }
    format!("{table}({})", columns.join(","))
}

/// Whether the connection itself is gone, as opposed to a statement that failed on a sound one.
pub(crate) fn connection_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        sqlx::Error::Database(error) => {
            error
                .try_downcast_ref::<PgDatabaseError>()
                .is_some_and(|error| {
                    let code = error.code();
                    code.starts_with("08")
                        || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(&code)
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_name_a_key_alike() {
        let sqlite = sqlite_key("UNIQUE constraint failed: refunds.account_id, refunds.number");
        let postgres = postgres_key(
            Some("refunds"),
            Some("Key (account_id, number)=(acct_1, (odd)=(value) already exists."),
        );
        assert_eq!(sqlite, "refunds(account_id,number)");
        assert_eq!(postgres.as_deref(), Some("refunds(account_id,number)"));
    }

    #[test]
    fn a_key_matches_by_table_or_by_columns_and_by_nothing_less() {
        let error = StoreError::Unique {
            constraint: "refunds(account_id,number)".into(),
        };
        assert!(error.violates("refunds"));
        assert!(error.violates("refunds(account_id,number)"));
        assert!(!error.violates("refund"));
        assert!(!error.violates("refunds(account_id)"));
        assert!(!StoreError::Busy.violates("refunds"));
    }

    #[test]
    fn a_wait_is_known_by_what_was_waited_for() {
        let context = "while inserting index tuple (0,7) in relation \"idempotency_keys_pkey\"\nSQL statement";
        let waited = StoreError::LockTimeout {
            of: relation(context),
        };
        assert!(waited.waited_for("idempotency_keys"));
        assert!(!waited.waited_for("keys"));
        assert!(!waited.waited_for("invoices"));
        assert!(!StoreError::LockTimeout { of: None }.waited_for("invoices"));
        assert_eq!(relation("while doing something"), None);
    }

    #[test]
    fn an_expression_index_is_known_by_its_name() {
        assert_eq!(
            sqlite_key("UNIQUE constraint failed: index 'one_default'"),
            "one_default"
        );
    }
}
