//! What can happen to subscriptions and credit, each under a key, as clients ask: one that lost its answer asks again.

use std::collections::BTreeMap;
use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use till_core::actor::Actor;
use till_core::calendar::Unit;
use till_core::invoice::Decision;
use till_core::money::{Units, show};
use till_core::scope::{Credential, Scope};
use till_core::subscription::When;
use till_engine::customers::{self, NewCustomer};
use till_engine::invoices::quote::NewInvoice;
use till_engine::invoices::{Resolve, Via, held_payments, resolve_review};
use till_engine::once::Once;
use till_engine::refunds::{self, NewRefund};
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::subscriptions::{self, NewSubscription};
use till_engine::test_mode::{self, Simulation};
use till_engine::workers::timers;
use till_engine::{Answer, Engine, Fail};

use super::Story;
use super::hold;
use super::twins;
use crate::world::Check;

const ASSETS: [&str; 2] = ["USDC@eip155:84532", "USDT@tron:3448148188"];

/// What customers can subscribe to: unit, how many, cents, days of trial and of grace, attempts.
const PLANS: [(Unit, u32, u32, u32, u32, u32); 5] = [
    (Unit::Day, 1, 100, 0, 0, 1),
    (Unit::Week, 1, 750, 2, 3, 2),
    (Unit::Month, 1, 2_500, 0, 3, 4),
    (Unit::Month, 3, 6_900, 14, 10, 3),
    (Unit::Year, 1, 25_000, 30, 30, 7),
];

#[derive(Clone, Debug)]
pub enum Ask {
    Customer,
    Plan(usize),
    Subscribe { customer: String, plan: String },
    TopUp { customer: String, cents: u128 },
    Pay { invoice: String, with: Simulation },
    Reverse { payment: String },
    Return { invoice: String, tx_hash: String },
    Review { invoice: String, decision: Decision },
    Refund { invoice: String, amount: String },
    Pause { id: String },
    Resume { id: String },
    Cancel { id: String, when: When },
}

pub async fn begin(story: &mut Story) -> Check {
    for _ in 0..2 {
        let made = ask(story, Ask::Customer).await?;
        story.customers.extend(id_of(made));
    }
    for at in 0..PLANS.len() {
        let made = ask(story, Ask::Plan(at)).await?;
        story.plans.extend(id_of(made));
    }
    Ok(())
}

pub async fn step(story: &mut Story) -> Check {
    if story.has_strangers && story.world.rng.percent(8) {
        return stranger_pays(story).await;
    }
    match story.world.rng.below(29) {
        0..=2 => subscribe(story).await,
        3..=5 => top_up(story).await,
        6..=11 => pay(story).await,
        12 => reverse(story).await,
        13 => refund(story).await,
        14 => change(story, "paused", |id| Ask::Pause { id }).await,
        15 => change(story, "resumed", |id| Ask::Resume { id }).await,
        16 => cancel(story).await,
        17 | 18 => come_back(story).await,
        19 => review(story).await,
        20 => top_up_again(story).await,
        28 => twins::compare(story).await,
        _ => pass_time(story).await,
    }
}

pub fn id_of(answer: Result<Value, &'static str>) -> Option<String> {
    let made = answer.ok()?;
    made["id"].as_str().map(str::to_owned)
}

fn some<T: Clone + std::fmt::Debug>(story: &mut Story, of: &[T]) -> Option<T> {
    (!of.is_empty()).then(|| story.world.rng.pick(of).clone())
}

async fn subscribe(story: &mut Story) -> Check {
    let (customers, plans) = (story.customers.clone(), story.plans.clone());
    let customer = some(story, &customers).unwrap();
    let plan = some(story, &plans).unwrap();
    let made = ask(story, Ask::Subscribe { customer, plan }).await?;
    if let Some(id) = id_of(made) {
        story.subscriptions.push(id);
        story.world.visit("subscribed");
    }
    Ok(())
}

async fn top_up(story: &mut Story) -> Check {
    let customers = story.customers.clone();
    let customer = some(story, &customers).unwrap();
    let cents = u128::try_from(story.world.rng.between(1, 9_000)).unwrap();
    let made = ask(story, Ask::TopUp { customer, cents }).await?;
    let Some(invoice) = id_of(made) else {
        return Ok(());
    };
    story.top_ups.push(invoice.clone());
    let levels = match story.world.rng.below(5) {
        0 => vec!["included"],
        1 => vec!["included", "safe"],
        _ => vec!["included", "safe", "final"],
    };
    let amount = story.world.rng.percent(30).then(|| odd(story));
    let with = simulation(story, amount, &levels);
    if ask(story, Ask::Pay { invoice, with }).await?.is_ok() {
        story.world.visit("topped up");
    }
    Ok(())
}

/// An amount that is no round one.
fn odd(story: &mut Story) -> String {
    let units = story.world.rng.between(1, 60_000_000);
    show(Units(u128::try_from(units).unwrap()), 6)
}

