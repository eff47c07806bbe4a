//! Wallet bindings: an exact amount tells whose payment it is. (I16)

use std::collections::BTreeMap;

use serde_json::Value;
use till_core::asset::Registry;
use till_store::Queries as _;
use till_store::bindings::BindingRow;

use super::{of, same, select};
use crate::model::{Binding, Merchant};
use crate::world::{Check, World};

const WALLETS_MAX: i64 = 5;

/// The tables by themselves: nothing open can be taken for another, and no invoice has too many wallets.
pub async fn tables(world: &World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT asset, destination, sender, units FROM wallet_bindings WHERE open = 1 \
         GROUP BY network, asset, destination, sender, units HAVING count(*) > 1";
    let twice: Vec<(String, String, String, String)> = reader.all(sql, &[]).await.unwrap();
    if let Some(twice) = twice.first() {
        return Err(format!("two open bindings are alike: {twice:?}"));
    }
    let sql = "SELECT invoice, network, CAST(count(DISTINCT sender) AS BIGINT) FROM wallet_bindings \
         GROUP BY account, mode, invoice, network";
    let wallets: Vec<(String, String, i64)> = reader.all(sql, &[]).await.unwrap();
    match wallets.iter().find(|(_, _, count)| *count > WALLETS_MAX) {
        Some(many) => Err(format!("too many wallets: {many:?}")),
        None => Ok(()),
    }
}

pub async fn check(world: &World, merchant: &Merchant) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = select::<BindingRow>("account = $1 AND mode = $2");
    let rows: Vec<BindingRow> = reader.all(&sql, &of(&merchant.scope)).await.unwrap();
    same(
        "the number of bindings",
        rows.len(),
        merchant.bindings.len(),
    )?;
    for row in rows {
        let own = |it: &&Binding| {
            (&it.invoice, &it.asset, &it.sender, it.turn)
                == (&row.invoice, &row.asset, &row.sender, row.turn)
        };
        let expected = merchant.bindings.iter().find(own);
        let found = Binding {
            units: row.units.0,
            suffix: row.suffix.0,
            invoice: row.invoice,
            asset: row.asset,
            network: row.network,
            sender: row.sender,
            turn: row.turn,
            destination: row.destination,
            created_at: row.created_at,
            expires_at: row.expires_at,
            open: row.open,
            closed_at: row.closed_at,
            replaced_at: row.replaced_at,
        };
        same("a binding", Some(&found), expected)?;
    }
    Ok(())
}

/// What wallets were told above what is due, as the server has it.
pub async fn suffixes_now(
    world: &World,
    merchant: &Merchant,
) -> BTreeMap<(String, String, String, i64), u128> {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = select::<BindingRow>("account = $1 AND mode = $2");
    let rows: Vec<BindingRow> = reader.all(&sql, &of(&merchant.scope)).await.unwrap();
    let by_wallet = |row: BindingRow| {
        let key = (row.invoice, row.asset, row.sender, row.turn);
        (key, row.suffix.0)
    };
    rows.into_iter().map(by_wallet).collect()
}

/// What a wallet was told, taken into the model: the amount due, or above it by less than a cent when the
/// wallet owes that amount already.
pub fn bound(
    world: &mut World,
    m: usize,
    known: Option<Binding>,
    mut told: Binding,
    view: &Value,
) -> Check {
    let text = |name: &str| view[name].as_str().unwrap_or_default().to_owned();
    let units: u128 = text("amount_base_units")
        .parse()
        .map_err(|_| "an amount that is no number")?;
    same("the sender", text("sender"), told.sender.clone())?;
    same("destination", text("destination"), told.destination.clone())?;
    if let Some(known) = known {
        return same("the amount of a known binding", units, known.units);
    }
    let asset = Registry::builtin().asset(&told.asset).unwrap();
    let offers = &world.model.merchants[m].invoices[&told.invoice]
        .terms
        .offers;
    let due = offers.iter().find(|it| it.asset == told.asset).unwrap().due;
    let merchants = &world.model.merchants;
    let real_now = told.created_at - merchants[m].offset_ms;
    let everybody = merchants.iter().flat_map(|it| {
        let (now, by) = (real_now + it.offset_ms, &told.invoice);
        let own = it.bindings.iter();
        own.filter(move |known| known.is_taken(by, now))
    });
    let taken: Vec<u128> = everybody
        .filter(|it| it.asset == told.asset && it.sender == told.sender)
        .map(|it| it.units)
        .collect();
    let cent = 10u128.pow(asset.decimals.saturating_sub(2));
    let suffix = units.checked_sub(due).ok_or("less than is due")?;
    if suffix >= cent || taken.contains(&units) || (suffix > 0) != taken.contains(&due) {
        return Err(format!("{units} for {due}, {taken:?} being taken"));
    }
    if suffix > 0 {
        world.visit("suffixed");
    }
    (told.units, told.suffix) = (units, suffix);
    world.model.merchants[m].tell_wallet(told);
    Ok(())
}
