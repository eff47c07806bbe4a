//! Accounts, what merchants set per mode, and the secrets that sign their webhooks.

use std::collections::BTreeMap;

use till_core::page::Page;
use till_core::scope::Scope;

use crate::sql::{Field as _, LookUp, PerKey, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    /// What a merchant set in one mode.
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct MerchantRow in "merchants" by account {
        display_name: Option<String>,
        webhook_url: Option<String>,
        default_assets: Option<Vec<String>>,
        underpay_tolerance_bps: u32,
        manual_review_amount: Option<String>,
        support_url: Option<String>,
        return_url: Option<String>,
        accent: Option<String>,
        /// By CAIP-2 namespace.
        destinations: BTreeMap<String, String>,
        clock_offset_ms: i64,
        /// Where the test clock is being moved to, while it is on its way.
        clock_goal: Option<i64>,
        /// The newest publishable key: checkout links carry it. Read with the row, kept with the keys.
        publishable_key as "(SELECT k.public_key FROM api_keys k WHERE k.account = merchants.account \
             AND k.mode = merchants.mode AND k.kind = 'publishable' AND k.rolled_at IS NULL ORDER BY k.id DESC LIMIT 1)": Option<String>,
        /// What the operator calls the account. Read with the row, kept with the account.
        account_name as "(SELECT a.name FROM accounts a WHERE a.id = merchants.account)": String,
    }
}

/// What the merchant may change.
const SETTINGS: &[&str] = &[
    "display_name",
    "webhook_url",
    "default_assets",
    "underpay_tolerance_bps",
    "manual_review_amount",
    "support_url",
    "return_url",
    "accent",
];

pub async fn insert_account(tx: &mut Tx, id: &str, name: &str, now: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)";
    touched(tx.run(sql, &vals![id, name, now]).await?, 1, "accounts")
}

pub async fn account_exists(q: &mut impl Queries, id: &str) -> Result<bool, StoreError> {
    let found: Option<(String,)> = q
        .one("SELECT id FROM accounts WHERE id = $1", &vals![id])
        .await?;
    Ok(found.is_some())
}

/// When an account was made.
pub async fn created_at(q: &mut impl Queries, id: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT created_at FROM accounts WHERE id = $1";
    let found: Option<(i64,)> = q.one(sql, &vals![id]).await?;
    Ok(found.map(|(at,)| at))
}

/// What the operator calls an account.
pub async fn name(q: &mut impl Queries, id: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT name FROM accounts WHERE id = $1";
    let found: Option<(String,)> = q.one(sql, &vals![id]).await?;
    Ok(found.map(|(name,)| name))
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct AccountRow {
    pub id: String,
    pub name: String,
    pub created_at: i64,
    pub disabled_at: Option<i64>,
    /// Whether it is set up in live mode.
    pub has_live: i64,
}

/// Every account, the newest first.
pub async fn all(q: &mut impl Queries) -> Result<Vec<AccountRow>, StoreError> {
    let sql = "SELECT id, name, created_at, disabled_at, (SELECT COUNT(*) FROM merchants m \
         WHERE m.account = accounts.id AND m.mode = 'live' AND m.destinations <> '{}') AS has_live FROM accounts ORDER BY id DESC";
    q.all(sql, &[]).await
}

/// Whether an account is disabled.
pub async fn is_disabled(q: &mut impl Queries, id: &str) -> Result<bool, StoreError> {
    let sql = "SELECT disabled_at FROM accounts WHERE id = $1";
    let found: Option<(Option<i64>,)> = q.one(sql, &vals![id]).await?;
    Ok(found.is_some_and(|(at,)| at.is_some()))
}

/// The same; nobody disables or enables it, and nobody decides on its live mode, before this unit of work ends.
pub async fn is_disabled_for_share(tx: &mut Tx, id: &str) -> Result<bool, StoreError> {
    is_disabled_held(tx, id, tx.for_share()).await
}

/// The same for whoever changes the account's row.
pub async fn is_disabled_for_update(tx: &mut Tx, id: &str) -> Result<bool, StoreError> {
    is_disabled_held(tx, id, tx.for_update()).await
}

async fn is_disabled_held(tx: &mut Tx, id: &str, hold: &str) -> Result<bool, StoreError> {
    let sql = format!("SELECT disabled_at FROM accounts WHERE id = $1{hold}");
    let found: Option<(Option<i64>,)> = tx.one(&sql, &vals![id]).await?;
    Ok(found.is_some_and(|(at,)| at.is_some()))
}

/// A disabled account's keys are refused. Since when, and why; none where it is enabled.
pub async fn set_disabled(
    tx: &mut Tx,
    id: &str,
    at: Option<i64>,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let sql = "UPDATE accounts SET disabled_at = $2, disabled_reason = $3 WHERE id = $1";
    touched(tx.run(sql, &vals![id, at, reason]).await?, 1, "accounts")
}

pub async fn rename(tx: &mut Tx, id: &str, name: &str) -> Result<(), StoreError> {
    let sql = "UPDATE accounts SET name = $2 WHERE id = $1";
    touched(tx.run(sql, &vals![id, name]).await?, 1, "accounts")
}

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct OrganizationRow {
    pub id: String,
    pub name: String,
    pub created_at: i64,
    pub disabled_at: Option<i64>,
    pub disabled_reason: Option<String>,
    pub application_status: Option<String>,
    pub members: i64,
    /// When its newest invoice was made, in each mode's own time.
    pub last_test_invoice: Option<i64>,
    pub last_live_invoice: Option<i64>,
}

fn select_organizations() -> String {
    let newest = |mode: &str| {
        format!(
            "(SELECT i.created_at FROM invoices i WHERE i.account = a.id AND i.mode = '{mode}' \
             ORDER BY i.id DESC LIMIT 1)"
        )
    };
    format!(
        "SELECT a.id, a.name, a.created_at, a.disabled_at, a.disabled_reason, p.status AS application_status, \
         (SELECT COUNT(*) FROM members m WHERE m.account = a.id) AS members, \
         {} AS last_test_invoice, {} AS last_live_invoice \
         FROM accounts a LEFT JOIN applications p ON p.account = a.id",
        newest("test"),
        newest("live")
    )
}

pub async fn organization(
    q: &mut impl Queries,
    id: &str,
) -> Result<Option<OrganizationRow>, StoreError> {
    let sql = select_organizations() + " WHERE a.id = $1";
    q.one(&sql, &vals![id]).await
}

/// The same; its row is held until the unit of work ends.
pub async fn organization_for_update(
    tx: &mut Tx,
    id: &str,
) -> Result<Option<OrganizationRow>, StoreError> {
    let sql = format!("SELECT id FROM accounts WHERE id = $1{}", tx.for_update());
    let held: Option<(String,)> = tx.one(&sql, &vals![id]).await?;
    match held {
        Some(_) => organization(tx, id).await,
        None => Ok(None),
    }
}

/// Which accounts an operator asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrganizationFilter {
    /// A part of the name, in any case of letters.
    pub name: Option<String>,
    pub disabled: Option<bool>,
}

