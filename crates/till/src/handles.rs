//! File handles: how many the system gives us, and who may use how many of them. Connections come and go as clients like;
//! the database, webhooks and health must find a handle whatever they do.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use till_api::{HEALTH_CONNECTIONS, OPERATOR_CONNECTIONS};
use till_engine::EngineLimits;

use crate::config::Config;

/// Log, listeners, DNS, mail, lists, nodes, and what is opened for a moment.
const OTHERS: usize = 64;
/// Each connection to a SQLite file has the file, its log and the log's index open.
const PER_SQLITE_CONNECTION: usize = 3;
/// A pool may keep idle connections beside those in use.
const SOCKETS_PER_WEBHOOK: (usize, usize) = (3, 2);
/// Below this a server is of no use.
const CONNECTIONS_MIN: usize = 16;
/// However few there are, one client has at most so great a part of them.
const ONE_CLIENTS_PART: usize = 4;

/// As many as the system allows, and how many that is.
pub fn raise() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let all = Rlimit {
            current: maximum,
            maximum,
        };
        // What is not granted is not had: the budget below is made of what there is.
        let _ = setrlimit(Resource::Nofile, all);
    }
    limit()
}

/// How many there are now.
pub fn limit() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    current.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Who may use how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Clients' connections to the public listener.
    pub connections: usize,
    /// Of those, for one client.
    pub connections_per_client: usize,
    /// Webhooks at a time.
    pub webhooks_under_way: usize,
    /// Sockets to their receivers, idle ones included.
    pub webhook_sockets: usize,
}

pub fn budget(config: &Config, limit: usize) -> Budget {
    let asked = usize::try_from(config.limits.connections).unwrap_or(usize::MAX);
    let webhooks_under_way = EngineLimits::default()
        .webhooks_under_way
        .min(limit / 8)
        .max(1);
    let (times, by) = SOCKETS_PER_WEBHOOK;
    let webhook_sockets = webhooks_under_way * times / by + 1;
    let reserved =
        database(config) + webhook_sockets + HEALTH_CONNECTIONS + OPERATOR_CONNECTIONS + OTHERS;
    let connections = asked
        .min(limit.saturating_sub(reserved))
        .max(CONNECTIONS_MIN);
    let per_client = usize::try_from(config.limits.connections_per_client).unwrap_or(usize::MAX);
    Budget {
        connections,
        connections_per_client: per_client.min(connections / ONE_CLIENTS_PART),
        webhooks_under_way,
        webhook_sockets,
    }
}

fn database(config: &Config) -> usize {
    let pool = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
    match config.database.sqlite_path() {
        // The writer and whoever copies the log have one each.
        Some(_) => (pool(config.database.readers) + 2) * PER_SQLITE_CONNECTION,
        None => {
            let replicas = config.database.replicas.len();
            // The primary is asked how far it is on connections apart, and each replica on one.
            let following = if replicas > 0 { 2 + replicas } else { 0 };
            let reading = pool(config.database.readers) * (1 + replicas);
            reading + pool(config.database.writers) + following
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn config(file: &str) -> Config {
        Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap()
    }

    #[test]
    fn connections_leave_handles_for_everything_else() {
        for limit in [256, 1_024, 4_096, 65_536] {
            let config = config("");
            let budget = budget(&config, limit);
            let used = budget.connections + budget.webhook_sockets + database(&config);
            assert!(
                used + HEALTH_CONNECTIONS + OTHERS <= limit,
                "{limit}: {budget:?}"
            );
            assert!(budget.connections >= limit / 8, "{limit}: {budget:?}");
        }
    }

    #[test]
    fn what_reads_at_replicas_has_handles_of_its_own() {
        let url = "postgres://one/till";
        let alone = config(&format!("[database]\nurl = \"{url}\"\n"));
        let two = config(&format!(
            "[database]\nurl = \"{url}\"\nreplicas = [\"{url}\", \"{url}\"]\n"
        ));
        assert_eq!(
            (database(&alone), database(&two)),
            (8 + 8, 3 * 8 + 8 + 2 + 2)
        );
    }

    #[test]
    fn one_client_never_has_more_than_a_quarter_of_them() {
        for limit in [64, 256, 1_024, 65_536] {
            let budget = budget(&config(""), limit);
            let per_client = budget.connections_per_client;
            assert!((1..=500).contains(&per_client), "{limit}: {budget:?}");
            assert!(per_client * 4 <= budget.connections, "{limit}: {budget:?}");
        }
    }

    #[test]
    fn no_more_are_given_than_were_asked_for() {
        assert_eq!(budget(&config(""), 1_000_000).connections, 20_000);
        assert_eq!(
            budget(&config("[limits]\nconnections = 50\n"), 1_000_000).connections,
            50
        );
    }
}
