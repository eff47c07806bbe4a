//! The order of reversals does not matter: two customers do the same at the same times, their payments are reversed at
//! one time in different orders, each with workers between them or without, and what becomes of their subscriptions must be
//! the same.

use std::sync::Arc;

use serde_json::Value;
use till_engine::test_mode::Simulation;
use till_engine::workers::timers;
use till_store::Queries as _;

use super::Story;
use super::hold::of;
use super::steps::{Ask, ask, id_of, pass_time, simulation};
use crate::world::Check;

struct Twin {
    customer: String,
    subscription: String,
}

/// Whether workers were there between two reversals of one of them.
#[derive(Clone, Copy, Debug)]
enum Between {
    Workers,
    Nobody,
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
    let is_paused = story.world.rng.percent(20);
    if is_paused {
        each(story, &twins, |twin| Ask::Pause {
            id: twin.subscription.clone(),
        })
        .await?;
    }
    reverse(story, &twins).await?;
    if is_paused {
        run_due(story).await?;
        each(story, &twins, |twin| Ask::Resume {
            id: twin.subscription.clone(),
        })
        .await?;
    }
    run_due(story).await?;
    same(story, &twins).await?;
    pass_time(story).await?;
    same(story, &twins).await?;
    story.world.visit("two orders of reversals");
    each(story, &twins, |twin| Ask::Cancel {
        id: twin.subscription.clone(),
        when: till_core::subscription::When::Now,
    })
    .await
}

async fn subscribe(story: &mut Story) -> Result<Option<[Twin; 2]>, String> {
    let at = story.world.rng.below(story.plans.len());
    let cents = u128::try_from(story.world.rng.between(0, 9_000)).unwrap();
    let plan = story.plans[at].clone();
    let with = simulation(story, None, &["included", "final"]);
    let mut twins = Vec::new();
    for _ in 0..2 {
        let Some(customer) = id_of(ask(story, Ask::Customer).await?) else {
            return Ok(None);
        };
        if cents > 0 {
            top_up(story, &customer, cents, &with).await?;
        }
        let subscribe = Ask::Subscribe {
            customer: customer.clone(),
            plan: plan.clone(),
        };
        if let Some(subscription) = id_of(ask(story, subscribe).await?) {
            twins.push(Twin {
                customer,
                subscription,
            });
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

/// Both pay, in full or in part, or top up; then time passes.
async fn live(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let cents = u128::try_from(story.world.rng.between(1, 5_000)).unwrap();
    let tops_up = story.world.rng.percent(30);
    let amount = story.world.rng.percent(50).then(|| "0.50".to_owned());
    let twice = amount.is_some() && story.world.rng.percent(75);
    let rest = simulation(story, None, &["included", "final"]);
    let part = simulation(story, amount, &["included", "final"]);
    for twin in twins {
        if tops_up {
            top_up(story, &twin.customer, cents, &rest).await?;
        }
        for with in [&part, &rest].into_iter().take(1 + usize::from(twice)) {
            let Some(invoice) = open(story, &twin.subscription).await.pop() else {
                continue;
            };
            let with = with.clone();
            ask(story, Ask::Pay { invoice, with }).await.map(drop)?;
        }
    }
    pass_time(story).await
}

/// The same payments of both, in the order in which they were made and in another.
async fn reverse(story: &mut Story, twins: &[Twin; 2]) -> Check {
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
    let mut other = chosen.clone();
    let by = story.world.rng.below(other.len().max(1));
    other.rotate_left(by);
    if story.world.rng.percent(50) {
        other.reverse();
    }
    story.has_reversed |= !chosen.is_empty();
    for (order, payments) in [chosen, other].into_iter().zip(payments) {
        let between = *story.world.rng.pick(&[Between::Workers, Between::Nobody]);
        for at in order {
            let payment = payments[at].clone();
            ask(story, Ask::Reverse { payment }).await.map(drop)?;
            if let Between::Workers = between {
                run_due(story).await?;
            }
        }
    }
    Ok(())
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

/// Payments of the customer's invoices that are on the chain, in the order in which they were made.
async fn payments(story: &Story, customer: &str) -> Vec<String> {
    let sql = "SELECT p.id FROM payments p JOIN invoices i ON i.account = p.account AND i.mode = p.mode AND i.id = p.invoice \
         WHERE p.account = $1 AND p.mode = $2 AND i.customer = $3 AND p.gone_at IS NULL ORDER BY p.id";
    column(story, sql, customer).await
}

async fn column(story: &Story, sql: &str, id: &str) -> Vec<String> {
    let [account, mode] = of(&story.scope());
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, &[account, mode, id.into()]).await.unwrap();
    rows.into_iter().map(|(text,)| text).collect()
}

async fn same(story: &mut Story, twins: &[Twin; 2]) -> Check {
    let stand = [
        stand(story, &twins[0]).await?,
        stand(story, &twins[1]).await?,
    ];
    match stand[0] == stand[1] {
        true => Ok(()),
        false => Err(format!(
            "the order of reversals matters: {} is {}, {} is {}",
            twins[0].subscription, stand[0], twins[1].subscription, stand[1]
        )),
    }
}

/// What a subscription is to those who look at it: status, periods, what is paid, what its open invoices ask for, and credit.
async fn stand(story: &Story, twin: &Twin) -> Result<Value, String> {
    let (engine, scope) = (&story.world.engine, story.scope());
    let view = till_engine::subscriptions::retrieve(engine, &scope, &twin.subscription).await;
    let view = view.map_err(|fail| format!("{fail:?}"))?;
    let customer = till_engine::customers::retrieve(engine, &scope, &twin.customer).await;
    let credit = customer.map_err(|fail| format!("{fail:?}"))?.credit;
    let mut asks = Vec::new();
    for invoice in open(story, &twin.subscription).await {
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
        "asks": asks, "paid": column(story, sql, &twin.subscription).await, "credit": credit,
    }))
}
