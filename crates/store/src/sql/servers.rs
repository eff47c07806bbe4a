//! Which of several PostgreSQL servers is spoken to. A URL may name them with commas between, as PostgreSQL's own tools take them:
//! `postgres://till@one,two:5433/till`, and `target_session_attrs` says which of them will do.

use std::io::ErrorKind;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::select_ok;
use sqlx::postgres::{PgConnectOptions, PgPool};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _, raw_sql};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::error::Unwritable;
use crate::StoreError;

const ATTRIBUTE: &str = "target_session_attrs=";

/// A server that has not answered by then is passed over.
const ASK_TIME: Duration = Duration::from_secs(3);
/// Whoever is kept waiting longer by one of several servers has all of them asked.
pub(crate) const NOTICE_TIME: Duration = Duration::from_secs(1);
/// How long the one in use may take longer than others where any will do.
const GRACE: Duration = Duration::from_millis(500);
/// Between two rounds of asking, as while a standby is being promoted.
const PAUSE: Duration = Duration::from_millis(250);

/// Which servers will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetServer {
    Any,
    Primary,
    /// A primary whose sessions may write.
    Writable,
}

/// One URL for each server that a PostgreSQL URL names, in their order.
pub fn server_urls(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return vec![url.to_owned()];
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    if !hosts.contains(',') {
        return vec![url.to_owned()];
    }
    // What holds of several by default is said of each.
    let wanted = match attribute(url) {
        Some(_) => String::new(),
        None if path.contains('?') => format!("&{ATTRIBUTE}read-write"),
        None => format!("?{ATTRIBUTE}read-write"),
    };
    let whole = |host: &str| format!("{scheme}://{user}{host}{path}{wanted}");
    hosts.split(',').map(whole).collect()
}

fn attribute(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix(ATTRIBUTE))
}

fn without_attribute(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs = query.split('&');
    let kept: Vec<&str> = pairs.filter(|it| !it.starts_with(ATTRIBUTE)).collect();
    match kept.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", kept.join("&")),
    }
}

/// The servers of a URL.
pub(crate) struct Named {
    pub all: Vec<PgConnectOptions>,
    pub wanted: TargetServer,
}

impl Named {
    pub(crate) fn parse(url: &str) -> Result<Named, StoreError> {
        let urls = server_urls(url);
        let wanted = match urls.first().and_then(|first| attribute(first)) {
            None | Some("any") => TargetServer::Any,
            Some("read-write") => TargetServer::Writable,
            Some("primary") => TargetServer::Primary,
            Some(_) => {
                return Err(StoreError::Other(
                    "target_session_attrs must be read-write, primary or any; correct it in database.url".into(),
                ));
            }
        };
        let options = |url: &String| {
            let options = PgConnectOptions::from_str(&without_attribute(url)).map_err(|error| {
                StoreError::Other(format!(
                    "{error}; correct sslmode and what else stands behind the ? in database.url"
                ))
            })?;
            Ok::<_, StoreError>(options.application_name("till").disable_statement_logging())
        };
        Ok(Named {
            all: urls.iter().map(options).collect::<Result<_, _>>()?,
            wanted,
        })
    }

    /// Whether it has to be asked which server will do.
    pub(crate) fn is_choice(&self) -> bool {
        self.all.len() > 1 || self.wanted != TargetServer::Any
    }

    /// The place of the first that says it will do. All are asked at once, so that one that is silent holds nobody up.
    pub(crate) async fn find(&self) -> Result<usize, Unfit> {
        let asked = self.all.iter().enumerate().map(|(place, options)| {
            Box::pin(async move { self.ask(options).await.map(|()| place) })
        });
        select_ok(asked).await.map(|(place, _)| place)
    }

    /// The same, but one that is in use and will do is kept: of several that will, the quickest to answer is another each time.
    async fn find_or_keep(&self, in_use: usize) -> Result<usize, Unfit> {
        let Some(options) = self.all.get(in_use) else {
            return self.find().await;
        };
        let (kept, found) = futures::join!(
            async {
                match self.wanted {
                    TargetServer::Any => timeout(GRACE, self.ask(options))
                        .await
                        .is_ok_and(|it| it.is_ok()),
                    // Where two say that they lead, the one in use is the one that was overtaken.
                    TargetServer::Primary | TargetServer::Writable => false,
                }
            },
            self.find()
        );
        if kept { Ok(in_use) } else { found }
    }

