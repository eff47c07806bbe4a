//! The top floor: the command line, the configuration, and how the parts are put together.

pub mod api_client;
pub mod cli;
pub mod commands;
pub mod compose;
pub mod config;
pub mod database;
pub mod failure;
pub mod handles;
pub mod keyfile;
pub mod logging;
pub mod metrics;
pub mod output;
pub mod pages;
pub mod progress;
pub mod reload;
pub mod server;
pub mod service_manager;
pub mod system;
pub mod tls;
pub mod warnings;
