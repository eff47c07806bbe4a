//! Steps that are more than one unit of work, or none: workers, clocks, receivers, and the test helper that
//! makes payments up.

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::asset::Registry;
use till_core::money::{Units, show};
use till_core::payment::Level;
use till_core::scope::Credential;
use till_engine::Answer;
use till_engine::base::clock::Clock as _;
use till_engine::intake::{Observation, Sighting, TransferOrigin};
use till_engine::merchants::secrets;
use till_engine::once::Once;
use till_engine::test_mode::{self, Simulation};
use till_engine::workers::{sweeper, timers as timer_worker, webhooks};

use super::choose;
use super::ops::Touched;
use crate::check;
use crate::model::{Kept, Lease};
use crate::receiver::Mood;
use crate::world::{Check, World};

pub fn advance_real_clock(world: &mut World) {
    let ms = match world.rng.below(10) {
        0 => world.rng.between(0, 26 * 3_600_000),
        1..=3 => world.rng.between(0, 40 * 60_000),
        _ => world.rng.between(0, 90_000),
    };
    world.clock.advance(ms);
    world.note(format!("{ms} ms pass"));
}

pub async fn timers(world: &mut World) -> Check {
    let engine = std::sync::Arc::clone(&world.engine);
    let doom = world.doom();
    let before = world.clock.now_ms();
    let mut done = world.mortal(doom, timer_worker::run_due(&engine)).await;
    let mut early: Vec<(usize, String)> = Vec::new();
    if done.is_none() {
        // Those fired before the end were fired at that time, the rest is fired now.
        world.restart().await;
        early = check::fired(world, before).await;
        let engine = std::sync::Arc::clone(&world.engine);
        done = Some(timer_worker::run_due(&engine).await);
    }
    let mut touched = Touched::default();
    for m in 0..world.model.merchants.len() {
        let now = world.now(m);
        let merchant = &mut world.model.merchants[m];
        for (_, id) in early.iter().filter(|(of, _)| *of == m) {
            merchant.invoices.get_mut(id).unwrap().timer = None;
            merchant.settle(id, before + merchant.offset_ms, None);
            merchant.rest(before + merchant.offset_ms);
            touched.invoices.push((m, id.clone()));
        }
        let fired = merchant.fire_timers(now, |_| now);
        touched.invoices.extend(fired.into_iter().map(|id| (m, id)));
    }
    world.note(format!("timers fire for {}", touched.invoices.len()));
    done.unwrap().map_err(|fail| format!("timers: {fail:?}"))?;
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}

pub async fn deliver(world: &mut World) -> Check {
    let engine = std::sync::Arc::clone(&world.engine);
    let receiver = std::sync::Arc::clone(&world.receiver);
    let doom = world.doom();
    let done = world
        .mortal(doom, webhooks::run_due(&engine, &*receiver))
        .await;
    world.note(format!("deliver: {} posts so far", receiver.posts()));
    match done {
        Some(done) => done.map_err(|fail| format!("deliver: {fail:?}"))?,
        None => world.restart().await,
    }
    check::deliveries::excuse(world).await;
    check::deliveries::received(world)
}

pub fn mood(world: &mut World, m: usize) {
    let mood = *world.rng.pick(&[
        Mood::Healthy,
        Mood::Healthy,
        Mood::Failing,
        Mood::Silent,
        Mood::Down,
    ]);
    let name = world.model.merchants[m].mark.trim_end_matches("-mark");
    let url = format!("https://{name}.example.com/hooks");
    world.receiver.set_mood(&url, mood);
    world.note(format!("{url} is {mood:?}"));
}

pub async fn replay(world: &mut World, m: usize) -> Check {
    let Some((id, event)) = check::deliveries::some_delivery(world, m).await else {
        return Ok(());
    };
    let scope = world.model.merchants[m].scope.clone();
    let id_ref = id.as_str();
    let done = world
        .engine
        .unit(&scope, |tx, context| {
            till_engine::merchants::deliveries::replay(tx, context, id_ref).scope_boxed()
        })
        .await;
    let url_set = world.model.merchants[m].url.is_some();
    world.note(format!("m{m} replays {id} -> {}", done.is_ok()));
    match (done, url_set) {
        (Ok(new), true) if new.event == event => {
            check::deliveries::note_replay(world, m, &event).await;
            Ok(())
        }
        (Err(till_engine::Fail::Refused(refusal)), false)
            if refusal.code.as_str() == "webhook_url_missing" =>
        {
            Ok(())
        }
        (done, _) => Err(format!("replay of {id}: {done:?}")),
    }
}

pub async fn roll_secret(world: &mut World, m: usize) -> Check {
    let scope = world.model.merchants[m].scope.clone();
    world.keys_made += 1;
    let key = format!("roll-{}", world.keys_made);
    let once = Once::new(
        Actor::key("key_1"),
        Credential::Merchant,
        key.clone(),
        "POST",
        "/v1/webhook_secret/roll",
        b"",
    );
    let doom = world.doom();
    let mut answer = None;
    for doom in [doom, None] {
        let engine = std::sync::Arc::clone(&world.engine);
        let done = world
            .mortal(
                doom,
                engine.once(&scope, &once, |tx, context| {
                    async move { Ok(Answer::new(200, secrets::roll(tx, context).await?.secret)) }
                        .scope_boxed()
                }),
            )
            .await;
        match done {
            Some(done) => {
                answer = Some(done);
                break;
            }
            None => world.restart().await,
        }
    }
    world.note(format!("m{m} rolls its secret"));
    match (answer.unwrap(), scope.mode.is_live()) {
        (Ok(answer), false) => {
            let merchant = &world.model.merchants[m];
            let name = merchant.mark.trim_end_matches("-mark");
            let url = format!("https://{name}.example.com/hooks");
            let secret = String::from_utf8(answer.body.to_vec()).unwrap();
            world.receiver.set_secret(&url, &secret, &merchant.mark);
            let kept = Kept {
                request: "roll".into(),
                status: 200,
                body: answer.body.to_vec(),
                at: world.clock.now_ms(),
            };
            world.model.merchants[m].keys.insert(key, kept);
            Ok(())
        }
        (Err(_), true) => Ok(()),
        (answer, _) => Err(format!("roll: {answer:?}")),
    }
}

