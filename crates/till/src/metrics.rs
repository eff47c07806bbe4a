//! Metrics: each is described here, once, and those whose labels are known are there from the start. An alert on a series
//! that comes into being with the first failure never sees it rise.

mod process;

use std::path::Path;
use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use till_core::timer::TimerKind;
use till_engine::Engine;

use crate::config::Config;
use crate::failure::Failure;

pub use process::measure as measure_process;

const SECONDS: &[f64] = &[0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0];
const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

enum Kind {
    Counter,
    Gauge,
    Histogram,
}

use Kind::{Counter, Gauge, Histogram};

const ALL: &[(&str, Kind, &str)] = &[
    (
        "process_cpu_seconds_total",
        Gauge,
        "Time of the processor that this process has used.",
    ),
    (
        "process_max_fds",
        Gauge,
        "How many files and sockets this process may have open.",
    ),
    (
        "process_open_fds",
        Gauge,
        "How many files and sockets this process has open.",
    ),
    (
        "process_resident_memory_bytes",
        Gauge,
        "Memory that this process has.",
    ),
    ("process_threads", Gauge, "Threads of this process."),
    ("till_build_info", Gauge, "1, with the version that runs."),
    (
        "till_clock_jumps_total",
        Counter,
        "How often the system's clock was set, forward or back.",
    ),
    (
        "till_database_connections",
        Gauge,
        "Connections to the database, by pool.",
    ),
    (
        "till_database_connections_idle",
        Gauge,
        "Those of them that nobody uses.",
    ),
    (
        "till_disk_free_bytes",
        Gauge,
        "What is left on the disk of a SQLite database.",
    ),
    (
        "till_endpoint_errors_total",
        Counter,
        "Questions that endpoints of a chain did not answer.",
    ),
    (
        "till_endpoint_lies_total",
        Counter,
        "Answers of endpoints that the others contradict.",
    ),
    (
        "till_exposed_keys_dropped_total",
        Counter,
        "Keys in URLs that nobody had time to look at.",
    ),
    (
        "till_exposed_keys_total",
        Counter,
        "Secret keys that were sent in a URL.",
    ),
    (
        "till_http_connections_open",
        Gauge,
        "Connections, by listener.",
    ),
    (
        "till_http_connections_refused_total",
        Counter,
        "Connections that there was no room for, by listener.",
    ),
    (
        "till_http_request_seconds",
        Histogram,
        "How long answers take, by route.",
    ),
    (
        "till_http_requests_total",
        Counter,
        "Requests, by route and status.",
    ),
    (
        "till_invoice_group_size",
        Histogram,
        "How many invoices are written together.",
    ),
    (
        "till_invoices_created_total",
        Counter,
        "Invoices that were made.",
    ),
    (
        "till_lag_seconds",
        Gauge,
        "The age of the oldest that is due, by kind of work.",
    ),
    (
        "till_links_busy_total",
        Counter,
        "Orders and picks at payment links that found no room, by outcome.",
    ),
    (
        "till_log_lines_lost_total",
        Counter,
        "Lines of the log that nobody read in time.",
    ),
    (
        "till_mails_total",
        Counter,
        "Mails, by whether they were sent.",
    ),
    (
        "till_network_blocks_total",
        Counter,
        "Blocks that were read.",
    ),
    (
        "till_network_disagreements_total",
        Counter,
        "Rounds in which endpoints contradicted each other.",
    ),
    (
        "till_network_endpoints",
        Gauge,
        "Endpoints that are configured.",
    ),
    (
        "till_network_endpoints_usable",
        Gauge,
        "Endpoints that answer and are believed.",
    ),
    (
        "till_network_final_height",
        Gauge,
        "The last block that is final.",
    ),
    (
        "till_network_final_lag_seconds",
        Gauge,
        "The age of the last final block.",
    ),
    (
        "till_network_freezes_total",
        Counter,
        "How often a final block was replaced.",
    ),
    (
        "till_network_frozen",
        Gauge,
        "1 while nothing is credited because a final block was replaced.",
    ),
    ("till_network_head_height", Gauge, "The newest block."),
    (
        "till_network_hinted_total",
        Counter,
        "Rounds that began early because a node had published something.",
    ),
    (
        "till_network_lag_seconds",
        Gauge,
        "The age of the newest block that was read.",
    ),
    (
        "till_network_missed_total",
        Counter,
        "Transfers that only the second look found.",
    ),
    (
        "till_network_read_height",
        Gauge,
        "The newest block that was read.",
    ),
    (
        "till_network_refuted_total",
        Counter,
        "Sightings that the chain did not bear out.",
    ),
    (
        "till_network_reorganisations_total",
        Counter,
        "How often a chain changed its mind.",
    ),
    (
        "till_network_safe_height",
        Gauge,
        "The last block that is safe.",
    ),
    (
        "till_network_transfers_total",
        Counter,
        "Transfers that were found.",
    ),
    (
        "till_network_unchecked_total",
        Counter,
        "Blocks that could not be read a second time.",
    ),
    (
        "till_prices_total",
        Counter,
        "Prices that were asked for, by pair and what came of it.",
    ),
    (
        "till_ready",
        Gauge,
        "1 while this server can take work, as /readyz says.",
    ),
    (
        "till_refusals_total",
        Counter,
        "Requests that were refused, by the code of the error.",
    ),
    (
        "till_replica_fallbacks_total",
        Counter,
        "Requests that the primary answered in place of a replica, by reason.",
    ),
    (
        "till_replica_lag_seconds",
        Gauge,
        "How far a replica is behind; at most 30 is shown.",
    ),
    (
        "till_replica_reads_total",
        Counter,
        "Requests that a replica was asked for.",
    ),
    (
        "till_replica_usable",
        Gauge,
        "1 while a replica may be read from.",
    ),
    (
        "till_retention_deleted_total",
        Counter,
        "Rows that were deleted for their age, by table.",
    ),
    (
        "till_screening_list_addresses",
        Gauge,
        "Addresses on a screening list.",
    ),
    (
        "till_screening_list_age_seconds",
        Gauge,
        "How long ago a screening list was read.",
    ),
    (
        "till_screening_list_bytes",
        Gauge,
        "How large a screening list is.",
    ),
    (
        "till_screening_refreshes_total",
        Counter,
        "Attempts to read a screening list, by result.",
    ),
    ("till_streams_open", Gauge, "Live streams."),
    (
        "till_timer_failures_total",
        Counter,
        "Timers that had to be put back, by kind.",
    ),
    (
        "till_timers_missing_total",
        Counter,
        "Timers that should have been there.",
    ),
    (
        "till_transfers_quarantined_total",
        Counter,
        "Transfers that could not be recorded and are retried.",
    ),
    (
        "till_webhook_attempts_total",
        Counter,
        "Webhooks that were tried, by whether they were delivered.",
    ),
    (
        "till_webhook_places_free",
        Gauge,
        "Webhooks that could be sent at once, besides those under way.",
    ),
    (
        "till_worker_panics_total",
        Counter,
        "Workers that had to be begun anew: a defect.",
    ),
    (
        "till_write_seconds",
        Histogram,
        "How long one write takes, waiting included.",
    ),
];

