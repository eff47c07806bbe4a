//! What a merchant can be paid in, for whoever asks.

use till_core::actor::Actor;
use till_core::asset::Registry;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;

use crate::base::fail::Fail;
use crate::base::wake::Effects;
use crate::base::{Context, Engine};
use crate::offers;
use crate::view::AssetView;

/// Every asset of the mode, in the order of the registry, with whether this account can be paid in it.
pub async fn list(engine: &Engine, scope: &Scope, page: &Page) -> Result<Paged<AssetView>, Fail> {
    let mut reader = engine.db.read().await?;
    let effects = Effects::default();
    let by = Actor::System.into();
    let context = Context::load(engine, &mut reader, scope, &by, &effects).await?;
    let of_mode = Registry::builtin().assets().iter();
    let of_mode =
        of_mode.filter(|asset| offers::is_offered(engine, asset) && asset.mode == scope.mode);
    let found = page.of_all(of_mode.collect(), |asset| &asset.code);
    Ok(found.map(|asset| AssetView::of(asset, offers::unavailable(&context, asset))))
}
