//! Replicas: followed, so that those that are silent or late are passed over, and chosen from for what is only shown.

use std::str::FromStr as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::config::DbConfig;
use super::position::{Position, WRITTEN};
use super::postgres::{self, Connections, OwnConnection};
use super::replica::{ChosenReplica, Replica, Standing};
use super::standing::{LAG_MS_MAX, PrimaryLog, ReplicaSays, Unusable};
use crate::StoreError;

/// Between two looks at a server.
const PERIOD: Duration = Duration::from_millis(500);
/// The same while somebody waits for a replica to replay more.
const PERIOD_AWAITED: Duration = Duration::from_millis(4);
/// A server that has not answered by then is silent.
const ASK_TIME: Duration = Duration::from_secs(3);
/// How long a replica is waited for that is not as far as a reader needs it.
const CATCH_UP_TIME: Duration = Duration::from_millis(100);
/// How long a position is waited for after a commit.
const POSITION_TIME: Duration = Duration::from_secs(1);

pub(crate) struct Replicas {
    each: Vec<Arc<Replica>>,
    /// Takes turns.
    next: AtomicUsize,
    /// Those who want to know how far the primary has written.
    asks: mpsc::UnboundedSender<oneshot::Sender<Position>>,
    unusable: AtomicU64,
    behind: AtomicU64,
    failed: Arc<AtomicU64>,
    /// Ended with this.
    following: Mutex<JoinSet<()>>,
}

/// How replicas are used: how many requests each was given, and why others went to the primary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaUse {
    pub replicas: Vec<OneReplica>,
    /// By reason.
    pub fallbacks: [(&'static str, u64); 3],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneReplica {
    pub name: String,
    pub is_usable: bool,
    pub lag_ms: i64,
    pub reads: u64,
}

/// Where a server is: host, port and database.
fn name_of(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_default();
    format!("{}:{}/{database}", options.get_host(), options.get_port())
}

fn parse(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|error| {
        StoreError::Other(format!(
            "{error}; correct sslmode and what else stands behind the ? in database.replicas"
        ))
    })?;
    Ok(options.application_name("till").disable_statement_logging())
}

impl Replicas {
    /// None where none are configured. They are looked for beside the work: one that is not there holds nothing up.
    pub(crate) fn follow(
        config: &DbConfig,
        primary: &Connections,
    ) -> Result<Option<Replicas>, StoreError> {
        if config.replicas.is_empty() {
            return Ok(None);
        }
        let mut each = Vec::new();
        for url in &config.replicas {
            let options = parse(url)?;
            each.push(Arc::new(Replica::new(name_of(&options), options)));
        }
        let mut following = JoinSet::new();
        let (log, _) = watch::channel(PrimaryLog::default());
        for replica in &each {
            let (replica, config) = (Arc::clone(replica), config.clone());
            following.spawn(follow_replica(replica, log.subscribe(), config));
        }
        let own = || OwnConnection::of(primary.clone());
        following.spawn(follow_primary(own(), log));
        let (asks, asked) = mpsc::unbounded_channel();
        following.spawn(tell_position(own(), asked));
        Ok(Some(Replicas {
            each,
            next: AtomicUsize::new(0),
            asks,
            unusable: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            failed: Arc::default(),
            following: Mutex::new(following),
        }))
    }

