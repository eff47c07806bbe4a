//! One list per table: the record's fields, its columns, what is written and what is read all come from it.

use sqlx::error::BoxDynError;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, ValueRef as _};
use till_core::actor::{Action, Actor};
use till_core::application::ApplicationStatus;
use till_core::asset::{Family, Mode};
use till_core::calendar;
use till_core::change::{ChangeKind, ChangeStatus};
use till_core::event::EventType;
use till_core::invoice::{Decision, Status, Via};
use till_core::ledger::Group;
use till_core::link::{AmountType, Unit};
use till_core::money::{Currency, Units};
use till_core::payment::{AttributedBy, Level, PaymentStatus, Verdict};
use till_core::plan::PlanStatus;
use till_core::refund::{RefundReason, RefundStatus, ReviewReason};
use till_core::role::Role;
use till_core::screening::Finding;
use till_core::subscription;
use till_core::webhook::DeliveryStatus;

use crate::{Row, StoreError, Val};

/// A table's record. Its statements name all columns in this order, and rows are read by position.
pub trait Record: Row + Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];

    fn values(&self) -> Vec<Val>;

    /// From the values of all columns, in their order.
    fn read(cells: &impl Cells) -> Result<Self, sqlx::Error>;
}

/// `a, b, c`
pub(crate) fn columns<T: Record>() -> String {
    T::COLUMNS.join(", ")
}

/// `SELECT a, b, c FROM t`
pub(crate) fn select<T: Record>() -> String {
    format!("SELECT {} FROM {}", columns::<T>(), T::TABLE)
}

/// The values of a row of either engine, by position.
pub trait Cells {
    fn is_null(&self, at: usize) -> Result<bool, BoxDynError>;
    fn text(&self, at: usize) -> Result<&str, BoxDynError>;
    fn int(&self, at: usize) -> Result<i64, BoxDynError>;
    fn blob(&self, at: usize) -> Result<&[u8], BoxDynError>;
}

macro_rules! cells {
    ($row:ty) => {
        impl Cells for $row {
            fn is_null(&self, at: usize) -> Result<bool, BoxDynError> {
                Ok(self.try_get_raw(at)?.is_null())
            }

            fn text(&self, at: usize) -> Result<&str, BoxDynError> {
                Ok(self.try_get(at)?)
            }

            fn int(&self, at: usize) -> Result<i64, BoxDynError> {
                Ok(self.try_get(at)?)
            }

            fn blob(&self, at: usize) -> Result<&[u8], BoxDynError> {
                Ok(self.try_get(at)?)
            }
        }
    };
}
cells!(SqliteRow);
cells!(PgRow);

/// What a column holds, in the domain's types.
pub trait Field: Sized {
    /// A null of the column's type.
    const NULL: Val;

    fn read(cells: &impl Cells, at: usize) -> Result<Self, BoxDynError>;
    fn write(&self) -> Val;
}

impl<T: Field> Field for Option<T> {
    const NULL: Val = T::NULL;

    fn read(cells: &impl Cells, at: usize) -> Result<Option<T>, BoxDynError> {
        match cells.is_null(at)? {
            true => Ok(None),
            false => T::read(cells, at).map(Some),
        }
    }

    fn write(&self) -> Val {
        self.as_ref().map_or(T::NULL, T::write)
    }
}

impl Field for String {
    const NULL: Val = Val::NullText;

    fn read(cells: &impl Cells, at: usize) -> Result<String, BoxDynError> {
        Ok(cells.text(at)?.to_owned())
    }

    fn write(&self) -> Val {
        Val::from(self)
    }
}

impl Field for Vec<u8> {
    const NULL: Val = Val::NullBlob;

    fn read(cells: &impl Cells, at: usize) -> Result<Vec<u8>, BoxDynError> {
        Ok(cells.blob(at)?.to_vec())
    }

    fn write(&self) -> Val {
        Val::from(self.as_slice())
    }
}

impl Field for i64 {
    const NULL: Val = Val::NullInt;

    fn read(cells: &impl Cells, at: usize) -> Result<i64, BoxDynError> {
        cells.int(at)
    }

    fn write(&self) -> Val {
        Val::Int(*self)
    }
}

/// There are no booleans in the schema: they are the integers 0 and 1.
impl Field for bool {
    const NULL: Val = Val::NullInt;

    fn read(cells: &impl Cells, at: usize) -> Result<bool, BoxDynError> {
        match cells.int(at)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} is neither 0 nor 1").into()),
        }
    }

    fn write(&self) -> Val {
        Val::Int((*self).into())
    }
}

/// Integers of the domain that are smaller than the column, or never negative.
macro_rules! small_ints {
    ($($ty:ty),+) => {
        $(impl Field for $ty {
            const NULL: Val = Val::NullInt;

            fn read(cells: &impl Cells, at: usize) -> Result<$ty, BoxDynError> {
                Ok(cells.int(at)?.try_into()?)
            }

            fn write(&self) -> Val {
                Val::Int((*self).into())
            }
        })+
    };
}
small_ints!(u16, u32);

/// Beyond the column's range there is no amount that the domain lets in.
impl Field for u64 {
    const NULL: Val = Val::NullInt;

    fn read(cells: &impl Cells, at: usize) -> Result<u64, BoxDynError> {
        Ok(cells.int(at)?.try_into()?)
    }

    fn write(&self) -> Val {
        Val::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }
}

/// Base units are kept as decimal text: they are wider than the database's integers.
impl Field for Units {
    const NULL: Val = Val::NullText;

    fn read(cells: &impl Cells, at: usize) -> Result<Units, BoxDynError> {
        Ok(Units(cells.text(at)?.parse()?))
    }

