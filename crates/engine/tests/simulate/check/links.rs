//! Links: their units counted once wherever they go, and never more of them than there are. (I14, I15)

use std::collections::BTreeMap;

use serde_json::Value;
use till_core::asset::Registry;
use till_core::money::{Currency, parse};
use till_store::Queries as _;

use super::{answers, of, same};
use crate::expect::is_paid;
use crate::expect::{Expected, Offer, Terms};
use crate::model::{Invoice, Lease, Link, Merchant};
use crate::world::{Check, LIFE_MS, SELECT_MS, VOLATILE_LIFE_MS, World};

/// The tables by themselves: what links count is what their invoices are.
pub async fn tables(world: &World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT account, mode, payment_link, status, link_unit, CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END AS closed, \
         CAST(count(*) AS BIGINT) FROM invoices WHERE payment_link IS NOT NULL \
         GROUP BY account, mode, payment_link, status, link_unit, closed";
    type Group = (String, String, String, String, Option<String>, i64, i64);
    let groups: Vec<Group> = reader.all(sql, &[]).await.unwrap();
    let mut units: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut open: BTreeMap<(String, String), i64> = BTreeMap::new();
    for (account, mode, link, status, unit, closed, count) in groups {
        let (used, reserved) = units.entry(link).or_default();
        let expected = match status.as_str() {
            status if is_paid(status) => {
                *used += count;
                "used"
            }
            _ if closed == 1 => "released",
            // What is held came too late to buy anything.
            "under_review" if unit.as_deref() == Some("released") => "released",
            _ => {
                *reserved += count;
                *open.entry((account, mode)).or_default() += count;
                "reserved"
            }
        };
        same("an invoice's unit", unit.as_deref(), Some(expected))?;
    }
    let sql = "SELECT id, quantity_used, quantity_reserved FROM payment_links";
    let links: Vec<(String, i64, i64)> = reader.all(sql, &[]).await.unwrap();
    for (id, used, reserved) in links {
        let counted = units.remove(&id).unwrap_or_default();
        same(&format!("the units of {id}"), (used, reserved), counted)?;
    }
    let sql = "SELECT account, mode, open_link_invoices FROM merchants";
    let merchants: Vec<(String, String, i64)> = reader.all(sql, &[]).await.unwrap();
    for (account, mode, count) in merchants {
        let counted = open.remove(&(account, mode)).unwrap_or(0);
        same("open invoices of links", count, counted)?;
    }
    Ok(())
}

type Row = (String, String, Option<i64>, i64, i64, Option<i64>, i64);

pub async fn check(world: &World, merchant: &Merchant) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT id, slug, quantity_limit, quantity_used, quantity_reserved, expires_at, active \
         FROM payment_links WHERE account = $1 AND mode = $2 ORDER BY id";
    let rows: Vec<Row> = reader.all(sql, &of(&merchant.scope)).await.unwrap();
    let mut expected: Vec<Row> = Vec::new();
    for (id, link) in &merchant.links {
        let (used, reserved) = merchant.units_of(id);
        let (slug, active) = (link.slug.clone(), i64::from(link.active));
        let (limit, expires_at) = (link.limit, link.expires_at);
        expected.push((id.clone(), slug, limit, used, reserved, expires_at, active));
        let too_many = limit.is_some_and(|limit| used + reserved > limit);
        if too_many && !link.may_exceed {
            return Err(format!(
                "{id}: {used} used and {reserved} reserved of {limit:?}"
            ));
        }
    }
    expected.sort();
    for (found, expected) in rows.iter().zip(&expected) {
        same("a link", found, expected)?;
    }
    same("the number of links", rows.len(), expected.len())
}

