//! One call of the program: the options that every command takes, and how a command is run to its end.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::settings::{Settings, load};
use crate::config::Config;
use crate::failure::Failure;
use crate::logging;
use crate::warnings;

/// A task that will not end must not keep the process.
const RUNTIME_END_TIME: Duration = Duration::from_secs(1);

pub struct Invocation {
    pub settings: Settings,
    /// What the environment says of which lines are logged.
    pub log_filter: Option<String>,
}

impl Invocation {
    /// Runs a command that does one thing and ends.
    pub fn run_once(
        &self,
        command: impl AsyncFnOnce(Config) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let config = load(&self.settings, None)?;
        logging::start_command(self.log_filter.as_deref())?;
        // A misspelled setting may mean another database than the one that this works on.
        warnings::log(&warnings::environment(&config));
        let runtime = Builder::new_current_thread().enable_all().build();
        block_on(runtime.map_err(no_runtime)?, command(config))
    }
}

/// Runs a command that calls the API, and needs neither a database nor a configuration.
pub fn run_client(
    log_filter: Option<&str>,
    command: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    logging::start_command(log_filter)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    block_on(runtime.map_err(no_runtime)?, command)
}

pub fn server_runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(no_runtime)
}

fn no_runtime(error: std::io::Error) -> Failure {
    Failure::new(format!("the program cannot start: {error}"))
}

pub fn block_on(
    runtime: Runtime,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(RUNTIME_END_TIME);
    done
}
