//! The order in which facts are told does not matter: two customers with several subscriptions do the same at the same times; then
//! payments leave the chain and some come back, at one time and in different orders, each with workers between them or
//! without; a merchant pauses, or asks for the end with the period, before or after anybody has looked; and what becomes of
//! their subscriptions must be the same.

use std::sync::Arc;

use serde_json::Value;
use till_core::subscription::When;
use till_engine::test_mode::Simulation;
use till_engine::view::TokenAmount;
use till_engine::workers::timers;
use till_store::Queries as _;

use super::Story;
use super::hold::of;
use super::steps::{Ask, ask, id_of, pass_time, simulation};
use crate::world::Check;

struct Twin {
    customer: String,
    subscriptions: Vec<String>,
}

/// Whether workers were there between two facts about one of them.
#[derive(Clone, Copy, Debug)]
enum Between {
    Workers,
    Nobody,
}

/// What a merchant asks for after all that, about one of the subscriptions.
#[derive(Clone, Copy, Debug)]
enum Then {
    Nothing,
    Pause,
    EndWithPeriod,
}

pub async fn compare(story: &mut Story) -> Check {
    // Where addresses run out, one of two gets the last.
    if !story.world.has_many_addresses() {
        return Ok(());
    }
    let Some(twins) = subscribe(story).await? else {
        return Ok(());
    };
    for _ in 0..story.world.rng.between(2, 6) {
        live(story, &twins).await?;
    }
    let (which, is_paused) = (
        some_subscription(story, &twins),
        story.world.rng.percent(20),
    );
    if is_paused {
        each(story, &twins, |twin| pause(twin, which)).await?;
    }
    tell(story, &twins).await?;
    if is_paused {
        run_due(story).await?;
        each(story, &twins, |twin| resume(twin, which)).await?;
    } else {
        command(story, &twins).await?;
    }
    run_due(story).await?;
    same(story, &twins).await?;
    pass_time(story).await?;
    same(story, &twins).await?;
    story.world.visit("two orders of facts");
    for at in 0..twins[0].subscriptions.len() {
        each(story, &twins, |twin| Ask::Cancel {
            id: twin.subscriptions[at].clone(),
            when: When::Now,
        })
        .await?;
    }
    Ok(())
}

fn some_subscription(story: &mut Story, twins: &[Twin; 2]) -> usize {
    story.world.rng.below(twins[0].subscriptions.len())
}

fn pause(twin: &Twin, which: usize) -> Ask {
    let id = twin.subscriptions[which].clone();
    Ask::Pause { id }
}

fn resume(twin: &Twin, which: usize) -> Ask {
    let id = twin.subscriptions[which].clone();
    Ask::Resume { id }
}

/// The merchant asks the same about both: about the first before anybody has looked, about the other when workers have.
async fn command(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let which = some_subscription(story, twins);
    let then = [Then::Nothing, Then::Pause, Then::EndWithPeriod];
    let then = *story.world.rng.pick(&then);
    let of = |twin: &Twin| match then {
        Then::Nothing => None,
        Then::Pause => Some(pause(twin, which)),
        Then::EndWithPeriod => Some(Ask::Cancel {
            id: twin.subscriptions[which].clone(),
            when: When::PeriodEnd,
        }),
    };
    let mut answers = Vec::new();
    for twin in twins {
        if let Some(asked) = of(twin) {
            answers.push(ask(story, asked).await?.map(drop));
        }
        run_due(story).await?;
    }
    if answers.first() != answers.last() {
        return Err(format!("twins are answered {answers:?}"));
    }
    if let Then::Pause = then {
        story.world.clock.advance(3 * 24 * 3_600_000);
        run_due(story).await?;
        each(story, twins, |twin| resume(twin, which)).await?;
    }
    Ok(())
}

/// One or a few subscriptions each, with a top-up before some of them.
async fn subscribe(story: &mut Story) -> Result<Option<[Twin; 2]>, String> {
    let mut twins = Vec::new();
    for _ in 0..2 {
        match id_of(ask(story, Ask::Customer).await?) {
            Some(customer) => twins.push(Twin {
                customer,
                subscriptions: Vec::new(),
            }),
            None => return Ok(None),
        }
    }
    for _ in 0..story.world.rng.between(1, 3) {
        let at = story.world.rng.below(story.plans.len());
        let cents = u128::try_from(story.world.rng.between(0, 9_000)).unwrap();
        let plan = story.plans[at].clone();
        let with = simulation(story, None, &["included", "final"]);
        for twin in &mut twins {
            if cents > 0 {
                top_up(story, &twin.customer, cents, &with).await?;
            }
            let subscribe = Ask::Subscribe {
                customer: twin.customer.clone(),
                plan: plan.clone(),
            };
            match id_of(ask(story, subscribe).await?) {
                Some(id) => twin.subscriptions.push(id),
                None => return Ok(None),
            }
        }
    }
    Ok(twins.try_into().ok())
}

