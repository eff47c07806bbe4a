//! Warnings about a configuration that works but should be changed: logged at the start, and printed by `till check`.

use std::path::{Path, PathBuf};

use till_chains::observer::Observer;
use till_core::asset::{Mode, Registry};
use url::Url;

use crate::config::{Config, UnknownVariable};
use crate::handles;
use crate::keyfile;

/// Something an operator may want to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub about: &'static str,
    pub line: String,
}

/// All warnings about the configuration and the files it names.
pub fn collect(config: &Config) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = proxies(config).into_iter().collect();
    warnings.extend(live_mode(config));
    warnings.extend(dashboard(config));
    warnings.extend(unwatched(config));
    warnings.extend(environment(config));
    warnings.extend(files(config));
    warnings.extend(tls_key(config));
    warnings.extend(disk(config));
    warnings.extend(handles(config, handles::limit()));
    warnings
}

/// Variables that look like settings and are none.
pub fn environment(config: &Config) -> Vec<Warning> {
    config.unknown_variables.iter().map(variable).collect()
}

pub fn log(warnings: &[Warning]) {
    for Warning { about, line } in warnings {
        tracing::warn!(about, "{line}");
    }
}

/// The listener speaks plain HTTP, so whoever is reached by https is behind something that ends it.
fn proxies(config: &Config) -> Option<Warning> {
    let public_url = config.server.public_url.as_deref().unwrap_or_default();
    let trusted = &config.limits.trusted_proxies;
    let line = if trusted.iter().any(|it| it.prefix_len() == 0) {
        "limits.trusted_proxies names everybody, so any client can say that it is another and is kept by no limit; \
         name only the addresses that your proxy connects from"
    } else if public_url.starts_with("https://")
        && config.server.tls_certificate.is_none()
        && trusted.is_empty()
    {
        "server.public_url is https, so a proxy stands before the server, and every payer counts as one client; \
         set limits.trusted_proxies to the addresses the proxy connects from"
    } else {
        return None;
    };
    Some(Warning {
        about: "proxies",
        line: line.to_owned(),
    })
}

/// With fewer than this, one page that many look at at once is enough to fill a server.
const CONNECTIONS_FEW: usize = 2_000;

/// Far fewer connections than were asked for, because the system does not give the handles.
fn handles(config: &Config, limit: usize) -> Option<Warning> {
    let asked = usize::try_from(config.limits.connections).unwrap_or(usize::MAX);
    let budget = handles::budget(config, limit);
    (budget.connections < asked.min(CONNECTIONS_FEW)).then(|| Warning {
        about: "file handles",
        line: format!(
            "the system gives {limit} of them, enough for {} connections instead of {asked}; raise the limit \
             (LimitNOFILE= of systemd, --ulimit nofile of containers), or lower limits.connections",
            budget.connections
        ),
    })
}

/// What may do for trying out, and not where money is real.
fn live_mode(config: &Config) -> Vec<Warning> {
    if !config.server.live_mode {
        return Vec::new();
    }
    let public_url = config.urls(config.server.listen).public;
    let plain = !public_url.starts_with("https://");
    let private = config.webhooks.allow_private_addresses;
    let plain = plain.then_some(
        "server.live_mode is on, and server.public_url is not https: payers and their keys go unprotected; \
         set server.tls_certificate and server.tls_key, or put a proxy with TLS before the server and set its address",
    );
    let private = private.then_some(
        "server.live_mode is on, and webhooks.allow_private_addresses lets merchants reach your own network; \
         set it to false",
    );
    let lines = [plain, private].into_iter().flatten();
    lines
        .map(|line| Warning {
            about: "live mode",
            line: line.to_owned(),
        })
        .collect()
}

/// Less than this is too short for an owner to see a mail and stop the change.
const CHANGE_DELAY_SHORT_S: u32 = 3_600;

fn dashboard(config: &Config) -> Vec<Warning> {
    if !config.dashboard.enabled {
        return Vec::new();
    }
    let url = config.urls(config.server.listen).dashboard;
    let host = Url::parse(&url).ok();
    let is_local = host.is_some_and(|url| url.host_str() == Some("localhost"));
    let plain = !url.starts_with("https://") && !is_local;
    let plain = plain.then_some(
        "dashboard.url is plain http under a name other than localhost, where browsers keep no session and no passkey: \
         nobody can sign in; set an https address, or reach it as localhost through a forwarded port",
    );
    let short = config.dashboard.change_delay_s < CHANGE_DELAY_SHORT_S;
    let short = short.then_some(
        "dashboard.change_delay_s is below 3600: whoever steals an owner's session and passkey has live payments sent elsewhere \
         before anybody reads the notice; 86400 is a day",
    );
    let lines = [plain, short].into_iter().flatten();
    lines
        .map(|line| Warning {
            about: "dashboard",
            line: line.to_owned(),
        })
        .collect()
}