pub fn simulation(story: &mut Story, amount: Option<String>, levels: &[&str]) -> Simulation {
    Simulation {
        asset: Some((*story.world.rng.pick(&ASSETS)).to_owned()),
        amount,
        finality_steps: Some(levels.iter().map(|level| (*level).to_owned()).collect()),
        ..Simulation::default()
    }
}

/// Pays what some subscription is charged by, mostly in full.
async fn pay(story: &mut Story) -> Check {
    let open = hold::open_invoices(story).await;
    let Some(invoice) = some(story, &open) else {
        return Ok(());
    };
    let amount = story.world.rng.percent(20).then(|| odd(story));
    let with = simulation(story, amount, &["included", "final"]);
    ask(story, Ask::Pay { invoice, with }).await.map(drop)
}

async fn reverse(story: &mut Story) -> Check {
    let payments = hold::payments(story).await;
    let Some(payment) = some(story, &payments) else {
        return Ok(());
    };
    story.has_reversed = true;
    ask(story, Ask::Reverse { payment }).await.map(drop)
}

/// What had left the chain is in a block again.
async fn come_back(story: &mut Story) -> Check {
    let gone = hold::gone(story).await;
    let Some((invoice, tx_hash)) = some(story, &gone) else {
        return Ok(());
    };
    if ask(story, Ask::Return { invoice, tx_hash }).await?.is_ok() {
        story.world.visit("came back");
    }
    Ok(())
}

async fn review(story: &mut Story) -> Check {
    let held = hold::under_review(story).await;
    let Some(invoice) = some(story, &held) else {
        return Ok(());
    };
    let decision = *story.world.rng.pick(&[Decision::Accept, Decision::Reject]);
    if ask(story, Ask::Review { invoice, decision }).await?.is_ok() {
        story.world.visit("reviewed");
    }
    Ok(())
}

/// More for a top-up that was paid already, from somebody who is on a list.
async fn top_up_again(story: &mut Story) -> Check {
    let top_ups = story.top_ups.clone();
    let Some(invoice) = some(story, &top_ups) else {
        return Ok(());
    };
    let amount = Some(odd(story));
    let with = Simulation {
        asset: Some(ASSETS[0].to_owned()),
        sender: Some(crate::refunds::listed().to_owned()),
        ..simulation(story, amount, &["included", "final"])
    };
    ask(story, Ask::Pay { invoice, with }).await.map(drop)
}

/// Somebody who is on a list sends to an address that an invoice of a subscription has, or had.
async fn stranger_pays(story: &mut Story) -> Check {
    let invoices = hold::all_invoices(story).await;
    let Some(invoice) = some(story, &invoices) else {
        return Ok(());
    };
    let amount = match story.world.rng.percent(50) {
        true => Some("0.02".to_owned()),
        false => Some(odd(story)),
    };
    let with = Simulation {
        sender: Some(crate::refunds::listed().to_owned()),
        asset: Some(ASSETS[0].to_owned()),
        ..simulation(story, amount, &["included", "final"])
    };
    if ask(story, Ask::Pay { invoice, with }).await?.is_ok() {
        story.world.visit("a stranger paid");
    }
    Ok(())
}

async fn refund(story: &mut Story) -> Check {
    let top_ups = story.top_ups.clone();
    let Some(invoice) = some(story, &top_ups) else {
        return Ok(());
    };
    let amount = odd(story);
    if ask(story, Ask::Refund { invoice, amount }).await?.is_ok() {
        story.world.visit("refunded");
    }
    Ok(())
}

async fn change(story: &mut Story, what: &str, of: impl Fn(String) -> Ask) -> Check {
    let subscriptions = story.subscriptions.clone();
    let Some(id) = some(story, &subscriptions) else {
        return Ok(());
    };
    if ask(story, of(id)).await?.is_ok() {
        story.world.visit(what);
    }
    Ok(())
}

async fn cancel(story: &mut Story) -> Check {
    let when = *story.world.rng.pick(&[When::Now, When::PeriodEnd]);
    change(story, "cancelled", |id| Ask::Cancel { id, when }).await
}

/// Timers fire; whoever fires them may die. Now and then the server was down for weeks.
pub async fn pass_time(story: &mut Story) -> Check {
    let hours = match story.world.rng.below(4) {
        0 => story.world.rng.between(0, 23),
        1 => story.world.rng.between(24, 24 * 30),
        _ => story.world.rng.between(1, 24 * 4),
    };
    story.world.clock.advance(hours * 3_600_000 + 1);
    story.world.note(format!("{hours} hours pass"));
    let engine = Arc::clone(&story.world.engine);
    let doom = story.world.doom();
    let done = story.world.mortal(doom, timers::run_due(&engine)).await;
    let done = match done {
        Some(done) => done,
        None => {
            story.world.restart().await;
            timers::run_due(&Arc::clone(&story.world.engine)).await
        }
    };
    done.map_err(|fail| format!("{fail:?}"))?;
    hold::nothing_is_due(story).await
}

