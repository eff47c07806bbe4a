//! I28: every unit that was topped up is credit, set aside or used, or refunded; no group is below zero; and what a period
//! cost was paid, by credit and invoice together.

use std::collections::BTreeMap;

use till_store::Queries as _;

use super::Story;
use super::hold::of;
use crate::world::Check;

type Groups = BTreeMap<String, i128>;

/// What the journal has of each payment, by group.
async fn journal(story: &Story) -> BTreeMap<String, Groups> {
    let sql = "SELECT subject, debit, credit, amount FROM journal WHERE account = $1 AND mode = $2";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String, String, String, String)> =
        reader.all(sql, &of(&story.scope())).await.unwrap();
    let mut books: BTreeMap<String, Groups> = BTreeMap::new();
    for (subject, debit, credit, amount) in rows {
        let amount: i128 = amount.parse().unwrap();
        let groups = books.entry(subject).or_default();
        *groups.entry(debit).or_default() -= amount;
        *groups.entry(credit).or_default() += amount;
    }
    books
}

#[derive(Clone, Debug)]
struct Payment {
    id: String,
    customer: Option<String>,
    subscription: Option<String>,
    asset: String,
    status: String,
    level: String,
    units: String,
    credit_used: String,
    /// What was promised of it and what was sent, by its own refunds.
    refunded: i128,
}

type PaymentRow = (
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    String,
    String,
    String,
    String,
    String,
);

impl Payment {
    fn of(
        (id, customer, subscription, asset, status, level, units, credit_used, due, sent): PaymentRow,
    ) -> Payment {
        Payment {
            id,
            customer,
            subscription,
            asset,
            status,
            level,
            units,
            credit_used,
            refunded: number(&due) + number(&sent),
        }
    }
}

async fn payments(story: &Story) -> Vec<Payment> {
    let sql = "SELECT p.id, i.customer, i.subscription, p.asset, p.status, p.level, p.units, p.credit_used, p.refunds_due, p.refunds_sent FROM payments p \
         JOIN invoices i ON i.account = p.account AND i.mode = p.mode AND i.id = p.invoice \
         WHERE p.account = $1 AND p.mode = $2 ORDER BY p.id";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<PaymentRow> = reader.all(sql, &of(&story.scope())).await.unwrap();
    rows.into_iter().map(Payment::of).collect()
}

#[derive(Clone, Debug)]
struct Entry {
    payment: String,
    subscription: String,
    charge: i64,
    units: String,
    returned_at: Option<i64>,
}

type EntryRow = (String, String, i64, String, Option<i64>);

impl Entry {
    fn of((payment, subscription, charge, units, returned_at): EntryRow) -> Entry {
        Entry {
            payment,
            subscription,
            charge,
            units,
            returned_at,
        }
    }
}

async fn entries(story: &Story) -> Vec<Entry> {
    let sql = "SELECT payment, subscription, charge, units, returned_at FROM credit_entries WHERE account = $1 AND mode = $2";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<EntryRow> = reader.all(sql, &of(&story.scope())).await.unwrap();
    rows.into_iter().map(Entry::of).collect()
}

fn number(text: &str) -> i128 {
    text.parse().unwrap()
}

/// After every step.
pub async fn always(story: &mut Story) -> Check {
    let entries = entries(story).await;
    let mut used: BTreeMap<&str, i128> = BTreeMap::new();
    for entry in &entries {
        match entry.returned_at {
            Some(_) => story.world.visit("returned"),
            None => *used.entry(&entry.payment).or_default() += number(&entry.units),
        }
    }
    let books = journal(story).await;
    let mut left: BTreeMap<(String, String), i128> = BTreeMap::new();
    for payment in payments(story).await {
        let groups = books.get(&payment.id).cloned().unwrap_or_default();
        let aside = used.get(&*payment.id).copied().unwrap_or_default();
        conserved(&payment, &groups, aside).map_err(|wrong| format!("{payment:?}: {wrong}"))?;
        let was_returned =
            |entry: &Entry| entry.payment == payment.id && entry.returned_at.is_some();
        if payment.status == "reversed" && entries.iter().any(was_returned) {
            story.world.visit("credit undone");
        }
        let credit = groups.get("prepaid_credit").copied().unwrap_or_default();
        if let (Some(customer), true) = (payment.customer, credit > 0) {
            *left.entry((customer, payment.asset)).or_default() += credit;
        }
    }
    shown(story, &left).await?;
    if super::hold::is_at_rest(story).await {
        kept(story).await?;
        taken(story, &books).await?;
    }
    paid_for(story, &entries).await
}

