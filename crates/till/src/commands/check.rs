//! `till check`: one line for everything the server depends on, and how to mend what fails.

use std::path::Path;
use std::time::Duration;

use till_chains::observer::Observer;
use till_chains::rpc::{Endpoint, RpcClient};
use till_chains::solana;
use till_chains::zmq::ZmqError;
use till_core::asset::{Family, Network, Registry};
use till_core::webhook::UrlPolicy;
use till_engine::base::clock::Clock as _;
use till_engine::base::vault::Vault;
use till_engine::outbound::{Sender, SenderConfig};
use till_store::networks::{NetworkRow, Times};
use till_store::{Db, ReplicaFound, StoreError};
use url::Url;

use crate::commands::checklist::{self, CheckFindings};
use crate::commands::screening::{self, ListStatus};
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::handles;
use crate::keyfile::{self, Key};
use crate::output;
use crate::progress;
use crate::system::SystemClock;
use crate::tls;
use crate::warnings::{self, Warning};

const ENDPOINT_TIME: Duration = Duration::from_secs(5);
const CLOCKS_WARN_MS: i64 = 2_000;
/// A webhook's signature is refused by receivers long after this.
const CLOCKS_FAIL_MS: i64 = 30_000;

/// As in `docs/alerts.yml`.
const LATE_S: i64 = 300;
const FINAL_LATE_S: i64 = 2_700;

/// What came of one check: good, perhaps with a remark, or wrong and how to mend it.
type Verdict = Result<String, String>;

pub async fn run(config: &Config) -> Result<(), Failure> {
    // As a server would.
    handles::raise();
    let mut report = Report::default();
    // Whoever gets here has one: reading it comes before every command.
    report.add("configuration", Ok(String::new()))?;
    for Warning { about, line } in warnings::collect(config) {
        report.warn(about, &line)?;
    }
    let name = format!("database {}", database::name(&config.database));
    let (verdict, db) = database(config).await;
    report.add(&name, verdict)?;
    if let Some(db) = &db {
        for url in &config.database.replicas {
            let name = format!("replica {}", till_store::replica_name(url));
            report.add(&name, replica(db, url).await)?;
        }
    }
    if let Some(db) = &db
        && let Some(verdict) = clocks(db).await
    {
        match verdict {
            Ok(remark) if !remark.is_empty() => report.warn("clock", &remark)?,
            verdict => report.add("clock", verdict)?,
        }
    }
    if let Some(db) = &db
        && let Some(line) = other_host(config, db).await
    {
        report.warn("dashboard", &line)?;
    }
    for (name, verdict) in key_files(config, db.as_ref()).await {
        report.add(&name, verdict)?;
    }
    let in_use = match &db {
        Some(db) => screening::of(config, db).await.unwrap_or_default(),
        None => Vec::new(),
    };
    let networks = match &db {
        Some(db) => watched(db).await,
        None => Vec::new(),
    };
    let mut found = CheckFindings::default();
    if let Some(db) = db {
        found.has_webhook = checklist::has_live_webhook(&db).await;
        found.is_backed_up = checklist::is_backed_up(&db).await;
        db.close().await;
    }
    for (name, verdict) in screening_lists(config, &in_use).await {
        found.lists_failed |= verdict.is_err();
        report.add(&name, verdict)?;
    }
    if let Some(verdict) = tls_files(config) {
        found.tls_failed = verdict.is_err();
        report.add("TLS", verdict)?;
    }
    for path in &config.webhooks.trusted_certificates {
        let name = format!("trusted certificates {}", path.display());
        report.add(&name, certificates(path))?;
    }
    chains(config, &networks, &mut report, &mut found).await?;
    if let Some(smtp_url) = &config.mail.smtp_url {
        let place = Url::parse(smtp_url).map(|url| till_net::place(&url));
        let place = place.unwrap_or_else(|_| "a malformed address".to_owned());
        let name = format!("mail at {place}");
        let verdict = mail(config).await;
        found.mail_failed = verdict.is_err();
        report.add(&name, verdict)?;
    }
    checklist::print(config, &found)?;
    report.end()
}

#[derive(Default)]
struct Report {
    checks: usize,
    failed: usize,
}

impl Report {
    /// At once, because the next check may wait for a host that does not answer.
    fn add(&mut self, name: &str, verdict: Verdict) -> Result<(), Failure> {
        self.checks += 1;
        let line = match verdict {
            Ok(remark) if remark.is_empty() => format!("ok {name}\n"),
            Ok(remark) => format!("ok {name} — {remark}\n"),
            Err(problem) => {
                self.failed += 1;
                format!("FAIL {name} — {problem}\n")
            }
        };
        output::print(&line)
    }

