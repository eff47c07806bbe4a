//! Creating invoices, several at once, with keys that were used before.

use std::collections::BTreeMap;

use till_core::actor::Actor;
use till_core::asset::{Asset, Family, Registry};
use till_core::scope::Credential;
use till_engine::base::clock::Clock as _;
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::once::Once;
use till_engine::{Answer, Fail};

use crate::check;
use crate::steps::ops::Touched;
use crate::tape::Part;
use crate::world::{Check, World};

/// A request and the merchant who makes it.
#[derive(Clone, Debug)]
pub struct Request {
    pub m: usize,
    pub key: String,
    pub new: NewInvoice,
}

impl Request {
    pub fn text(&self) -> String {
        format!("{:?}", self.new)
    }
}

pub async fn create(world: &mut World) -> Check {
    let mut requests: Vec<Request> = Vec::new();
    for _ in 0..world.rng.between(1, 4) {
        let again = !requests.is_empty() && world.rng.percent(15);
        let mut request = if again {
            world.rng.pick(&requests).clone()
        } else {
            let m = world.rng.below(world.model.merchants.len());
            new_request(world, m)
        };
        if again && world.rng.percent(40) {
            request.new.description = Some("not the same any more".into());
        }
        requests.push(request);
    }
    requests.retain(|request| world.rng.keeps(Part::Of(request.m)));
    send(world, requests).await
}

/// A key that was used before: the same request, or another under its name.
pub async fn retry(world: &mut World) -> Check {
    let m = world.rng.below(world.model.merchants.len());
    let keys: Vec<String> = world.model.merchants[m].keys.keys().cloned().collect();
    if keys.is_empty() {
        return Ok(());
    }
    let mut request = new_request(world, m);
    request.key.clone_from(world.rng.pick(&keys));
    if let Some(first) = world.requests.get(&(m, request.key.clone()))
        && world.rng.percent(70)
    {
        request = first.clone();
    }
    send(world, vec![request]).await
}

async fn send(world: &mut World, requests: Vec<Request>) -> Check {
    let wire: Vec<CreateInvoice> = requests
        .iter()
        .map(|request| CreateInvoice {
            scope: world.model.merchants[request.m].scope.clone(),
            once: Once::new(
                Actor::key("key_1"),
                Credential::Merchant,
                request.key.clone(),
                "POST",
                "/v1/invoices",
                request.text().as_bytes(),
            ),
            request: request.new.clone(),
            wanted: PendingRequest::default(),
        })
        .collect();
    let engine = std::sync::Arc::clone(&world.engine);
    let mut since = world.clock.now_ms();
    let doom = world.doom();
    let mut done = world.mortal(doom, create_all(&engine, &wire)).await;
    let killed = done.is_none();
    if killed {
        world.restart().await;
        let engine = std::sync::Arc::clone(&world.engine);
        done = Some(create_all(&engine, &wire).await);
    } else {
        since = world.clock.now_ms();
    }
    let done = done.unwrap();
    let shown: Vec<String> = requests
        .iter()
        .zip(&done)
        .map(|(r, d)| show(r, d))
        .collect();
    let word = if killed { " (killed once)" } else { "" };
    world.note(format!("create{word} {}", shown.join("; ")));
    let mut touched = Touched::default();
    let alone = requests.len() == 1;
    for (request, answer) in requests.iter().zip(done) {
        match &answer {
            Ok(answer) if answer.replayed => world.visit("replayed"),
            Ok(_) => {}
            Err(Fail::Refused(refusal)) => world.visit(refusal.code.as_str()),
            Err(_) => {}
        }
        let (m, key) = (request.m, request.key.clone());
        let id = check::answers::created(world, request, answer, since, killed, alone).await?;
        world
            .requests
            .entry((m, key))
            .or_insert_with(|| request.clone());
        if let Some(id) = &id {
            world.rng.born(&request.key, id);
        }
        touched.invoices.extend(id.map(|id| (m, id)));
    }
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}

fn show(request: &Request, done: &Result<Answer, Fail>) -> String {
    let result = match done {
        Ok(answer) => {
            let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            format!("{} {}", body["id"], answer.replayed)
        }
        Err(Fail::Refused(refusal)) => refusal.code.as_str().to_owned(),
        Err(fail) => format!("{fail:?}"),
    };
    let new = &request.new;
    let assets = new.assets.as_deref().unwrap_or_default().join(",");
    format!(
        "m{} {} {} {} {assets} -> {result}",
        request.m, request.key, new.amount, new.currency
    )
}

pub fn new_request(world: &mut World, m: usize) -> Request {
    world.keys_made += 1;
    let merchant = &world.model.merchants[m];
    let (mode, mark) = (merchant.scope.mode, merchant.mark.clone());
    let currency = *world.rng.pick(&["USD", "USD", "USD", "EUR", "JPY"]);
    let only_evm = world.only_evm(m);
    let fits = |asset: &&Asset| {
        asset.offered
            && asset.mode == mode
            && OFFERED.contains(&asset.code.as_str())
            && asset.currency.as_deref().is_none_or(|own| own == currency)
            && (asset.family == Family::Evm || !only_evm)
    };
    let mut possible: Vec<&Asset> = Registry::builtin().assets().iter().filter(fits).collect();
    let mut assets = Vec::new();
    for _ in 0..world.rng.between(1, 3) {
        if possible.is_empty() {
            break;
        }
        let at = world.rng.below(possible.len());
        assets.push(possible.swap_remove(at).code.clone());
    }
    let minor = match world.rng.below(8) {
        0 => world.rng.between(1, 3),
        1 => world.rng.between(1_000_000, 90_000_000),
        // Amounts that many invoices have: one wallet may owe the same twice.
        2..=4 => 2_500,
        _ => world.rng.between(100, 60_000),
    };
    let amount = match currency {
        "JPY" => minor.to_string(),
        _ => format!("{}.{:02}", minor / 100, minor % 100),
    };
    Request {
        m,
        key: format!("key-{}", world.keys_made),
        new: NewInvoice {
            amount,
            currency: currency.to_owned(),
            assets: Some(assets),
            description: None,
            customer_ref: Some(mark.clone()),
            return_url: None,
            metadata: BTreeMap::from([("mark".to_owned(), mark)]),
        },
    }
}

const OFFERED: &[&str] = &[
    "USDC@eip155:84532",
    "USDC@eip155:11155111",
    "EURC@eip155:84532",
    "USDT@tron:3448148188",
    "BTC@bip122:00000000da84f2bafbbc53dee25a72ae",
    "USDC@eip155:1",
    "DAI@eip155:1",
    "USDC@eip155:56",
    "EURC@eip155:8453",
    "BTC@bip122:000000000019d6689c085ae165831e93",
];
