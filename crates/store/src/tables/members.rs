//! Who belongs to which organisation, and as what.

use till_core::page::Page;
use till_core::role::Role;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct MemberRow in "members" by user_id {
        account: String,
        user_id: String,
        role: Role,
        joined_at: i64,
        last_active_at: Option<i64>,
    }
}

/// An organisation, as one of its members has it.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct MembershipRow {
    pub account: String,
    pub name: String,
    pub role: String,
    pub application_status: Option<String>,
    pub disabled_at: Option<i64>,
    pub created_at: i64,
}

pub async fn insert(tx: &mut Tx, member: &MemberRow) -> Result<(), StoreError> {
    tx.write(&Write::records([member])).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    account: &str,
    user: &str,
) -> Result<Option<MemberRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND user_id = $2",
        select::<MemberRow>()
    );
    q.one(&sql, &vals![account, user]).await
}

/// A member's role, and whether the organisation is disabled. Nobody changes either before this unit of work ends;
/// others may read them for their own decisions meanwhile.
pub async fn standing_for_share(
    tx: &mut Tx,
    account: &str,
    user: &str,
) -> Result<Option<(Role, bool)>, StoreError> {
    let sql = format!(
        "SELECT m.role, a.disabled_at FROM members m JOIN accounts a ON a.id = m.account \
         WHERE m.account = $1 AND m.user_id = $2{}",
        tx.for_share()
    );
    let found: Option<(String, Option<i64>)> = tx.one(&sql, &vals![account, user]).await?;
    Ok(found.and_then(|(role, disabled_at)| Some((Role::parse(&role)?, disabled_at.is_some()))))
}

/// All members of an organisation.
pub async fn all(q: &mut impl Queries, account: &str) -> Result<Vec<MemberRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 ORDER BY user_id",
        select::<MemberRow>()
    );
    q.all(&sql, &vals![account]).await
}

/// All members of an organisation, the first first, held until the unit of work ends: whoever changes members holds
/// them all, so that no two changes can be made on the same sight of them.
pub async fn all_for_update(tx: &mut Tx, account: &str) -> Result<Vec<MemberRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 ORDER BY user_id{}",
        select::<MemberRow>(),
        tx.for_update()
    );
    tx.all(&sql, &vals![account]).await
}

/// Who manages an organisation: the ids of its owners and admins.
pub async fn managers(q: &mut impl Queries, account: &str) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT user_id FROM members WHERE account = $1 AND role IN ('owner', 'admin') ORDER BY user_id";
    let found: Vec<(String,)> = q.all(sql, &vals![account]).await?;
    Ok(found.into_iter().map(|(user,)| user).collect())
}

/// The organisations a user is in, the first joined first.
pub async fn of_user(q: &mut impl Queries, user: &str) -> Result<Vec<MembershipRow>, StoreError> {
    let sql = "SELECT m.account, a.name, m.role, p.status AS application_status, a.disabled_at, a.created_at \
         FROM members m JOIN accounts a ON a.id = m.account LEFT JOIN applications p ON p.account = m.account \
         WHERE m.user_id = $1 ORDER BY m.joined_at, m.account";
    q.all(sql, &vals![user]).await
}

pub async fn set_role(
    tx: &mut Tx,
    account: &str,
    user: &str,
    role: Role,
) -> Result<(), StoreError> {
    let sql = "UPDATE members SET role = $3 WHERE account = $1 AND user_id = $2";
    let args = vals![account, user, role.as_str()];
    touched(tx.run(sql, &args).await?, 1, "members")
}

pub async fn remove(tx: &mut Tx, account: &str, user: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM members WHERE account = $1 AND user_id = $2";
    touched(tx.run(sql, &vals![account, user]).await?, 1, "members")
}

pub async fn set_active(tx: &mut Tx, user: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE members SET last_active_at = $2 WHERE user_id = $1";
    tx.run(sql, &vals![user, now]).await.map(drop)
}

/// A member, with what other tables know of the person.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PersonRow {
    pub user_id: String,
    /// Encrypted.
    pub email: Vec<u8>,
    pub name: Option<String>,
    pub role: String,
    pub joined_at: i64,
    pub last_active_at: Option<i64>,
    pub passkeys: i64,
    /// 1 where authenticator codes are switched on.
    pub totp: i64,
    /// Secret keys that the person made and that work.
    pub test_keys: i64,
    pub live_keys: i64,
}

fn select_people() -> String {
    let keys = |mode: &str| {
        format!(
            "(SELECT COUNT(*) FROM api_keys k WHERE k.account = m.account AND k.mode = '{mode}' \
             AND k.kind = 'secret' AND k.created_by = m.user_id AND k.rolled_at IS NULL)"
        )
    };
    format!(
        "SELECT m.user_id, u.email, u.name, m.role, m.joined_at, m.last_active_at, \
         (SELECT COUNT(*) FROM passkeys p WHERE p.user_id = m.user_id) AS passkeys, \
         (SELECT COUNT(*) FROM users t WHERE t.id = m.user_id AND t.totp_seed IS NOT NULL) AS totp, \
         {} AS test_keys, {} AS live_keys \
         FROM members m JOIN users u ON u.id = m.user_id WHERE m.account = $1",
        keys("test"),
        keys("live")
    )
}

pub async fn person(
    q: &mut impl Queries,
    account: &str,
    user: &str,
) -> Result<Option<PersonRow>, StoreError> {
    let sql = select_people() + " AND m.user_id = $2";
    q.one(&sql, &vals![account, user]).await
}

/// The members of an organisation, the newest user first.
pub async fn people(
    q: &mut impl Queries,
    account: &str,
    page: &Page,
) -> Result<Vec<PersonRow>, StoreError> {
    let mut sql = select_people();
    let mut args: Vec<Val> = vals![account, i64::from(page.limit)].into();
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(" AND m.user_id < $3");
    }
    sql.push_str(" ORDER BY m.user_id DESC LIMIT $2");
    q.all(&sql, &args).await
}