/// Takes an invoice made from a link into the model: priced, and without an address.
pub fn invoice_made(
    world: &mut World,
    m: usize,
    (link_id, link): (&str, &Link),
    minor: u64,
    view: &Value,
    now: i64,
) -> Result<String, String> {
    let merchant = &mut world.model.merchants[m];
    let at = |name: &str| view[name].as_str().and_then(till_core::time::parse);
    let decimals = Currency::parse(&link.currency).unwrap().decimals();
    let leased = view["payment_options"].as_array().map(Vec::len);
    same("options with an address", leased, Some(0))?;
    let pending = view["pending_options"].as_array().ok_or("no options")?;
    same("the number of options", pending.len(), link.assets.len())?;
    let mut offers = Vec::new();
    for (option, code) in pending.iter().zip(&link.assets) {
        same("the asset", option["asset"].as_str(), Some(code.as_str()))?;
        let asset = Registry::builtin().asset(code).unwrap();
        let shown = option["amount_due"].as_str().unwrap_or_default();
        let due = parse(shown, asset.decimals).map_err(|error| error.to_string())?;
        let (symbol, currency) = (&asset.symbol, &link.currency);
        let price = answers::price(minor.into(), decimals, symbol, currency, asset.decimals);
        same("the amount due", due.0, price)?;
        offers.push(Offer {
            asset: code.clone(),
            due: due.0,
            address: String::new(),
            family: asset.family.namespace(),
        });
    }
    let volatile = offers.iter().any(|offer| offer.family == "bip122");
    let life_ms = if volatile { VOLATILE_LIFE_MS } else { LIFE_MS };
    same("created_at", at("created_at"), Some(now))?;
    same("expires_at", at("expires_at"), Some(now + life_ms))?;
    // Nobody is told to pick a network after the invoice has ended.
    let select_by = Some(now + SELECT_MS.min(life_ms));
    same("select_by", at("select_by"), select_by)?;
    same("the link", view["payment_link"].as_str(), Some(link_id))?;
    let id = view["id"].as_str().ok_or("no id")?.to_owned();
    let mut invoice = Invoice {
        terms: Terms {
            amount_minor: minor,
            offers,
            tolerance_bps: merchant.tolerance_bps,
            expires_at: now + life_ms,
            select_by,
            has_unit: link.limit.is_some(),
        },
        currency_decimals: decimals,
        cancelled_at: None,
        now: Expected {
            status: "awaiting_payment",
            ..Expected::default()
        },
        paid_at: None,
        closed_at: None,
        review_since: None,
        gave_back: false,
        events: Vec::new(),
        timer: select_by,
        link: Some(link_id.to_owned()),
    };
    invoice.created(merchant.url.is_some());
    match merchant.invoices.insert(id.clone(), invoice) {
        Some(_) => Err(format!("{id} was given twice")),
        None => Ok(id),
    }
}

/// Takes the address of a picked chain into the model: one lease for all options of the family.
pub fn picked(
    world: &mut World,
    m: usize,
    id: &str,
    offer: &Offer,
    view: &Value,
    now: i64,
) -> Check {
    let merchant = &mut world.model.merchants[m];
    let options = view["payment_options"].as_array().ok_or("no options")?;
    let invoice = merchant.invoices.get_mut(id).unwrap();
    let new = offer.address.is_empty();
    let terms = &invoice.terms;
    let offers = terms.offers.iter().map(|offer| offer.asset.clone());
    let stale: Vec<String> = offers.filter(|it| terms.has_no_rate(it, now)).collect();
    for of_family in &mut invoice.terms.offers {
        let shown = options
            .iter()
            .find(|option| option["asset"] == of_family.asset.as_str())
            .and_then(|option| option["address"].as_str());
        if of_family.family != offer.family {
            let had = Some(of_family.address.as_str());
            let had = had.filter(|had| !had.is_empty() && !stale.contains(&of_family.asset));
            same("the address of another chain", shown, had)?;
            continue;
        }
        let shown = shown.ok_or("a picked option without an address")?;
        if !new {
            same("the address", shown, &of_family.address)?;
        }
        shown.clone_into(&mut of_family.address);
        answers::lease(&mut merchant.leases, of_family, id, now)?;
    }
    if new {
        let own = |lease: &&mut Lease| lease.invoice == id && lease.family == offer.family;
        merchant.leases.iter_mut().rfind(own).unwrap().picked = true;
        invoice.timer = Some(match invoice.now.status {
            "partially_paid" => invoice.terms.looks_at(now),
            _ => invoice.terms.expires_at,
        });
        // Whoever was bound before may now pay as long as everybody.
        let own = merchant
            .bindings
            .iter_mut()
            .filter(|it| it.invoice == id && it.open);
        own.for_each(|binding| binding.expires_at = invoice.terms.expires_at);
    }
    Ok(())
}