pub async fn sweep(world: &mut World) -> Check {
    let (doom, engine) = (world.doom(), std::sync::Arc::clone(&world.engine));
    let done = world.mortal(doom, sweeper::sweep(&engine)).await;
    world.note("sweep".into());
    match done {
        Some(done) => done.map_err(|fail| format!("sweep: {fail:?}")),
        None => {
            world.restart().await;
            Ok(())
        }
    }
}

/// A payment that the server makes up itself: its transaction is known only afterwards.
pub async fn simulate_payment(world: &mut World, m: usize) -> Check {
    let Some(invoice) = choose::owed(world, m).or_else(|| choose::invoice(world, m)) else {
        return Ok(());
    };
    if world.model.merchants[m].scope.mode.is_live() {
        return Ok(());
    }
    let mut offers = world.model.merchants[m].invoices[&invoice]
        .terms
        .offers
        .clone();
    offers.retain(|offer| !offer.address.is_empty());
    if offers.is_empty() {
        return Ok(());
    }
    let offer = world.rng.pick(&offers).clone();
    let asset = Registry::builtin().asset(&offer.asset).unwrap();
    let left = match &world.model.merchants[m].invoices[&invoice].now.remaining {
        Some((asset, left)) if *asset == offer.asset && *left > 0 => *left,
        _ => offer.due,
    };
    let units = *world
        .rng
        .pick(&[left, left, offer.due / 2 + 1, offer.due * 2, 1]);
    let all = [Level::Pending, Level::Included, Level::Safe, Level::Final];
    let mut levels: Vec<Level> = all.into_iter().filter(|_| world.rng.percent(60)).collect();
    if levels.is_empty() {
        levels = vec![Level::Included, Level::Final];
    }
    let simulation = Simulation {
        asset: Some(offer.asset.clone()),
        amount: Some(show(Units(units), asset.decimals)),
        finality_steps: Some(
            levels
                .iter()
                .map(|level| level.as_str().to_owned())
                .collect(),
        ),
        ..Simulation::default()
    };
    let scope = world.model.merchants[m].scope.clone();
    let (simulation, id) = (&simulation, invoice.as_str());
    let (doom, engine) = (world.doom(), std::sync::Arc::clone(&world.engine));
    let simulated = engine.unit(&scope, |tx, context| {
        test_mode::simulate_payment(tx, context, id, simulation).scope_boxed()
    });
    let at = world.real_now();
    let done = world.mortal(doom, simulated).await;
    if done.is_none() {
        world.restart().await;
    }
    world.note(format!(
        "m{m} simulates {units} {} {levels:?} for {invoice}",
        offer.asset
    ));
    let Some(row) = check::made_up_payment(world, m).await else {
        // Killed before it was written: then nothing of it is there.
        let invoice_id = invoice.clone();
        let touched = Touched {
            invoices: vec![(m, invoice)],
            ..Touched::default()
        };
        let model = world.model.clone();
        // Its address may have gone to another since it ended.
        let own = |lease: &Lease| lease.invoice == invoice_id && lease.address == offer.address;
        let is_lost = !model.merchants[m]
            .leases
            .iter()
            .any(|lease| own(lease) && !lease.freed);
        return match done {
            None => check::touched(world, &model, &touched).await,
            Some(Err(till_engine::Fail::Refused(refusal)))
                if is_lost && refusal.param.as_deref() == Some("asset") =>
            {
                world.visit("simulated for an address that is another's");
                check::touched(world, &model, &touched).await
            }
            Some(done) => Err(format!("simulate_payment left no trace: {done:?}")),
        };
    };
    if let Some(Err(fail)) = done {
        return Err(format!("simulate_payment: {fail:?}"));
    }
    if row.recipient != offer.address || row.units != Units(units) {
        return Err(format!("a simulated payment of another sort: {row:?}"));
    }
    let leased = check::leases::leased_now(world, &world.model.merchants[m]).await;
    let suffixes = check::bindings::suffixes_now(world, &world.model.merchants[m]).await;
    let merchant = &mut world.model.merchants[m];
    (merchant.leased_now, merchant.suffixes_now) = (leased, suffixes);
    let now = at + world.model.merchants[m].offset_ms;
    let mut touched = Touched::default();
    world.model.begin();
    for level in levels {
        let seen = Observation {
            network: row.network.clone(),
            tx_hash: row.tx_hash.clone(),
            place: row.place,
            asset: row.asset.clone(),
            units: Units(units),
            arrived: None,
            registers: None,
            senders: row.senders.clone(),
            recipient: row.recipient.clone(),
            sighting: match (level, &row.block_hash, row.block_number) {
                (Level::Pending, _, _) => Sighting::Pending,
                (level, Some(hash), Some(number)) => Sighting::InBlock {
                    level,
                    number,
                    hash: hash.clone(),
                    time: now,
                },
                _ => return Err("a simulated payment in no block".into()),
            },
            source: TransferOrigin::Simulation,
        };
        // A process that died when it was done was done before another one started.
        let told = [(&seen, Some(row.id.clone()), at)];
        let settled = world.model.observe(&told, at);
        touched.invoices.extend(settled);
    }
    world.model.rest(at);
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}
