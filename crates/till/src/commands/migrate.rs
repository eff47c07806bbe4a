//! `till migrate`

use crate::config::Config;
use crate::database::{self, Patience};
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

pub async fn run(config: &Config) -> Result<(), Failure> {
    let db =
        database::open_migrated(&config.database, &SystemClock::start(), Patience::Command).await?;
    db.close().await;
    let name = database::name(&config.database);
    output::print(&format!("the database {name} has this version's schema\n"))
}
