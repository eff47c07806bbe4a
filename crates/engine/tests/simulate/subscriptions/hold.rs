//! I27: what must hold of subscriptions, worked out from the tables without the engine's rules.

use std::collections::BTreeMap;

use till_core::scope::Scope;
use till_store::{Queries as _, Val};

use super::Story;
use crate::world::Check;

const DAY_MS: i64 = 86_400_000;

pub fn of(scope: &Scope) -> [Val; 2] {
    [(&*scope.account).into(), scope.mode.as_str().into()]
}

/// Invoices that may be paid for some subscription.
pub async fn open_invoices(story: &Story) -> Vec<String> {
    let sql = "SELECT id FROM invoices WHERE account = $1 AND mode = $2 AND subscription IS NOT NULL \
         AND status IN ('awaiting_payment', 'partially_paid') AND closed_at IS NULL ORDER BY id";
    ids(story, sql).await
}

/// Invoices of subscriptions, whatever has become of them.
pub async fn all_invoices(story: &Story) -> Vec<String> {
    let sql = "SELECT id FROM invoices WHERE account = $1 AND mode = $2 AND subscription IS NOT NULL ORDER BY id";
    ids(story, sql).await
}

/// Payments that are on the chain.
pub async fn payments(story: &Story) -> Vec<String> {
    let sql =
        "SELECT id FROM payments WHERE account = $1 AND mode = $2 AND gone_at IS NULL ORDER BY id";
    ids(story, sql).await
}

/// Payments that have left it, by invoice and transaction.
pub async fn gone(story: &Story) -> Vec<(String, String)> {
    let sql = "SELECT invoice, tx_hash FROM payments WHERE account = $1 AND mode = $2 AND gone_at IS NOT NULL ORDER BY id";
    let mut reader = story.world.engine.db.read().await.unwrap();
    reader.all(sql, &of(&story.scope())).await.unwrap()
}

pub async fn under_review(story: &Story) -> Vec<String> {
    let sql = "SELECT id FROM invoices WHERE account = $1 AND mode = $2 AND status = 'under_review' ORDER BY id";
    ids(story, sql).await
}

/// Nobody has anything left to look at: what must be so in the end is so now.
pub async fn is_at_rest(story: &Story) -> bool {
    nothing_is_due(story).await.is_ok()
}

pub async fn ids(story: &Story, sql: &str) -> Vec<String> {
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    rows.into_iter().map(|(id,)| id).collect()
}

/// Whoever caught up has left nothing undone, and nothing failed.
pub async fn nothing_is_due(story: &Story) -> Check {
    let sql = "SELECT kind, subject FROM timers WHERE account = $1 AND mode = $2 AND due_at <= $3";
    let [account, mode] = of(&story.scope());
    let now = story.world.now(super::M);
    let mut reader = story.world.engine.db.read().await.unwrap();
    let due: Vec<(String, String)> = reader.all(sql, &[account, mode, now.into()]).await.unwrap();
    match due.is_empty() {
        true => Ok(()),
        false => Err(format!("still due: {due:?}")),
    }
}

#[derive(Clone, Debug)]
struct Subscription {
    id: String,
    status: String,
    trial_end: Option<i64>,
    paid_until: Option<i64>,
    cancelled_at: Option<i64>,
    paused_at: Option<i64>,
    reason: Option<String>,
    /// The unit, how many of them, and how many attempts the plan allows.
    unit: String,
    count: i64,
    max_attempts: i64,
}

async fn subscriptions(story: &Story) -> Vec<Subscription> {
    let sql = "SELECT s.id, s.status, s.trial_end, s.paid_until, s.cancelled_at, s.paused_at, s.cancellation_reason, \
         p.interval_unit, p.interval_count, p.max_attempts FROM subscriptions s JOIN plans p \
         ON p.account = s.account AND p.mode = s.mode AND p.id = s.plan WHERE s.account = $1 AND s.mode = $2 ORDER BY s.id";
    type Row = (
        String,
        String,
        Option<i64>,
        Option<i64>,
        Option<i64>,
        Option<i64>,
        Option<String>,
        String,
        i64,
        i64,
    );
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<Row> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let subscription = |row: Row| Subscription {
        id: row.0,
        status: row.1,
        trial_end: row.2,
        paid_until: row.3,
        cancelled_at: row.4,
        paused_at: row.5,
        reason: row.6,
        unit: row.7,
        count: row.8,
        max_attempts: row.9,
    };
    rows.into_iter().map(subscription).collect()
}

