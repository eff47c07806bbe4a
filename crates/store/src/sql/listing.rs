//! Lists: newest first, by keyset, always within one account and mode.

pub use till_core::page::Page;
use till_core::scope::Scope;

use crate::sql::table::{Field, Record, select};
use crate::{Queries, StoreError, Val};

/// A column and the value it must have, or the value it must not lie before, or must.
#[derive(Clone, Debug)]
pub struct Filter {
    column: &'static str,
    compared: &'static str,
    value: Val,
}

impl Filter {
    /// None when nothing was asked for.
    pub(crate) fn on<T: Field>(column: &'static str, value: Option<T>) -> Option<Filter> {
        Filter::compared(column, "=", value)
    }

    pub(crate) fn from<T: Field>(column: &'static str, value: Option<T>) -> Option<Filter> {
        Filter::compared(column, ">=", value)
    }

    pub(crate) fn before<T: Field>(column: &'static str, value: Option<T>) -> Option<Filter> {
        Filter::compared(column, "<", value)
    }

    fn compared<T: Field>(
        column: &'static str,
        compared: &'static str,
        value: Option<T>,
    ) -> Option<Filter> {
        let value = value?.write();
        Some(Filter {
            column,
            compared,
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
        args.push(filter.value.clone());
        let Filter {
            column, compared, ..
        } = filter;
        sql.push_str(&format!(" AND {column} {compared} ${}", args.len()));
    }
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(&format!(" AND id < ${}", args.len()));
    }
    args.push(Val::from(i64::from(page.limit)));
    sql.push_str(&format!(" ORDER BY id DESC LIMIT ${}", args.len()));
    q.all(&sql, &args).await
}
