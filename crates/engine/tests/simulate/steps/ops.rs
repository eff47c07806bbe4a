//! Steps that are one unit of work each: they happen wholly or not at all, also when the process dies in
//! the middle. What the server answers must be what the model says.

use scoped_futures::ScopedFutureExt as _;
use till_engine::base::Change;
use till_engine::intake::chain;
use till_engine::invoices::{self, Decision, Resolve, Via};
use till_engine::merchants::settings::{self, SettingsChange};
use till_engine::once::Once;
use till_engine::settlement::render;
use till_engine::test_mode::{self, Advance};
use till_engine::{Answer, Engine, Fail};

use super::follow;
use crate::chain::TransferId;
use crate::check;
use crate::expect::Seen;
use crate::model::{Kept, Model, PaymentKey};
use crate::net::{Net, Payments};
use crate::world::{Check, World};

#[derive(Clone, Debug)]
pub enum Op {
    /// A process leads a network from now on.
    Lead {
        network: String,
        process: usize,
    },
    /// A leader tells what it has read.
    Follow {
        step: chain::NetworkUpdate,
    },
    Thaw {
        network: String,
    },
    Reverse {
        m: usize,
        id: TransferId,
    },
    Cancel {
        m: usize,
        invoice: String,
        key: String,
    },
    Review {
        m: usize,
        invoice: String,
        accept: bool,
        dashboard: bool,
        key: String,
    },
    Settings {
        m: usize,
        tolerance_bps: Option<i64>,
        review_cents: Option<Option<u64>>,
        url: Option<Option<String>>,
    },
    Advance {
        m: usize,
        to: i64,
    },
}

/// What a step may have changed.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    pub merchants: Vec<usize>,
    pub invoices: Vec<(usize, String)>,
    pub networks: Vec<String>,
}

impl Op {
    fn merchant(&self) -> usize {
        match self {
            // Nobody's own.
            Op::Lead { .. } | Op::Follow { .. } | Op::Thaw { .. } => 0,
            Op::Reverse { m, .. }
            | Op::Cancel { m, .. }
            | Op::Review { m, .. }
            | Op::Settings { m, .. }
            | Op::Advance { m, .. } => *m,
        }
    }

    fn network(&self) -> Option<&str> {
        match self {
            Op::Lead { network, .. } | Op::Thaw { network } => Some(network),
            Op::Follow { step } => Some(&step.network),
            _ => None,
        }
    }

    /// The key, and what the fingerprint is taken of.
    fn key(&self) -> Option<(&str, String)> {
        match self {
            Op::Cancel { invoice, key, .. } => Some((key, format!("cancel {invoice}"))),
            Op::Review {
                invoice,
                accept,
                key,
                ..
            } => Some((key, format!("review {invoice} {accept}"))),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Op::Follow { step } => follow::show(step),
            other => format!("{other:?}"),
        }
    }
}

