//! SQLite files that no server has open: looking whether one is whole, and copying it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::StoreError;

/// Reads every page and every index of a file, and whether what rows refer to is there. The file is not changed.
pub async fn check_file(file: &Path) -> Result<(), StoreError> {
    let mut conn = open(file).await.map_err(|error| failed(file, &error))?;
    let checked = check(&mut conn).await;
    conn.close().await.ok();
    match checked {
        Ok(None) => Ok(()),
        Ok(Some(damage)) => Err(damaged(file, &damage)),
        Err(error) => Err(damaged(file, &error.to_string())),
    }
}

/// A copy of a file as it is now. `to` must not be there yet.
pub async fn copy_file(from: &Path, to: &Path) -> Result<(), StoreError> {
    let mut conn = open(from).await.map_err(|error| failed(from, &error))?;
    let copied = copy(&mut conn, to).await;
    conn.close().await.ok();
    copied
}

/// Copies what a connection sees into a file that is not there yet. A part of a copy does not stay.
pub(super) async fn copy(conn: &mut SqliteConnection, to: &Path) -> Result<(), StoreError> {
    let unmade = make_for_owner_alone(to);
    unmade.map_err(|error| StoreError::Other(format!("{}: {error}", to.display())))?;
    let copied = sqlx::query("VACUUM INTO $1")
        .bind(to.to_string_lossy().into_owned())
        .execute(conn)
        .await;
    copied.map(drop).map_err(|error| {
        // It would be in the way of the next.
        std::fs::remove_file(to).ok();
        failed(to, &error)
    })
}

async fn open(file: &Path) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    options.disable_statement_logging().connect().await
}

/// The first thing that is wrong.
async fn check(conn: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
    let found: Vec<(String,)> = sqlx::query_as("PRAGMA integrity_check(1)")
        .fetch_all(&mut *conn)
        .await?;
    if let Some((damage,)) = found.into_iter().find(|(line,)| line != "ok") {
        return Ok(Some(damage));
    }
    let lost = sqlx::query("PRAGMA foreign_key_check")
        .fetch_optional(&mut *conn)
        .await?;
    Ok(lost.map(|_| "a row refers to another that is not there".to_owned()))
}

fn failed(file: &Path, error: &sqlx::Error) -> StoreError {
    StoreError::Other(format!("{}: {error}", file.display()))
}

fn damaged(file: &Path, damage: &str) -> StoreError {
    StoreError::Other(format!("{} is damaged: {damage}", file.display()))
}

/// Payers' and merchants' affairs are in it: nobody else on the machine may read it. SQLite gives the files beside it
/// the same mode. What cannot be made here cannot be opened either, and is explained there.
pub(super) fn make_for_owner_alone(path: &Path) -> std::io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    made.map(drop)
}
