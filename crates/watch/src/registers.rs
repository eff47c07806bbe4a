//! What registers on a chain say of an address, as far as endpoints agree.

use futures::FutureExt as _;
use till_chains::registers::{self, Register};

use crate::endpoint::Endpoint;
use crate::pool::Pool;
use crate::quorum::{QuorumAnswer, ask_quorum};

/// Whether a register names an address, as a quorum says. Where several must agree, one endpoint alone neither clears
/// nor names anybody.
pub async fn names(pool: Pool<'_>, register: &Register, sender: &str) -> QuorumAnswer<bool> {
    let answer = ask_quorum(pool, |source| named(pool, source, register, sender).boxed());
    answer.await
}

async fn named(
    pool: Pool<'_>,
    source: &Endpoint,
    register: &Register,
    sender: &str,
) -> Option<bool> {
    let (network, endpoint) = (pool.network(), &source.address);
    let named = registers::names(pool.rpc, endpoint, network, register, sender);
    let named = pool.call(source, named).await?;
    if let Err(error) = &named {
        let (network, register) = (&*network.id, register.name);
        tracing::warn!(network, %endpoint, register, %error, "a register on the chain did not answer, so it neither clears nor names anybody; check the endpoint if this lasts");
    }
    named.ok()
}