/// Does the step on the server and in the model and compares; if the process dies, finds out what it left.
pub async fn perform(world: &mut World, op: Op) -> Check {
    let told = check::properties::told(world).await;
    let doom = world.doom();
    let m = op.merchant();
    let now = world.now(m);
    let scope = world.model.merchants[m].scope.clone();
    let engine = std::sync::Arc::clone(&world.engine);
    let mut done = world.mortal(doom, exec(&engine, &scope, &op)).await;
    let mut at = Moment {
        business: now,
        real: world.real_now(),
    };
    if done.is_none() {
        world.restart().await;
        if check::clock_is_on_its_way(world, m).await {
            // It goes on from where it was left.
            world.visit("killed while the clock was moved");
            at = Moment {
                business: world.now(m),
                real: world.real_now(),
            };
            let engine = std::sync::Arc::clone(&world.engine);
            let there = test_mode::reach_goal(&engine, &scope).await;
            done = Some(there.map(|()| Answer::new(200, "")));
        }
    }
    let networks: Vec<String> = op.network().map(str::to_owned).into_iter().collect();
    let payments = match networks.first() {
        Some(network) => check::nets::payments(world, network).await,
        None => Payments::new(),
    };
    if !networks.is_empty() || matches!(op, Op::Reverse { .. }) {
        for m in 0..world.model.merchants.len() {
            let leased = check::leases::leased_now(world, &world.model.merchants[m]).await;
            let suffixes = check::bindings::suffixes_now(world, &world.model.merchants[m]).await;
            let merchant = &mut world.model.merchants[m];
            (merchant.leased_now, merchant.suffixes_now) = (leased, suffixes);
        }
    }
    let mut after = world.model.clone();
    let (expected, mut touched) = apply(&mut after, &op, &payments, at);
    after.rest(at.real);
    touched.networks = networks;
    let line = format!("{} -> {}", op.show(), outcome(done.as_ref()));
    world.note(line);
    if let Some(Err(Fail::Refused(refusal))) = &done {
        world.visit(refusal.code.as_str());
    }
    match done {
        Some(answer) => {
            agree(&answer, &expected)?;
            if let (Op::Lead { network, process }, Ok(answer)) = (&op, &answer) {
                let epoch = String::from_utf8(answer.body.to_vec()).unwrap();
                let epoch = epoch.parse().unwrap();
                world.epochs.insert((network.clone(), *process), epoch);
            }
            if let (Some((key, _)), Ok(answer)) = (op.key(), &answer) {
                let kept = after.merchants[m].keys.get_mut(key);
                check::answers::follow(kept, answer)?;
            }
            if let Op::Settings {
                review_cents: Some(_),
                ..
            } = &op
            {
                world.limit_set.insert(m, at.business);
            }
            world.model = after;
        }
        None => {
            match check::touched(world, &after, &touched).await {
                Ok(()) => {
                    world.visit("killed when done");
                    if let Op::Settings {
                        review_cents: Some(_),
                        ..
                    } = &op
                    {
                        world.limit_set.insert(m, at.business);
                    }
                    world.model = after;
                }
                Err(not_done) => {
                    world.visit("killed and undone");
                    let before = world.model.clone();
                    check::touched(world, &before, &touched)
                        .await
                        .map_err(|undone| {
                            format!(
                                "killed half-way, neither done ({not_done}) nor undone ({undone})"
                            )
                        })?;
                }
            }
            if let Some((key, _)) = op.key() {
                return retry(world, &op, key).await;
            }
        }
    }
    if let Op::Follow { .. } = op {
        check::properties::told_once(world, &told).await?;
    }
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}

/// A client that lost its answer asks again with the same key.
async fn retry(world: &mut World, op: &Op, key: &str) -> Check {
    let m = op.merchant();
    let scope = world.model.merchants[m].scope.clone();
    let at = Moment {
        business: world.now(m),
        real: world.real_now(),
    };
    let engine = std::sync::Arc::clone(&world.engine);
    let answer = exec(&engine, &scope, op).await;
    let (expected, touched) = apply(&mut world.model, op, &Payments::new(), at);
    world.model.rest(at.real);
    world.note(format!("again -> {}", outcome(Some(&answer))));
    agree(&answer, &expected)?;
    if let Ok(answer) = &answer {
        check::answers::follow(world.model.merchants[m].keys.get_mut(key), answer)?;
    }
    let model = world.model.clone();
    check::touched(world, &model, &touched).await
}

fn outcome(done: Option<&Result<Answer, Fail>>) -> String {
    match done {
        None => "killed".into(),
        Some(Ok(answer)) => format!("{} {}", answer.status, answer.replayed),
        Some(Err(Fail::Refused(refusal))) => refusal.code.as_str().into(),
        Some(Err(fail)) => format!("{fail:?}"),
    }
}

fn agree(answer: &Result<Answer, Fail>, expected: &Result<(), &'static str>) -> Check {
    match (answer, expected) {
        (Ok(_), Ok(())) => Ok(()),
        (Err(Fail::Refused(refusal)), Err(code)) if refusal.code.as_str() == *code => Ok(()),
        (Err(Fail::Broken(cause, _)), Err(code)) if cause == code => Ok(()),
        (answer, expected) => Err(format!("answered {answer:?}, expected {expected:?}")),
    }
}

