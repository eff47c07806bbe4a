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
);

impl Payment {
    fn of(
        (id, customer, subscription, asset, status, level, units, credit_used): PaymentRow,
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
        }
    }
}

async fn payments(story: &Story) -> Vec<Payment> {
    let sql = "SELECT p.id, i.customer, i.subscription, p.asset, p.status, p.level, p.units, p.credit_used FROM payments p \
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
        let credit = groups.get("prepaid_credit").copied().unwrap_or_default();
        if let (Some(customer), true) = (payment.customer, credit > 0) {
            *left.entry((customer, payment.asset)).or_default() += credit;
        }
    }
    shown(story, &left).await?;
    paid_for(story, &entries).await
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

/// What a period cost is what credit and its invoice come to. What left the chain meanwhile may have torn a hole.
async fn paid_for(story: &mut Story, entries: &[Entry]) -> Check {
    let sql = "SELECT c.subscription, c.number, c.invoice, c.state, p.amount_minor AS price_minor, i.options \
         FROM subscription_charges c JOIN subscriptions s ON s.account = c.account AND s.mode = c.mode AND s.id = c.subscription \
         JOIN plans p ON p.account = s.account AND p.mode = s.mode AND p.id = s.plan \
         LEFT JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice \
         WHERE c.account = $1 AND c.mode = $2 AND c.state <> 'closed'";
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
        if credit + due != price {
            if !story.has_reversed {
                return Err(format!("{charge:?} has {credit} of credit and {due} due"));
            }
            story.world.visit("credit undone");
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
