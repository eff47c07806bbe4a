//! Writes down when keys were used last.

use scoped_futures::ScopedFutureExt as _;
use till_store::Tx;

use crate::base::Engine;
use crate::base::fail::Fail;

pub async fn write(engine: &Engine) -> Result<(), Fail> {
    let all = engine.key_uses.all();
    if all.is_empty() {
        return Ok(());
    }
    let uses = &all;
    let written = engine.db.write(move |tx: &mut Tx| {
        async move {
            for (key, at) in uses {
                till_store::keys::set_used(tx, key, *at).await?;
            }
            Ok::<_, Fail>(())
        }
        .scope_boxed()
    });
    written.await?;
    engine.key_uses.forget(&all);
    Ok(())
}
