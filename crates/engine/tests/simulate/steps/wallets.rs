//! Wallets: bound to invoices, several to one and one to several, and what they send.

use std::collections::BTreeSet;

use till_core::asset::{Family, Registry};

use super::ask::{Ask, ask};
use super::choose;
use super::payers::read;
use crate::chain::{Transfer, TransferId, Whereabouts};
use crate::check;
use crate::model::Binding;
use crate::tape::Part;
use crate::world::{Check, World};

const WALLETS: usize = 7;
const WALLETS_PER_NETWORK: usize = 5;

fn wallet(family: Family, number: usize) -> String {
    let bytes = [u8::try_from(number + 1).unwrap(); 20];
    let lists = till_chains::test_screening();
    match family {
        // The last is on a list.
        _ if number == WALLETS => {
            let listed = lists.iter().find(|(of, _, _)| *of == family);
            listed.unwrap().2.to_owned()
        }
        // Where wallets cannot be bound any address is refused.
        family => till_chains::wallet_address(family, &bytes)
            .or_else(|| till_chains::wallet_address(Family::Evm, &bytes))
            .unwrap(),
    }
}

pub async fn bind(world: &mut World, m: usize) -> Check {
    let waiting: Vec<String> = world.model.merchants[m]
        .invoices
        .iter()
        .filter(|(_, invoice)| invoice.now.status == "awaiting_payment")
        .map(|(id, _)| id.clone())
        .collect();
    let invoice = match waiting.is_empty() || world.rng.percent(15) {
        true => choose::invoice(world, m),
        false => Some(world.rng.pick(&waiting).clone()),
    };
    let Some(invoice) = invoice else {
        return Ok(());
    };
    let offers = world.model.merchants[m].invoices[&invoice]
        .terms
        .offers
        .clone();
    let asset = world.rng.pick(&offers).asset.clone();
    let several = world.rng.percent(12);
    let count = if several { WALLETS_PER_NETWORK + 1 } else { 1 };
    // Few wallets, so that one often owes several invoices.
    let first = *world.rng.pick(&[0, 0, 0, 1, 2, WALLETS]);
    for number in first..first + count {
        if world.rng.keeps(Part::Next) {
            one_bind(world, m, &invoice, &asset, number % (WALLETS + 1)).await?;
        }
    }
    world.rng.about("next", &());
    if world.rng.percent(40) && world.rng.keeps(Part::Next) {
        pay_by_wallet(world, m);
    }
    Ok(())
}

async fn one_bind(world: &mut World, m: usize, invoice: &str, code: &str, number: usize) -> Check {
    let asset = Registry::builtin().asset(code).unwrap();
    let sender = wallet(asset.family, number);
    let asked = Ask::Bind {
        invoice: invoice.to_owned(),
        asset: code.to_owned(),
        sender: sender.clone(),
    };
    let done = ask(world, m, asked).await;
    let now = done.at.business;
    let merchant = &world.model.merchants[m];
    let of_invoice = || merchant.bindings.iter().filter(|it| it.invoice == invoice);
    let told = of_invoice().filter(|it| it.sender == sender && it.asset == code);
    let turn = told.clone().count();
    let known = told.clone().find(|it| it.open);
    let mut wallets: BTreeSet<&str> = BTreeSet::new();
    for binding in of_invoice().filter(|it| it.network == asset.network) {
        wallets.insert(&binding.sender);
    }
    let more = !wallets.contains(sender.as_str());
    let expected = if asset.family == Family::Bitcoin {
        Err("wallet_unsupported")
    } else if check::status_at(merchant, invoice, now) != "awaiting_payment" {
        Err("invoice_not_awaiting_payment")
    } else if known.is_none() && more && wallets.len() >= WALLETS_PER_NETWORK {
        Err("wallet_binding_limit")
    } else {
        Ok(())
    };
    let known = known.cloned();
    let Some(answer) = done.agree(expected)? else {
        return Ok(());
    };
    let view = read(&answer.body)?;
    let told = Binding {
        invoice: invoice.to_owned(),
        asset: code.to_owned(),
        network: asset.network.clone(),
        sender,
        turn: i64::try_from(turn).unwrap(),
        destination: till_chains::example_destination(asset.family).to_owned(),
        units: 0,
        suffix: 0,
        created_at: now,
        expires_at: merchant.invoices[invoice].terms.deadline(),
        open: true,
        closed_at: None,
        replaced_at: None,
    };
    check::bindings::bound(world, m, known, told, &view)?;
    check::bindings::check(world, &world.model.merchants[m]).await
}

/// A bound wallet sends what it was told, or nearly, or another sends it.
pub fn pay_by_wallet(world: &mut World, m: usize) {
    let bindings = &world.model.merchants[m].bindings;
    if bindings.is_empty() {
        return;
    }
    let open: Vec<Binding> = bindings.iter().filter(|it| it.open).cloned().collect();
    let suffixed: Vec<Binding> = open.iter().filter(|it| it.suffix > 0).cloned().collect();
    let from = match (open.is_empty(), suffixed.is_empty()) {
        (false, false) if world.rng.percent(60) => suffixed,
        (false, _) if world.rng.percent(80) => open,
        _ => bindings.clone(),
    };
    let binding = world.rng.pick(&from).clone();
    let family = Registry::builtin().asset(&binding.asset).unwrap().family;
    let (mut units, mut sender) = (binding.units, binding.sender.clone());
    match world.rng.below(14) {
        0 => units += 1,
        1 => units -= 1,
        2 => sender = wallet(family, world.rng.below(WALLETS)),
        _ => {}
    }
    world.transactions_made += 1;
    let tx = format!("tx-{}", world.transactions_made);
    let transfer = Transfer {
        id: TransferId {
            network: binding.network.clone(),
            tx: tx.clone(),
            place: 0,
        },
        asset: binding.asset.clone(),
        units,
        sender: Some(sender),
        recipient: binding.destination.clone(),
        at: Whereabouts::Mempool,
    };
    let chain = choose::chain_of(&mut world.chains, &binding.network);
    chain.transfers.push(transfer);
    world.note(format!(
        "m{m} is sent {tx} by a wallet: {units} {} for {}",
        binding.asset, binding.invoice
    ));
}