/// What is set aside is so for a period that it paid, for the attempt under way, or for an invoice that takes the rest
/// while it waits for its turn.
async fn kept(story: &Story) -> Check {
    let sql = "SELECT e.id FROM credit_entries e JOIN subscription_charges c ON c.account = e.account AND c.mode = e.mode \
         AND c.subscription = e.subscription AND c.number = e.charge JOIN subscriptions s ON s.account = e.account \
         AND s.mode = e.mode AND s.id = e.subscription LEFT JOIN invoices i ON i.account = c.account AND i.mode = c.mode \
         AND i.id = c.invoice AND i.closed_at IS NULL WHERE e.account = $1 AND e.mode = $2 AND e.returned_at IS NULL \
         AND c.state <> 'paid' AND (s.charge IS NULL OR s.charge <> c.number) AND i.id IS NULL";
    match super::hold::ids(story, sql).await.first() {
        Some(id) => Err(format!("{id} is set aside for nothing")),
        None => Ok(()),
    }
}

/// No period takes more than its price of credit and of what its invoices settle: what is beyond it is somebody's to have
/// back.
async fn taken(story: &Story, books: &BTreeMap<String, Groups>) -> Check {
    let money = "SELECT c.subscription, c.period, p.id, pl.amount_minor FROM payments p JOIN subscription_charges c \
         ON c.account = p.account AND c.mode = p.mode AND c.invoice = p.invoice JOIN subscriptions s ON s.account = c.account \
         AND s.mode = c.mode AND s.id = c.subscription JOIN plans pl ON pl.account = s.account AND pl.mode = s.mode \
         AND pl.id = s.plan WHERE p.account = $1 AND p.mode = $2";
    let credit = "SELECT e.subscription, c.period, e.units, pl.amount_minor FROM credit_entries e JOIN subscription_charges c \
         ON c.account = e.account AND c.mode = e.mode AND c.subscription = e.subscription AND c.number = e.charge \
         JOIN subscriptions s ON s.account = c.account AND s.mode = c.mode AND s.id = c.subscription JOIN plans pl \
         ON pl.account = s.account AND pl.mode = s.mode AND pl.id = s.plan \
         WHERE e.account = $1 AND e.mode = $2 AND e.returned_at IS NULL";
    type Row = (String, i64, String, i64);
    let mut reader = story.world.engine.db.read().await.unwrap();
    let money: Vec<Row> = reader.all(money, &of(&story.scope())).await.unwrap();
    let credit: Vec<Row> = reader.all(credit, &of(&story.scope())).await.unwrap();
    drop(reader);
    let settled = |payment: &str| {
        let groups = books.get(payment);
        groups
            .and_then(|groups| groups.get("settled"))
            .copied()
            .unwrap_or_default()
    };
    let mut sums: BTreeMap<(String, i64, i64), i128> = BTreeMap::new();
    for (subscription, period, payment, price) in money {
        *sums.entry((subscription, period, price)).or_default() += settled(&payment);
    }
    for (subscription, period, units, price) in credit {
        *sums.entry((subscription, period, price)).or_default() += number(&units);
    }
    let beyond = sums
        .iter()
        .find(|((.., price), sum)| **sum > i128::from(*price) * 10_000);
    let Some(((id, period, price), sum)) = beyond else {
        return Ok(());
    };
    let attempts = super::hold::attempts_of(story, id).await;
    Err(format!(
        "period {period} of {id} took {sum} for {price} cents: {attempts:?}"
    ))
}

/// What was set aside of a payment is what is written down about it, and its groups add up to it.
fn conserved(payment: &Payment, groups: &Groups, aside: i128) -> Check {
    let group = |name: &str| groups.get(name).copied().unwrap_or_default();
    let below = groups
        .iter()
        .find(|(name, sum)| *name != "received" && **sum < 0);
    if let Some((name, sum)) = below {
        return Err(format!("{name} is {sum}"));
    }
    let used = number(&payment.credit_used);
    if used != aside {
        return Err(format!("{used} is set aside, and {aside} written down"));
    }
    let is_top_up = payment.customer.is_some() && payment.subscription.is_none();
    if !is_top_up && (used != 0 || group("prepaid_credit") != 0) {
        return Err("credit of what is no top-up".to_owned());
    }
    if payment.status != "reversed" && used + payment.refunded > number(&payment.units) {
        return Err("used and refunded at once".to_owned());
    }
    let refunds = group("refunds_due") + group("refunds_sent");
    if ["held", "refundable"].contains(&&*payment.status) && refunds == 0 && group("settled") < used
    {
        return Err("used, and somebody's to have back".to_owned());
    }
    let is_credit = is_top_up && payment.status == "credited" && payment.level == "final";
    if !is_credit && group("prepaid_credit") != 0 {
        return Err("credit that is not final".to_owned());
    }
    let refunded = group("refunds_due") + group("refunds_sent");
    let sum = group("prepaid_credit") + group("settled") + refunded;
    if is_credit && (sum != number(&payment.units) || group("settled") > used) {
        return Err(format!("it does not add up: {groups:?}"));
    }
    Ok(())
}

