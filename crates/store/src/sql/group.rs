//! SQLite's one writer, and how units of work that wait for it share one fsync.
//!
//! Units take the connection in the order in which they came. The first to complete opens a *group*: it stays
//! in the open transaction, and a task of its own queues for the connection to commit it. Units that were
//! already waiting come before that task, run in a savepoint each, and join the group. When nobody waits the
//! task is next and nothing was delayed.
//!
//! Nobody's cancellation can hurt another: what must not be torn apart (COMMIT, undoing an abandoned unit)
//! runs in tasks that no caller can drop, and everything else leaves the slot marked `dirty`, which says that
//! the last unit must be undone before the connection is used again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use crate::StoreError;

type Outcome = Option<Result<(), StoreError>>;
pub(crate) type Statement = (String, SqliteArguments);

pub(crate) struct Slot {
    conn: Option<SqliteConnection>,
    /// How to connect again if the connection breaks. A database in memory is gone with its connection.
    reopen: Option<SqliteConnectOptions>,
    /// A unit is under way, or was abandoned before it completed.
    dirty: bool,
    /// Set while a transaction is open.
    group: Option<Group>,
    groups_opened: u64,
    commits: Arc<AtomicU64>,
}

struct Group {
    number: u64,
    members: usize,
    outcome: watch::Sender<Outcome>,
}

/// A unit of work that has the connection. Dropped before `commit`, it is undone.
pub(crate) struct Unit(Option<OwnedMutexGuard<Slot>>);

pub(crate) fn writer(
    conn: SqliteConnection,
    reopen: Option<SqliteConnectOptions>,
    commits: Arc<AtomicU64>,
) -> Arc<Mutex<Slot>> {
    Arc::new(Mutex::new(Slot {
        conn: Some(conn),
        reopen,
        dirty: false,
        group: None,
        groups_opened: 0,
        commits,
    }))
}

/// Waits for the connection, at most `wait` if given, and undoes what an abandoned unit left in it.
pub(crate) async fn lock(
    writer: &Arc<Mutex<Slot>>,
    wait: Option<Duration>,
) -> Result<OwnedMutexGuard<Slot>, StoreError> {
    let locked = Arc::clone(writer).lock_owned();
    let mut slot = match wait {
        None => locked.await,
        Some(wait) => tokio::time::timeout(wait, locked).await.map_err(|_| {
            tracing::warn!("a write was refused because SQLite's writer was busy for too long; another process may hold the database");
            StoreError::Unavailable
        })?,
    };
    if slot.dirty {
        // Only a unit dropped outside the runtime gets here; `Unit::drop` saw to the others.
        slot = settled(slot).await.map_err(|_| StoreError::Unavailable)?;
    }
    Ok(slot)
}

/// For a unit that is known beforehand and does the work of many: runs its statements and commits at once,
/// without letting others join. Its beginning and its end travel with its first and its last statement.
pub(crate) async fn run_and_commit(
    writer: &Arc<Mutex<Slot>>,
    wait: Option<Duration>,
    mut statements: Vec<Statement>,
) -> Result<(), StoreError> {
    if let Some((first, _)) = statements.first_mut() {
        first.insert_str(0, "BEGIN IMMEDIATE; ");
    }
    if let Some((last, _)) = statements.last_mut() {
        last.push_str("; COMMIT");
    }
    let mut slot = lock(writer, wait).await?;
    let done = tokio::spawn(async move {
        // Those who completed before are not to be undone with this one.
        slot.commit_group().await;
        slot.run_all(statements).await
    });
    // It fails only if the runtime goes away.
    done.await.unwrap_or(Err(StoreError::Unavailable))
}

/// Commits what is complete, and lets nobody here write for a while: another process may.
pub(crate) async fn rest(writer: &Arc<Mutex<Slot>>, time: Duration) {
    let mut slot = Arc::clone(writer).lock_owned().await;
    let resting = tokio::spawn(async move {
        slot.settle().await;
        slot.commit_group().await;
        tokio::time::sleep(time).await;
    });
    // It fails only if the runtime goes away.
    resting.await.ok();
}

/// Commits what is complete and closes the connection for good.
pub(crate) async fn close(writer: &Arc<Mutex<Slot>>) {
    let mut slot = Arc::clone(writer).lock_owned().await;
    let closing = tokio::spawn(async move {
        slot.settle().await;
        slot.commit_group().await;
        slot.reopen = None;
        if let Some(conn) = slot.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(%error, "SQLite did not close cleanly; what was committed is safe, and the next start recovers its log");
        }
    });
    // It fails only if the runtime goes away, and then there is nobody left to tell.
    closing.await.ok();
}

impl Unit {
    pub(crate) async fn begin(
        writer: &Arc<Mutex<Slot>>,
        wait: Option<Duration>,
    ) -> Result<Unit, StoreError> {
        let mut unit = Unit(Some(lock(writer, wait).await?));
        unit.slot()?.open_unit().await?;
        Ok(unit)
    }

