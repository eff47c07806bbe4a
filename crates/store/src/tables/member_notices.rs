//! What members and operators are told, on their page and by mail.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct MemberNoticeRow in "member_notices" by id {
        id: String,
        user_id: String,
        /// None for what is the user's own, and for operators.
        account: Option<String>,
        kind: String,
        target: String,
        created_at: i64,
        read_at: Option<i64>,
        /// `sent`, `queued`, `failed` or `off`.
        mail: String,
        due_at: Option<i64>,
        fence: i64,
        attempts: i64,
    }
}

pub async fn insert(tx: &mut Tx, notices: &[MemberNoticeRow]) -> Result<(), StoreError> {
    tx.write_all(&[Write::records(notices)]).await
}

pub async fn find(
    q: &mut impl Queries,
    user: &str,
    id: &str,
) -> Result<Option<MemberNoticeRow>, StoreError> {
    let sql = format!(
        "{} WHERE user_id = $1 AND id = $2",
        select::<MemberNoticeRow>()
    );
    q.one(&sql, &vals![user, id]).await
}

/// Those of a user, the newest first, beginning after the id `before` if there is one.
pub async fn of_user(
    q: &mut impl Queries,
    user: &str,
    before: Option<&str>,
    at_most: i64,
) -> Result<Vec<MemberNoticeRow>, StoreError> {
    let sql = format!(
        "{} WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        select::<MemberNoticeRow>()
    );
    q.all(&sql, &vals![user, before.unwrap_or("~"), at_most])
        .await
}

/// Marks a notice as read; the first time stays.
pub async fn set_read(tx: &mut Tx, id: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE member_notices SET read_at = $2 WHERE id = $1 AND read_at IS NULL";
    tx.run(sql, &vals![id, now]).await.map(drop)
}
