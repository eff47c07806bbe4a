//! The order in which facts are told does not matter: two customers with several subscriptions do the same at the same times; then
//! payments leave the chain and some come back, at one time and in different orders, each with workers between them or
//! without; a merchant pauses, or asks for the end with the period, before or after anybody has looked; and what becomes of
//! their subscriptions must be the same.

use std::sync::Arc;

use serde_json::Value;
use till_core::money::{Units, show};
use till_core::subscription::When;
use till_engine::test_mode::Simulation;
use till_engine::view::TokenAmount;
use till_engine::workers::timers;
use till_store::Queries as _;
use till_store::invoices::InvoiceRow;

use super::Story;
use super::hold::of;
use super::steps::{Ask, ask, id_of, pass_time, simulation};
use crate::world::Check;

pub(super) struct Twin {
    pub(super) customer: String,
    pub(super) subscriptions: Vec<String>,
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
    facts_and_commands(story, &twins, Among::OldPayments).await?;
    pass_time(story).await?;
    same(story, &twins).await?;
    leave(story, &twins).await
}

/// The same with new payments among the facts, and with a life after them: what nobody sees at first must be the same, too.
pub async fn compare_with_payments(story: &mut Story) -> Check {
    let Some(twins) = subscribe(story).await? else {
        return Ok(());
    };
    for _ in 0..story.world.rng.between(1, 4) {
        live(story, &twins).await?;
    }
    facts_and_commands(story, &twins, Among::NewPayments).await?;
    live(story, &twins).await?;
    same(story, &twins).await?;
    leave(story, &twins).await
}

/// Which payments the facts are about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Among {
    OldPayments,
    NewPayments,
}

async fn facts_and_commands(story: &mut Story, twins: &[Twin; 2], among: Among) -> Check {
    let (which, is_paused) = (some_subscription(story, twins), story.world.rng.percent(20));
    if is_paused {
        each(story, twins, |twin| pause(twin, which)).await?;
    }
    tell(story, twins, among).await?;
    if is_paused {
        run_due(story).await?;
        each(story, twins, |twin| resume(twin, which)).await?;
    } else {
        command(story, twins).await?;
    }
    run_due(story).await?;
    same(story, twins).await?;
    story.world.visit("two orders of facts");
    Ok(())
}

