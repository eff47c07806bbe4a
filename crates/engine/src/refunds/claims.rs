//! Claims: the payer says where a refund is to be sent. The token alone opens them.

use serde_json::json;
use till_core::actor::Action;
use till_core::asset::{Asset, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::refund::{RefundStatus, check_open};
use till_core::scope::Scope;
use till_store::refunds::RefundRow;
use till_store::{Queries, Tx};

use super::create::hash_token;
use super::refund::{find_locked, settle};
use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine, Merchant};
use crate::outbox::{self, EventContent};
use crate::screening::{self, Answers, Screened};
use crate::view::{ClaimNetwork, ClaimView, RefundView};

/// What a token opens: whose refund, and which.
#[derive(Clone, Debug)]
pub struct Claim {
    pub scope: Scope,
    pub refund: String,
    /// Names the token where it must not be named.
    pub digest: String,
}

#[derive(Clone, Debug)]
pub struct ClaimRequest {
    pub network: String,
    pub address: String,
}

/// The token is not repeated: whatever it opens, it is a secret.
fn missing() -> Refusal {
    Refusal::new(Code::ResourceMissing, "No such refund claim.")
}

pub async fn find_claim(engine: &Engine, token: &str) -> Result<Claim, Fail> {
    let hash = hash_token(token);
    let mut reader = engine.db.read().await?;
    let row = till_store::refunds::by_token(&mut reader, &hash).await?;
    let row = row.ok_or_else(missing)?;
    Ok(Claim {
        scope: row.scope,
        refund: row.id,
        digest: hex::encode(hash),
    })
}

/// The claim as its payer sees it, while there is something to see.
pub async fn show_claim(engine: &Engine, claim: &Claim) -> Result<ClaimView, Fail> {
    let mut reader = engine.db.read().await?;
    let row = till_store::refunds::find(&mut reader, &claim.scope, &claim.refund).await?;
    let row = row.ok_or_else(missing)?;
    let merchant = Merchant::load(&mut reader, &claim.scope).await?;
    let now = merchant.now(engine.clock.now_ms());
    check_open(row.status, row.closes_at(), now)?;
    Ok(render(&merchant, &row))
}

fn render(merchant: &Merchant, row: &RefundRow) -> ClaimView {
    let networks = networks_of(row)
        .into_iter()
        .map(|(network, _)| ClaimNetwork {
            network: network.id.clone(),
            network_name: network.name.clone(),
        });
    ClaimView::of(row, merchant, networks.collect())
}

/// Where the same token exists in that mode and the amount can be written down: the refund's own network first.
fn networks_of(row: &RefundRow) -> Vec<(&'static Network, &'static Asset)> {
    let registry = Registry::builtin();
    let Some(own) = registry.asset(&row.asset) else {
        return Vec::new();
    };
    let receives = |asset: &&Asset| {
        asset.code == own.code
            || (asset.symbol == own.symbol && asset.mode == own.mode && asset.offered)
    };
    let fits = |asset: &&Asset| {
        let lost = own.decimals.saturating_sub(asset.decimals);
        row.units.0.is_multiple_of(10u128.saturating_pow(lost))
    };
    let mut found: Vec<_> = registry
        .assets()
        .iter()
        .filter(|asset| receives(asset) && fits(asset))
        .filter_map(|asset| Some((registry.network(&asset.network)?, asset)))
        .collect();
    found.sort_by_key(|(_, asset)| asset.code != own.code);
    found
}

/// What the chain says of the address that a payer gives, asked before the claim is made.
pub async fn ask(engine: &Engine, claim: &Claim, request: &ClaimRequest) -> Result<Answers, Fail> {
    let mut reader = engine.db.read().await?;
    let row = till_store::refunds::find(&mut reader, &claim.scope, &claim.refund).await?;
    drop(reader);
    let row = row.filter(|row| row.status == RefundStatus::Unclaimed);
    let chosen = row.and_then(|row| chosen(&row, &request.network));
    let Some((network, asset)) = chosen else {
        return Ok(Answers::new());
    };
    let Ok(address) = till_chains::parse_address(network, &request.address) else {
        return Ok(Answers::new());
    };
    let address = &*address;
    Ok(screening::ask(engine, Screened { network, address }, asset).await)
}

