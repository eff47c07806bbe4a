//! `till config`: every setting, and what applies here.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::compose;
use crate::config::reference::Explained;
use crate::config::{Flags, reference};
use crate::failure::Failure;
use crate::output::{print, print_json};

#[derive(Debug, Args)]
pub struct Show {
    /// Only say whether this file is right
    #[arg(long, value_name = "FILE", conflicts_with_all = ["example", "markdown"])]
    pub check: Option<PathBuf>,
    /// Print JSON instead of text
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
    match &show.check {
        Some(file) => say_whether_right(file, show.json, read(given)),
        None if show.json => print_json(&read(given)?),
        None => print(&reference::text(&read(given)?)),
    }
}

/// Every setting with what it is set to, if a server could start with them.
fn read(given: impl FnOnce() -> Result<ConfigSources, Failure>) -> Result<Vec<Explained>, Failure> {
    let given = given()?;
    let (file_text, variables) = (given.file_text.as_deref(), given.variables.into_iter());
    let (config, explained) = reference::explain(file_text, variables, &given.flags)?;
    compose::check_settings(&config)?;
    Ok(explained)
}

#[derive(Serialize)]
struct ShownCheck {
    file: String,
    problems: Vec<String>,
}

fn say_whether_right(
    file: &Path,
    json: bool,
    read: Result<Vec<Explained>, Failure>,
) -> Result<(), Failure> {
    let file = file.display().to_string();
    if json {
        let problem = read.as_ref().err().map(Failure::to_string);
        let problems = problem.into_iter().collect();
        print_json(&ShownCheck { file, problems })?;
        return read.map(drop);
    }
    read?;
    print(&format!("{file}: no problem found\n"))
}
