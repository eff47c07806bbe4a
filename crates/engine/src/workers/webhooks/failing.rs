//! Endpoints that have refused everything for a day: the merchant's team is told, once a day.

use till_core::scope::Scope;
use till_core::time::DAY_MS;
use till_store::Tx;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::team::notices::{self, To};

const KIND: &str = "webhook.failing";

/// Tells that a delivery failed whose event has failed for a day, unless that was told of this endpoint lately.
pub(super) async fn tell(
    tx: &mut Tx,
    engine: &Engine,
    scope: &Scope,
    delivery: &str,
) -> Result<(), Fail> {
    let (account, since) = (&*scope.account, engine.clock.now_ms() - DAY_MS);
    for told in till_store::member_notices::targets_since(tx, account, KIND, since).await? {
        let of_endpoint = till_store::deliveries::find(tx, scope, &told).await?;
        if of_endpoint.is_some() {
            return Ok(());
        }
    }
    notices::tell(tx, engine, To::Managers(account), KIND, delivery).await
}
