//! Whether an endpoint is what it is configured as: on its network, with the factory and the tokens that we know there.

use futures::FutureExt as _;

use crate::endpoint::Endpoint;
use crate::endpoint_tips::EndpointTips;
use crate::latecomers::{GRACE, answers_in_time};
use crate::pool::Pool;

/// Checks the identity of the endpoints that are due for it. One that does not answer is checked later.
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

/// The endpoints that name the right chain now. None if they are fewer than the quorum. Asked before blocks are
/// replaced, for another node than a minute ago may be behind an address.
pub async fn still_on_it<'s>(
    pool: Pool<'_>,
    said: &[EndpointTips<'s>],
) -> Option<Vec<EndpointTips<'s>>> {
    let asked = said.iter().map(|it| is_on_it(pool, it.source).boxed());
    let enough = |are: &[Option<bool>]| {
        let are_on_it = are.iter().filter(|it| **it == Some(true)).count();
        are_on_it >= pool.net.quorum
    };
    let are = answers_in_time(asked.collect(), || GRACE, enough).await;
    let on_it = said.iter().zip(&are).filter(|(_, is)| **is == Some(true));
    let on_it: Vec<EndpointTips<'s>> = on_it.map(|(it, _)| it.clone()).collect();
    (on_it.len() >= pool.net.quorum).then_some(on_it)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::ask_all;
    use crate::scripted::Scripted;

    #[tokio::test]
    async fn enough_endpoints_that_name_their_chain_suffice() {
        let scripted = Scripted::of(&["ab", "ab", "ab"]).await;
        let said = ask_all(scripted.pool()).await;
        let places = |said: Vec<EndpointTips<'_>>| scripted.places(said.iter().map(|it| it.source));
        scripted.change(1, |it| it.names_its_chain = false);
        let on_it = still_on_it(scripted.pool(), &said).await;
        assert_eq!(on_it.map(places), Some(vec![0, 2]));
        scripted.change(2, |it| it.names_its_chain = false);
        assert!(still_on_it(scripted.pool(), &said).await.is_none());
    }
}