    fn write(&self) -> Val {
        Val::from(self.0.to_string())
    }
}

/// Types of the domain that are kept by their names.
macro_rules! named {
    ($($ty:ty: $show:ident, $parse:ident);+ $(;)?) => {
        $(impl Field for $ty {
            const NULL: Val = Val::NullText;

            fn read(cells: &impl Cells, at: usize) -> Result<$ty, BoxDynError> {
                let text = cells.text(at)?;
                <$ty>::$parse(text).ok_or_else(|| text.to_owned().into())
            }

            fn write(&self) -> Val {
                Val::from(self.$show())
            }
        })+
    };
}
named! {
    Action: as_str, parse;
    Actor: show, parse;
    AmountType: as_str, parse;
    ApplicationStatus: as_str, parse;
    AttributedBy: as_str, parse;
    ChangeKind: as_str, parse;
    ChangeStatus: as_str, parse;
    Currency: code, parse;
    Decision: as_str, parse;
    DeliveryStatus: as_str, parse;
    EventType: as_str, parse;
    Family: namespace, from_namespace;
    Finding: as_str, parse;
    Group: as_str, parse;
    Level: as_str, parse;
    Mode: as_str, parse;
    PaymentStatus: as_str, parse;
    RefundReason: as_str, parse;
    RefundStatus: as_str, parse;
    ReviewReason: as_str, parse;
    PlanStatus: as_str, parse;
    Role: as_str, parse;
    Status: as_str, parse;
    Unit: as_str, parse;
    Verdict: show, parse;
    Via: as_str, parse;
    subscription::ChargeState: as_str, parse;
    subscription::Reason: as_str, parse;
    subscription::Status: as_str, parse;
    calendar::Unit: as_str, parse;
    calendar::Zone: name, parse;
}

/// A value that cannot be what its column promises, with the place where it stands.
pub(crate) fn corrupt(
    cells: &impl Cells,
    (table, columns): (&str, &[&str]),
    key: &str,
    column: &str,
    detail: &BoxDynError,
) -> sqlx::Error {
    let id = columns
        .iter()
        .position(|column| *column == key)
        .and_then(|at| cells.text(at).ok().map(str::to_owned))
        .unwrap_or_else(|| "?".to_owned());
    sqlx::Error::Decode(Box::new(StoreError::corrupt(table, column, &id, detail)))
}

/// Declares a record: `table! { struct InvoiceRow in "invoices" by id { id: String, … } }`. After `scoped`, it
/// belongs to an account and mode, which come first. `name as "column"` where the two differ.
macro_rules! table {
    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident $column:literal) => { $column };

    (@read $name:ident) => {
        impl<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> for $name {
            fn from_row(row: &'r sqlx::sqlite::SqliteRow) -> Result<$name, sqlx::Error> {
                <$name as $crate::sql::Record>::read(row)
            }
        }

        impl<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &'r sqlx::postgres::PgRow) -> Result<$name, sqlx::Error> {
                <$name as $crate::sql::Record>::read(row)
            }
        }
    };

    ($(#[$meta:meta])* scoped struct $name:ident in $table:literal by $key:ident {
        $($(#[$about:meta])* $field:ident $(as $column:literal)?: $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        pub struct $name {
            pub scope: till_core::scope::Scope,
            $($(#[$about])* pub $field: $ty,)*
        }

        impl $crate::sql::Record for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] =
                &["account", "mode", $($crate::sql::table!(@column $field $($column)?)),*];

            fn values(&self) -> Vec<$crate::Val> {
                vec![
                    $crate::Val::from(&self.scope.account),
                    $crate::sql::Field::write(&self.scope.mode),
                    $($crate::sql::Field::write(&self.$field)),*
                ]
            }

            fn read(cells: &impl $crate::sql::Cells) -> Result<$name, sqlx::Error> {
                use $crate::sql::Field;
                let place = ($table, <$name as $crate::sql::Record>::COLUMNS);
                let wrong = |column: &str, detail| {
                    $crate::sql::corrupt(cells, place, stringify!($key), column, &detail)
                };
                let account = cells.text(0).map_err(|error| wrong("account", error))?;
                let mode = Field::read(cells, 1).map_err(|error| wrong("mode", error))?;
                let mut places = 2..;
                Ok($name {
                    scope: till_core::scope::Scope::new(account, mode),
                    $($field: {
                        let at = places.next().unwrap_or_default();
                        Field::read(cells, at).map_err(|error| wrong(stringify!($field), error))?
                    }),*
                })
            }
        }

        $crate::sql::table!(@read $name);
    };

    ($(#[$meta:meta])* struct $name:ident in $table:literal by $key:ident {
        $($(#[$about:meta])* $field:ident $(as $column:literal)?: $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$about])* pub $field: $ty,)*
        }

        impl $crate::sql::Record for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] =
                &[$($crate::sql::table!(@column $field $($column)?)),*];

            fn values(&self) -> Vec<$crate::Val> {
                vec![$($crate::sql::Field::write(&self.$field)),*]
            }

            fn read(cells: &impl $crate::sql::Cells) -> Result<$name, sqlx::Error> {
                use $crate::sql::Field;
                let place = ($table, <$name as $crate::sql::Record>::COLUMNS);
                let wrong = |column: &str, detail| {
                    $crate::sql::corrupt(cells, place, stringify!($key), column, &detail)
                };
                let mut places = 0..;
                Ok($name {
                    $($field: {
                        let at = places.next().unwrap_or_default();
                        Field::read(cells, at).map_err(|error| wrong(stringify!($field), error))?
                    }),*
                })
            }
        }

        $crate::sql::table!(@read $name);
    };
}
pub(crate) use table;
