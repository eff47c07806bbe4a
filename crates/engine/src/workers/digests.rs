//! Makes the digests of days that are over, one account after the other.

use till_core::scope::Scope;
use till_core::time::day_of;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::digests::make_next;

/// Makes all that are due. An account whose digest cannot be made does not keep the others from theirs.
pub async fn make_due(engine: &Engine) -> Result<(), Fail> {
    let mut last = None;
    let mut failed = Ok(());
    loop {
        let today = day_of(engine.clock.now_ms());
        let mut reader = engine.db.read().await?;
        let found = till_store::digests::next_due(&mut reader, today, last.as_ref()).await?;
        drop(reader);
        let Some(due) = found else {
            return failed;
        };
        if let Err(fail) = make_all(engine, &due.scope).await {
            tracing::error!(account = %due.scope.account, mode = due.scope.mode.as_str(), ?fail, "a digest of the journal could not be made and is tried again; run till digest verify if this lasts");
            failed = Err(fail);
        }
        last = Some(due);
    }
}

async fn make_all(engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    while make_next(engine, scope).await? {}
    Ok(())
}