/// Nobody would see what is paid there, so nothing is offered.
fn unwatched(config: &Config) -> Option<Warning> {
    if !config.server.live_mode {
        return None;
    }
    let registry = Registry::builtin();
    let named = config.networks.iter();
    let with_endpoints: Vec<&str> = named
        .filter(|(_, settings)| settings.has_endpoints())
        .filter_map(|(name, _)| Some(registry.network(name)?.id.as_str()))
        .collect();
    let live = registry.networks().iter();
    let (watchable, never): (Vec<_>, Vec<_>) = live
        .filter(|network| network.mode == Mode::Live)
        .partition(|network| Observer::of(network).is_some());
    let missing: Vec<&str> = watchable
        .iter()
        .map(|network| network.id.as_str())
        .filter(|id| !with_endpoints.contains(id))
        .collect();
    let never: Vec<&str> = never.iter().map(|network| network.name.as_str()).collect();
    let set = match missing.is_empty() {
        true => String::new(),
        false => format!(
            "nothing is offered on {}, which have no endpoint: set networks.<caip2>.rpc for those that merchants take \
             payments on; ",
            missing.join(", ")
        ),
    };
    Some(Warning {
        about: "unwatched networks",
        line: format!(
            "server.live_mode is on, and {set}nothing is watched, and nothing offered, on {}",
            never.join(" and ")
        ),
    })
}

fn variable(unknown: &UnknownVariable) -> Warning {
    let UnknownVariable { name, meant } = unknown;
    let line = match meant {
        Some(meant) => format!("{name} is no setting and has no effect; did you mean {meant}?"),
        None => {
            format!("{name} is no setting and has no effect; settings are named TILL_SECTION_KEY")
        }
    };
    Warning {
        about: "environment",
        line,
    }
}

/// New files are their owner's alone; those of earlier versions were not.
fn files(config: &Config) -> Vec<Warning> {
    let Some(path) = config.database.sqlite_path() else {
        return Vec::new();
    };
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let exposed = ["", "-wal", "-shm"].map(beside).into_iter();
    exposed
        .filter(|path| keyfile::is_exposed(path))
        .map(|path| Warning {
            about: "files",
            line: format!(
                "{} can be read by others on this machine; make it chmod 600",
                path.display()
            ),
        })
        .collect()
}

/// A group may be meant to read it, as those who renew certificates often arrange; everybody is not.
fn tls_key(config: &Config) -> Option<Warning> {
    let path = config.server.tls_key.as_deref()?;
    keyfile::is_everybodys(path).then(|| Warning {
        about: "TLS key",
        line: format!(
            "{} can be read by everybody on this machine, who could pose as this server; make it chmod 640 or 600",
            path.display()
        ),
    })
}

/// With less than this a day's work may not fit, and nothing is written when it is full.
const DISK_LOW_BYTES: u64 = 1 << 30;

