//! What members and operators are told, on their page and by mail.

use crate::sql::{columns, select, table};
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

/// What members of an organisation were told about since then, by notices of one kind.
pub async fn targets_since(
    q: &mut impl Queries,
    account: &str,
    kind: &str,
    since: i64,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT n.target FROM members m JOIN member_notices n ON n.user_id = m.user_id \
         WHERE m.account = $1 AND n.account = $1 AND n.kind = $2 AND n.created_at > $3";
    let found: Vec<(String,)> = q.all(sql, &vals![account, kind, since]).await?;
    Ok(found.into_iter().map(|(target,)| target).collect())
}

/// Marks a notice as read; the first time stays.
pub async fn set_read(tx: &mut Tx, id: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE member_notices SET read_at = $2 WHERE id = $1 AND read_at IS NULL";
    tx.run(sql, &vals![id, now]).await.map(drop)
}

/// Claims what is to be mailed until `claim_until`; a worker that dies lets the claim run out.
pub async fn claim(
    tx: &mut Tx,
    now: i64,
    claim_until: i64,
    at_most: i64,
) -> Result<Vec<MemberNoticeRow>, StoreError> {
    let sql = format!(
        "UPDATE member_notices SET due_at = $2, fence = fence + 1 WHERE id IN \
         (SELECT id FROM member_notices WHERE due_at <= $1 ORDER BY due_at LIMIT $3{}) RETURNING {}",
        tx.skip_locked(),
        columns::<MemberNoticeRow>()
    );
    tx.all(&sql, &vals![now, claim_until, at_most]).await
}

/// What came of mailing it: `sent`, `failed`, or `queued` until the next try. False when the claim was lost meanwhile.
pub async fn record_mail(
    tx: &mut Tx,
    id: &str,
    fence: i64,
    mail: &str,
    due_at: Option<i64>,
) -> Result<bool, StoreError> {
    let sql = "UPDATE member_notices SET mail = $3, due_at = $4, attempts = attempts + 1 \
         WHERE id = $1 AND fence = $2";
    Ok(tx.run(sql, &vals![id, fence, mail, due_at]).await? == 1)
}
