//! Folds what was posted into the sums of its days, so that balances stay short to read.

use scoped_futures::ScopedFutureExt as _;

use crate::base::Engine;
use crate::base::fail::Fail;

const AT_ONCE: i64 = 1_000;

pub async fn fold(engine: &Engine) -> Result<(), Fail> {
    loop {
        let folded = engine
            .db
            .write(move |tx| {
                async move { Ok::<_, Fail>(till_store::sums::fold(tx, AT_ONCE).await?) }
                    .scope_boxed()
            })
            .await?;
        if i64::try_from(folded).is_ok_and(|folded| folded < AT_ONCE) {
            return Ok(());
        }
    }
}
