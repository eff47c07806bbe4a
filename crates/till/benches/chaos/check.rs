//! What must be true after a cycle.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ledger::{Ledger, Order, Told};
use super::merchants::{Shop, prefix};
use crate::Res;

/// Nothing may need longer to be told.
const TOLD_TIME: Duration = Duration::from_secs(90);
/// Longer than any invoice waits for its payment.
const EXPIRY_S: u64 = 7_200;
/// What may happen to one invoice here, in the only order in which it may.
const ORDER: [&str; 5] = [
    "invoice.created",
    "invoice.awaiting_payment",
    "invoice.detected",
    "invoice.paid",
    "invoice.expired",
];

/// Everything that is not as it must be.
pub async fn everything(shop: &Shop, ledger: &Ledger, cycle: usize) -> Res<Vec<String>> {
    let mut api = shop.api();
    let orders = ledger.orders(&prefix(cycle));
    // What is not paid expires: an invoice that does not is stuck.
    let clock = json!({ "advance_seconds": EXPIRY_S });
    let request = api.post("/v1/test_helpers/clock", &format!("clock-{cycle}"), &clock);
    let moved = api.insist(cycle, &request).await?;
    if moved.status != 200 {
        ledger.wrong(format!("the clock: {}", moved.body));
    }
    let begun = Instant::now();
    while begun.elapsed() < TOLD_TIME && !orders.values().all(|order| is_told(ledger, order)) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let invoices = api.list("/v1/invoices?limit=100").await?;
    let events = api.list("/v1/events?limit=100").await?;
    let events = by_invoice(&events, &orders);
    exactly_once(ledger, &orders, &invoices, cycle);
    for (name, order) in &orders {
        history(ledger, name, order, events.get(&order.invoice));
    }
    let request = api.get("/v1/webhook_deliveries?limit=1&status=pending");
    let pending = api.insist(cycle, &request).await?;
    if pending.body["data"]
        .as_array()
        .is_none_or(|data| !data.is_empty())
    {
        ledger.wrong(format!("a webhook still waits: {}", pending.body));
    }
    Ok(ledger.take_wrong())
}

fn last_of(order: &Order) -> &'static str {
    if order.is_paid {
        "invoice.paid"
    } else {
        "invoice.expired"
    }
}

fn is_told(ledger: &Ledger, order: &Order) -> bool {
    let told = ledger.told_of(&order.invoice);
    told.iter().any(|told| told.kind == last_of(order))
}

/// Each order has one invoice, the one that was acknowledged, and it is where it must be.
fn exactly_once(
    ledger: &Ledger,
    orders: &HashMap<String, Order>,
    invoices: &[Value],
    cycle: usize,
) {
    let mut found: HashMap<&str, Vec<&Value>> = HashMap::new();
    for invoice in invoices {
        let name = invoice["customer_ref"].as_str().unwrap_or_default();
        if name.starts_with(&prefix(cycle)) {
            found.entry(name).or_default().push(invoice);
        }
    }
    for (name, order) in orders {
        match found.get(name.as_str()).map(Vec::as_slice) {
            Some([one]) if one["id"] == order.invoice.as_str() => {
                let wanted = if order.is_paid { "paid" } else { "expired" };
                if one["status"] != wanted {
                    ledger.wrong(format!("{name} is {} and not {wanted}", one["status"]));
                }
            }
            Some([_]) => ledger.wrong(format!("{name} has another invoice than was acknowledged")),
            Some(many) => ledger.wrong(format!("{name} has {} invoices", many.len())),
            None => ledger.wrong(format!("{name} was acknowledged and is lost")),
        }
    }
    for name in found.keys().filter(|name| !orders.contains_key(**name)) {
        ledger.wrong(format!("{name} has an invoice and was never acknowledged"));
    }
}

/// The ids and kinds of each invoice's events.
fn by_invoice(events: &[Value], orders: &HashMap<String, Order>) -> HashMap<String, Vec<Told>> {
    let wanted: HashSet<&str> = orders
        .values()
        .map(|order| order.invoice.as_str())
        .collect();
    let mut found: HashMap<String, Vec<Told>> = HashMap::new();
    for event in events {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let invoice = text("invoice_id");
        if wanted.contains(invoice.as_str()) {
            let told = Told {
                event: text("id"),
                kind: text("type"),
            };
            found.entry(invoice).or_default().push(told);
        }
    }
    found
}

/// Every event was told, none that is not there, none twice, and in order.
fn history(ledger: &Ledger, name: &str, order: &Order, events: Option<&Vec<Told>>) {
    let told = ledger.told_of(&order.invoice);
    let kinds: Vec<&str> = told.iter().map(|told| told.kind.as_str()).collect();
    let places: Vec<Option<usize>> = kinds
        .iter()
        .map(|kind| ORDER.iter().position(|it| it == kind))
        .collect();
    let is_rising = places.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_rising || places.contains(&None) {
        ledger.wrong(format!("{name} was told of out of order: {kinds:?}"));
    }
    if kinds.last() != Some(&last_of(order)) {
        ledger.wrong(format!("{name} was told of no further than {kinds:?}"));
    }
    let ids = |all: &[Told]| {
        all.iter()
            .map(|told| told.event.clone())
            .collect::<HashSet<_>>()
    };
    let written = events.map(Vec::as_slice).unwrap_or_default();
    if ids(written) != ids(&told) || written.len() != told.len() {
        let written: Vec<&str> = written.iter().map(|told| told.kind.as_str()).collect();
        ledger.wrong(format!(
            "{name} has the events {written:?} and was told {kinds:?}"
        ));
    }
}