/// The answer, or the code it was refused with. Whoever dies asks again under the same key.
pub async fn ask(story: &mut Story, ask: Ask) -> Result<Result<Value, &'static str>, String> {
    let world = &mut story.world;
    world.keys_made += 1;
    let key = format!("key-{}", world.keys_made);
    let scope = world.model.merchants[super::M].scope.clone();
    let doom = world.doom();
    let engine = Arc::clone(&world.engine);
    let mut done = world.mortal(doom, exec(&engine, &scope, &key, &ask)).await;
    if done.is_none() {
        world.restart().await;
        let engine = Arc::clone(&world.engine);
        let again = exec(&engine, &scope, &key, &ask).await;
        world.visit(match &again {
            Ok(answer) if answer.replayed => "killed when done",
            _ => "killed and undone",
        });
        done = Some(again);
    }
    let shown = match done.unwrap() {
        Ok(answer) => Ok(serde_json::from_slice(&answer.body).unwrap_or_default()),
        Err(Fail::Refused(refusal)) => {
            world.visit(refusal.code.as_str());
            Err(refusal.code.as_str())
        }
        Err(fail) => return Err(format!("{ask:?}: {fail:?}")),
    };
    world.note(format!("{key} {ask:?} -> {shown:?}"));
    Ok(shown)
}

async fn exec(engine: &Engine, scope: &Scope, key: &str, ask: &Ask) -> Result<Answer, Fail> {
    let request = format!("{ask:?}");
    let credential = Credential::Merchant;
    let held = match ask {
        Ask::Review { invoice, .. } => held_payments(engine, scope, invoice).await?,
        _ => Vec::new(),
    };
    let held = &held;
    let once = Once::new(
        Actor::key("key_1"),
        credential,
        key.to_owned(),
        "POST",
        "/",
        request.as_bytes(),
    );
    engine
        .once(scope, &once, |tx, context| {
            async move { perform(tx, context, ask, held).await }.scope_boxed()
        })
        .await
}

async fn perform(
    tx: &mut till_engine::Tx,
    context: &till_engine::Context<'_>,
    ask: &Ask,
    held: &[String],
) -> Result<Answer, Fail> {
    let invoice = |row: till_store::invoices::InvoiceRow| {
        Answer::json(200, &serde_json::json!({ "id": row.id }))
    };
    match ask {
        Ask::Customer => Answer::json(
            201,
            &customers::create(tx, context, &NewCustomer::default()).await?,
        ),
        Ask::Plan(at) => Answer::json(201, &plans::create(tx, context, &plan(*at)).await?),
        Ask::Subscribe { customer, plan } => {
            let new = NewSubscription {
                customer: customer.clone(),
                plan: plan.clone(),
                trial_days: None,
                metadata: BTreeMap::new(),
            };
            Answer::json(201, &subscriptions::create(tx, context, &new).await?)
        }
        Ask::TopUp { customer, cents } => {
            let new = NewInvoice {
                amount: show(Units(*cents), 2),
                currency: "USD".to_owned(),
                ..NewInvoice::default()
            };
            invoice(customers::top_up(tx, context, customer, &new).await?)
        }
        Ask::Pay { invoice: id, with } => {
            invoice(test_mode::simulate_payment(tx, context, id, with).await?)
        }
        Ask::Reverse { payment } => {
            let row = test_mode::reverse_payment(tx, context, payment).await?;
            Answer::json(200, &row.id)
        }
        Ask::Return {
            invoice: id,
            tx_hash,
        } => invoice(test_mode::raise_payment(tx, context, id, tx_hash, "final").await?),
        Ask::Review {
            invoice: id,
            decision,
        } => {
            let asked = Resolve {
                decision: *decision,
                reason: "why",
                via: Via::Api,
                payments: held,
            };
            invoice(resolve_review(tx, context, id, &asked).await?)
        }
        Ask::Refund {
            invoice: id,
            amount,
        } => {
            let new = NewRefund {
                amount: Some(amount.clone()),
                ..NewRefund::default()
            };
            Answer::json(201, &refunds::create(tx, context, id, &new).await?)
        }
        Ask::Pause { id } => Answer::json(200, &subscriptions::pause(tx, context, id).await?),
        Ask::Resume { id } => Answer::json(200, &subscriptions::resume(tx, context, id).await?),
        Ask::Cancel { id, when } => {
            Answer::json(200, &subscriptions::cancel(tx, context, id, *when).await?)
        }
    }
}

fn plan(at: usize) -> NewPlan {
    let (interval, interval_count, cents, trial_days, grace_days, max_attempts) = PLANS[at];
    NewPlan {
        name: "plan".to_owned(),
        amount: show(Units(cents.into()), 2),
        currency: "USD".to_owned(),
        interval,
        interval_count,
        trial_days,
        grace_days,
        max_attempts,
        assets: Some(ASSETS.map(str::to_owned).to_vec()),
        billing_timezone: None,
    }
}