#[derive(Clone, Debug)]
struct Charge {
    subscription: String,
    period: i64,
    attempt: i64,
    state: String,
    period_start: i64,
    period_end: i64,
    created_at: i64,
}

type ChargeRow = (String, i64, i64, String, i64, i64, i64);

impl Charge {
    fn of(
        (subscription, period, attempt, state, period_start, period_end, created_at): ChargeRow,
    ) -> Charge {
        Charge {
            subscription,
            period,
            attempt,
            state,
            period_start,
            period_end,
            created_at,
        }
    }
}

async fn charges(story: &Story) -> BTreeMap<String, Vec<Charge>> {
    let sql = "SELECT subscription, period, attempt, state, period_start, period_end, created_at \
         FROM subscription_charges WHERE account = $1 AND mode = $2 ORDER BY subscription, number";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<ChargeRow> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let mut charges: BTreeMap<String, Vec<Charge>> = BTreeMap::new();
    for row in rows.into_iter().map(Charge::of) {
        let of = charges.entry(row.subscription.clone()).or_default();
        of.push(row);
    }
    charges
}

/// After every step.
pub async fn always(story: &mut Story) -> Check {
    let charges = charges(story).await;
    let none = Vec::new();
    let mut renewed: BTreeMap<String, Renewed> = BTreeMap::new();
    for subscription in subscriptions(story).await {
        let of = charges.get(&subscription.id).unwrap_or(&none);
        charged(&subscription, of).map_err(|wrong| format!("{}: {wrong}", subscription.id))?;
        machine(story, &subscription, of)
            .map_err(|wrong| format!("{}: {wrong}", subscription.id))?;
        story.world.visit(&subscription.status);
        story
            .world
            .visit(subscription.reason.as_deref().unwrap_or_default());
        let paid = of.iter().filter(|charge| charge.state == "paid").count();
        // What was held before the end, and is accepted after it, has paid the period all the same: that is not told as a renewal, and
        // goes on to no other.
        if story.has_strangers && subscription.cancelled_at.is_some() {
            continue;
        }
        // What lay ahead when somebody asked for the end was given back.
        let is_exact = subscription.reason.as_deref() != Some("requested");
        renewed.insert(subscription.id, Renewed { paid, is_exact });
    }
    told(story, &renewed).await?;
    alive(story).await?;
    match is_at_rest(story).await {
        true => owed(story).await,
        false => Ok(()),
    }
}

