//! Invitations into an organisation. Only the hashes of their tokens are here.

use till_core::page::Page;
use till_core::role::Role;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct InviteRow in "invites" by id {
        id: String,
        account: String,
        token_hash: Vec<u8>,
        /// Encrypted.
        email: Vec<u8>,
        email_tag: Vec<u8>,
        role: Role,
        makes_operator: bool,
        /// Its link went out by mail alone.
        is_mailed: bool,
        /// The command line showed its link; else who invited was shown it.
        is_from_shell: bool,
        invited_by: Option<String>,
        created_at: i64,
        expires_at: i64,
        accepted_at: Option<i64>,
        withdrawn_at: Option<i64>,
    }
}

impl InviteRow {
    pub fn is_open(&self, now: i64) -> bool {
        self.accepted_at.is_none() && self.withdrawn_at.is_none() && now < self.expires_at
    }
}

pub async fn insert(tx: &mut Tx, invite: &InviteRow) -> Result<(), StoreError> {
    tx.write(&Write::records([invite])).await.map(drop)
}

pub async fn by_token(q: &mut impl Queries, hash: &[u8]) -> Result<Option<InviteRow>, StoreError> {
    let sql = format!("{} WHERE token_hash = $1", select::<InviteRow>());
    q.one(&sql, &vals![hash]).await
}

/// The same, held until the unit of work ends.
pub async fn by_token_for_update(
    tx: &mut Tx,
    hash: &[u8],
) -> Result<Option<InviteRow>, StoreError> {
    let sql = format!(
        "{} WHERE token_hash = $1{}",
        select::<InviteRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![hash]).await
}

pub async fn set_accepted(tx: &mut Tx, id: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE invites SET accepted_at = $2 WHERE id = $1 AND accepted_at IS NULL";
    touched(tx.run(sql, &vals![id, now]).await?, 1, "invites")
}

/// A newer invitation to the same address ends the open ones of the organisation. Gives back their ids.
pub async fn end_older(
    tx: &mut Tx,
    account: &str,
    tags: &[[u8; 32]],
    now: i64,
) -> Result<Vec<String>, StoreError> {
    let places: Vec<String> = (0..tags.len()).map(|at| format!("${}", at + 3)).collect();
    let sql = format!(
        "UPDATE invites SET withdrawn_at = $2 WHERE account = $1 AND accepted_at IS NULL \
         AND withdrawn_at IS NULL AND expires_at > $2 AND email_tag IN ({}) RETURNING id",
        places.join(", ")
    );
    let mut args: Vec<Val> = vals![account, now].into();
    args.extend(tags.iter().map(|tag| Val::from(&tag[..])));
    let ended: Vec<(String,)> = tx.all(&sql, &args).await?;
    Ok(ended.into_iter().map(|(id,)| id).collect())
}

/// The roles of the open invitations of an organisation to an address.
pub async fn open_to(
    q: &mut impl Queries,
    account: &str,
    tags: &[[u8; 32]],
    now: i64,
) -> Result<Vec<Role>, StoreError> {
    let places: Vec<String> = (0..tags.len()).map(|at| format!("${}", at + 3)).collect();
    let sql = format!(
        "SELECT role FROM invites WHERE account = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL \
         AND expires_at > $2 AND email_tag IN ({})",
        places.join(", ")
    );
    let mut args: Vec<Val> = vals![account, now].into();
    args.extend(tags.iter().map(|tag| Val::from(&tag[..])));
    let found: Vec<(String,)> = q.all(&sql, &args).await?;
    Ok(found
        .into_iter()
        .filter_map(|(role,)| Role::parse(&role))
        .collect())
}

/// Ends the open invitations to lead an organisation that its members made. Gives back their ids.
pub async fn end_leading(tx: &mut Tx, account: &str, now: i64) -> Result<Vec<String>, StoreError> {
    let sql = "UPDATE invites SET withdrawn_at = $2 WHERE account = $1 AND role IN ('owner', 'admin') \
         AND invited_by IS NOT NULL AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > $2 RETURNING id";
    let ended: Vec<(String,)> = tx.all(sql, &vals![account, now]).await?;
    Ok(ended.into_iter().map(|(id,)| id).collect())
}

/// One of an organisation's, held until the unit of work ends.
pub async fn find_for_update(
    tx: &mut Tx,
    account: &str,
    id: &str,
) -> Result<Option<InviteRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND id = $2{}",
        select::<InviteRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![account, id]).await
}

pub async fn set_withdrawn(tx: &mut Tx, id: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE invites SET withdrawn_at = $2 \
         WHERE id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL";
    touched(tx.run(sql, &vals![id, now]).await?, 1, "invites")
}

/// All of an organisation, the newest first.
pub async fn list(
    q: &mut impl Queries,
    account: &str,
    page: &Page,
) -> Result<Vec<InviteRow>, StoreError> {
    let mut sql = format!("{} WHERE account = $1", select::<InviteRow>());
    let mut args: Vec<Val> = vals![account, i64::from(page.limit)].into();
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(" AND id < $3");
    }
    sql.push_str(" ORDER BY id DESC LIMIT $2");
    q.all(&sql, &args).await
}

pub async fn count_open(q: &mut impl Queries, account: &str, now: i64) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM invites WHERE account = $1 AND accepted_at IS NULL \
         AND withdrawn_at IS NULL AND expires_at > $2";
    let counted: Option<(i64,)> = q.one(sql, &vals![account, now]).await?;
    Ok(counted.map_or(0, |(count,)| count))
}

/// Ends the open invitations that a member made, except to roles that the member may still give. Gives back their ids.
pub async fn end_by(
    tx: &mut Tx,
    account: &str,
    inviter: &str,
    kept: &[Role],
    now: i64,
) -> Result<Vec<String>, StoreError> {
    let mut args: Vec<Val> = vals![account, inviter, now].into();
    let mut sql = "UPDATE invites SET withdrawn_at = $3 WHERE account = $1 AND invited_by = $2 \
         AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > $3"
        .to_owned();
    for role in kept {
        args.push(Val::from(role.as_str()));
        sql.push_str(&format!(" AND role <> ${}", args.len()));
    }
    sql.push_str(" RETURNING id");
    let ended: Vec<(String,)> = tx.all(&sql, &args).await?;
    Ok(ended.into_iter().map(|(id,)| id).collect())
}
