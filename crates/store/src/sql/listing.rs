//! Lists: newest first, by keyset, always within one account and mode.

use till_core::scope::Scope;

use crate::{Queries, Row, StoreError, Val};

/// One page: rows before `before` (an id), at most `limit`.
#[derive(Clone, Debug)]
pub struct Page {
    pub limit: u32,
    pub before: Option<String>,
}

/// `filters` name columns of ours and the values they must equal; absent ones do not filter.
pub(crate) async fn newest_first<T: Row>(
    q: &mut impl Queries,
    select: &str,
    scope: &Scope,
    filters: &[(&'static str, Option<&str>)],
    page: &Page,
) -> Result<Vec<T>, StoreError> {
    let mut sql = format!("{select} WHERE account = $1 AND mode = $2");
    let mut args = vec![Val::from(&*scope.account), Val::from(scope.mode.as_str())];
    for (column, value) in filters {
        if let Some(value) = value {
            args.push(Val::from(*value));
            sql.push_str(&format!(" AND {column} = ${}", args.len()));
        }
    }
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(&format!(" AND id < ${}", args.len()));
    }
    args.push(Val::from(i64::from(page.limit)));
    sql.push_str(&format!(" ORDER BY id DESC LIMIT ${}", args.len()));
    q.all(&sql, &args).await
}