async fn exec(engine: &Engine, scope: &till_core::scope::Scope, op: &Op) -> Result<Answer, Fail> {
    let once = op.key().map(|(key, what)| {
        Once::new(
            till_core::actor::Actor::key("key_1"),
            till_core::scope::Credential::Merchant,
            key.to_owned(),
            "POST",
            "/v1/invoices/x",
            what.as_bytes(),
        )
    });
    let silent = Answer::new(200, "");
    match op {
        Op::Lead { network, process } => {
            let owner = follow::owner(*process);
            match chain::lead(engine, network, &owner).await? {
                Some(epoch) => Ok(Answer::new(200, epoch.to_string())),
                None => Err(Fail::broken("led by another")),
            }
        }
        Op::Follow { step } => match chain::advance(engine, step).await? {
            chain::Advanced::Done => Ok(silent),
            other => Err(Fail::broken(format!("{other:?}"))),
        },
        Op::Thaw { network } => chain::thaw(engine, network, None).await.map(|()| silent),
        Op::Reverse { id, .. } => {
            let mut reader = engine.db.read().await?;
            let known = [(id.network.as_str(), id.tx.as_str(), id.place)];
            let found = till_store::payments::by_identity(&mut reader, &known).await?;
            let payment = found
                .into_iter()
                .next()
                .map(|row| row.id)
                .unwrap_or_default();
            let payment = &payment;
            engine
                .unit(scope, |tx, context| {
                    test_mode::reverse_payment(tx, context, payment).scope_boxed()
                })
                .await
                .map(|_| silent)
        }
        Op::Cancel { invoice, .. } => {
            engine
                .once(scope, &once.unwrap(), |tx, context| {
                    async move {
                        let row = invoices::cancel(tx, context, invoice).await?;
                        Ok(Answer::new(200, render(context, &row)?))
                    }
                    .scope_boxed()
                })
                .await
        }
        Op::Review {
            invoice,
            accept,
            dashboard,
            ..
        } => {
            let decision = if *accept {
                Decision::Accept
            } else {
                Decision::Reject
            };
            let held = invoices::held_payments(engine, scope, invoice).await?;
            let asked = &Resolve {
                decision,
                reason: "why",
                via: if *dashboard { Via::Dashboard } else { Via::Api },
                payments: &held,
            };
            engine
                .once(scope, &once.unwrap(), |tx, context| {
                    async move {
                        let row = invoices::resolve_review(tx, context, invoice, asked).await?;
                        Ok(Answer::new(200, render(context, &row)?))
                    }
                    .scope_boxed()
                })
                .await
        }
        Op::Settings {
            tolerance_bps,
            review_cents,
            url,
            ..
        } => {
            let change = SettingsChange {
                underpay_tolerance_bps: tolerance_bps.map_or(Change::Keep, Change::Set),
                manual_review_amount: match review_cents {
                    None => Change::Keep,
                    Some(None) => Change::Clear,
                    Some(Some(cents)) => Change::Set(format!("{}.{:02}", cents / 100, cents % 100)),
                },
                webhook_url: match url {
                    None => Change::Keep,
                    Some(None) => Change::Clear,
                    Some(Some(url)) => Change::Set(url.clone()),
                },
                ..SettingsChange::default()
            };
            let change = &change;
            engine
                .unit(scope, |tx, context| {
                    settings::update(tx, context, change).scope_boxed()
                })
                .await
                .map(|_| silent)
        }
        Op::Advance { to, .. } => {
            let advance = Advance::To(*to);
            let advance = &advance;
            engine
                .unit(scope, |tx, context| {
                    test_mode::set_goal(tx, context, advance).scope_boxed()
                })
                .await?;
            test_mode::reach_goal(engine, scope).await.map(|()| silent)
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub business: i64,
    pub real: i64,
}

/// What the step means by the contract: the answer, and what it touched.
fn apply(
    model: &mut Model,
    op: &Op,
    payments: &Payments,
    at: Moment,
) -> (Result<(), &'static str>, Touched) {
    let mut touched = Touched::default();
    let m = op.merchant();
    let mut touch = |m: usize, invoice: &str| touched.invoices.push((m, invoice.to_owned()));
    if let Some((key, what)) = op.key()
        && let Some(kept) = model.merchants[m].kept(key, at.real)
    {
        let again = kept.request == what;
        return (again.then_some(()).ok_or("idempotency_key_reused"), touched);
    }
    let result = match op {
        Op::Lead { network, process } => {
            let led = model.lead(network, &follow::owner(*process), at.real);
            led.map(drop).ok_or("led by another")
        }
        Op::Follow { step } => {
            let (result, settled) = model.follow(step, payments, at.real);
            settled.iter().for_each(|(m, invoice)| touch(*m, invoice));
            result
        }
        Op::Thaw { network } => {
            let settled = model.thaw(network, payments, at.real);
            settled.iter().for_each(|(m, invoice)| touch(*m, invoice));
            Ok(())
        }
        Op::Reverse { id, .. } => {
            // What the test helper made up is at a place of its own.
            let first = (id.clone(), 0);
            let known = model.merchants[m].seen[&first].clone();
            model.begin();
            if !known.is_gone() {
                let merchant = &mut model.merchants[m];
                merchant.seen.get_mut(&first).unwrap().go(at.business);
                model.settle(m, &known.invoice, at.business);
            }
            touch(m, &known.invoice);
            Ok(())
        }
        Op::Cancel { invoice, .. } => {
            touch(m, invoice);
            cancel(model, m, invoice, at.business)
        }
        Op::Review {
            invoice,
            accept,
            dashboard,
            ..
        } => {
            touch(m, invoice);
            review(model, m, invoice, *accept, *dashboard, at.business)
        }
        Op::Settings {
            tolerance_bps,
            review_cents,
            url,
            ..
        } => {
            touched.merchants.push(m);
            let merchant = &mut model.merchants[m];
            if url.is_some() && merchant.scope.mode.is_live() {
                return (Err("live_change_requires_dashboard"), touched);
            }
            if let Some(bps) = tolerance_bps {
                merchant.tolerance_bps = u64::try_from(*bps).unwrap();
            }
            if let Some(cents) = review_cents {
                merchant.review_cents = *cents;
            }
            if let Some(url) = url {
                merchant.url.clone_from(url);
            }
            Ok(())
        }
        Op::Advance { to, .. } => {
            touched.merchants.push(m);
            let merchant = &mut model.merchants[m];
            merchant.offset_ms = merchant.offset_ms.max(to - at.real);
            let fired = merchant.fire_timers(*to, |due_at| due_at.max(at.business));
            touched.invoices.extend(fired.into_iter().map(|id| (m, id)));
            Ok(())
        }
    };
    if let (Ok(()), Some((key, request))) = (&result, op.key()) {
        let kept = Kept {
            request,
            status: 200,
            body: Vec::new(),
            at: at.real,
        };
        model.merchants[m].keys.insert(key.to_owned(), kept);
    }
    (result, touched)
}

fn cancel(model: &mut Model, m: usize, id: &str, now: i64) -> Result<(), &'static str> {
    let merchant = &mut model.merchants[m];
    let status = check::status_at(merchant, id, now);
    let invoice = merchant.invoices.get_mut(id).ok_or("resource_missing")?;
    if status == "cancelled" {
        return Ok(());
    }
    // What came after it was cancelled may be under review.
    if status != "awaiting_payment" {
        return Err("invoice_not_cancellable");
    }
    invoice.cancelled_at = Some(now);
    merchant.settle(id, now, None);
    Ok(())
}

fn review(
    model: &mut Model,
    m: usize,
    id: &str,
    accept: bool,
    dashboard: bool,
    now: i64,
) -> Result<(), &'static str> {
    let merchant = &model.merchants[m];
    if check::status_at(merchant, id, now) != "under_review" {
        return Err("review_not_open");
    }
    // What the test helper made up is on no chain, so that no freeze concerns it.
    let on_frozen = |(key, seen): (&PaymentKey, &Seen)| {
        let is_frozen = |net: &Net| net.frozen_from.is_some();
        let is_held = seen.invoice == id && seen.part.status == "held";
        is_held
            && key.0.tx.starts_with("tx-")
            && model.nets.get(&seen.network).is_some_and(is_frozen)
    };
    if accept && merchant.seen.iter().any(on_frozen) {
        return Err("review_not_open");
    }
    let merchant = &mut model.merchants[m];
    let may = dashboard || !merchant.scope.mode.is_live();
    let held = |seen: &Seen| seen.invoice == id && seen.part.status == "held";
    let is_risk = |seen: &Seen| seen.verdict.as_deref() != Some("held:manual_review");
    let risky = |seen: &Seen| held(seen) && is_risk(seen) && !seen.part.dust;
    if accept && !may && merchant.seen.values().any(risky) {
        return Err("review_requires_dashboard");
    }
    for seen in merchant.seen.values_mut().filter(|seen| held(seen)) {
        // A key leaves a listed sender's dust to a person.
        if !accept {
            seen.verdict = Some("rejected".into());
        } else if may || !is_risk(seen) {
            seen.verdict = Some("accepted".into());
        }
    }
    if !accept {
        let invoice = merchant.invoices.get_mut(id).unwrap();
        invoice.cancelled_at = invoice.cancelled_at.or(Some(now));
    }
    merchant.settle(id, now, Some("invoice.review_resolved"));
    Ok(())
}