/// The network that a payer names, if the refund can be received there, and the asset that it is there.
fn chosen(row: &RefundRow, network: &str) -> Option<(&'static Network, &'static Asset)> {
    let network = Registry::builtin().network(network)?;
    networks_of(row)
        .into_iter()
        .find(|(of, _)| of.id == network.id)
}

/// The first claim wins; the same again is answered as the first was.
pub async fn claim(
    tx: &mut Tx,
    context: &Context<'_>,
    claim: &Claim,
    request: &ClaimRequest,
    answers: &Answers,
) -> Result<ClaimView, Fail> {
    let (mut held, at) = find_locked(tx, context, &claim.refund).await?;
    let (row, now) = (held.refunds[at].is.clone(), held.moment(context));
    check_open(row.status, row.closes_at(), now)?;
    if row.status == RefundStatus::Sent {
        return Err(Refusal::of(Code::ClaimAlreadySent).into());
    }
    let (network, _) = chosen(&row, &request.network)
        .ok_or_else(|| Refusal::of(Code::NetworkUnavailable).param("network"))?;
    let address = payable(tx, context, network, &request.address).await?;
    if row.status != RefundStatus::Unclaimed {
        let chosen = (row.payout_network.as_deref(), row.payout_address.as_deref());
        return match chosen == (Some(&*network.id), Some(&*address)) {
            true => Ok(render(&context.merchant, &row)),
            false => Err(Refusal::of(Code::ClaimAlreadySubmitted).into()),
        };
    }
    let screened = Screened {
        network,
        address: &address,
    };
    let screening = screening::screen(context, screened, answers);
    let kept = screening::kept(context, &row.id, screened, &screening);
    tx.write(&till_store::screenings::rows([&kept])).await?;
    let claimed = &mut held.refunds[at].is;
    claimed.claimed_at = Some(now);
    claimed.payout_network = Some(network.id.clone());
    claimed.payout_address = Some(address.clone());
    claimed.screening = Some(screening);
    let row = settle(tx, context, held, &row.id).await?;
    let details = json!({"network": &network.id, "address": &address});
    audit::record(tx, context, Action::RefundClaimed, &row.id, details).await?;
    announce(tx, context, &row).await?;
    Ok(render(&context.merchant, &row))
}

/// An address at which a payer can receive money and spend it: checked in the network's own form, no known contract,
/// no deposit address of anybody, and not where the merchant is paid.
async fn payable(
    q: &mut impl Queries,
    context: &Context<'_>,
    network: &'static Network,
    text: &str,
) -> Result<String, Fail> {
    let invalid = |why: &str| Refusal::new(Code::AddressInvalid, why.to_owned()).param("address");
    let address = till_chains::parse_address(network, text)
        .map_err(|error| invalid(&format!("address is refused: {error}")))?;
    if till_chains::is_nobodys(network.family, &address) {
        return Err(invalid("address is one that nobody has the key of").into());
    }
    if is_contract(network, &address) {
        return Err(invalid("address is a contract, from which nobody can spend").into());
    }
    let leases = till_store::leases::holders(q, network.family, &address).await?;
    if !leases.is_empty() {
        return Err(invalid("address is one that payments are made to").into());
    }
    if context.merchant.destination(network.family) == Some(&*address) {
        return Err(invalid("address is the merchant's own").into());
    }
    Ok(address)
}

/// A token's contract or a factory, on this network or on one whose addresses look alike: a contract that is known
/// there is nobody's wallet here.
fn is_contract(network: &Network, address: &str) -> bool {
    let registry = Registry::builtin();
    let alike = |of: &&Network| of.family == network.family;
    registry.networks().iter().filter(alike).any(|of| {
        of.factory.as_deref() == Some(address)
            || registry.asset_of_contract(&of.id, address).is_some()
    })
}

/// Events are kept as they are sent, so this one goes without the token.
async fn announce(tx: &mut Tx, context: &Context<'_>, row: &RefundRow) -> Result<(), Fail> {
    let view = RefundView::of(row, &context.engine.config.checkout_url, None);
    let object = serde_json::to_string(&view).map_err(Fail::broken)?;
    let told = EventContent {
        event: EventType::RefundClaimed,
        // Told among the invoice's events, in their order.
        subject: &row.invoice,
        invoice: Some(&row.invoice),
        stream_seq: None,
        object: &object,
        extra: None,
        payments: None,
    };
    outbox::record(tx, context, &[outbox::make(context, told)]).await
}