/// Every account that fits, the newest first.
pub async fn organizations(
    q: &mut impl Queries,
    filter: &OrganizationFilter,
    page: &Page,
) -> Result<Vec<OrganizationRow>, StoreError> {
    let mut sql = select_organizations() + " WHERE a.id <> ''";
    let mut args: Vec<Val> = vals![i64::from(page.limit)].into();
    if let Some(name) = &filter.name {
        let plain: String = name
            .chars()
            .flat_map(|c| match matches!(c, '%' | '_' | '!') {
                true => vec!['!', c],
                false => vec![c],
            })
            .collect();
        args.push(Val::from(&format!("%{}%", plain.to_lowercase())));
        sql.push_str(&format!(
            " AND LOWER(a.name) LIKE ${} ESCAPE '!'",
            args.len()
        ));
    }
    match filter.disabled {
        Some(true) => sql.push_str(" AND a.disabled_at IS NOT NULL"),
        Some(false) => sql.push_str(" AND a.disabled_at IS NULL"),
        None => {}
    }
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        sql.push_str(&format!(" AND a.id < ${}", args.len()));
    }
    sql.push_str(" ORDER BY a.id DESC LIMIT $1");
    q.all(&sql, &args).await
}

pub async fn insert_merchant(
    tx: &mut Tx,
    scope: &Scope,
    default_assets: Option<Vec<String>>,
    destinations: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO merchants (account, mode, default_assets, destinations) VALUES ($1, $2, $3, $4)";
    let args = vals![
        &scope.account,
        scope.mode.as_str(),
        default_assets.write(),
        destinations.write()
    ];
    touched(tx.run(sql, &args).await?, 1, "merchants")
}

fn select_merchant() -> String {
    format!(
        "{} WHERE account = $1 AND mode = $2",
        select::<MerchantRow>()
    )
}

pub async fn merchant(
    q: &mut impl Queries,
    scope: &Scope,
) -> Result<Option<MerchantRow>, StoreError> {
    let args = vals![&scope.account, scope.mode.as_str()];
    q.one(&select_merchant(), &args).await
}

/// Those of these merchants that exist, in any order.
pub async fn merchants(
    q: &mut impl Queries,
    scopes: &[&Scope],
) -> Result<Vec<MerchantRow>, StoreError> {
    let keys: Vec<Vec<Val>> = scopes
        .iter()
        .map(|scope| vals![&scope.account, scope.mode.as_str()].into())
        .collect();
    let by_scope = LookUp::records::<MerchantRow>(&["account", "mode"], PerKey::One);
    q.look_up(&by_scope, &keys).await
}

/// The merchant, locked until the unit of work ends.
pub async fn merchant_for_update(
    tx: &mut Tx,
    scope: &Scope,
) -> Result<Option<MerchantRow>, StoreError> {
    let sql = select_merchant() + tx.for_update();
    tx.one(&sql, &vals![&scope.account, scope.mode.as_str()])
        .await
}

