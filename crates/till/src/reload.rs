//! What a server does when it is told to look at its files again (SIGHUP): the log's level, TLS files and screening lists. Everything
//! else is read at the start alone, and it is said when that has changed.

use std::sync::Arc;

use till_engine::Engine;
use till_engine::workers::lists;
use tokio::signal::unix::Signal;

use crate::config::Config;
use crate::failure::Failure;
use crate::logging::Log;
use crate::tls::Tls;

/// Reads the configuration anew, from where it was read at the start.
pub type ReadConfigAgain = Box<dyn Fn() -> Result<Config, Failure> + Send + Sync>;

/// Goes on for as long as the server does.
pub async fn whenever_told(
    mut hangup: Signal,
    engine: Arc<Engine>,
    log: Arc<Log>,
    started_with: Config,
    again: Option<ReadConfigAgain>,
    tls: Option<Tls>,
) {
    while hangup.recv().await.is_some() {
        match again.as_ref().map(|again| again()).transpose() {
            Ok(config) => {
                let config = config.unwrap_or_else(|| started_with.clone());
                reload(&engine, &log, &started_with, &config).await;
                reload_tls(tls.as_ref());
            }
            Err(failure) => tracing::error!(
                %failure,
                "told to reload (SIGHUP), but the configuration cannot be read, so everything stays as it is; run `till config --check FILE`, correct it, then send SIGHUP again"
            ),
        }
    }
}

async fn reload(engine: &Engine, log: &Log, started_with: &Config, config: &Config) {
    let log_level = match log.set_level(config.log.level) {
        true => config.log.level.as_str(),
        false => "as TILL_LOG says",
    };
    match lists::refresh_all(engine).await {
        Ok(screening_lists) => {
            // A warning though it went well: whoever raised the level to `warn` sees that the reload was done.
            tracing::warn!(log_level, screening_lists, "reloaded as told (SIGHUP)");
        }
        Err(fail) => tracing::error!(
            ?fail,
            log_level,
            "reloaded as told (SIGHUP), but the screening lists were not; they are read again when they are due"
        ),
    }
    if needs_restart(started_with, config) {
        tracing::warn!(
            "settings other than log.level have changed and are not in effect; restart the server to apply them"
        );
    }
}

fn reload_tls(tls: Option<&Tls>) {
    match tls.map(Tls::reload) {
        None => {}
        Some(Ok(())) => tracing::info!("the TLS certificate was read anew as told (SIGHUP)"),
        Some(Err(failure)) => tracing::error!(
            %failure,
            "the TLS files cannot be used; the certificate from before stays in use; correct server.tls_certificate and server.tls_key, then send SIGHUP again"
        ),
    }
}

fn needs_restart(started_with: &Config, config: &Config) -> bool {
    let mut same = config.clone();
    same.log.level = started_with.log.level;
    same != *started_with
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn only_what_is_not_reloaded_needs_a_restart() {
        let config = |file: &str| Config::load(Some(file), [].into_iter(), &Flags::default());
        let started_with = config("").unwrap();
        let louder = config("[log]\nlevel = \"debug\"\n").unwrap();
        assert!(!needs_restart(&started_with, &louder));
        let other = config("[server]\ndrain_s = 7\n").unwrap();
        assert!(needs_restart(&started_with, &other));
    }
}
