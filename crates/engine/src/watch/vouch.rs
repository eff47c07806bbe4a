//! Whether an endpoint is what it is configured as: on its network, with the factory and the tokens that we know there.

use futures::FutureExt as _;
use till_chains::evm::client;
use till_chains::evm::forwarder::is_factory;
use till_chains::raw::{raw, shown};
use till_chains::rpc::{self, RpcClient, RpcError};
use till_core::asset::{Network, Registry};

use super::Trouble;
use super::ask::Asking;
use super::tips::Said;
use till_watch::Endpoint;

/// Looks at those whose time has come. Who does not answer is merely asked later.
pub(super) async fn vouch_all(asking: Asking<'_>) {
    let now_us = asking.engine.clock.monotonic_us();
    let due = asking
        .net
        .endpoints
        .iter()
        .filter(|source| source.may_be_asked(now_us) && !source.is_identified(now_us));
    futures::future::join_all(due.map(|source| vouch(asking, source).boxed())).await;
}

async fn vouch(asking: Asking<'_>, source: &Endpoint) {
    match problem(asking.rpc, &source.address, asking.network()).await {
        Ok(None) => source.mark_identified(asking.engine.clock.monotonic_us()),
        Ok(Some(problem)) => drop::<Trouble>(asking.wrong(source, &problem)),
        Err(error) => drop::<Trouble>(asking.failed(source, &error)),
    }
}

/// Whether all of these are on their network right now. What does not follow from what is known is asked for twice: behind
/// an address may be another node than a minute ago.
pub(super) async fn are_on_it(asking: Asking<'_>, said: &[Said<'_>]) -> bool {
    let asked = said.iter().map(|it| is_on_it(asking, it.source).boxed());
    let are = futures::future::join_all(asked).await;
    are.into_iter().all(|is| is)
}

async fn is_on_it(asking: Asking<'_>, source: &Endpoint) -> bool {
    let network = asking.network();
    match client::chain_id(asking.rpc, &source.address).await {
        Ok(told) if network.chain_id == Some(told) => true,
        Ok(told) => {
            drop::<Trouble>(asking.wrong(source, &elsewhere(network, told)));
            false
        }
        Err(error) => {
            drop::<Trouble>(asking.failed(source, &error));
            false
        }
    }
}

fn elsewhere(network: &Network, told: u64) -> String {
    format!("it is on {}:{told}", network.family.namespace())
}

/// What is wrong with an endpoint, in words for its operator.
pub async fn problem(
    rpc: &RpcClient,
    endpoint: &rpc::Endpoint,
    network: &Network,
) -> Result<Option<String>, RpcError> {
    let told = client::chain_id(rpc, endpoint).await?;
    if network.chain_id != Some(told) {
        return Ok(Some(elsewhere(network, told)));
    }
    if let Some(factory) = &network.factory
        && let Some(address) = raw(network.family, factory)
        && !is_factory(&client::code(rpc, endpoint, &address).await?)
    {
        return Ok(Some(format!("the factory is not at {factory}")));
    }
    let assets = Registry::builtin().assets().iter();
    for asset in assets.filter(|asset| asset.network == network.id && asset.offered) {
        let contract = asset.contract.as_deref();
        let Some(contract) = contract.and_then(|text| raw(network.family, text)) else {
            continue;
        };
        if client::code(rpc, endpoint, &contract).await?.is_empty() {
            let place = shown(network.family, &contract);
            return Ok(Some(format!("{} is not at {place}", asset.symbol)));
        }
    }
    Ok(None)
}
