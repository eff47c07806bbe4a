//! How a command can end badly: with one line that says what is wrong, and a status that scripts can read.

use std::fmt;
use std::io::{self, ErrorKind};

use till_engine::Fail;
use till_store::StoreError;

use crate::config::{ConfigError, Origin};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What was typed cannot be meant.
    Usage(String),
    Failed(String),
}

impl Failure {
    pub fn new(text: impl Into<String>) -> Failure {
        Failure::Failed(text.into())
    }

    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) => 1,
        }
    }
}

/// One line, whatever a library put into its message.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Usage(text) | Failure::Failed(text)) = self;
        let mut words = text.split_whitespace();
        if let Some(first) = words.next() {
            f.write_str(first)?;
        }
        words.try_for_each(|word| write!(f, " {word}"))
    }
}

/// What to do about a file that cannot be read, to be put behind the cause.
pub fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            "; give it to the user that till runs as (chown), and chmod 600"
        }
        ErrorKind::IsADirectory => "; it is a folder: name a file in it",
        _ => "",
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        let typed = match &error {
            ConfigError::Set { .. } => true,
            ConfigError::UnknownSetting { origin, .. } | ConfigError::Value { origin, .. } => {
                matches!(origin, Origin::Flag(_))
            }
            ConfigError::File { .. } => false,
        };
        match typed {
            true => Failure::Usage(error.to_string()),
            false => Failure::Failed(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<Fail> for Failure {
    fn from(fail: Fail) -> Failure {
        match fail {
            Fail::Refused(refusal) => Failure::new(refusal.message),
            Fail::Again => StoreError::Busy.into(),
            Fail::Store(error, _) => error.into(),
            // Where in the program is for those who wrote it, and in the log.
            Fail::Broken(cause, _) => Failure::new(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Flags};

    #[test]
    fn a_failure_is_one_line_whatever_its_cause_says() {
        let failure = Failure::new("cannot open it:\n  no such file\n");
        assert_eq!(failure.to_string(), "cannot open it: no such file");
    }

    #[test]
    fn a_failure_names_no_line_of_the_program() {
        let read = "x".parse::<u8>().map_err(Fail::broken);
        let failure = Failure::from(read.unwrap_err());
        assert_eq!(failure.to_string(), "invalid digit found in string");
    }

    #[test]
    fn what_was_typed_wrong_is_a_usage_error_and_what_is_configured_wrong_is_not() {
        let load = |file: Option<&str>, flags: &Flags| {
            Failure::from(Config::load(file, std::iter::empty(), flags).unwrap_err()).status()
        };
        let typed = Flags {
            listen: Some("nowhere".to_owned()),
            ..Flags::default()
        };
        assert_eq!(load(None, &typed), 2);
        let set = Flags {
            set: vec!["nonsense".to_owned()],
            ..Flags::default()
        };
        assert_eq!(load(None, &set), 2);
        assert_eq!(
            load(Some("[server]\nlisten = \"x\"\n"), &Flags::default()),
            1
        );
    }
}
