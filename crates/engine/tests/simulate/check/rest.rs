//! When nothing moves any more: the books are what the chains are. (I04, I33)

use std::collections::BTreeMap;

use till_store::Queries as _;

use super::{and, same};
use crate::chain::Whereabouts;
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
            paid.all(|((transfer, _), _)| transfer.tx.starts_with("tx-"))
        };
        for (id, invoice) in &merchant.invoices {
            if stuck(invoice.now.status) && from_chain(id) {
                return Err(format!("{id} is stuck in {}", invoice.now.status));
            }
        }
    }
    Ok(())
}

/// Every final transfer that is somebody's stands in the books once, with its own amount; nothing else does.
pub fn books_are_the_chains(world: &World) -> Check {
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        let (mut on_chain, mut in_books) = (BTreeMap::new(), BTreeMap::new());
        for transfer in world.chains.iter().flat_map(|chain| &chain.transfers) {
            let there = matches!(transfer.at, Whereabouts::Block(_));
            let sender = transfer.sender.as_ref();
            for seen in merchant.seen_at(&transfer.id) {
                let is_it = there && seen.is_brought_by(transfer.units, sender);
                let sum: &mut u128 = on_chain.entry(transfer.asset.clone()).or_default();
                *sum += if is_it { transfer.units } else { 0 };
                *in_books.entry(transfer.asset.clone()).or_default() += seen.part.posted();
            }
        }
        same(&format!("m{m}: the books"), in_books, on_chain)?;
    }
    Ok(())
}
