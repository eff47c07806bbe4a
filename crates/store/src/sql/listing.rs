//! Lists: newest first, by keyset, always within one account and mode.

pub use till_core::page::Page;
use till_core::scope::Scope;

use crate::sql::table::{Field, Record, select};
use crate::{Queries, StoreError, Val};

/// What a column must be, compared with a value.
#[derive(Clone, Debug)]
pub struct Filter {
    column: &'static str,
    comparison: &'static str,
    value: Val,
}

impl Filter {
    /// None when nothing was asked for.
    pub(crate) fn on<T: Field>(column: &'static str, value: Option<T>) -> Option<Filter> {
        Filter::compared(column, "=", value)
    }

    pub(crate) fn not(column: &'static str, value: impl Field) -> Option<Filter> {
        Filter::compared(column, "<>", Some(value))
    }

    /// The first that fits.
    pub(crate) fn from<T: Field>(column: &'static str, first: Option<T>) -> Option<Filter> {
        Filter::compared(column, ">=", first)
    }

    /// What comes after the last that fits.
    pub(crate) fn to<T: Field>(column: &'static str, end: Option<T>) -> Option<Filter> {
        Filter::compared(column, "<", end)
    }

    fn compared<T: Field>(
        column: &'static str,
        comparison: &'static str,
        value: Option<T>,
    ) -> Option<Filter> {
        let value = value?.write();
        Some(Filter {
            column,
            comparison,
            value,
        })
    }
}

pub(crate) async fn newest_first<T: Record>(
    q: &mut impl Queries,
    scope: &Scope,
    filters: impl IntoIterator<Item = Option<Filter>>,
    page: &Page,
) -> Result<Vec<T>, StoreError> {
    let mut sql = format!("{} WHERE account = $1 AND mode = $2", select::<T>());
    let mut args = vec![Val::from(&scope.account), Val::from(scope.mode.as_str())];
    for filter in filters.into_iter().flatten() {
        args.push(filter.value);
        let (column, comparison) = (filter.column, filter.comparison);
        sql.push_str(&format!(" AND {column} {comparison} ${}", args.len()));
    }
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(&format!(" AND id < ${}", args.len()));
    }
    args.push(Val::from(i64::from(page.limit)));
    sql.push_str(&format!(" ORDER BY id DESC LIMIT ${}", args.len()));
    q.all(&sql, &args).await
}
