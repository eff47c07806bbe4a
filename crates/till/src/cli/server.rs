//! `till serve` and `till demo`: what runs until it is told to stop.

use clap::Args;

use super::invocation::{Invocation, block_on, server_runtime};
use super::settings::load;
use crate::commands::{demo, serve};
use crate::failure::Failure;
use crate::logging::{self, FormatArg};
use crate::server::Part;

#[derive(Debug, Args)]
pub struct Demo {
    /// Address and port; port 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port; port 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Run only api or only workers
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "PARTS",
        hide_possible_values = true
    )]
    pub only: Vec<Part>,
    /// Log lines as text or json (text on a terminal)
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    log_format: Option<FormatArg>,
}

impl Demo {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let config = load(&invocation.settings, self.listen)?;
        let format = logging::format(None, config.log.format);
        let filter = invocation.log_filter.as_deref();
        let log = logging::start_server(filter, config.log.level, format)?;
        block_on(server_runtime()?, demo::run(config, self.json, log))
    }
}

impl Serve {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let settings = invocation.settings.clone();
        let config = load(&settings, self.listen.clone())?;
        let format = logging::format(self.log_format, config.log.format);
        let filter = invocation.log_filter.as_deref();
        let log = logging::start_server(filter, config.log.level, format)?;
        let again = move || load(&settings, self.listen.clone());
        block_on(
            server_runtime()?,
            serve::run(&config, &self.only, log, Box::new(again)),
        )
    }
}