    /// One that may be read from and has replayed this much, or does shortly.
    pub(crate) async fn choose(&self, at_least: Position) -> Option<ChosenReplica> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.each.len();
        let (later, sooner) = self.each.split_at(turn);
        let stands = sooner.iter().chain(later).map(|it| (it, it.stands()));
        let usable: Vec<(&Arc<Replica>, Standing)> =
            stands.filter(|(_, standing)| standing.is_usable).collect();
        let mut there = usable.iter();
        let there = there.find(|(_, standing)| standing.replayed >= at_least);
        let furthest = || usable.iter().max_by_key(|(_, standing)| standing.replayed);
        let Some((replica, standing)) = there.or_else(furthest) else {
            self.unusable.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let mut at_least = at_least;
        if standing.replayed < at_least {
            // Nobody has more than the primary, whatever was asked for.
            at_least = at_least.min(self.position().await.unwrap_or(at_least));
            if !replica.reaches(at_least, CATCH_UP_TIME).await {
                self.behind.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        }
        replica.reads.fetch_add(1, Ordering::Relaxed);
        let failed = Arc::clone(&self.failed);
        Some(ChosenReplica::new(Arc::clone(replica), at_least, failed))
    }

    /// How far the primary has written, asked after this is called; nothing where it does not say. One statement answers all who
    /// want to know at one time.
    pub(crate) async fn position(&self) -> Option<Position> {
        let (answer, answered) = oneshot::channel();
        self.asks.send(answer).ok()?;
        timeout(POSITION_TIME, answered).await.ok()?.ok()
    }

    pub(crate) fn used(&self) -> ReplicaUse {
        let one = |replica: &Arc<Replica>| {
            let standing = replica.stands();
            OneReplica {
                name: replica.name.clone(),
                is_usable: standing.is_usable,
                lag_ms: standing.lag_ms,
                reads: replica.reads.load(Ordering::Relaxed),
            }
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReplicaUse {
            replicas: self.each.iter().map(one).collect(),
            fallbacks: [
                ("unusable", count(&self.unusable)),
                ("behind", count(&self.behind)),
                ("failed", count(&self.failed)),
            ],
        }
    }

    /// Their pools by name, as of the primary's.
    pub(crate) fn pools(&self) -> impl Iterator<Item = sqlx::PgPool> {
        let readers = self.each.iter().filter_map(|it| it.readers.get());
        readers.map(Connections::pool)
    }

    fn stop_following(&self) {
        let following = self.following.lock();
        let mut following = following.unwrap_or_else(PoisonError::into_inner);
        following.abort_all();
    }

    pub(crate) async fn close(&self) {
        self.stop_following();
        for pool in self.pools() {
            pool.close().await;
        }
    }
}

/// Answers all who wait by one statement, which begins after the last of them has asked.
async fn tell_position(
    mut primary: OwnConnection,
    mut asked: mpsc::UnboundedReceiver<oneshot::Sender<Position>>,
) {
    let mut waiting = Vec::new();
    while asked.recv_many(&mut waiting, usize::MAX).await > 0 {
        let written = timeout(POSITION_TIME, primary.one(WRITTEN)).await;
        let answers = waiting.drain(..);
        match written {
            Ok(Ok((bytes,))) => answers.for_each(|answer| {
                // Whoever asked may be gone.
                answer.send(Position::new(bytes)).ok();
            }),
            Ok(Err(_)) | Err(_) => drop(answers),
        }
    }
}

async fn follow_primary(mut primary: OwnConnection, log: watch::Sender<PrimaryLog>) {
    loop {
        let said = timeout(ASK_TIME, PrimaryLog::ask(&mut primary)).await;
        let said = said.ok().and_then(Result::ok);
        log.send_modify(|log| log.add(said));
        sleep(PERIOD).await;
    }
}

async fn follow_replica(
    replica: Arc<Replica>,
    mut log: watch::Receiver<PrimaryLog>,
    config: DbConfig,
) {
    // Nothing can be said before the primary has said something.
    if log.changed().await.is_err() {
        return;
    }
    let (mut conn, mut told) = (None, None);
    loop {
        let asked = timeout(ASK_TIME, ask(&replica, &mut conn, &config)).await;
        let asked = asked.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        let judged = match &asked {
            Err(_) => Err(Unusable::Silent),
            Ok(said) => log.borrow().judge(said),
        };
        let (said, cause) = match asked {
            Ok(said) => (Some(said), None),
            Err(error) => {
                // What was asked on it may never be answered.
                conn = None;
                (None, Some(error.to_string()))
            }
        };
        let before = replica.stands();
        replica.standing.send_replace(Standing {
            answers: said.is_some(),
            is_usable: judged.is_ok(),
            replayed: said.map_or(before.replayed, |it| it.replayed),
            lag_ms: match judged {
                Ok(lag_ms) | Err(Unusable::Behind { lag_ms }) => lag_ms,
                Err(_) => before.lag_ms,
            },
        });
        tell(&replica.name, &mut told, judged.map(drop), cause);
        // However many come to wait, it is not asked without a pause.
        sleep(PERIOD_AWAITED).await;
        if !replica.is_awaited() {
            timeout(PERIOD, replica.awaited.notified()).await.ok();
        }
    }
}

/// On a connection of its own, which readers cannot keep it from.
async fn ask(
    replica: &Replica,
    conn: &mut Option<PgConnection>,
    config: &DbConfig,
) -> Result<ReplicaSays, sqlx::Error> {
    let conn = match conn {
        Some(conn) => conn,
        None => conn.insert(connect(&replica.options).await?),
    };
    let said = ReplicaSays::ask(conn).await?;
    if replica.readers.get().is_none() {
        let readers = postgres::open_replica(&replica.options, config).await;
        let readers = readers.map_err(|error| sqlx::Error::Configuration(error.into()))?;
        replica.readers.get_or_init(|| readers);
    }
    Ok(said)
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    // Poolers refuse what they cannot set for each session anew.
    options.clone().extra_float_digits(None).connect().await
}

/// Says it in the log when it is another case than before.
fn tell(
    replica: &str,
    told: &mut Option<Result<(), Unusable>>,
    judged: Result<(), Unusable>,
    cause: Option<String>,
) {
    let is_short = |lag_ms| lag_ms <= LAG_MS_MAX;
    if matches!(judged, Err(Unusable::Behind { lag_ms }) if is_short(lag_ms)) {
        // It catches up with a primary that was just asked for the first time.
        return;
    }
    let is_same = match (&*told, &judged) {
        (Some(Ok(())), Ok(())) => true,
        (Some(Err(before)), Err(now)) => {
            std::mem::discriminant(before) == std::mem::discriminant(now)
        }
        _ => false,
    };
    if is_same {
        return;
    }
    match &judged {
        Ok(()) => tracing::info!(replica, "a replica answers lists and reports from now on"),
        Err(why) => {
            tracing::warn!(replica, %why, cause, "a replica is passed over; the primary answers instead");
        }
    }
    *told = Some(judged);
}

/// How a replica stands that a URL names, asked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaFound {
    /// How many bytes of the log it has still to replay.
    pub behind_bytes: u64,
    /// Why it would not be read from.
    pub unusable: Option<Unusable>,
}

/// Where a replica's URL leads, without a word that could be a password.
pub fn replica_name(url: &str) -> String {
    parse(url).map_or_else(|_| "a malformed URL".to_owned(), |it| name_of(&it))
}

/// Asks a replica as one that was just configured. It may take some moments for it to be as far as the primary is now.
pub(crate) async fn find(primary: &Connections, url: &str) -> Result<ReplicaFound, StoreError> {
    let options = parse(url)?;
    let found = async {
        let mut conn = connect(&options).await?;
        let mut log = PrimaryLog::default();
        let mut primary = OwnConnection::of(primary.clone());
        log.add(Some(PrimaryLog::ask(&mut primary).await?));
        let mut said = ReplicaSays::ask(&mut conn).await?;
        let mut tries_left = CATCH_UP_TIME.as_millis() / PERIOD_AWAITED.as_millis();
        while said.replayed < log.position() && tries_left > 0 {
            sleep(PERIOD_AWAITED).await;
            said = ReplicaSays::ask(&mut conn).await?;
            tries_left -= 1;
        }
        Ok::<_, StoreError>(ReplicaFound {
            behind_bytes: log.position().bytes_since(said.replayed),
            unusable: match log.judge(&said) {
                // From one position nobody can tell for how long; the bytes say how far.
                Ok(_) | Err(Unusable::Behind { .. }) => None,
                Err(why) => Some(why),
            },
        })
    };
    timeout(ASK_TIME, found)
        .await
        .unwrap_or(Err(StoreError::Unavailable))
}