async fn top_up(story: &mut Story, customer: &str, cents: u128, with: &Simulation) -> Check {
    let top_up = Ask::TopUp {
        customer: customer.to_owned(),
        cents,
    };
    if let Some(invoice) = id_of(ask(story, top_up).await?) {
        let with = with.clone();
        ask(story, Ask::Pay { invoice, with }).await.map(drop)?;
    }
    Ok(())
}

/// Both pay for one of their subscriptions, in full or in part, or top up; then time passes.
async fn live(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let cents = u128::try_from(story.world.rng.between(1, 5_000)).unwrap();
    let tops_up = story.world.rng.percent(30);
    let which = some_subscription(story, twins);
    let amount = story.world.rng.percent(50).then(|| "0.50".to_owned());
    let twice = amount.is_some() && story.world.rng.percent(75);
    let rest = simulation(story, None, &["included", "final"]);
    let part = simulation(story, amount, &["included", "final"]);
    // What ended just now has ended before anything that is paid from here on, for both. At one moment it would count for one alone:
    // whose process dies on the way pays later.
    story.world.clock.advance(1);
    for twin in twins {
        if tops_up {
            top_up(story, &twin.customer, cents, &rest).await?;
        }
        for with in [&part, &rest].into_iter().take(1 + usize::from(twice)) {
            let Some(invoice) = open(story, &twin.subscriptions[which]).await.pop() else {
                continue;
            };
            let with = with.clone();
            ask(story, Ask::Pay { invoice, with }).await.map(drop)?;
        }
    }
    pass_time(story).await
}

/// What becomes of a payment that left the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fact {
    Leaves(usize),
    Returns(usize),
}

/// The same payments of both leave the chain, and the same of them come back: in the order in which they were made, and in
/// another.
async fn tell(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let payments = [
        payments(story, &twins[0].customer).await,
        payments(story, &twins[1].customer).await,
    ];
    if payments[0].len() != payments[1].len() {
        return Err(format!("twins paid {payments:?}"));
    }
    let mut chosen: Vec<usize> = (0..payments[0].len()).collect();
    while chosen.len() > 5 {
        let at = story.world.rng.below(chosen.len());
        chosen.remove(at);
    }
    let mut facts = Vec::new();
    for at in &chosen {
        facts.push(Fact::Leaves(*at));
    }
    for at in chosen {
        if story.world.rng.percent(30) {
            facts.push(Fact::Returns(at));
        }
    }
    let other = in_another_order(story, &facts);
    story.has_reversed |= !facts.is_empty();
    for (order, payments) in [facts, other].into_iter().zip(payments) {
        let between = *story.world.rng.pick(&[Between::Workers, Between::Nobody]);
        for fact in order {
            let asked = match fact {
                Fact::Leaves(at) => Ask::Reverse {
                    payment: payments[at].0.clone(),
                },
                Fact::Returns(at) => Ask::Return {
                    invoice: payments[at].1.clone(),
                    tx_hash: payments[at].2.clone(),
                },
            };
            ask(story, asked).await.map(drop)?;
            if let Between::Workers = between {
                run_due(story).await?;
            }
        }
    }
    Ok(())
}

/// The same facts, none of them before what it needs.
fn in_another_order(story: &mut Story, facts: &[Fact]) -> Vec<Fact> {
    let mut left = facts.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = story.world.rng.below(left.len());
        let may_come = match left[at] {
            Fact::Leaves(_) => true,
            Fact::Returns(payment) => order.contains(&Fact::Leaves(payment)),
        };
        if may_come {
            order.push(left.remove(at));
        }
    }
    order
}

async fn run_due(story: &mut Story) -> Check {
    let engine = Arc::clone(&story.world.engine);
    let done = timers::run_due(&engine).await;
    done.map(drop).map_err(|fail| format!("{fail:?}"))
}

async fn each(story: &mut Story, twins: &[Twin; 2], of: impl Fn(&Twin) -> Ask) -> Check {
    let mut answers = Vec::new();
    for twin in twins {
        let answer = ask(story, of(twin)).await?;
        answers.push(answer.map(drop));
    }
    match answers[0] == answers[1] {
        true => Ok(()),
        false => Err(format!("twins are answered {answers:?}")),
    }
}

async fn open(story: &Story, subscription: &str) -> Vec<String> {
    let sql = "SELECT id FROM invoices WHERE account = $1 AND mode = $2 AND subscription = $3 \
         AND status IN ('awaiting_payment', 'partially_paid') AND closed_at IS NULL ORDER BY id DESC";
    column(story, sql, subscription).await
}