/// At most one invoice may be paid for a period, none for one that is paid or whose subscription has ended, and no period
/// was passed over since billing began.
async fn owed(story: &Story) -> Check {
    let payable = "FROM subscription_charges c JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice \
         WHERE c.account = $1 AND c.mode = $2 AND i.closed_at IS NULL AND i.status <> 'under_review'";
    let twice = format!(
        "SELECT c.subscription {payable} GROUP BY c.subscription, c.period HAVING count(*) > 1"
    );
    if let Some(id) = ids(story, &twice).await.first() {
        let attempts = attempts_of(story, id).await;
        return Err(format!(
            "{id} has two invoices for one period: {attempts:?}"
        ));
    }
    let again = format!(
        "SELECT i.id {payable} AND EXISTS (SELECT 1 FROM subscription_charges p WHERE p.account = c.account AND p.mode = c.mode \
         AND p.subscription = c.subscription AND p.period = c.period AND p.state = 'paid')"
    );
    if let Some(id) = ids(story, &again).await.first() {
        let others = attempts_beside(story, id).await;
        return Err(format!("{id} asks for what is paid: {others:?}"));
    }
    let ended = format!(
        "SELECT i.id {payable} AND i.status IN ('awaiting_payment', 'partially_paid') AND c.subscription IN \
         (SELECT s.id FROM subscriptions s WHERE s.account = c.account AND s.mode = c.mode AND s.cancelled_at IS NOT NULL)"
    );
    if let Some(id) = ids(story, &ended).await.first() {
        let others = attempts_beside(story, id).await;
        return Err(format!("{id} asks for what has ended: {others:?}"));
    }
    let by_nothing = "SELECT c.invoice FROM subscription_charges c JOIN subscriptions s ON s.account = c.account AND s.mode = c.mode \
         AND s.id = c.subscription WHERE c.account = $1 AND c.mode = $2 AND c.state = 'paid' AND c.invoice IS NOT NULL \
         AND s.cancelled_at IS NULL AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.account = c.account AND p.mode = c.mode \
         AND p.invoice = c.invoice AND p.status IN ('credited', 'refundable'))";
    if let Some(id) = ids(story, by_nothing).await.first() {
        let others = attempts_beside(story, id).await;
        return Err(format!(
            "{id} paid a period, and nothing paid it: {others:?}"
        ));
    }
    let passed_over = "SELECT s.id FROM subscriptions s WHERE s.account = $1 AND s.mode = $2 AND s.cancelled_at IS NULL \
         AND s.next_period - s.anchor_period > (SELECT count(*) FROM subscription_charges c WHERE c.account = s.account \
         AND c.mode = s.mode AND c.subscription = s.id AND c.state IN ('paid', 'forgiven') AND c.period >= s.anchor_period \
         AND c.period < s.next_period)";
    match ids(story, passed_over).await.first() {
        Some(id) => Err(format!("{id} has a period that nobody paid for")),
        None => Ok(()),
    }
}

/// All attempts of the subscription that an invoice charges: number, period, state, invoice and its status.
async fn attempts_beside(story: &Story, invoice: &str) -> Vec<Attempt> {
    let sql = "SELECT subscription, id FROM invoices WHERE account = $1 AND mode = $2 AND id = $3";
    let [account, mode] = of(&story.scope());
    let mut reader = story.world.engine.db.read().await.unwrap();
    let found: Option<(Option<String>, String)> = reader
        .one(sql, &[account, mode, invoice.into()])
        .await
        .unwrap();
    match found {
        Some((Some(subscription), _)) => attempts_of(story, &subscription).await,
        _ => Vec::new(),
    }
}

pub async fn attempts_of(story: &Story, subscription: &str) -> Vec<Attempt> {
    let sql = "SELECT c.number, c.period, c.state, c.invoice, i.status FROM subscription_charges c \
         LEFT JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice \
         WHERE c.account = $1 AND c.mode = $2 AND c.subscription = $3 ORDER BY c.number";
    let [account, mode] = of(&story.scope());
    let mut reader = story.world.engine.db.read().await.unwrap();
    reader
        .all(sql, &[account, mode, subscription.into()])
        .await
        .unwrap()
}

pub type Attempt = (i64, i64, String, Option<String>, Option<String>);

/// One attempt at a time, no more of them than the plan allows, none after the end; periods follow each other, each paid
/// once, and are as long as the plan says.
fn charged(subscription: &Subscription, charges: &[Charge]) -> Check {
    let open = charges.iter().filter(|charge| charge.state == "open");
    if open.count() > 1 {
        return Err("charged twice at once".to_owned());
    }
    let mut paid: BTreeMap<i64, &Charge> = BTreeMap::new();
    for charge in charges {
        if charge.attempt > subscription.max_attempts {
            return Err(format!("too many attempts: {charge:?}"));
        }
        if subscription
            .cancelled_at
            .is_some_and(|end| charge.created_at > end)
        {
            return Err(format!("charged after its end: {charge:?}"));
        }
        if charge.state == "paid" && paid.insert(charge.period, charge).is_some() {
            return Err(format!("paid twice: {charge:?}"));
        }
        length(subscription, charge)?;
    }
    let paid: Vec<&Charge> = paid.into_values().collect();
    for pair in paid.windows(2) {
        let [before, after] = pair else { continue };
        // It begins where the last ended, or later, where billing was resumed.
        if after.period == before.period + 1 && after.period_start < before.period_end {
            return Err(format!("periods overlap: {before:?} {after:?}"));
        }
    }
    if let (Some(first), Some(trial_end)) = (charges.first(), subscription.trial_end)
        && first.period_start < trial_end
    {
        return Err(format!("charged for its trial: {first:?}"));
    }
    Ok(())
}