    /// Not wrong, so it fails nothing.
    fn warn(&self, name: &str, line: &str) -> Result<(), Failure> {
        output::print(&format!("warn {name} — {line}\n"))
    }

    fn end(self) -> Result<(), Failure> {
        match self.failed {
            0 => Ok(()),
            failed => Err(Failure::new(format!(
                "{failed} of {} checks failed",
                self.checks
            ))),
        }
    }
}

/// Nothing where a proxy speaks TLS, or nobody does.
fn tls_files(config: &Config) -> Option<Verdict> {
    let opened = match tls::files(config) {
        Ok(None) => return None,
        Ok(Some(files)) => files.open().map(|_| String::new()),
        Err(failure) => Err(failure),
    };
    Some(opened.map_err(|failure| failure.to_string()))
}

async fn database(config: &Config) -> (Verdict, Option<Db>) {
    if let Some(path) = config.database.sqlite_path()
        && !path.exists()
    {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let verdict = match folder.filter(|folder| !folder.is_dir()) {
            Some(folder) => Err(format!("make the folder {}", folder.display())),
            None => Ok("not there yet; `till serve` makes it".to_owned()),
        };
        return (verdict, None);
    }
    match database::open_existing(&config.database).await {
        Ok(db) => {
            let now = SystemClock::start().now_ms();
            let written = till_store::installation::check_writing(&db, now).await;
            let verdict = match written {
                Ok(()) => sound(&db).await,
                Err(error) => Err(error.to_string()),
            };
            (verdict, Some(db))
        }
        Err(failure) => (Err(failure.to_string()), None),
    }
}

/// Whether lists and reports could be read there, and how much of the primary's log it has still to replay.
async fn replica(db: &Db, url: &str) -> Verdict {
    let mend = |why: String| format!("{why}; correct database.replicas, or mend the standby");
    match db.find_replica(url).await {
        Ok(ReplicaFound {
            unusable: Some(why),
            ..
        }) => Err(mend(why.to_string())),
        Ok(found) if found.behind_bytes == 0 => {
            Ok("a standby that has replayed everything".to_owned())
        }
        Ok(found) => Ok(format!("a standby, {} bytes behind", found.behind_bytes)),
        Err(StoreError::Unavailable) => Err(mend(database::explain_server(url).await)),
        Err(error) => Err(mend(error.to_string())),
    }
}

