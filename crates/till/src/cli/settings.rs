//! The options that every command takes, and the configuration that they, the file and the environment add up to.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::commands::config;
use crate::compose;
use crate::config::{Config, Flags};
use crate::failure::{Failure, remedy};

/// The same on every command.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Configuration file (TOML)
    #[arg(long, global = true, value_name = "FILE", display_order = 100)]
    pub config: Option<PathBuf>,
    /// sqlite:PATH or postgres://…
    #[arg(long, global = true, value_name = "URL", display_order = 101)]
    pub database: Option<String>,
    /// Any setting, as section.key=value
    #[arg(long, global = true, value_name = "SETTING", display_order = 102)]
    set: Vec<String>,
}

pub fn load(settings: &Settings, listen: Option<String>) -> Result<Config, Failure> {
    let given = given(settings.config.as_ref(), settings, listen)?;
    let config = Config::load(
        given.file_text.as_deref(),
        given.variables.into_iter(),
        &given.flags,
    )?;
    compose::check_settings(&config)?;
    Ok(config)
}

/// What the file, the environment and the command line say.
pub fn given(
    file: Option<&PathBuf>,
    settings: &Settings,
    listen: Option<String>,
) -> Result<config::ConfigSources, Failure> {
    let text = match file {
        None => None,
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            Failure::new(format!(
                "the configuration file {} cannot be read: {error}{}",
                path.display(),
                remedy(&error)
            ))
        })?),
    };
    let flags = Flags {
        listen,
        database: settings.database.clone(),
        set: settings.set.clone(),
    };
    Ok(config::ConfigSources {
        file_text: text,
        variables: variables(env::vars_os())?,
        flags,
    })
}

/// Variables of others may be anything; ours are text.
fn variables(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<(String, String)>, Failure> {
    let ours = all.filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        name.starts_with("TILL_").then_some((name, value))
    });
    ours.map(|(name, value)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(Failure::new(format!("environment, {name} is not UTF-8"))),
    })
    .collect()
}
