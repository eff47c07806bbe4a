//! The value of a setting, and where it came from.

use std::fmt;

use toml::Value;

/// Where a value came from, in the words an operator needs to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("configuration"),
            Origin::File => f.write_str("configuration file"),
            Origin::Variable(name) => write!(f, "environment, {name}"),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct GivenValue {
    pub origin: Origin,
    pub value: Value,
}
