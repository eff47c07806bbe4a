//! Logging: to standard error, as much as `log.level` says (or filtered by `TILL_LOG`), the address in use first.
//!
//! A server writes nothing before it listens: a start that fails leaves its one line alone, and the first
//! line of one that succeeds is the address. What happened before is written after it.
//!
//! A server's lines are written by a thread of their own ([`queue`]): whoever reads them and stands still loses lines, and
//! nobody waits.

mod queue;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use till_core::text::is_deceptive;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use self::queue::Queue;
use crate::config::{LogFormat, LogLevel};
use crate::failure::Failure;

/// Scripts wait for the address whatever else the filter leaves out.
const ADDRESS_TARGET: &str = "till::listening";

/// What the libraries below us say at `debug` is for whoever works on them.
fn filter_of(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "info,till=debug",
    }
}

/// What the command line calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    Text,
    Json,
}

/// As asked for on the command line, or configured; otherwise text for people and JSON for programs.
pub fn format(asked: Option<FormatArg>, configured: Option<LogFormat>) -> LogFormat {
    let asked = asked.map(|asked| match asked {
        FormatArg::Text => LogFormat::Text,
        FormatArg::Json => LogFormat::Json,
    });
    asked
        .or(configured)
        .unwrap_or_else(|| match io::stderr().is_terminal() {
            true => LogFormat::Text,
            false => LogFormat::Json,
        })
}

/// Writes lines of the log, or keeps them while `kept` holds a buffer.
#[derive(Clone)]
struct LineWriter {
    kept: Arc<Mutex<Option<Vec<u8>>>>,
    out: Out,
}

/// Where lines go.
#[derive(Clone)]
enum Out {
    /// Of a command, which does one thing and may wait.
    StandardError,
    Queue(Queue),
}

impl Out {
    fn write(&self, lines: &[u8]) {
        match self {
            // A closed standard error is no reason to stop.
            Out::StandardError => drop(io::stderr().write_all(lines)),
            Out::Queue(queue) => queue.add(lines),
        }
    }
}

impl LineWriter {
    fn take(&self) -> Vec<u8> {
        self.lock().take().unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let escaped = escape(line);
        match &mut *self.lock() {
            Some(kept) => kept.extend_from_slice(&escaped),
            None => self.out.write(&escaped),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line of the log is one line, and reads as it is: whatever a client, a node or a receiver said is in it with its
/// control and direction characters written out. Colours are the exception; the formatter escapes those of others.
fn escape(line: &[u8]) -> Cow<'_, [u8]> {
    let is_kept = |c: char| !is_deceptive(c) || c == '\t' || c == '\u{1b}';
    let Ok(text) = std::str::from_utf8(line) else {
        return Cow::Borrowed(line);
    };
    let (body, end) = match text.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (text, ""),
    };
    if body.chars().all(is_kept) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 16);
    for c in body.chars() {
        match is_kept(c) {
            true => out.push(c),
            // The form that JSON has for it too.
            false => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push_str(end);
    Cow::Owned(out.into_bytes())
}

impl<'a> MakeWriter<'a> for LineWriter {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> LineWriter {
        self.clone()
    }
}

/// Replaces the filter while the program runs.
type Reload = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

/// The log of a server, holding its lines back until it is opened. Dropped, it waits a moment for what was not written yet.
#[must_use]
pub struct Log {
    kept: LineWriter,
    queue: Queue,
    reload: Reload,
    /// Whether `TILL_LOG` says what is logged, and not the configuration.
    is_filtered: bool,
}

impl Log {
    /// Writes the address, then what was held back, then everything as it happens.
    pub fn open(&self, first_line: &str) {
        let kept = self.kept.take();
        tracing::info!(target: ADDRESS_TARGET, "{first_line}");
        self.queue.add(&kept);
    }

    /// For a start that failed: whoever set a filter wants to see what led there.
    pub fn give_up(self) {
        let kept = self.kept.take();
        if self.is_filtered {
            self.queue.add(&kept);
        }
    }

    /// Says whether the level is what counts: not where `TILL_LOG` filters.
    pub fn set_level(&self, level: LogLevel) -> bool {
        !self.is_filtered
            && server_filter(filter_of(level)).is_ok_and(|filter| (self.reload)(filter))
    }

    /// What the runtime's signals need to end on the spot without losing the last lines.
    pub fn ending(&self) -> impl Fn() + Send + 'static {
        let queue = self.queue.clone();
        move || queue.flush()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.flush();
    }
}

/// For servers. Nothing is written until [`Log::open`].
pub fn start_server(
    filter: Option<&str>,
    level: LogLevel,
    format: LogFormat,
) -> Result<Log, Failure> {
    let queue = Queue::start(io::stderr())
        .map_err(|error| Failure::new(format!("logging cannot be started: {error}")))?;
    let kept = LineWriter {
        kept: Arc::new(Mutex::new(Some(Vec::new()))),
        out: Out::Queue(queue.clone()),
    };
    let used = server_filter(filter.unwrap_or(filter_of(level)))?;
    let reload = install(used, format, kept.clone())?;
    Ok(Log {
        kept,
        queue,
        reload,
        is_filtered: filter.is_some(),
    })
}

fn server_filter(filter: &str) -> Result<EnvFilter, Failure> {
    Ok(read(filter)?.add_directive(directive(&format!("{ADDRESS_TARGET}=info"))?))
}

/// For commands that do one thing: their answer and their failure say it all, unless somebody asks.
pub fn start_command(filter: Option<&str>) -> Result<(), Failure> {
    let writer = LineWriter {
        kept: Arc::default(),
        out: Out::StandardError,
    };
    match filter {
        Some(filter) => install(read(filter)?, LogFormat::Text, writer).map(drop),
        None => Ok(()),
    }
}

fn read(filter: &str) -> Result<EnvFilter, Failure> {
    EnvFilter::try_new(filter)
        .map_err(|error| Failure::new(format!("environment, TILL_LOG is not a filter: {error}")))
}

fn directive(text: &str) -> Result<tracing_subscriber::filter::Directive, Failure> {
    text.parse()
        .map_err(|error| Failure::new(format!("the log filter {text}: {error}")))
}

fn install(filter: EnvFilter, format: LogFormat, writer: LineWriter) -> Result<Reload, Failure> {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal());
    let (installed, reload): (_, Reload) = match format {
        LogFormat::Text => {
            let builder = builder.with_filter_reloading();
            let handle = builder.reload_handle();
            let reload = move |filter| handle.reload(filter).is_ok();
            (builder.try_init(), Box::new(reload))
        }
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_filter_reloading();
            let handle = builder.reload_handle();
            let reload = move |filter| handle.reload(filter).is_ok();
            (builder.try_init(), Box::new(reload))
        }
    };
    installed.map_err(|error| Failure::new(format!("logging cannot be started: {error}")))?;
    Ok(reload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_one_line_whatever_somebody_else_said() {
        let escaped = |line: &str| String::from_utf8(escape(line.as_bytes()).into_owned()).unwrap();
        assert_eq!(escaped("a plain line\n"), "a plain line\n");
        assert_eq!(
            escaped("refused by: x\nINFO paid\r\n"),
            "refused by: x\\u000aINFO paid\\u000d\n"
        );
        assert_eq!(escaped("a\u{202e}b\u{0}\tc"), "a\\u202eb\\u0000\tc");
    }
}