async fn leave(story: &mut Story, twins: &[Twin; 2]) -> Check {
    for at in 0..twins[0].subscriptions.len() {
        each(story, twins, |twin| Ask::Cancel {
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

/// What becomes of a payment that left the chain, and one that is new.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fact {
    Leaves(usize),
    Returns(usize),
    Arrives(usize),
}

/// A payment that both are about to make, each to an invoice of its own.
struct Sent {
    invoices: [String; 2],
    with: Simulation,
}

/// Payments of open invoices, in full, in part or too large, and at times a top-up, that nobody has seen yet.
async fn on_their_way(story: &mut Story, twins: &[Twin; 2]) -> Result<Vec<Sent>, String> {
    let mut sent = Vec::new();
    for _ in 0..story.world.rng.between(0, 2) {
        let which = some_subscription(story, twins);
        let mut open = [Vec::new(), Vec::new()];
        for (twin, open) in twins.iter().zip(&mut open) {
            *open = self::open(story, &twin.subscriptions[which]).await;
        }
        let [Some(one), Some(other)] = open.map(|mut open| open.pop()) else {
            continue;
        };
        let mut with = simulation(story, None, &["included", "final"]);
        let row = invoice(story, &one).await;
        let option = row
            .options
            .iter()
            .find(|it| Some(&it.asset) == with.asset.as_ref());
        let asked = option.map_or(0, |option| row.summary.asked_by(option).0);
        let parts = [(1, 1), (1, 2), (1, 5), (3, 2)];
        let (of, by) = *story.world.rng.pick(&parts);
        with.amount = Some(show(Units((asked * of / by).max(1)), 6));
        sent.push(Sent {
            invoices: [one, other],
            with,
        });
        story.world.visit("paid at that moment");
    }
    if story.world.rng.percent(40) {
        let cents = u128::try_from(story.world.rng.between(1, 5_000)).unwrap();
        let mut invoices = Vec::new();
        for twin in twins {
            let customer = twin.customer.clone();
            invoices.extend(id_of(ask(story, Ask::TopUp { customer, cents }).await?));
        }
        let with = simulation(story, None, &["included", "final"]);
        if let Ok(invoices) = invoices.try_into() {
            sent.push(Sent { invoices, with });
            story.world.visit("topped up at that moment");
        }
    }
    Ok(sent)
}

/// The same payments of both leave the chain, and the same of them come back: in the order in which they were made, and in
/// another.
async fn tell(story: &mut Story, twins: &[Twin; 2], among: Among) -> Check {
    let payments = [
        payments(story, &twins[0].customer).await,
        payments(story, &twins[1].customer).await,
    ];
    if payments[0].len() != payments[1].len() {
        return Err(format!("twins paid {payments:?}"));
    }
    let mut chosen: Vec<usize> = (0..payments[0].len()).collect();
    let sent = match among {
        Among::OldPayments => Vec::new(),
        Among::NewPayments => on_their_way(story, twins).await?,
    };
    let at_most = match among {
        Among::OldPayments => 5,
        Among::NewPayments => story.world.rng.below(5),
    };
    while chosen.len() > at_most {
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
    story.has_reversed |= !facts.is_empty();
    facts.extend((0..sent.len()).map(Fact::Arrives));
    if among == Among::NewPayments {
        facts = in_another_order(story, &facts);
    }
    let other = in_another_order(story, &facts);
    for (twin, (order, payments)) in [facts, other].into_iter().zip(payments).enumerate() {
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
                Fact::Arrives(at) => Ask::Pay {
                    invoice: sent[at].invoices[twin].clone(),
                    with: sent[at].with.clone(),
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

/// The same facts, none of them before what it needs. What is new comes when all is told that has left: a period that it paid for a
/// moment, with what had left before, would have been paid once, and has its place in time for good.
fn in_another_order(story: &mut Story, facts: &[Fact]) -> Vec<Fact> {
    let mut left = facts.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = story.world.rng.below(left.len());
        let may_come = match left[at] {
            Fact::Leaves(_) => true,
            Fact::Arrives(_) => !left.iter().any(|fact| matches!(fact, Fact::Leaves(_))),
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

/// The invoice of the first period last.
async fn open(story: &Story, subscription: &str) -> Vec<String> {
    let sql = "SELECT i.id FROM invoices i JOIN subscription_charges c ON c.account = i.account AND c.mode = i.mode AND c.invoice = i.id \
         WHERE i.account = $1 AND i.mode = $2 AND i.subscription = $3 AND i.status IN ('awaiting_payment', 'partially_paid') \
         AND i.closed_at IS NULL ORDER BY c.period DESC, i.id DESC";
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

async fn invoice(story: &Story, id: &str) -> InvoiceRow {
    let mut reader = story.world.engine.db.read().await.unwrap();
    let row = till_store::invoices::find(&mut reader, &story.scope(), id).await;
    row.unwrap().unwrap()
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

/// What a subscription is to those who look at it: status, periods, what is paid, what its open invoices ask for, and credit.
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
    let mut asks = Vec::new();
    for invoice in open(story, id).await {
        let row = self::invoice(story, &invoice).await;
        let dues: Vec<u128> = row.options.iter().map(|option| option.due.0).collect();
        // In which of two assets the rest is shown depends on which of them came first.
        let units = |of: Option<&(String, Units)>| of.map(|(_, units)| units.0);
        let received: u128 = row.summary.received.iter().map(|(_, units)| units.0).sum();
        let summary = &row.summary;
        let rest = units(summary.remaining.as_ref());
        asks.push((row.status.as_str(), dues, received, rest));
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
        "asks": asks, "paid": column(story, sql, id).await, "credit": credit,
    }))
}