/// Customers see what the journal has.
async fn shown(story: &Story, left: &BTreeMap<(String, String), i128>) -> Check {
    for customer in &story.customers {
        let (engine, scope) = (&story.world.engine, story.scope());
        let view = till_engine::customers::retrieve(engine, &scope, customer);
        let view = view.await.map_err(|fail| format!("{fail:?}"))?;
        let mut seen: BTreeMap<(String, String), i128> = BTreeMap::new();
        for token in view.credit.unwrap_or_default() {
            let units = till_core::money::parse(&token.amount, 6).unwrap();
            let units = i128::try_from(units.0).unwrap();
            seen.insert((customer.clone(), token.asset), units);
        }
        let expected = left.iter().filter(|((of, _), _)| of == customer);
        let expected: BTreeMap<_, _> = expected.map(|(key, sum)| (key.clone(), *sum)).collect();
        if seen != expected {
            return Err(format!("credit is {expected:?}, shown as {seen:?}"));
        }
    }
    Ok(())
}

#[derive(Clone, Debug)]
struct Charge {
    subscription: String,
    number: i64,
    invoice: Option<String>,
    state: String,
    price_minor: i64,
    options: Option<String>,
}

type ChargeRow = (String, i64, Option<String>, String, i64, Option<String>);

impl Charge {
    fn of((subscription, number, invoice, state, price_minor, options): ChargeRow) -> Charge {
        Charge {
            subscription,
            number,
            invoice,
            state,
            price_minor,
            options,
        }
    }
}

/// What a period costs is what credit and its invoice come to, as soon as somebody has looked at what left the chain.
async fn paid_for(story: &mut Story, entries: &[Entry]) -> Check {
    let is_at_rest = super::hold::is_at_rest(story).await;
    let sql = "SELECT c.subscription, c.number, c.invoice, c.state, p.amount_minor AS price_minor, i.options \
         FROM subscription_charges c JOIN subscriptions s ON s.account = c.account AND s.mode = c.mode AND s.id = c.subscription \
         JOIN plans p ON p.account = s.account AND p.mode = s.mode AND p.id = s.plan \
         LEFT JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice \
         WHERE c.account = $1 AND c.mode = $2 AND s.cancelled_at IS NULL \
         AND (c.state IN ('open', 'paid') OR (i.closed_at IS NULL AND i.status = 'partially_paid'))";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let charges: Vec<ChargeRow> = reader.all(sql, &of(&story.scope())).await.unwrap();
    drop(reader);
    for charge in charges.into_iter().map(Charge::of) {
        let own = |entry: &&Entry| {
            entry.subscription == charge.subscription
                && entry.charge == charge.number
                && entry.returned_at.is_none()
        };
        let credit: i128 = entries
            .iter()
            .filter(own)
            .map(|entry| number(&entry.units))
            .sum();
        let price = i128::from(charge.price_minor) * 10_000;
        let due = charge.options.as_deref().map_or(0, lowest_due);
        if charge.state == "paid" {
            story
                .world
                .visit(match (charge.invoice.is_some(), credit > 0) {
                    (false, _) => "paid by credit alone",
                    (true, true) => "paid by both",
                    (true, false) => "paid by an invoice",
                });
        }
        // Less than a cent is not asked for.
        let left = price - credit - due;
        let fits = left == 0 || (charge.invoice.is_none() && (0..10_000).contains(&left));
        if !fits && (is_at_rest || !story.has_reversed) {
            return Err(format!("{charge:?} has {credit} of credit and {due} due"));
        }
    }
    Ok(())
}

/// What the stored options ask for; all of them have six decimals.
fn lowest_due(options: &str) -> i128 {
    let options: serde_json::Value = serde_json::from_str(options).unwrap();
    let dues = options.as_array().unwrap().iter();
    let due = dues.map(|option| number(option["due"].as_str().unwrap()));
    due.min().unwrap_or_default()
}