/// Of PostgreSQL's disk its server knows.
fn disk(config: &Config) -> Option<Warning> {
    let path = config.database.sqlite_path()?;
    let folder = path.parent().filter(|of| !of.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let found = rustix::fs::statvfs(folder).ok()?;
    low_disk(folder, found.f_bavail.saturating_mul(found.f_frsize))
}

fn low_disk(folder: &Path, free_bytes: u64) -> Option<Warning> {
    (free_bytes < DISK_LOW_BYTES).then(|| Warning {
        about: "disk space",
        line: format!(
            "{} MiB are left on the disk of {}, and when it is full nothing can be written; make room",
            free_bytes >> 20,
            folder.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn about(file: &str) -> Vec<&'static str> {
        let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
        proxies(&config)
            .iter()
            .map(|warning| warning.about)
            .collect()
    }

    #[test]
    fn a_proxy_that_is_not_told_of_is_worth_a_line() {
        let https = "[server]\npublic_url = \"https://pay.example\"\n";
        assert_eq!(about(https), ["proxies"]);
        let told = format!("{https}[limits]\ntrusted_proxies = [\"10.0.0.0/8\"]\n");
        assert!(about(&told).is_empty());
        let files = format!("{https}tls_certificate = \"tls.pem\"\ntls_key = \"tls.key\"\n");
        assert!(about(&files).is_empty(), "it speaks TLS itself");
        for everybody in ["0.0.0.0/0", "::/0"] {
            let told = format!("[limits]\ntrusted_proxies = [\"10.0.0.0/8\", \"{everybody}\"]\n");
            assert_eq!(about(&told), ["proxies"]);
        }
        assert!(about("[server]\npublic_url = \"http://localhost:4242\"\n").is_empty());
        assert!(about("").is_empty());
    }

    #[test]
    fn live_mode_wants_tls_and_no_private_webhooks() {
        let lines = |file: &str| {
            let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
            live_mode(&config).len()
        };
        assert_eq!(lines("[webhooks]\nallow_private_addresses = true\n"), 0);
        assert_eq!(lines("[server]\nlive_mode = true\n"), 1);
        let both = "[server]\nlive_mode = true\n[webhooks]\nallow_private_addresses = true\n";
        assert_eq!(lines(both), 2);
        let fine = "[server]\nlive_mode = true\npublic_url = \"https://pay.example\"\n";
        assert_eq!(lines(fine), 0);
    }

    #[test]
    fn a_dashboard_that_nobody_can_sign_in_to_and_a_short_delay_are_worth_a_line() {
        let lines = |file: &str| {
            let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
            dashboard(&config).len()
        };
        assert_eq!(lines(""), 0);
        let plain = "[server]\npublic_url = \"http://pay.example\"\n";
        assert_eq!(lines(plain), 1);
        assert_eq!(lines(&format!("{plain}[dashboard]\nenabled = false\n")), 0);
        assert_eq!(lines("[server]\npublic_url = \"https://pay.example\"\n"), 0);
        assert_eq!(lines("[dashboard]\nchange_delay_s = 3599\n"), 1);
        assert_eq!(lines("[dashboard]\nchange_delay_s = 3600\n"), 0);
    }

    #[test]
    fn live_networks_that_nobody_watches_are_named_in_one_line() {
        let line = |file: &str| {
            let config = Config::load(Some(file), std::iter::empty(), &Flags::default()).unwrap();
            let mut found = collect(&config).into_iter();
            let found = found.find(|warning| warning.about == "unwatched networks");
            found.map(|warning| warning.line)
        };
        let base = "[networks.\"eip155:8453\"]\nrpc = [\"https://base.example\"]\n";
        assert_eq!(line(base), None, "in test mode payments are simulated");
        let live = "[server]\nlive_mode = true\n";
        let none = line(live).unwrap();
        for named in [
            "eip155:1,",
            "eip155:8453,",
            "tron:728126428,",
            "networks.<caip2>.rpc",
        ] {
            assert!(none.contains(named), "{named}: {none}");
        }
        assert!(none.contains("nothing offered, on Solana"), "{none}");
        assert!(!none.contains("eip155:84532"), "a test network: {none}");
        let some = line(&format!("{live}{base}")).unwrap();
        assert!(
            some.contains("eip155:1,") && !some.contains("8453"),
            "{some}"
        );
        let networks = Registry::builtin().networks().iter();
        let all: String = networks
            .map(|it| format!("[networks.{:?}]\nrpc = [\"https://node.example\"]\n", it.id))
            .collect();
        let all = line(&format!("{live}{all}")).unwrap();
        assert!(
            all.contains("nothing is watched") && !all.contains("rpc"),
            "{all}"
        );
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_worth_a_line() {
        let folder = Path::new("data");
        assert!(low_disk(folder, 1 << 30).is_none());
        let warning = low_disk(folder, 300 << 20).unwrap();
        assert!(
            warning.line.starts_with("300 MiB are left"),
            "{}",
            warning.line
        );
    }

    #[test]
    fn a_limit_on_handles_that_costs_connections_is_worth_a_line() {
        let config = Config::load(None, std::iter::empty(), &Flags::default()).unwrap();
        assert!(handles(&config, 1_000_000).is_none());
        let warning = handles(&config, 1_024).unwrap();
        assert!(
            warning.line.contains("the system gives 1024"),
            "{}",
            warning.line
        );
    }
}
