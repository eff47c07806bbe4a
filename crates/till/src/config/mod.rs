//! The operator's configuration: defaults, then the file, then the environment, then flags.
//!
//! Reading is pure: the caller hands in the file's text and the variables, so every rule is tested
//! without touching the machine. A setting is replaced as a whole by the stronger layer, never merged.

mod error;
mod flags;
mod layers;
mod model;
mod origin;
mod parse;
mod prices;
mod read;
pub mod reference;
mod screening;
mod sections;
mod setting;
mod settings;
#[cfg(test)]
mod tests;
mod values;

pub use error::ConfigError;
pub use flags::Flags;
pub use layers::UnknownVariable;
pub use model::{Config, Urls};
pub use origin::Origin;
pub use sections::{
    Addresses, Dashboard, Database, Invoices, Limits, Log, Mail, Metrics, Network, Prices,
    Retention, Screening, Secrets, Server, Subscriptions, Wallets, Webhooks,
};
pub use values::{
    ClientAddress, CreditAt, FixedPrices, LogFormat, LogLevel, PricePlace, PriceSource,
    ScreeningList, Signup,
};

impl Config {
    pub fn load(
        file_text: Option<&str>,
        env: impl Iterator<Item = (String, String)>,
        flags: &Flags,
    ) -> Result<Config, ConfigError> {
        read::config(layers::gather(file_text, env, flags)?)
    }
}
