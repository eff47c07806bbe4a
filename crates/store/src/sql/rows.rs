//! Values that go into statements and rows that come out of them.

use std::sync::Arc;

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo, Postgres};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Encode, FromRow, Type};

/// A statement's argument. PostgreSQL wants to know the type of what is bound even when it is null, so an
/// absent value of a known type has a null of that type (`Option` converts to it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val {
    /// Shared, not copied, with SQLite's thread, and by the many rows that hold the same.
    Text(Arc<str>),
    Int(i64),
    Blob(Vec<u8>),
    NullText,
    NullInt,
    NullBlob,
    /// A null whose type PostgreSQL infers from where it stands, for instance the column it is inserted into.
    Null,
}

/// A row that both engines can produce: `#[derive(sqlx::FromRow)]` over `String`, `i64`, `Vec<u8>` and their
/// `Option`s, or a tuple of those.
pub trait Row: Send + Unpin + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}

impl<T> Row for T where T: Send + Unpin + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>
{}

impl From<&str> for Val {
    fn from(value: &str) -> Val {
        Val::Text(value.into())
    }
}

impl From<&String> for Val {
    fn from(value: &String) -> Val {
        Val::Text(value.as_str().into())
    }
}

impl From<String> for Val {
    fn from(value: String) -> Val {
        Val::Text(value.into())
    }
}

impl From<&Arc<str>> for Val {
    fn from(value: &Arc<str>) -> Val {
        Val::Text(Arc::clone(value))
    }
}

impl From<i64> for Val {
    fn from(value: i64) -> Val {
        Val::Int(value)
    }
}

impl From<i32> for Val {
    fn from(value: i32) -> Val {
        Val::Int(value.into())
    }
}

impl From<u32> for Val {
    fn from(value: u32) -> Val {
        Val::Int(value.into())
    }
}

/// There are no booleans in the schema: they are the integers 0 and 1.
impl From<bool> for Val {
    fn from(value: bool) -> Val {
        Val::Int(value.into())
    }
}

impl From<Vec<u8>> for Val {
    fn from(value: Vec<u8>) -> Val {
        Val::Blob(value)
    }
}

impl From<&[u8]> for Val {
    fn from(value: &[u8]) -> Val {
        Val::Blob(value.to_vec())
    }
}

impl<const N: usize> From<[u8; N]> for Val {
    fn from(value: [u8; N]) -> Val {
        Val::Blob(value.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for Val {
    fn from(value: &[u8; N]) -> Val {
        Val::Blob(value.to_vec())
    }
}

/// Types whose absence is a null of a known type.
trait Column: Into<Val> {
    const NULL: Val;
}

macro_rules! columns {
    ($null:ident: $($ty:ty),+) => {
        $(impl Column for $ty {
            const NULL: Val = Val::$null;
        })+
    };
}

columns!(NullText: &str, &String, String);
columns!(NullInt: i64, i32, u32, bool);
columns!(NullBlob: Vec<u8>, &[u8]);

impl<T: Column> From<Option<T>> for Val {
    fn from(value: Option<T>) -> Val {
        value.map_or(T::NULL, Into::into)
    }
}

pub(crate) fn sqlite_arguments<'v>(
    values: impl Iterator<Item = &'v Val>,
) -> Result<SqliteArguments, BoxDynError> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.size_hint().0, 0);
    for value in values {
        match value {
            Val::Text(value) => arguments.add(Arc::clone(value))?,
            Val::Int(value) => arguments.add(*value)?,
            Val::Blob(value) => arguments.add(value.as_slice())?,
            Val::NullText | Val::NullInt | Val::NullBlob | Val::Null => {
                arguments.add(None::<i64>)?
            }
        }
    }
    Ok(arguments)
}

pub(crate) fn postgres_arguments<'v>(
    values: impl Iterator<Item = &'v Val>,
) -> Result<PgArguments, BoxDynError> {
    let mut arguments = PgArguments::default();
    arguments.reserve(values.size_hint().0, 0);
    for value in values {
        match value {
            Val::Text(value) => arguments.add(&**value)?,
            Val::Int(value) => arguments.add(*value)?,
            Val::Blob(value) => arguments.add(value.as_slice())?,
            Val::NullText => arguments.add(None::<&str>)?,
            Val::NullInt => arguments.add(None::<i64>)?,
            Val::NullBlob => arguments.add(None::<&[u8]>)?,
            Val::Null => arguments.add(UntypedNull)?,
        }
    }
    Ok(arguments)
}

/// The rows' columns, an array each. What a column holds is told by its first value whose type is known.
pub(crate) fn add_columns(
    arguments: &mut PgArguments,
    rows: &[Vec<Val>],
) -> Result<(), BoxDynError> {
    let width = rows.first().map_or(0, Vec::len);
    arguments.reserve(width, 0);
    for column in 0..width {
        let values = || rows.iter().map(|row| &row[column]);
        let known = values().find(|value| **value != Val::Null);
        match known.unwrap_or(&Val::NullText) {
            Val::Text(_) | Val::NullText | Val::Null => {
                arguments.add(array(values(), Val::text)?)?
            }
            Val::Int(_) | Val::NullInt => arguments.add(array(values(), Val::int)?)?,
            Val::Blob(_) | Val::NullBlob => arguments.add(array(values(), Val::blob)?)?,
        }
    }
    Ok(())
}

fn array<'v, T>(
    values: impl Iterator<Item = &'v Val>,
    read: impl Fn(&'v Val) -> Option<T>,
) -> Result<Vec<Option<T>>, BoxDynError> {
    values
        .map(|value| match value {
            Val::NullText | Val::NullInt | Val::NullBlob | Val::Null => Ok(None),
            value => read(value)
                .map(Some)
                .ok_or_else(|| "a column holds values of different types".into()),
        })
        .collect()
}

impl Val {
    fn text(&self) -> Option<&str> {
        match self {
            Val::Text(value) => Some(value),
            _ => None,
        }
    }

    fn int(&self) -> Option<i64> {
        match self {
            Val::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn blob(&self) -> Option<&[u8]> {
        match self {
            Val::Blob(value) => Some(value),
            _ => None,
        }
    }
}

/// Type 0 is how the protocol leaves a parameter's type to the server.
struct UntypedNull;

impl Type<Postgres> for UntypedNull {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for UntypedNull {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}