async fn sound(db: &Db) -> Verdict {
    match progress::during("reading the database", db.find_damage()).await {
        Ok(None) => Ok(String::new()),
        Ok(Some(damage)) => Err(format!(
            "the file is damaged: {damage}; stop the server, keep the file, and restore the newest copy (`till restore`)"
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// How the networks stand that servers have watched: frozen is wrong, and late worth a word.
async fn watched(db: &Db) -> Vec<(String, Verdict)> {
    let Ok(mut reader) = db.read().await else {
        return Vec::new();
    };
    let rows = till_store::networks::all(&mut reader).await;
    let times = till_store::networks::times(&mut reader).await;
    let (Ok(rows), Ok(times)) = (rows, times) else {
        return Vec::new();
    };
    let now = SystemClock::start().now_ms();
    let stands = |row: &NetworkRow| {
        let verdict = match &row.frozen_reason {
            Some(reason) => Err(format!(
                "frozen: {reason}; look at what was replaced, then `till network thaw --network {}`",
                row.id
            )),
            None => Ok(late(&row.id, times.get(&row.id), now)),
        };
        (row.id.clone(), verdict)
    };
    rows.iter().map(stands).collect()
}

/// Blocks of most networks come many times faster; of those that take long, so many are waited for.
fn late(network: &str, times: Option<&Times>, now: i64) -> String {
    let age_s = |time: i64| (now - time) / 1_000;
    let block_ms = Registry::builtin().network(network);
    let block_ms = block_ms.and_then(|network| i64::try_from(network.block_time_ms).ok());
    let slow_s = |blocks: i64| block_ms.unwrap_or_default().saturating_mul(blocks) / 1_000;
    let (late_s, final_late_s) = (LATE_S.max(slow_s(12)), FINAL_LATE_S.max(slow_s(24)));
    let read = times.and_then(|it| it.read).map(age_s);
    let last_final = times.and_then(|it| it.last_final).map(age_s);
    match (read, last_final) {
        (Some(read), _) if read > late_s => {
            format!(
                "the last block that was read is {read} s old; a server that runs says why at /readyz"
            )
        }
        (_, Some(last_final)) if last_final > final_late_s => {
            format!("the last final block is {last_final} s old: payments there stay confirming")
        }
        _ => String::new(),
    }
}

/// Passkeys work under the host alone that they were registered for.
async fn other_host(config: &Config, db: &Db) -> Option<String> {
    let mut reader = db.read().await.ok()?;
    let registered = till_store::installation::passkey_host(&mut reader).await;
    let registered = registered.ok().flatten()?;
    let url = Url::parse(&config.urls(config.server.listen).dashboard).ok()?;
    let host = url.host_str().unwrap_or_default();
    (host != registered).then(|| {
        format!(
            "passkeys were registered for {registered}, and the dashboard is now at {host}, where none of them works; \
             set dashboard.url back, or have everybody register a new one (till user link)"
        )
    })
}

/// Nothing where the database runs by our own clock.
async fn clocks(db: &Db) -> Option<Verdict> {
    let clock = SystemClock::start();
    let before = clock.now_ms();
    let theirs = match db.clock_ms().await {
        Ok(theirs) => theirs?,
        Err(error) => return Some(Err(error.to_string())),
    };
    Some(judge_clocks(before, theirs, clock.now_ms()))
}

/// Servers agree by the database's rows and act by their own clocks: leases, retries and deadlines go wrong between those
/// who differ. Theirs was read at some moment between the other two.
fn judge_clocks(before: i64, theirs: i64, after: i64) -> Verdict {
    let off_ms = (before - theirs).max(theirs - after).max(0);
    let line = format!(
        "this machine's clock and the database's differ by {} s; set both by NTP",
        off_ms / 1_000
    );
    if off_ms <= CLOCKS_WARN_MS {
        Ok(String::new())
    } else if off_ms <= CLOCKS_FAIL_MS {
        Ok(line)
    } else {
        Err(line)
    }
}

async fn key_files(config: &Config, db: Option<&Db>) -> Vec<(String, Verdict)> {
    let in_memory =
        config.database.sqlite_path().is_none() && config.database.url.starts_with("sqlite:");
    if in_memory && config.secrets.key_file.is_empty() {
        return Vec::new();
    }
    let written_with_one = match db {
        None => false,
        Some(db) => compose::is_new(db).await.is_ok_and(|is_new| !is_new),
    };
    let mut verdicts = Vec::new();
    let mut keys = Vec::new();
    for (place, path) in config.key_files().iter().enumerate() {
        let name = format!("key file {}", path.display());
        let verdict = if place == 0 && !path.exists() && !written_with_one {
            Ok("not there yet; the first start makes it".to_owned())
        } else {
            keyfile::read(path)
                .map(|key| keys.push(key))
                .map(|()| match keyfile::is_exposed(path) {
                    true => "but others can read it; make it chmod 600".to_owned(),
                    false => String::new(),
                })
                .map_err(|failure| failure.to_string())
        };
        verdicts.push((name, verdict));
    }
    if let Some(db) = db
        && let Some(verdict) = named_key(db, &keys).await
    {
        verdicts.push(("the key that encrypts".to_owned(), verdict));
    }
    if written_with_one
        && !keys.is_empty()
        && let Some(db) = db
    {
        let opened = compose::keys_open(config, db.clone(), &keys).await;
        let verdict = opened
            .map(|()| String::new())
            .map_err(|failure| failure.to_string());
        verdicts.push(("what the key files encrypted".to_owned(), verdict));
    }
    verdicts
}

/// Whether the key that the database names is among the files. Nothing while it names none.
async fn named_key(db: &Db, keys: &[Key]) -> Option<Verdict> {
    let named = till_store::installation::key_name(&mut db.read().await.ok()?).await;
    let named = named.ok()??;
    let vault = Vault::new(keys).ok()?;
    Some(if vault.first_name() == named {
        Ok(match keys.len() {
            1 => String::new(),
            _ => "after `till key-file rotate` the other files may go".to_owned(),
        })
    } else if vault.has(&named) {
        Ok(format!(
            "it is {named}, and not the first file yet; run `till key-file rotate`"
        ))
    } else {
        Err(format!(
            "the database is encrypted with the key {named}, and none of the files is it; copy the file from a server that has it"
        ))
    })
}

fn certificates(path: &Path) -> Verdict {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    endpoint_sender(vec![pem])
        .map(|_| String::new())
        .map_err(|_| "holds no readable certificate; it must be in PEM form".to_owned())
}

/// The operator's own endpoints may be anywhere.
fn endpoint_sender(trusted_certificates_pem: Vec<Vec<u8>>) -> Result<Sender, String> {
    Sender::new(SenderConfig {
        policy: UrlPolicy::PrivateAllowed,
        trusted_certificates_pem,
        own_addresses: Vec::new(),
        sockets: 1,
        deadline: ENDPOINT_TIME,
    })
    .map_err(|error| error.to_string())
}

/// Every endpoint and every publisher, and how servers have left the networks.
async fn chains(
    config: &Config,
    watched: &[(String, Verdict)],
    report: &mut Report,
    found: &mut CheckFindings,
) -> Result<(), Failure> {
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let endpoints = compose::endpoints(config)?;
    let publishers = compose::publishers(config)?;
    for (id, (network, _)) in compose::networks(config)? {
        for endpoint in endpoints.get(id).into_iter().flatten() {
            let verdict = chain(&rpc, network, endpoint).await;
            if verdict.is_ok() {
                found.networks.push(network.id.clone());
            }
            report.add(&format!("{id} at {endpoint}"), verdict)?;
        }
        for publisher in publishers.get(id).into_iter().flatten() {
            let name = format!("{id} published at {publisher}");
            match publisher.subscribe(compose::topics(network)).await {
                Ok(_) => report.add(&name, Ok(String::new()))?,
                // Payments are seen without it.
                Err(error) => report.warn(&name, &mend_publisher(&error))?,
            }
        }
        match watched.iter().find(|(known, _)| known == id) {
            Some((_, Ok(late))) if !late.is_empty() => report.warn(id, late)?,
            Some((_, Err(problem))) => report.add(id, Err(problem.clone()))?,
            Some((_, Ok(_))) | None => {}
        }
    }
    Ok(())
}

fn mend_publisher(error: &ZmqError) -> String {
    format!("{error}; correct networks.<id>.zmq, or have the node publish there")
}

async fn chain(rpc: &RpcClient, network: &'static Network, endpoint: &Endpoint) -> Verdict {
    let problem = match (Observer::of(network), network.family) {
        (Some(observer), _) => observer.identify(rpc, endpoint).await,
        (None, Family::Solana) => solana::genesis::identify(rpc, endpoint, network).await,
        (None, Family::Evm | Family::Tron | Family::Bitcoin) => Ok(None),
    };
    match problem.map_err(|error| mend_endpoint(error.to_string()))? {
        None => Ok(String::new()),
        Some(problem) => Err(format!("{problem}; give an endpoint of {}", network.name)),
    }
}

fn mend_endpoint(problem: String) -> String {
    format!("{problem}; correct networks.<id>.rpc (or .esplora) or wait for the provider")
}

/// Reads every list to its end, as a server would, and says what servers use of it now.
async fn screening_lists(config: &Config, in_use: &[ListStatus]) -> Vec<(String, Verdict)> {
    let name = "screening lists".to_owned();
    if config.screening.lists.is_empty() {
        let remark = "none, so in live mode every refund claim goes in_review".to_owned();
        let is_live = config.server.live_mode;
        return is_live.then_some((name, Ok(remark))).into_iter().collect();
    }
    let lists = match compose::lists(config) {
        Ok(lists) => lists,
        Err(failure) => return vec![(name, Err(failure.to_string()))],
    };
    let mut verdicts = Vec::new();
    for list in &lists.config.lists {
        let read = till_engine::lists::read(list, &lists.fetcher).await;
        let verdict = match read {
            Ok(content) => {
                let (version, size) = (content.version, content.addresses.len());
                let used = in_use.iter().find(|used| used.list == list.name);
                let used = match used.map_or("missing", |used| used.state) {
                    "fresh" => "",
                    "stale" => "; the servers' copy is too old, and claims go in_review",
                    _ => "; no server has read it yet, and claims go in_review",
                };
                Ok(format!("{version}, {size} addresses{used}"))
            }
            Err(error) => Err(format!(
                "{error}; correct screening.lists, or claims go in_review"
            )),
        };
        verdicts.push((format!("screening list {}", list.name), verdict));
    }
    verdicts
}

/// A real greeting, and a login where there is a password.
async fn mail(config: &Config) -> Verdict {
    let mend = |problem: String| format!("{problem}; correct mail.smtp_url");
    match compose::mailer(config) {
        Ok(None) => Ok(String::new()),
        Ok(Some(mailer)) => {
            let mailer = mailer.with_timeout(ENDPOINT_TIME);
            let reached = mailer.reach().await.map(|()| String::new());
            reached.map_err(|error| mend(error.to_string()))
        }
        Err(failure) => Err(mend(failure.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_differ_are_told_and_then_fail() {
        let judge = |theirs: i64| judge_clocks(10_000, theirs, 10_400);
        assert_eq!(judge(10_200), Ok(String::new()));
        assert_eq!(judge(8_000), Ok(String::new()));
        assert!(judge(7_000).is_ok_and(|line| line.contains("differ by 3 s")));
        assert!(judge(13_500).is_ok_and(|line| line.contains("differ by 3 s")));
        assert!(judge(-25_000).is_err_and(|line| line.contains("35 s") && line.contains("NTP")));
    }
}