    pub(crate) fn conn(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.slot()?.conn()
    }

    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        let slot = self.slot()?;
        if slot.has_members() {
            exec(slot.conn()?, "RELEASE unit").await?;
        }
        let (number, mut outcome) = slot.join()?;
        // From here on the unit is part of the group and no longer of the caller.
        let slot = self.0.take();
        if let (Some(slot), Some(number)) = (&slot, number) {
            tokio::spawn(flush(Arc::clone(OwnedMutexGuard::mutex(slot)), number));
        }
        drop(slot);
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            // The runtime is going away and took the task that commits with it.
            _ => Err(StoreError::Unavailable),
        }
    }

    fn slot(&mut self) -> Result<&mut Slot, StoreError> {
        self.0.as_deref_mut().ok_or(StoreError::Unavailable)
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // At once, not when the next unit comes: an open transaction keeps other processes from writing.
        if let Some(slot) = self.0.take()
            && slot.dirty
            && Handle::try_current().is_ok()
        {
            drop(settled(slot));
        }
    }
}

fn settled(mut slot: OwnedMutexGuard<Slot>) -> tokio::task::JoinHandle<OwnedMutexGuard<Slot>> {
    tokio::spawn(async move {
        slot.settle().await;
        slot
    })
}

async fn flush(writer: Arc<Mutex<Slot>>, number: u64) {
    let mut slot = writer.lock_owned().await;
    slot.settle().await;
    if slot
        .group
        .as_ref()
        .is_some_and(|group| group.number == number)
    {
        slot.commit_group().await;
    }
}

impl Slot {
    pub(crate) fn conn(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.conn.as_mut().ok_or(StoreError::Unavailable)
    }

    fn has_members(&self) -> bool {
        self.group.as_ref().is_some_and(|group| group.members > 0)
    }

    async fn connected(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        if self.conn.is_none() {
            let options = self.reopen.as_ref().ok_or(StoreError::Unavailable)?;
            self.conn = Some(options.connect().await?);
        }
        self.conn()
    }

    /// Statements that begin and end a transaction by themselves. To be run where it cannot be cancelled.
    async fn run_all(&mut self, statements: Vec<Statement>) -> Result<(), StoreError> {
        for (sql, arguments) in statements {
            let conn = self.connected().await?;
            let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
            if let Err(error) = query.execute(conn).await {
                self.roll_back().await;
                return Err(error.into());
            }
        }
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn open_unit(&mut self) -> Result<(), StoreError> {
        self.connected().await?;
        let conn = self.conn.as_mut().ok_or(StoreError::Unavailable)?;
        self.dirty = true;
        if self.group.is_some() {
            exec(conn, "SAVEPOINT unit").await?;
        } else {
            // The first unit needs no savepoint: to undo it is to roll back.
            exec(conn, "BEGIN IMMEDIATE").await?;
            self.groups_opened += 1;
            self.group = Some(Group {
                number: self.groups_opened,
                members: 0,
                outcome: watch::Sender::new(None),
            });
        }
        Ok(())
    }

    /// The group's number for its first member, who has to see to its commit.
    fn join(&mut self) -> Result<(Option<u64>, watch::Receiver<Outcome>), StoreError> {
        let group = self.group.as_mut().ok_or(StoreError::Unavailable)?;
        group.members += 1;
        self.dirty = false;
        Ok((
            (group.members == 1).then_some(group.number),
            group.outcome.subscribe(),
        ))
    }

    /// Undoes an abandoned unit. To be run where it cannot be cancelled.
    async fn settle(&mut self) {
        if !self.dirty {
            return;
        }
        self.dirty = false;
        let kept = match self.conn.as_mut() {
            Some(conn) if self.group.as_ref().is_some_and(|group| group.members > 0) => {
                undo_unit(conn).await
            }
            _ => false,
        };
        if !kept {
            self.roll_back().await;
            if let Some(group) = self.group.take() {
                group.outcome.send_replace(Some(Err(StoreError::Busy)));
            }
        }
    }

    /// To be run where it cannot be cancelled: a COMMIT whose answer is lost would leave its group in doubt.
    async fn commit_group(&mut self) {
        let Some(group) = self.group.take() else {
            return;
        };
        let committed = match self.conn.as_mut() {
            Some(conn) => exec(conn, "COMMIT").await.map_err(StoreError::from),
            None => Err(StoreError::Unavailable),
        };
        match committed {
            Ok(()) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => self.roll_back().await,
        }
        group.outcome.send_replace(Some(committed));
    }

    async fn roll_back(&mut self) {
        let Some(conn) = self.conn.as_mut() else {
            return;
        };
        match exec(conn, "ROLLBACK").await {
            Ok(()) => {}
            Err(error) if says(&error, "no transaction is active") => {}
            Err(error) => {
                tracing::error!(%error, "SQLite could not roll back a transaction; its connection is replaced");
                self.conn = None;
            }
        }
    }
}

/// Whether the units that completed before this one are still there.
async fn undo_unit(conn: &mut SqliteConnection) -> bool {
    match exec(conn, "ROLLBACK TO unit").await {
        Ok(()) => exec(conn, "RELEASE unit").await.is_ok(),
        // No savepoint: it was never set, or was released unseen, or a failure (a full disk, say) made SQLite
        // roll back the whole transaction. Only within a transaction can there be no other.
        Err(_) => match exec(conn, "BEGIN").await {
            Ok(()) => false,
            Err(error) => says(&error, "within a transaction"),
        },
    }
}

async fn exec(conn: &mut SqliteConnection, sql: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(sql).execute(conn).await.map(drop)
}

/// SQLite has one code for all of these and tells them apart by their text only.
fn says(error: &sqlx::Error, text: &str) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.message().contains(text))
}
