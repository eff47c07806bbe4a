//! Answers to clients: right the first time, the same bytes ever after. (I15, I17, I18, I29)

use serde_json::Value;
use till_core::asset::Registry;
use till_core::money::{Currency, parse};
use till_engine::{Answer, Fail};

use super::{leases, same};
use crate::expect::{Expected, Offer, Terms};
use crate::model::{Invoice, Kept, Lease};
use crate::steps::create::Request;
use crate::world::{Check, LIFE_MS, PRICES, VOLATILE_LIFE_MS, World};

/// An answer under a key, against the one given before.
pub fn follow(kept: Option<&mut Kept>, answer: &Answer) -> Check {
    let kept = kept.ok_or("an answer under a key that should not be bound")?;
    if kept.body.is_empty() {
        kept.body = answer.body.to_vec();
        return Ok(());
    }
    same("replayed", answer.replayed, true)?;
    same("the replayed status", answer.status, kept.status)?;
    same("the replayed body", &answer.body[..], &kept.body[..])
}

/// What a request to create an invoice was answered. Takes a new invoice into the model.
pub async fn created(
    world: &mut World,
    request: &Request,
    answer: Result<Answer, Fail>,
    since: i64,
    killed: bool,
    alone: bool,
) -> Result<Option<String>, String> {
    let real_now = world.real_now();
    let merchant = &mut world.model.merchants[request.m];
    if let Some(kept) = merchant.kept(&request.key, real_now) {
        let same_request = kept.request == request.text();
        return match answer {
            Ok(answer) if same_request => {
                follow(merchant.keys.get_mut(&request.key), &answer).map(|()| None)
            }
            Err(Fail::Refused(refusal))
                if !same_request && refusal.code.as_str() == "idempotency_key_reused" =>
            {
                Ok(None)
            }
            answer => Err(format!("under a bound key: {answer:?}")),
        };
    }
    let answer = match answer {
        Ok(answer) => answer,
        Err(Fail::Refused(refusal)) => {
            let code = refusal.code.as_str();
            let now = real_now + merchant.offset_ms;
            let assets = request.new.assets.as_deref().unwrap_or_default();
            let scarce = assets.iter().any(|code| {
                let family = Registry::builtin().asset(code).unwrap().family.namespace();
                leases::available(merchant, family, now) == 0
            });
            return match code {
                "parameter_invalid" if assets.is_empty() => Ok(None),
                "deposit_addresses_exhausted" if scarce => Ok(None),
                _ => Err(format!("refused without a reason: {code}, alone: {alone}")),
            };
        }
        Err(fail) => return Err(format!("create: {fail:?}")),
    };
    same("status", answer.status, 201)?;
    if answer.replayed && !killed {
        return Err("a fresh key was answered with something old".into());
    }
    let view: Value = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    let at = |name: &str| view[name].as_str().and_then(till_core::time::parse);
    let created_at = at("created_at").ok_or("no created_at")?;
    let times = [since + merchant.offset_ms, real_now + merchant.offset_ms];
    if !times.contains(&created_at) {
        return Err(format!(
            "created at {created_at}, expected one of {times:?}"
        ));
    }
    let (terms, decimals) = terms(&view, request, merchant.tolerance_bps)?;
    let volatile = terms.offers.iter().any(|offer| offer.family == "bip122");
    let life_ms = if volatile { VOLATILE_LIFE_MS } else { LIFE_MS };
    same("expires_at", at("expires_at"), Some(created_at + life_ms))?;
    let id = view["id"].as_str().ok_or("no id")?.to_owned();
    for offer in &terms.offers {
        lease(&mut merchant.leases, offer, &id, created_at)?;
    }
    let mut invoice = Invoice {
        terms,
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
        timer: Some(created_at + life_ms),
        link: None,
    };
    invoice.created(merchant.url.is_some());
    if merchant.invoices.insert(id.clone(), invoice).is_some() {
        return Err(format!("{id} was given twice"));
    }
    let kept = Kept {
        request: request.text(),
        status: 201,
        body: answer.body.to_vec(),
        at: created_at - merchant.offset_ms,
    };
    merchant.keys.insert(request.key.clone(), kept);
    Ok(Some(id))
}

fn terms(view: &Value, request: &Request, tolerance_bps: u64) -> Result<(Terms, u32), String> {
    let new = &request.new;
    let decimals = Currency::parse(&new.currency).unwrap().decimals();
    let minor = parse(&new.amount, decimals).unwrap().0;
    let options = view["payment_options"].as_array().ok_or("no options")?;
    let assets = new.assets.as_deref().unwrap_or_default();
    same("the number of options", options.len(), assets.len())?;
    let mut offers: Vec<Offer> = Vec::new();
    for (option, code) in options.iter().zip(assets) {
        same(
            "the option's asset",
            option["asset"].as_str(),
            Some(code.as_str()),
        )?;
        let asset = Registry::builtin().asset(code).unwrap();
        let shown = option["amount_due"].as_str().unwrap_or_default();
        let due = parse(shown, asset.decimals)
            .map_err(|error| error.to_string())?
            .0;
        same(
            "the amount due",
            due,
            price(
                minor,
                decimals,
                &asset.symbol,
                &new.currency,
                asset.decimals,
            ),
        )?;
        let address = option["address"].as_str().unwrap_or_default().to_owned();
        let family = asset.family.namespace();
        if let Some(other) = offers.iter().find(|other| other.family == family) {
            same("the address", &address, &other.address)?;
        }
        offers.push(Offer {
            asset: code.clone(),
            due,
            address,
            family,
        });
    }
    let terms = Terms {
        amount_minor: u64::try_from(minor).unwrap(),
        offers,
        tolerance_bps,
        expires_at: view["expires_at"]
            .as_str()
            .and_then(till_core::time::parse)
            .unwrap_or(0),
        select_by: None,
        has_unit: false,
    };
    Ok((terms, decimals))
}

/// Worth at least the price, by less than one unit too much.
pub fn price(
    minor: u128,
    decimals: u32,
    symbol: &str,
    currency: &str,
    token_decimals: u32,
) -> u128 {
    let tokens = minor * 10u128.pow(token_decimals);
    if symbol != "BTC" {
        return tokens / 10u128.pow(decimals);
    }
    let pair = format!("BTC/{currency}");
    let text = PRICES.iter().find(|(known, _)| *known == pair).unwrap().1;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().unwrap();
    let scale = 10u128.pow(u32::try_from(fraction.len()).unwrap());
    (tokens * scale).div_ceil(10u128.pow(decimals) * digits)
}

pub fn lease(leases: &mut Vec<Lease>, offer: &Offer, id: &str, now: i64) -> Check {
    let of_address =
        |lease: &&mut Lease| (lease.family, &lease.address) == (offer.family, &offer.address);
    for lease in leases.iter_mut().filter(of_address) {
        if lease.invoice == id && !lease.freed {
            return Ok(());
        }
        if !lease.freed && lease.free_at.is_none_or(|at| at > now) {
            return Err(format!("{} is still {}'s", lease.address, lease.invoice));
        }
        lease.freed = true;
    }
    leases.push(Lease {
        family: offer.family,
        address: offer.address.clone(),
        invoice: id.to_owned(),
        leased_at: now,
        free_at: None,
        freed: false,
        picked: false,
    });
    Ok(())
}
