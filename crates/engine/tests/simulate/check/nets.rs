//! Networks, blocks and transfers as they are stored, against the model. (I01, I09)

use till_store::Queries as _;
use till_store::networks::NetworkRow;
use till_store::transfers::TransferRow;

use super::{same, select};
use crate::chain::TransferId;
use crate::model::Model;
use crate::net::{Fact, Payments};
use crate::world::{Check, World};

/// The ids of the payments that the server has at each place of a network's transactions.
pub async fn payments(world: &World, network: &str) -> Payments {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT tx_hash, place, id FROM payments WHERE network = $1";
    let rows: Vec<(String, i64, String)> = reader.all(sql, &[network.into()]).await.unwrap();
    let mut payments = Payments::new();
    for (tx, place, id) in rows {
        let network = network.to_owned();
        let at = payments.entry(TransferId { network, tx, place });
        at.or_default().push(id);
    }
    payments
}

pub async fn check(world: &World, model: &Model, network: &str) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let Some(net) = model.nets.get(network) else {
        let row = till_store::networks::find(&mut reader, network).await;
        return same("a network", row.unwrap(), None);
    };
    let tip = |height: i64| (height >= 0).then_some(height);
    let row = till_store::networks::find(&mut reader, network).await;
    let row: NetworkRow = row.unwrap().ok_or("a network is gone")?;
    same("the epoch", row.epoch, net.epoch)?;
    same("the leader", &row.owner, &net.owner)?;
    same("when it was heard of", row.heard_at, net.heard_at)?;
    same("safe", row.safe_height, tip(net.safe))?;
    same("final", row.final_height, tip(net.last_final))?;
    same("frozen", row.frozen_from, net.frozen_from)?;
    same(
        "frozen at all",
        row.frozen_at.is_some(),
        net.frozen_from.is_some(),
    )?;
    let window = till_store::networks::window(&mut reader, network).await;
    same("the window", &window.unwrap(), &net.blocks)?;
    let sql = select::<TransferRow>("network = $1 AND simulated = 0");
    let rows: Vec<TransferRow> = reader.all(&sql, &[network.into()]).await.unwrap();
    same("the number of transfers", rows.len(), net.facts.len())?;
    for row in rows {
        let id = TransferId {
            network: row.network.clone(),
            tx: row.tx_hash.clone(),
            place: row.place,
        };
        let fact = net.facts.get(&id).ok_or("a transfer that nobody told of")?;
        one(model, &id, &row, fact).map_err(|wrong| format!("{id:?}: {wrong}"))?;
    }
    Ok(())
}

fn one(model: &Model, id: &TransferId, row: &TransferRow, fact: &Fact) -> Check {
    same("units", row.units.0, fact.units)?;
    same("gone", row.gone, fact.gone)?;
    same("first seen", row.first_seen_at, fact.first_seen_at)?;
    let block = fact.block.as_ref();
    same("height", row.height, block.map(|it| it.height))?;
    same("block", row.block_hash.as_ref(), block.map(|it| &it.hash))?;
    let mut seen = model.merchants.iter().flat_map(|it| it.seen_at(id));
    let seen = seen.find(|it| it.is_brought_by(fact.units, fact.sender.as_ref()));
    same("payment", row.payment.as_ref(), seen.map(|it| &it.payment))?;
    if fact.units > 0 && !fact.gone {
        same("nobody's", row.unattributed.is_some(), seen.is_none())?;
    }
    Ok(())
}