/// Payments of the customer's invoices that are on the chain, in the order in which they were made: id, invoice, transaction.
async fn payments(story: &Story, customer: &str) -> Vec<(String, String, String)> {
    let sql = "SELECT p.id, p.invoice, p.tx_hash FROM payments p JOIN invoices i ON i.account = p.account AND i.mode = p.mode \
         AND i.id = p.invoice WHERE p.account = $1 AND p.mode = $2 AND i.customer = $3 AND p.gone_at IS NULL ORDER BY p.id";
    let [account, mode] = of(&story.scope());
    let args = [account, mode, customer.into()];
    let mut reader = story.world.engine.db.read().await.unwrap();
    reader.all(sql, &args).await.unwrap()
}

async fn column(story: &Story, sql: &str, id: &str) -> Vec<String> {
    let [account, mode] = of(&story.scope());
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, &[account, mode, id.into()]).await.unwrap();
    rows.into_iter().map(|(text,)| text).collect()
}

async fn same(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let mut stands = [Vec::new(), Vec::new()];
    for (twin, stands) in twins.iter().zip(&mut stands) {
        for at in 0..twin.subscriptions.len() {
            stands.push(stand(story, twin, at).await?);
        }
    }
    match stands[0] == stands[1] {
        true => Ok(()),
        false => Err(format!(
            "the order of facts matters: {:?} are {}, {:?} are {}",
            twins[0].subscriptions,
            Value::from(stands[0].clone()),
            twins[1].subscriptions,
            Value::from(stands[1].clone()),
        )),
    }
}

/// What a subscription is to those who look at it: status, periods, what is paid, what its open invoices ask for, and what its customer
/// has paid beyond all that. Whether that is credit, or the excess of an invoice which credit had lowered before the rest of what
/// was paid to it came back, is not promised: it is the customer's in either case.
async fn stand(story: &Story, twin: &Twin, at: usize) -> Result<Value, String> {
    let (engine, scope, id) = (&story.world.engine, story.scope(), &twin.subscriptions[at]);
    let view = till_engine::subscriptions::retrieve(engine, &scope, id).await;
    let view = view.map_err(|fail| format!("{fail:?}"))?;
    let customer = till_engine::customers::retrieve(engine, &scope, &twin.customer).await;
    let credit = customer.map_err(|fail| format!("{fail:?}"))?.credit;
    // Which of two top-ups pays is not promised, only how much is left: all of it is in dollars, to six places.
    let credit = credit.unwrap_or_default();
    let units = |left: &TokenAmount| till_core::money::parse(&left.amount, 6).unwrap().0;
    let credit: u128 = credit.iter().map(units).sum();
    let excess = excess(story, &twin.subscriptions).await;
    let mut asks = Vec::new();
    for invoice in open(story, id).await {
        let mut reader = engine.db.read().await.unwrap();
        let row = till_store::invoices::find(&mut reader, &scope, &invoice).await;
        let row = row.unwrap().unwrap();
        let dues: Vec<u128> = row.options.iter().map(|option| option.due.0).collect();
        asks.push((row.status.as_str(), dues, format!("{:?}", row.summary)));
    }
    asks.sort();
    let sql = "SELECT CAST(period AS TEXT) FROM subscription_charges WHERE account = $1 AND mode = $2 AND subscription = $3 \
         AND state = 'paid' ORDER BY period";
    // Whoever dies on the way loses some milliseconds.
    let at = |time: &str| till_core::time::parse(time).map(|at| (at + 30_000) / 60_000);
    let next = view.next_invoice_at.as_deref().map(at);
    Ok(serde_json::json!({
        "status": view.status, "attempt": view.attempt, "start": at(&view.current_period_start),
        "end": at(&view.current_period_end), "next": next, "reason": view.cancellation_reason,
        "asks": asks, "paid": column(story, sql, id).await, "beyond": credit + excess,
    }))
}

/// How much more was paid to these subscriptions' paid invoices than they asked for.
async fn excess(story: &Story, subscriptions: &[String]) -> u128 {
    let sql = "SELECT invoice FROM subscription_charges WHERE account = $1 AND mode = $2 AND subscription = $3 \
         AND state = 'paid' AND invoice IS NOT NULL";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let mut excess = 0;
    for id in subscriptions {
        for invoice in column(story, sql, id).await {
            let row = till_store::invoices::find(&mut reader, &story.scope(), &invoice).await;
            let row = row.unwrap().unwrap();
            let dues = row.options.iter().map(|option| option.due.0);
            let received = row.summary.received.iter().map(|(_, units)| units.0);
            let received: u128 = received.sum();
            excess += received.saturating_sub(dues.max().unwrap_or_default());
        }
    }
    excess
}