    async fn ask(&self, options: &PgConnectOptions) -> Result<(), Unfit> {
        let asked = async {
            // Poolers refuse what they cannot set for each session anew.
            let options = options.clone().extra_float_digits(None);
            let mut conn = options.connect().await.map_err(Unfit::Failed)?;
            let sql = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
            let row = conn.fetch_one(raw_sql(sql)).await.map_err(Unfit::Failed)?;
            conn.close().await.ok();
            let is_standby: bool = row.try_get(0).map_err(Unfit::Failed)?;
            let is_read_only: bool = row.try_get(1).map_err(Unfit::Failed)?;
            match self.wanted {
                TargetServer::Primary | TargetServer::Writable if is_standby => {
                    Err(Unfit::Takes(Unwritable::Replica))
                }
                TargetServer::Writable if is_read_only => Err(Unfit::Takes(Unwritable::ReadOnly)),
                TargetServer::Any | TargetServer::Primary | TargetServer::Writable => Ok(()),
            }
        };
        let silent = Err(Unfit::Failed(sqlx::Error::PoolTimedOut));
        timeout(ASK_TIME, asked).await.unwrap_or(silent)
    }
}

/// Why a server will not do.
pub(crate) enum Unfit {
    Failed(sqlx::Error),
    /// It answers, and is not of the kind that is wanted.
    Takes(Unwritable),
}

/// A pool that gives way to another one when another server takes over.
pub(crate) type Pool = Arc<RwLock<PgPool>>;

/// How the pools for writing and for reading reach one of the servers.
pub(crate) struct ServerOptions {
    pub writing: PgConnectOptions,
    pub reading: PgConnectOptions,
}

#[derive(Clone, Copy)]
struct InUse {
    place: usize,
    /// Counts the times that another took over.
    turn: u64,
}

/// The time in which a server is used. What is asked of it ends when another takes over: its answer may never come.
pub(crate) struct Term(Option<(Arc<Servers>, watch::Receiver<InUse>, u64)>);

impl Term {
    /// Of a server that has no other beside it.
    pub(crate) fn endless() -> Term {
        Term(None)
    }

    /// An error as of a connection that was lost, where another server takes over meanwhile.
    pub(crate) async fn within<T>(
        &mut self,
        asked: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let Some((servers, in_use, mine)) = &mut self.0 else {
            return asked.await;
        };
        let over = async {
            if timeout(NOTICE_TIME, taken_over(in_use, *mine))
                .await
                .is_err()
            {
                servers.seek();
                taken_over(in_use, *mine).await;
            }
        };
        tokio::select! {
            biased;
            done = asked => done,
            () = over => {
                let why = "another database server is used by now";
                Err(sqlx::Error::Io(std::io::Error::new(ErrorKind::ConnectionAborted, why)))
            }
        }
    }
}