/// Installs the recorder and makes what can be named beforehand.
pub fn start(config: &Config) -> Result<PrometheusHandle, Failure> {
    let suffix = |text: &str| Matcher::Suffix(text.to_owned());
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(suffix("_seconds"), SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(suffix("_size"), SIZES))
        .and_then(PrometheusBuilder::install_recorder);
    let recorder =
        recorder.map_err(|error| Failure::new(format!("metrics cannot be started: {error}")))?;
    for (name, kind, help) in ALL {
        match kind {
            Counter => describe_counter!(*name, *help),
            Gauge => describe_gauge!(*name, *help),
            Histogram => describe_histogram!(*name, *help),
        }
    }
    make_unlabelled();
    make_labelled(config);
    Ok(recorder)
}

fn make_unlabelled() {
    gauge!("till_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
    gauge!("till_ready").set(0);
    gauge!("till_streams_open").set(0);
    for name in [
        "till_exposed_keys_dropped_total",
        "till_exposed_keys_total",
        "till_invoices_created_total",
        "till_log_lines_lost_total",
        "till_timers_missing_total",
        "till_transfers_quarantined_total",
    ] {
        counter!(name).increment(0);
    }
    // To be there is enough.
    drop(histogram!("till_invoice_group_size"));
    drop(histogram!("till_write_seconds"));
}

fn make_labelled(config: &Config) {
    for listener in ["api", "operator"] {
        gauge!("till_http_connections_open", "listener" => listener).set(0);
        counter!("till_http_connections_refused_total", "listener" => listener).increment(0);
    }
    for status in ["404", "500", "503"] {
        counter!("till_http_requests_total", "route" => "none", "status" => status).increment(0);
    }
    for code in [
        "payment_link_busy",
        "rate_limited",
        "service_unavailable",
        "internal_error",
    ] {
        counter!("till_refusals_total", "code" => code).increment(0);
    }
    for work in ["webhooks", "timers", "mail"] {
        gauge!("till_lag_seconds", "work" => work).set(0);
    }
    // A worker counts under its own name from its start; the server may answer before that.
    for worker in ["webhooks", "mail", "timers"] {
        counter!("till_worker_panics_total", "worker" => worker).increment(0);
    }
    for answer in ["yes", "no"] {
        counter!("till_mails_total", "sent" => answer).increment(0);
        counter!("till_webhook_attempts_total", "delivered" => answer).increment(0);
    }
    for kind in TimerKind::ALL {
        counter!("till_timer_failures_total", "kind" => kind.as_str()).increment(0);
    }
    for outcome in ["refused", "displaced"] {
        counter!("till_links_busy_total", "outcome" => outcome).increment(0);
    }
    for direction in ["forward", "back"] {
        counter!("till_clock_jumps_total", "direction" => direction).increment(0);
    }
    for source in &config.prices.sources {
        for result in ["ok", "none"] {
            let pair = source.pair.clone();
            counter!("till_prices_total", "pair" => pair, "result" => result).increment(0);
        }
    }
    for list in &config.screening.lists {
        for result in ["ok", "failed"] {
            let list = list.name.clone();
            counter!("till_screening_refreshes_total", "list" => list, "result" => result)
                .increment(0);
        }
    }
}

/// What nobody else measures: whether the server is ready, and the room on its disk.
pub fn measure(config: &Config, engine: &Engine) {
    let readiness = &engine.readiness;
    let is_ready = readiness.can_write()
        && engine.db.unwritable().is_none()
        && !readiness.lacks_key()
        && readiness.clock_off_s().is_none()
        && !readiness.is_leaving();
    gauge!("till_ready").set(u32::from(is_ready));
    let folder = config.database.sqlite_path().map(|path| {
        let folder = path.parent().filter(|of| !of.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    });
    if let Some(free) = folder.and_then(|folder| rustix::fs::statvfs(folder).ok()) {
        let bytes = free.f_bavail.saturating_mul(free.f_frsize);
        gauge!("till_disk_free_bytes").set(process::as_gauge(bytes));
    }
}

/// How the replicas stand when metrics are asked for. They are known from the start, as they are configured.
pub fn measure_replicas(engine: &Engine) {
    let Some(used) = engine.db.replica_use() else {
        return;
    };
    for (reason, count) in used.fallbacks {
        counter!("till_replica_fallbacks_total", "reason" => reason).absolute(count);
    }
    for replica in used.replicas {
        let lag = Duration::from_millis(replica.lag_ms.max(0).unsigned_abs());
        let name = || replica.name.clone();
        counter!("till_replica_reads_total", "replica" => name()).absolute(replica.reads);
        gauge!("till_replica_lag_seconds", "replica" => name()).set(lag);
        gauge!("till_replica_usable", "replica" => name()).set(u32::from(replica.is_usable));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_nothing_twice() {
        assert!(ALL.is_sorted_by(|(one, ..), (two, ..)| one < two));
        assert!(ALL.iter().all(|(_, _, help)| help.ends_with('.')));
    }
}
