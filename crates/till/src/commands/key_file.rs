//! `till key-file create`, `till key-file rotate`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use till_engine::rotation;

use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::keyfile;
use crate::output;
use crate::system::SystemEntropy;

/// Within two beats of their pulse, servers have looked which key encrypts, and have finished what they began before.
const SERVERS_FOLLOW_TIME: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
pub struct Create {
    /// Where to; nothing may be there yet
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub fn create(create: &Create) -> Result<(), Failure> {
    let to = create.to.display();
    if create.to.exists() {
        return Err(Failure::new(format!("{to} is there already")));
    }
    keyfile::make(&create.to, &SystemEntropy)
        .map_err(|error| Failure::new(format!("the key file {to} cannot be made: {error}")))?;
    output::print(&format!(
        "{to} is made; copy it to every server, put it in front of the others in secrets.key_file, and restart them in turn\n"
    ))
}

pub async fn rotate(config: &Config) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    if compose::is_new(&engine.db).await? {
        return Err(Failure::new(
            "nothing is encrypted in this database yet: the first start or account takes the first key file; are --config and --database right?",
        ));
    }
    let newest = engine.vault.first_name();
    if engine.vault.name() != newest {
        rotation::encrypt_with(&engine, &newest).await?;
        output::print(&format!("the key {newest} encrypts from now on\n"))?;
    }
    let done = rotation::finish(&engine, || tokio::time::sleep(SERVERS_FOLLOW_TIME)).await?;
    output::print(&format!("{} values are encrypted anew\n", done.rewritten))?;
    if done.unreadable > 0 {
        return Err(Failure::new(format!(
            "{} values do not open with any of the key files, and stay as they are; the log names them",
            done.unreadable
        )));
    }
    let files = config.key_files();
    let first = files.first().map(|path| path.display().to_string());
    output::print(&format!(
        "everything is encrypted with {}: the other key files may go from secrets.key_file; keep them as long as backups\n",
        first.unwrap_or_default()
    ))
}
