//! Why a configuration is refused.

use super::origin::Origin;

/// Always one line, and never a value that could hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("configuration file, line {line}: {problem}")]
    File { line: usize, problem: String },
    #[error("{origin}: unknown setting `{key}`; {hint}")]
    UnknownSetting {
        origin: Origin,
        key: String,
        hint: String,
    },
    #[error("--set {given:?}: write --set section.key=value")]
    Set { given: String },
    #[error("{origin}: {key} {problem}")]
    Value {
        origin: Origin,
        key: String,
        problem: String,
    },
}
