//! Whether an endpoint is what it is configured as: on its network, with the factory and the tokens that we know there.

use futures::FutureExt as _;

use crate::endpoint::Endpoint;
use crate::pool::Pool;
use crate::tips::Said;

/// Looks at those whose time has come. Who does not answer is merely asked later.
pub async fn identify_all(pool: Pool<'_>) {
    let now_us = pool.clock.monotonic_us();
    let due = pool
        .net
        .endpoints
        .iter()
        .filter(|source| source.may_be_asked(now_us) && !source.is_identified(now_us));
    futures::future::join_all(due.map(|source| identify(pool, source).boxed())).await;
}

pub(crate) async fn identify(pool: Pool<'_>, source: &Endpoint) {
    let told = pool.observer().identify(pool.rpc, &source.address);
    match told.await {
        Ok(None) => source.mark_identified(pool.clock.monotonic_us()),
        Ok(Some(problem)) => {
            pool.wrong(source, &problem);
        }
        Err(error) => {
            pool.failed(source, &error);
        }
    }
}

/// Whether all of these are on their network right now. What does not follow from what is known is asked for twice: behind
/// an address may be another node than a minute ago.
pub async fn are_on_it(pool: Pool<'_>, said: &[Said<'_>]) -> bool {
    let asked = said.iter().map(|it| is_on_it(pool, it.source).boxed());
    let are = futures::future::join_all(asked).await;
    are.into_iter().all(|is| is)
}

async fn is_on_it(pool: Pool<'_>, source: &Endpoint) -> bool {
    let told = pool.observer().elsewhere(pool.rpc, &source.address);
    match told.await {
        Ok(None) => true,
        Ok(Some(elsewhere)) => {
            pool.wrong(source, &elsewhere);
            false
        }
        Err(error) => {
            pool.failed(source, &error);
            false
        }
    }
}
