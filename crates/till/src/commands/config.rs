//! `till config`: every setting, and what applies here.

use std::path::PathBuf;

use clap::Args;

use crate::compose;
use crate::config::{Flags, reference};
use crate::failure::Failure;
use crate::output::{print, print_json};

#[derive(Debug, Args)]
pub struct Show {
    /// Only say whether this file is right
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "example", "markdown"])]
    pub check: Option<PathBuf>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
    /// Print a commented file to begin with
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    example: bool,
    /// Print the reference page of the documentation
    #[arg(long, hide = true)]
    markdown: bool,
}

/// What the file, the environment and the command line say.
pub struct ConfigSources {
    pub file_text: Option<String>,
    pub variables: Vec<(String, String)>,
    pub flags: Flags,
}

/// Reads the configuration only where it is asked for: a page must not depend on the machine it is printed on.
pub fn show(
    show: &Show,
    given: impl FnOnce() -> Result<ConfigSources, Failure>,
) -> Result<(), Failure> {
    if show.example {
        return print(&reference::example());
    }
    if show.markdown {
        return print(&reference::markdown());
    }
    let given = given()?;
    let (file_text, variables) = (given.file_text.as_deref(), given.variables.into_iter());
    let (config, explained) = reference::explain(file_text, variables, &given.flags)?;
    compose::check_settings(&config)?;
    match &show.check {
        Some(file) => print(&format!("{}: no problem found\n", file.display())),
        None if show.json => print_json(&explained),
        None => print(&reference::text(&explained)),
    }
}
