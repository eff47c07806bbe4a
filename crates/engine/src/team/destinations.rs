//! Where a merchant is paid: what it is now, and what it may be changed to.

use till_chains::{AddressError, is_nobodys, parse_destination};
use till_core::asset::{Family, Mode, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_core::time;
use till_store::Tx;

use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};
use crate::merchants::destinations;
use crate::view::{DestinationNetwork, DestinationView, PageConfig};

/// Whether payments on the network can be seen in this mode: it has an asset, and where money is real an endpoint.
fn is_enabled(engine: &Engine, network: &Network) -> bool {
    let mut assets = Registry::builtin().assets().iter();
    let has_asset = assets.any(|asset| asset.offered && asset.network == network.id);
    has_asset && (network.mode == Mode::Test || engine.config.watched.contains(&network.id))
}

fn networks(family: Family, mode: Mode) -> impl Iterator<Item = &'static Network> {
    let all = Registry::builtin().networks().iter();
    all.filter(move |network| network.family == family && network.mode == mode)
}

/// The family of this name.
pub fn family(name: &str) -> Result<Family, Refusal> {
    Family::from_namespace(name).ok_or_else(|| {
        let message = "`family` is `eip155`, `tron`, `bip122` or `solana`.";
        Refusal::new(Code::NetworkInvalid, message).param("family")
    })
}

/// Refuses a family without a network that can be paid on in this mode.
pub fn check_enabled(engine: &Engine, mode: Mode, family: Family) -> Result<(), Refusal> {
    match networks(family, mode).any(|network| is_enabled(engine, network)) {
        true => Ok(()),
        false => Err(Refusal::of(Code::NetworkNotEnabled).param("family")),
    }
}

/// An address as it is kept, if it can serve as a destination. It is registered with that, so that taking effect later
/// cannot fail.
pub async fn accept(
    tx: &mut Tx,
    scope: &Scope,
    family: Family,
    address: &str,
) -> Result<String, Fail> {
    let refused = |code: Code, why: &str| {
        let message = format!("`address` is refused: {why}.");
        Fail::from(Refusal::new(code, message).param("address"))
    };
    let canonical = parse_destination(family, scope.mode, address).map_err(|error| {
        let code = match error {
            AddressError::Zero => Code::DestinationInvalid,
            _ => Code::AddressInvalid,
        };
        refused(code, &error.to_string())
    })?;
    if is_nobodys(family, &canonical) {
        let why = "nobody holds its key, so what is sent there is lost";
        return Err(refused(Code::DestinationInvalid, why));
    }
    let about_address = |fail: Fail| match fail {
        Fail::Refused(refusal) => Fail::Refused(refusal.param("address")),
        fail => fail,
    };
    let checked = destinations::check(tx, scope, family, &canonical).await;
    checked.map_err(about_address)?;
    if !till_store::destinations::is_own(tx, scope, family, &canonical).await? {
        let one = [(family.namespace().to_owned(), canonical.clone())].into();
        let registered = destinations::register(tx, scope, &one).await;
        registered.map_err(about_address)?;
    }
    Ok(canonical)
}

/// The destinations of a mode, one for each family.
pub async fn list(
    engine: &Engine,
    scope: &Scope,
    page: &Page,
) -> Result<Paged<DestinationView>, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = till_store::accounts::merchant(&mut reader, scope).await?;
    let pending = till_store::changes::pending(&mut reader, scope).await?;
    let changed = till_store::changes::destinations_since(&mut reader, scope).await?;
    let created = till_store::accounts::created_at(&mut reader, &scope.account).await?;
    let view = |family: Family| {
        let name = family.namespace();
        let address = merchant.as_ref().and_then(|of| of.destinations.get(name));
        let since = changed.iter().find(|(of, _)| of == name);
        let since = since.map(|(_, at)| *at).or(created);
        let waiting = pending.iter().find(|change| change.family == name);
        let network = |network: &Network| DestinationNetwork {
            network: network.id.clone(),
            network_name: network.name.clone(),
            enabled: is_enabled(engine, network),
        };
        DestinationView {
            object: "destination",
            family: name,
            networks: networks(family, scope.mode).map(network).collect(),
            effective_since: address.and(since).map(time::show),
            address: address.cloned(),
            pending_change: waiting.map(|change| change.id.clone()),
        }
    };
    Ok(page.of_all(Family::ALL.map(view).into(), |of| of.family))
}

/// The configuration of a checkout page on the merchant's own host.
pub async fn checkout_config(engine: &Engine, scope: &Scope) -> Result<PageConfig, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    Ok(PageConfig::own_host(&merchant, &engine.config.public_url))
}
