//! What the system says of this process, where it says so in `/proc`.

use std::fs;
use std::time::Duration;

use metrics::gauge;

use crate::handles;

/// Of Linux, whatever the machine.
const TICK: Duration = Duration::from_millis(10);

/// Asked whenever somebody looks at the metrics.
pub fn measure() {
    let max = u64::try_from(handles::limit()).unwrap_or(u64::MAX);
    gauge!("process_max_fds").set(as_gauge(max));
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let open = u64::try_from(open.count()).unwrap_or(u64::MAX);
        gauge!("process_open_fds").set(as_gauge(open));
    }
    if let Ok(stat) = fs::read_to_string("/proc/self/stat")
        && let Some(used) = cpu_time(&stat)
    {
        gauge!("process_cpu_seconds_total").set(used);
    }
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let memory = number_of(&status, "VmRSS:").map(|kib| kib.saturating_mul(1024));
        if let Some(bytes) = memory {
            gauge!("process_resident_memory_bytes").set(as_gauge(bytes));
        }
        if let Some(threads) = number_of(&status, "Threads:") {
            gauge!("process_threads").set(as_gauge(threads));
        }
    }
}

/// The fields are counted from the name's end: it may hold anything.
fn cpu_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK.saturating_mul(user.saturating_add(system)))
}

fn number_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Gauges are floats; the nearest one is near enough.
pub(super) fn as_gauge(number: u64) -> f64 {
    number.to_string().parse().unwrap_or(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_understood() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 100 1 1";
        assert_eq!(cpu_time(stat), Some(Duration::from_secs(3)));
        let status = "Name:\ttill\nVmRSS:\t   2048 kB\nThreads:\t9\n";
        assert_eq!(number_of(status, "VmRSS:"), Some(2048));
        assert_eq!(number_of(status, "Threads:"), Some(9));
        assert_eq!(number_of(status, "None:"), None);
        assert!(cpu_time(&fs::read_to_string("/proc/self/stat").unwrap()).is_some());
    }
}