fn length(subscription: &Subscription, charge: &Charge) -> Check {
    let days = (charge.period_end - charge.period_start) / DAY_MS;
    let is_whole = (charge.period_end - charge.period_start) % DAY_MS == 0;
    let count = subscription.count;
    let fits = match &*subscription.unit {
        "day" => days == count,
        "week" => days == 7 * count,
        "month" => (28 * count..=31 * count).contains(&days),
        _ => (365 * count..=366 * count).contains(&days),
    };
    match is_whole && fits {
        true => Ok(()),
        false => Err(format!("a period of {days} days: {charge:?}")),
    }
}

/// What a subscription is, by what was asked for and what was paid.
fn machine(story: &Story, subscription: &Subscription, charges: &[Charge]) -> Check {
    let paid = charges.iter().filter(|charge| charge.state == "paid");
    let last = paid.map(|charge| charge.period_end).max();
    let until = last.or(subscription.trial_end);
    let status = &*subscription.status;
    let fits = match (subscription.cancelled_at, subscription.paused_at) {
        (Some(_), _) => status == "cancelled",
        (None, Some(_)) => status == "paused",
        _ if subscription.paid_until.is_none() => status == "incomplete",
        _ => status == "active" || status == "past_due",
    };
    if !fits || (status == "cancelled") != subscription.reason.is_some() {
        return Err(format!("{subscription:?} is not what it says"));
    }
    // A period whose payment left the chain while the next was being charged stays what it was.
    let is_accepted_after = story.has_strangers && subscription.cancelled_at.is_some();
    if !story.has_reversed && !is_accepted_after && subscription.paid_until != until {
        return Err(format!(
            "paid until {:?}, by {until:?}",
            subscription.paid_until
        ));
    }
    Ok(())
}

/// How many periods are paid, and whether no period can have been that is not.
struct Renewed {
    paid: usize,
    is_exact: bool,
}

/// A period is told of as often as it was paid: once, unless its payment left the chain or was given back.
async fn told(story: &Story, renewed: &BTreeMap<String, Renewed>) -> Check {
    let sql = "SELECT subject FROM events WHERE account = $1 AND mode = $2 AND type = 'subscription.renewed'";
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for subject in ids(story, sql).await {
        *told.entry(subject).or_default() += 1;
    }
    for (id, Renewed { paid, is_exact }) in renewed {
        let told = told.get(id).copied().unwrap_or_default();
        let fits = match *is_exact && !story.has_reversed {
            true => told == *paid,
            false => told >= *paid,
        };
        if !fits {
            let attempts = attempts_of(story, id).await;
            return Err(format!(
                "{id} was renewed {paid} times and told of {told}: {attempts:?}"
            ));
        }
    }
    Ok(())
}

/// Whatever is to go on has a timer, or waits for somebody to pay.
async fn alive(story: &Story) -> Check {
    let sql = "SELECT id FROM subscriptions s WHERE account = $1 AND mode = $2 AND status IN ('active', 'past_due', 'incomplete') \
         AND NOT EXISTS (SELECT 1 FROM timers t WHERE t.account = s.account AND t.mode = s.mode AND t.subject = s.id) \
         AND NOT EXISTS (SELECT 1 FROM subscription_charges c WHERE c.account = s.account AND c.mode = s.mode \
         AND c.subscription = s.id AND c.state = 'open')";
    match ids(story, sql).await.first() {
        None => Ok(()),
        Some(id) => Err(format!("nothing will ever happen to {id}")),
    }
}