/// Until another turn than this one.
async fn taken_over(in_use: &mut watch::Receiver<InUse>, turn: u64) {
    while in_use.borrow_and_update().turn == turn {
        if in_use.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Sees to it that the pools lead to a server that will do.
pub(crate) struct Servers {
    named: Named,
    /// In the order of the URL.
    options: Vec<ServerOptions>,
    writers: Pool,
    readers: Pool,
    in_use: watch::Sender<InUse>,
    is_seeking: AtomicBool,
    /// Told each time that a server was found.
    found: watch::Sender<()>,
}

impl Servers {
    pub(crate) fn new(
        named: Named,
        options: Vec<ServerOptions>,
        (writers, readers): (Pool, Pool),
        in_use: usize,
    ) -> Arc<Servers> {
        Arc::new(Servers {
            named,
            options,
            writers,
            readers,
            in_use: watch::Sender::new(InUse {
                place: in_use,
                turn: 0,
            }),
            is_seeking: AtomicBool::new(false),
            found: watch::Sender::new(()),
        })
    }

    /// Whoever asks before it tries is told of every server that is found from then on.
    pub(crate) fn finds(&self) -> watch::Receiver<()> {
        self.found.subscribe()
    }

    /// Taken before a connection is, or one to the server before could seem to be the new one's.
    pub(crate) fn term(self: &Arc<Servers>) -> Term {
        let in_use = self.in_use.subscribe();
        let turn = in_use.borrow().turn;
        Term(Some((Arc::clone(self), in_use, turn)))
    }

    /// Asks all servers until one will do, beside the work, unless somebody is at it.
    pub(crate) fn seek(self: &Arc<Servers>) {
        if self.is_seeking.swap(true, Ordering::AcqRel) {
            return;
        }
        let servers = Arc::clone(self);
        tokio::spawn(async move {
            servers.seek_until_found().await;
            // Who goes on failing at a server that will do must not have it asked without end.
            sleep(PAUSE).await;
            servers.is_seeking.store(false, Ordering::Release);
        });
    }

    async fn seek_until_found(&self) {
        let mut is_told = false;
        while !get(&self.writers).is_closed() {
            let in_use = self.in_use.borrow().place;
            match self.named.find_or_keep(in_use).await {
                Ok(place) => {
                    self.use_server(place);
                    self.found.send_replace(());
                    return;
                }
                Err(_) if is_told => {}
                Err(_) => {
                    is_told = true;
                    tracing::warn!(
                        "none of the database's servers can be used; they are asked until one can; check the hosts of database.url, and target_session_attrs"
                    );
                }
            }
            sleep(PAUSE).await;
        }
    }

    /// What is under way with the server before ends without an answer.
    fn use_server(&self, place: usize) {
        let Some(server) = self.options.get(place) else {
            return;
        };
        if self.in_use.borrow().place == place {
            return;
        }
        tracing::warn!(
            host = server.writing.get_host(),
            port = server.writing.get_port(),
            "the database server in use failed or is not writable, so another one is used from now on; look at the first"
        );
        for (pool, options) in [
            (&self.writers, &server.writing),
            (&self.readers, &server.reading),
        ] {
            let mut held = pool.write().unwrap_or_else(PoisonError::into_inner);
            let next = held.options().clone().connect_lazy_with(options.clone());
            let before = std::mem::replace(&mut *held, next);
            tokio::spawn(async move { before.close().await });
        }
        self.in_use.send_modify(|in_use| {
            in_use.place = place;
            in_use.turn += 1;
        });
    }
}

pub(crate) fn get(pool: &Pool) -> PgPool {
    pool.read().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_a_url_of_its_own_that_says_which_kind_will_do() {
        let url = "postgres://till:a,b@one:5432,two/till?sslmode=require";
        assert_eq!(
            server_urls(url),
            [
                "postgres://till:a,b@one:5432/till?sslmode=require&target_session_attrs=read-write",
                "postgres://till:a,b@two/till?sslmode=require&target_session_attrs=read-write",
            ]
        );
        assert_eq!(
            server_urls("postgres://one,[::1]:5433?target_session_attrs=any"),
            [
                "postgres://one?target_session_attrs=any",
                "postgres://[::1]:5433?target_session_attrs=any",
            ]
        );
        for url in ["postgres://till@one/till", "sqlite:a,b.db"] {
            assert_eq!(server_urls(url), [url]);
        }
    }

    #[test]
    fn several_servers_must_take_writes_unless_the_url_says_otherwise() {
        let wanted = |url: &str| Named::parse(url).map(|named| named.wanted).ok();
        assert_eq!(wanted("postgres://one/till"), Some(TargetServer::Any));
        assert_eq!(
            wanted("postgres://one,two/till"),
            Some(TargetServer::Writable)
        );
        let given = |value: &str| wanted(&format!("postgres://one/till?{ATTRIBUTE}{value}"));
        assert_eq!(given("primary"), Some(TargetServer::Primary));
        assert_eq!(
            given("read-write&sslmode=disable"),
            Some(TargetServer::Writable)
        );
        assert_eq!(given("standby"), None);
    }
}
