//! How long the cluster itself takes no writes: what is beyond that is Till's own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Executor as _};

use crate::Res;

const EVERY: Duration = Duration::from_millis(50);
const ANSWER_TIME: Duration = Duration::from_millis(1_500);

pub struct Probe(Arc<Mutex<Gap>>);

struct Gap {
    last: Instant,
    longest: Duration,
}

impl Gap {
    fn close(&mut self) {
        self.longest = self.longest.max(self.last.elapsed());
        self.last = Instant::now();
    }
}

impl Probe {
    /// Writes one row again and again, through PgBouncer and HAProxy.
    pub fn start(url: &str) -> Probe {
        let gap = Arc::new(Mutex::new(Gap {
            last: Instant::now(),
            longest: Duration::ZERO,
        }));
        let (url, shared) = (url.to_owned(), Arc::clone(&gap));
        tokio::spawn(async move {
            let mut held = None;
            loop {
                let write = write(&url, held.take());
                if let Ok(Ok(conn)) = tokio::time::timeout(ANSWER_TIME, write).await {
                    held = Some(conn);
                    lock(&shared).close();
                }
                tokio::time::sleep(EVERY).await;
            }
        });
        Probe(gap)
    }

    pub fn begin_watching(&self) {
        let mut gap = lock(&self.0);
        gap.last = Instant::now();
        gap.longest = Duration::ZERO;
    }

    pub fn end_watching(&self) -> Duration {
        let mut gap = lock(&self.0);
        gap.close();
        gap.longest
    }
}

fn lock(gap: &Mutex<Gap>) -> std::sync::MutexGuard<'_, Gap> {
    gap.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write(url: &str, held: Option<PgConnection>) -> Res<PgConnection> {
    let mut conn = match held {
        Some(conn) => conn,
        None => {
            let options: PgConnectOptions = url.parse()?;
            // PgBouncer refuses what it cannot set for each session anew.
            let options = options.extra_float_digits(None);
            let mut conn = options.connect().await?;
            let table = "CREATE TABLE IF NOT EXISTS chaos_probe (id INT PRIMARY KEY, at BIGINT)";
            conn.execute(sqlx::raw_sql(table)).await?;
            conn
        }
    };
    let sql = "INSERT INTO chaos_probe VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET at = chaos_probe.at + 1";
    conn.execute(sqlx::raw_sql(sql)).await?;
    Ok(conn)
}
