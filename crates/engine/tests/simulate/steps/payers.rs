//! Links and picks: what merchants offer by a link and what payers do with it.

use serde_json::Value;
use till_core::link::AmountType;
use till_core::money::{Currency, Units, show};
use till_engine::base::Change;
use till_engine::links::LinkChange;

use super::ask::{Ask, ask};
use super::{choose, create, ops::Touched, wallets};
use crate::check;
use crate::model::Link;
use crate::tape::Part;
use crate::world::{Check, World};

const OPEN_PER_LINK: i64 = 50;
const OPEN_PER_ACCOUNT: i64 = 200;

pub fn read(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

fn money(minor: u64, currency: &str) -> String {
    let decimals = Currency::parse(currency).unwrap().decimals();
    show(Units(minor.into()), decimals)
}

pub async fn new_link(world: &mut World, m: usize) -> Check {
    let mut request = create::new_request(world, m).new;
    while request.assets.as_ref().is_none_or(Vec::is_empty) {
        request = create::new_request(world, m).new;
    }
    let decimals = Currency::parse(&request.currency).unwrap().decimals();
    let minor = till_core::money::parse(&request.amount, decimals)
        .unwrap()
        .0;
    let minor = u64::try_from(minor).unwrap();
    let fixed = world.rng.percent(70);
    let limit = *world.rng.pick(&[None, Some(1), Some(1), Some(2), Some(3)]);
    let expires_in = world.rng.between(1, 3 * 3_600_000);
    let expires_at = world.rng.percent(30).then(|| world.now(m) + expires_in);
    let bounds = (minor, minor.saturating_mul(3));
    let set = |minor: u64| Change::Set(money(minor, &request.currency));
    let mut change = LinkChange {
        amount_type: Change::Set(AmountType::Fixed),
        currency: Change::Set(request.currency.clone()),
        assets: Change::Set(request.assets.clone().unwrap()),
        quantity_limit: limit.map_or(Change::Keep, Change::Set),
        expires_at: expires_at.map_or(Change::Keep, Change::Set),
        metadata: Change::Set(request.metadata.clone()),
        ..LinkChange::default()
    };
    if fixed {
        change.amount = set(minor);
    } else {
        change.amount_type = Change::Set(AmountType::PayerChosen);
        (change.min_amount, change.max_amount) = (set(bounds.0), set(bounds.1));
    }
    let done = ask(world, m, Ask::NewLink(change)).await;
    // Time passes while a process starts again.
    let past = expires_at.is_some_and(|at| at <= done.at.business);
    let expected = if past {
        Err("parameter_invalid")
    } else {
        Ok(())
    };
    let Some(answer) = done.agree(expected)? else {
        return Ok(());
    };
    let view = read(&answer.body)?;
    let text = |name: &str| view[name].as_str().unwrap_or_default().to_owned();
    let link = Link {
        slug: text("slug"),
        amount: fixed.then_some(minor),
        bounds,
        currency: request.currency,
        assets: request.assets.unwrap(),
        limit,
        expires_at,
        active: true,
        may_exceed: false,
    };
    let merchant = &mut world.model.merchants[m];
    merchant.link_events += 1;
    merchant.links.insert(text("id"), link);
    check::links::check(world, &world.model.merchants[m]).await
}

fn some_link(world: &mut World, m: usize) -> Option<(String, Link)> {
    let links: Vec<_> = world.model.merchants[m].links.clone().into_iter().collect();
    (!links.is_empty()).then(|| world.rng.pick(&links).clone())
}

pub async fn change_link(world: &mut World, m: usize) -> Check {
    let Some((id, mut link)) = some_link(world, m) else {
        return Ok(());
    };
    let before = link.clone();
    let mut change = LinkChange::default();
    if world.rng.percent(60) {
        // Rather on than off: a link that is off tests nothing else.
        link.active = !before.active || world.rng.percent(40);
        change.active = Change::Set(link.active);
    }
    if world.rng.percent(50) {
        link.limit = *world.rng.pick(&[None, Some(1), Some(2), Some(4)]);
        change.quantity_limit = link.limit.map_or(Change::Clear, Change::Set);
        let lowered = link
            .limit
            .is_some_and(|now| before.limit.is_none_or(|was| now < was));
        link.may_exceed |= lowered;
    }
    let asked = Ask::ChangeLink {
        id: id.clone(),
        change,
    };
    ask(world, m, asked).await.agree(Ok(()))?;
    let turned_off = before.active && !link.active;
    let otherwise = (!before.active && link.active) || before.limit != link.limit;
    let merchant = &mut world.model.merchants[m];
    merchant.link_events += usize::from(turned_off) + usize::from(otherwise);
    merchant.links.insert(id, link);
    check::links::check(world, &world.model.merchants[m]).await
}

pub async fn link_invoice(world: &mut World, m: usize) -> Check {
    let Some((id, link)) = some_link(world, m) else {
        return new_link(world, m).await;
    };
    // At times a crowd that pays nothing.
    let crowd = link.limit.is_none() && link.active && world.rng.percent(4);
    let count = if crowd { OPEN_PER_LINK + 2 } else { 1 };
    for _ in 0..count {
        one_link_invoice(world, m, &id, &link).await?;
    }
    // Most payers who come this far go on.
    match world.rng.below(5) {
        _ if !world.rng.keeps(Part::Next) => Ok(()),
        0 | 1 => pick(world, m).await,
        2 | 3 => wallets::bind(world, m).await,
        _ => Ok(()),
    }
}

async fn one_link_invoice(world: &mut World, m: usize, id: &str, link: &Link) -> Check {
    let (least, most) = link.bounds;
    let chosen = match world.rng.below(8) {
        0 => least - 1,
        1 => most + 1,
        2 => most,
        _ => least,
    };
    let minor = link.amount.unwrap_or(chosen);
    let asked = Ask::LinkInvoice {
        slug: link.slug.clone(),
        amount: link.amount.is_none().then(|| money(chosen, &link.currency)),
    };
    let done = ask(world, m, asked).await;
    let at = done.at;
    let merchant = &world.model.merchants[m];
    let (used, reserved) = merchant.units_of(id);
    let open = merchant.links.keys().map(|link| merchant.units_of(link).1);
    let full = |taken: i64| link.limit.is_some_and(|limit| taken >= limit);
    let expected = if link.amount.is_none() && minor == 0 {
        Err("parameter_invalid")
    } else if link.amount.is_none() && minor < least {
        Err("amount_too_small")
    } else if link.amount.is_none() && minor > most {
        Err("amount_too_large")
    } else if !link.active {
        Err("payment_link_inactive")
    } else if link.expires_at.is_some_and(|end| at.business >= end) {
        Err("payment_link_expired")
    } else if full(used) {
        Err("payment_link_sold_out")
    } else if full(used + reserved) {
        Err("payment_link_fully_reserved")
    } else if reserved >= OPEN_PER_LINK || open.sum::<i64>() >= OPEN_PER_ACCOUNT {
        Err("payment_link_busy")
    } else {
        Ok(())
    };
    let Some(answer) = done.agree(expected)? else {
        return Ok(());
    };
    let view = read(&answer.body)?;
    let invoice = check::links::invoice_made(world, m, (id, link), minor, &view, at.business)?;
    world
        .rng
        .born(&format!("key-{}", world.keys_made), &invoice);
    check::links::check(world, &world.model.merchants[m]).await?;
    let touched = Touched {
        invoices: vec![(m, invoice)],
        ..Touched::default()
    };
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}

/// An invoice of a link that nobody picked a network for yet, if there is one; at times any.
fn unpicked(world: &mut World, m: usize) -> Option<String> {
    let invoices = world.model.merchants[m].invoices.iter();
    let waiting: Vec<String> = invoices
        .filter(|(_, invoice)| {
            invoice.now.status == "awaiting_payment"
                && invoice
                    .terms
                    .offers
                    .iter()
                    .any(|offer| offer.address.is_empty())
        })
        .map(|(id, _)| id.clone())
        .collect();
    match waiting.is_empty() || world.rng.percent(15) {
        true => choose::invoice(world, m),
        false => Some(world.rng.pick(&waiting).clone()),
    }
}

pub async fn pick(world: &mut World, m: usize) -> Check {
    let Some(invoice) = unpicked(world, m) else {
        return Ok(());
    };
    let offers = world.model.merchants[m].invoices[&invoice]
        .terms
        .offers
        .clone();
    let offer = world.rng.pick(&offers).clone();
    let asked = Ask::Pick {
        invoice: invoice.clone(),
        asset: offer.asset.clone(),
    };
    let done = ask(world, m, asked).await;
    let now = done.at.business;
    let merchant = &world.model.merchants[m];
    let stands = check::expected_at(merchant, &invoice, now);
    let terms = &merchant.invoices[&invoice].terms;
    let closed = stands.over || stands.status == "under_review";
    let takes_nothing = terms.takes_nothing(now) || terms.has_no_rate(&offer.asset, now);
    let expected = if closed || takes_nothing {
        Err("invoice_not_awaiting_payment")
    } else if offer.address.is_empty()
        && check::leases::available_to_payers(merchant, offer.family, now) == 0
    {
        Err("deposit_addresses_exhausted")
    } else {
        Ok(())
    };
    let Some(answer) = done.agree(expected)? else {
        return Ok(());
    };
    let view = read(&answer.body)?;
    check::links::picked(world, m, &invoice, &offer, &view, now)?;
    check::leases::check(world, &world.model.merchants[m]).await?;
    let touched = Touched {
        invoices: vec![(m, invoice)],
        ..Touched::default()
    };
    let model = world.model.clone();
    check::touched(world, &model, &touched).await?;
    world.rng.about("next", &());
    if world.rng.percent(40) && world.rng.keeps(Part::Next) {
        choose::transfer(world, m);
    }
    Ok(())
}
