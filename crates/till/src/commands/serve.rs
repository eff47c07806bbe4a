//! `till serve`

use till_engine::Engine;
use till_store::installation;

use crate::compose::{self, Purpose};
use crate::config::Config;
use crate::failure::Failure;
use crate::handles;
use crate::logging::Log;
use crate::reload::ReadConfigAgain;
use crate::server::{self, Part, Server};
use crate::tls;
use crate::warnings;

/// `again` reads the configuration anew, for a server that is told to.
pub async fn run(
    config: &Config,
    only: &[Part],
    log: Log,
    again: ReadConfigAgain,
) -> Result<(), Failure> {
    match prepare(config, only, again).await {
        Ok(server) => server::run(server, config, log, async |_| Ok(())).await,
        Err(failure) => {
            log.give_up();
            Err(failure)
        }
    }
}

async fn prepare(
    config: &Config,
    only: &[Part],
    again: ReadConfigAgain,
) -> Result<Server, Failure> {
    handles::raise();
    warnings::log(&warnings::collect(config));
    let runs = |part| only.is_empty() || only.contains(&part);
    // Bound before the database is opened: a second server by mistake must not migrate anything.
    let listener = match runs(Part::Api) {
        true => Some(server::bind(config.server.listen).await?),
        false => None,
    };
    let metrics = server::metrics_listener(config).await?;
    let tls = tls::files(config)?.map(tls::Files::open).transpose()?;
    let bound = listener
        .as_ref()
        .map_or(config.server.listen, |(_, bound)| *bound);
    let urls = config.urls(bound);
    let engine = compose::engine(config, &urls, Purpose::Business).await?;
    note_passkey_host(&engine).await?;
    Ok(Server {
        engine,
        listener,
        metrics,
        urls,
        workers: runs(Part::Workers),
        again: Some(again),
        tls,
    })
}

/// For `till check`, which warns when the host has changed.
async fn note_passkey_host(engine: &Engine) -> Result<(), Failure> {
    let dashboard = &engine.config.dashboard;
    if dashboard.is_enabled {
        let mut tx = engine.db.begin().await?;
        installation::note_passkey_host(&mut tx, &dashboard.host()).await?;
        tx.commit().await?;
    }
    Ok(())
}