pub async fn update_settings(tx: &mut Tx, merchant: &MerchantRow) -> Result<(), StoreError> {
    let update = Write::update_records(&["account", "mode"], SETTINGS, [merchant])?;
    tx.write(&update).await.map(drop)
}

/// Where the merchant is paid from now on.
pub async fn set_destinations(
    tx: &mut Tx,
    scope: &Scope,
    destinations: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let sql = "UPDATE merchants SET destinations = $3 WHERE account = $1 AND mode = $2";
    let args = vals![&scope.account, scope.mode.as_str(), destinations.write()];
    touched(tx.run(sql, &args).await?, 1, "merchants")
}

/// Says where the test clock is to go.
pub async fn set_clock_goal(tx: &mut Tx, scope: &Scope, goal: i64) -> Result<(), StoreError> {
    let sql = "UPDATE merchants SET clock_goal = $3 WHERE account = $1 AND mode = $2";
    let args = vals![&*scope.account, scope.mode.as_str(), goal];
    touched(tx.run(sql, &args).await?, 1, "merchants")
}

/// Moves the test clock forward, unless it is further already. `reached` is the goal that it came to, which is then
/// done with, unless it was set anew meanwhile.
pub async fn move_clock(
    tx: &mut Tx,
    scope: &Scope,
    offset_ms: i64,
    reached: Option<i64>,
) -> Result<(), StoreError> {
    let sql = "UPDATE merchants SET clock_offset_ms = CASE WHEN clock_offset_ms < $3 THEN $3 ELSE clock_offset_ms END, \
         clock_goal = CASE WHEN clock_goal = $4 THEN NULL ELSE clock_goal END WHERE account = $1 AND mode = $2";
    let args = vals![&*scope.account, scope.mode.as_str(), offset_ms, reached];
    touched(tx.run(sql, &args).await?, 1, "merchants")
}

/// The accounts whose test clock is on its way.
pub async fn moving_clocks(q: &mut impl Queries) -> Result<Vec<ClockRow>, StoreError> {
    q.all(
        "SELECT account, mode, clock_offset_ms FROM merchants WHERE clock_goal IS NOT NULL",
        &[],
    )
    .await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ClockRow {
    pub account: String,
    pub mode: String,
    pub clock_offset_ms: i64,
}

/// The accounts whose test clock runs ahead of real time.
pub async fn moved_clocks(q: &mut impl Queries) -> Result<Vec<ClockRow>, StoreError> {
    q.all(
        "SELECT account, mode, clock_offset_ms FROM merchants WHERE clock_offset_ms > 0",
        &[],
    )
    .await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SecretRow {
    pub serial: i64,
    pub secret: Vec<u8>,
}

/// The secrets that sign at this moment of real time, the newest first.
pub async fn webhook_secrets(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
) -> Result<Vec<SecretRow>, StoreError> {
    let sql = "SELECT serial, secret FROM webhook_secrets \
         WHERE account = $1 AND mode = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY serial DESC";
    q.all(sql, &vals![&*scope.account, scope.mode.as_str(), now])
        .await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SecretHolder {
    pub account: String,
    pub mode: String,
}

/// Anybody who has a secret: to tell whether this database was ever written with a key, and with which.
pub async fn any_with_secret(q: &mut impl Queries) -> Result<Option<SecretHolder>, StoreError> {
    q.one("SELECT account, mode FROM webhook_secrets LIMIT 1", &[])
        .await
}

/// How many secrets sign at once, so that a header with a signature of each stays one that receivers accept.
const SECRETS_MAX: usize = 8;

/// A new secret signs from now on, the one before it until `overlap_until`, and older ones as long as they were given
/// when they were rolled, unless there are too many.
pub async fn add_webhook_secret(
    tx: &mut Tx,
    scope: &Scope,
    secret: &[u8],
    now: i64,
    overlap_until: i64,
) -> Result<(), StoreError> {
    let current = webhook_secrets(tx, scope, now).await?;
    let serial = current.first().map_or(0, |newest| newest.serial);
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let overlap = "UPDATE webhook_secrets SET expires_at = $4 WHERE account = $1 AND mode = $2 AND serial = $3";
    tx.run(overlap, &vals![account, mode, serial, overlap_until])
        .await?;
    if let Some(oldest) = current.get(SECRETS_MAX - 1) {
        let expire = "UPDATE webhook_secrets SET expires_at = $4 \
             WHERE account = $1 AND mode = $2 AND serial <= $3 AND expires_at > $4";
        let args = vals![account, mode, oldest.serial, now];
        tx.run(expire, &args).await?;
    }
    let insert = "INSERT INTO webhook_secrets (account, mode, serial, secret, created_at) VALUES ($1, $2, $3, $4, $5)";
    touched(
        tx.run(insert, &vals![account, mode, serial + 1, secret, now])
            .await?,
        1,
        "webhook_secrets",
    )
}
