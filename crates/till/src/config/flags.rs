//! What the command line says about settings.

/// What the command line said about settings. `--listen` and `--database` are the two that people type;
/// `--set section.key=value` reaches every other one.
#[derive(Debug, Default, Clone)]
pub struct Flags {
    pub listen: Option<String>,
    pub database: Option<String>,
    pub set: Vec<String>,
}
