//! Logging: to standard error, filtered by `TILL_LOG`, the address in use first.
//!
//! A server writes nothing before it listens: a start that fails leaves its one line alone, and the first
//! line of one that succeeds is the address. What happened before is written after it.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use till_core::text::is_deceptive;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::LogFormat;
use crate::failure::Failure;

/// Without a filter, a line for every request is left out: it costs more than answering many of them does.
/// `TILL_LOG=info` brings it back.
const DEFAULT_FILTER: &str = "info,till::access=off";

/// Scripts wait for the address whatever else the filter leaves out.
const ADDRESS_TARGET: &str = "till::listening";

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

/// Lines are kept while there is something to keep them in.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<Vec<u8>>>>);

impl Kept {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Kept {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let escaped = escape(line);
        match &mut *self.lock() {
            Some(kept) => kept.extend_from_slice(&escaped),
            // A closed standard error is no reason to stop taking payments.
            None => drop(io::stderr().write_all(&escaped)),
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

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Kept;

    fn make_writer(&'a self) -> Kept {
        self.clone()
    }
}

/// The log of a server, still holding its lines back.
#[must_use]
pub struct Log {
    kept: Kept,
}

impl Log {
    /// Writes the address, then what was held back, then everything as it happens.
    pub fn open(self, first_line: &str) {
        let kept = self.kept.lock().take().unwrap_or_default();
        tracing::info!(target: ADDRESS_TARGET, "{first_line}");
        drop(io::stderr().write_all(&kept));
    }

    /// For a start that failed: whoever set a filter wants to see what led there.
    pub fn give_up(self, filter: Option<&str>) {
        let kept = self.kept.lock().take().unwrap_or_default();
        if filter.is_some() {
            drop(io::stderr().write_all(&kept));
        }
    }
}

/// For servers. Nothing is written until [`Log::open`].
pub fn start_server(filter: Option<&str>, format: LogFormat) -> Result<Log, Failure> {
    let kept = Kept(Arc::new(Mutex::new(Some(Vec::new()))));
    let filter = read(filter.unwrap_or(DEFAULT_FILTER))?
        .add_directive(directive(&format!("{ADDRESS_TARGET}=info"))?);
    install(filter, format, kept.clone())?;
    Ok(Log { kept })
}

/// For commands that do one thing: their answer and their failure say it all, unless somebody asks.
pub fn start_command(filter: Option<&str>) -> Result<(), Failure> {
    match filter {
        Some(filter) => install(read(filter)?, LogFormat::Text, Kept::default()),
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

fn install(filter: EnvFilter, format: LogFormat, writer: Kept) -> Result<(), Failure> {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal());
    match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    }
    .map_err(|error| Failure::new(format!("logging cannot be started: {error}")))
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
