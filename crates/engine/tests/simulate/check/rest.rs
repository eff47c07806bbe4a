//! When nothing moves any more: the books are what the chains are. (I04, I33)

use std::collections::BTreeMap;

use till_engine::intake::Sighting;
use till_store::Queries as _;

use super::{and, same};
use crate::model::Lease;
use crate::world::{Check, World};

pub async fn nothing_is_due(world: &World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    for merchant in &world.model.merchants {
        let now = world.real_now() + merchant.offset_ms;
        let sql = "SELECT CAST(count(*) AS BIGINT) FROM timers WHERE account = $1 AND mode = $2 AND due_at <= $3";
        let (due,): (i64,) = reader
            .one(sql, &and(&merchant.scope, now))
            .await
            .unwrap()
            .unwrap();
        same("timers due", due, 0)?;
        let stuck = |status: &str| matches!(status, "detected" | "confirming" | "awaiting_payment");
        let from_chain = |id: &str| {
            let mut paid = merchant.seen.iter().filter(|(_, seen)| seen.invoice == id);
            paid.all(|(transfer, _)| transfer.tx.starts_with("tx-"))
        };
        for (id, invoice) in &merchant.invoices {
            if stuck(invoice.now.status) && from_chain(id) {
                return Err(format!("{id} is stuck in {}", invoice.now.status));
            }
        }
    }
    Ok(())
}

/// Every final transfer to an address of ours stands in the books once, with its own amount; nothing else does.
pub fn books_are_the_chains(world: &World) -> Check {
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        let (mut on_chain, mut in_books) = (BTreeMap::new(), BTreeMap::new());
        for chain in &merchant.chains {
            for transfer in &chain.transfers {
                // What fits no lease and no binding is nobody's; the model says which does.
                let leased = |lease: &Lease| lease.address == transfer.recipient;
                if !merchant.leases.iter().any(leased) && !merchant.seen.contains_key(&transfer.id)
                {
                    continue;
                }
                let there = matches!(chain.observe(transfer).sighting, Sighting::InBlock { .. });
                let sum: &mut u128 = on_chain.entry(transfer.asset.clone()).or_default();
                *sum += if there { transfer.units } else { 0 };
                let posted = merchant
                    .seen
                    .get(&transfer.id)
                    .map_or(0, |seen| seen.part.posted());
                *in_books.entry(transfer.asset.clone()).or_default() += posted;
            }
        }
        same(&format!("m{m}: the books"), in_books, on_chain)?;
    }
    Ok(())
}
