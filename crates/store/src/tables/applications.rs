//! Applications for live mode: one per organisation.

use till_core::application::ApplicationStatus;
use till_core::page::Page;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct ApplicationRow in "applications" by id {
        id: String,
        account: String,
        status: ApplicationStatus,
        business_name: Option<String>,
        website: Option<String>,
        country: Option<String>,
        /// Encrypted.
        contact_email: Option<Vec<u8>>,
        business_description: Option<String>,
        expected_monthly_volume: Option<String>,
        submitted_at: Option<i64>,
        decided_at: Option<i64>,
        /// An operator's user id, or `cli`.
        decided_by: Option<String>,
        reason: Option<String>,
    }
}

/// What changes in the life of an application.
const CHANGING: &[&str] = &[
    "status",
    "business_name",
    "website",
    "country",
    "contact_email",
    "business_description",
    "expected_monthly_volume",
    "submitted_at",
    "decided_at",
    "decided_by",
    "reason",
];

pub async fn insert(
    tx: &mut Tx,
    id: &str,
    account: &str,
    status: ApplicationStatus,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO applications (id, account, status) VALUES ($1, $2, $3)";
    touched(
        tx.run(sql, &vals![id, account, status.as_str()]).await?,
        1,
        "applications",
    )
}

pub async fn of_account(
    q: &mut impl Queries,
    account: &str,
) -> Result<Option<ApplicationRow>, StoreError> {
    let sql = format!("{} WHERE account = $1", select::<ApplicationRow>());
    q.one(&sql, &vals![account]).await
}

/// Whether an account may take real payments.
pub async fn is_approved(q: &mut impl Queries, account: &str) -> Result<bool, StoreError> {
    let found = of_account(q, account).await?;
    Ok(found.is_some_and(|application| application.status == ApplicationStatus::Approved))
}

/// The same as `of_account`, held until the unit of work ends.
pub async fn of_account_for_update(
    tx: &mut Tx,
    account: &str,
) -> Result<Option<ApplicationRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1{}",
        select::<ApplicationRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![account]).await
}

pub async fn find(q: &mut impl Queries, id: &str) -> Result<Option<ApplicationRow>, StoreError> {
    let sql = format!("{} WHERE id = $1", select::<ApplicationRow>());
    q.one(&sql, &vals![id]).await
}

/// The same, held until the unit of work ends.
pub async fn find_for_update(tx: &mut Tx, id: &str) -> Result<Option<ApplicationRow>, StoreError> {
    let sql = format!(
        "{} WHERE id = $1{}",
        select::<ApplicationRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![id]).await
}

pub async fn update(tx: &mut Tx, application: &ApplicationRow) -> Result<(), StoreError> {
    let update = Write::update_records(&["id"], CHANGING, [application])?;
    tx.write(&update).await.map(drop)
}

/// Those of all organisations, the newest first.
pub async fn list(
    q: &mut impl Queries,
    status: Option<ApplicationStatus>,
    page: &Page,
) -> Result<Vec<ApplicationRow>, StoreError> {
    let (mut conditions, mut args): (Vec<String>, Vec<Val>) = (Vec::new(), Vec::new());
    if let Some(status) = status {
        args.push(Val::from(status.as_str()));
        conditions.push(format!("status = ${}", args.len()));
    }
    if let Some(before) = &page.before {
        args.push(Val::from(before));
        conditions.push(format!("id < ${}", args.len()));
    }
    let which = match conditions.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", conditions.join(" AND ")),
    };
    args.push(Val::from(i64::from(page.limit)));
    let sql = format!(
        "{}{which} ORDER BY id DESC LIMIT ${}",
        select::<ApplicationRow>(),
        args.len()
    );
    q.all(&sql, &args).await
}
