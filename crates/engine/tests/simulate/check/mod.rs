//! What must hold after every step, read from the tables and compared with the model.

pub mod answers;
pub mod bindings;
mod books;
pub mod deliveries;
mod events;
mod invoice;
pub mod leases;
pub mod links;
pub mod nets;
pub mod properties;
pub mod rest;
pub mod transitions;

use till_core::scope::Scope;
use till_store::payments::PaymentRow;
use till_store::{Queries as _, Record, Val};

use crate::expect::{Expected, Seen, expect};
use crate::model::{Merchant, Model};
use crate::steps::Touched;
use crate::world::{Check, World};

/// Says what differs.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Check {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, expected {expected:?}"))
    }
}

/// Reads whole records, whatever order the table's columns have.
pub fn select<T: Record>(condition: &str) -> String {
    let columns = T::COLUMNS.join(", ");
    format!("SELECT {columns} FROM {} WHERE {condition}", T::TABLE)
}

pub fn of(scope: &Scope) -> [Val; 2] {
    [(&*scope.account).into(), scope.mode.as_str().into()]
}

pub fn and(scope: &Scope, more: impl Into<Val>) -> [Val; 3] {
    let [account, mode] = of(scope);
    [account, mode, more.into()]
}

/// The status that the facts give at a moment.
pub fn status_at(merchant: &Merchant, id: &str, now: i64) -> &'static str {
    expected_at(merchant, id, now).status
}

/// All that they give.
pub fn expected_at(merchant: &Merchant, id: &str, now: i64) -> Expected {
    let Some(invoice) = merchant.invoices.get(id) else {
        return Expected::default();
    };
    let ids = merchant.payments_of(id);
    let facts: Vec<Seen> = ids.iter().map(|id| merchant.seen[id].clone()).collect();
    expect(&invoice.terms, &facts, invoice.cancelled_at, now)
}

/// Invoices whose timers are gone from the table, but not yet from the model.
pub async fn fired(world: &World, real_now: i64) -> Vec<(usize, String)> {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql =
        "SELECT subject FROM timers WHERE account = $1 AND mode = $2 AND kind <> 'tell_review'";
    let mut fired = Vec::new();
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        let waiting: Vec<(String,)> = reader.all(sql, &of(&merchant.scope)).await.unwrap();
        for (id, invoice) in &merchant.invoices {
            let now = real_now + merchant.offset_ms;
            let due = invoice.timer.is_some_and(|due_at| due_at <= now);
            if due && !waiting.iter().any(|(subject,)| subject == id) {
                fired.push((m, id.clone()));
            }
        }
    }
    fired
}

/// Whether a merchant's clock was told to go further than it has come.
pub async fn clock_is_on_its_way(world: &World, m: usize) -> bool {
    let mut reader = world.engine.db.read().await.unwrap();
    let scope = &world.model.merchants[m].scope;
    let row = till_store::accounts::merchant(&mut reader, scope).await;
    row.unwrap().unwrap().clock_goal.is_some()
}

/// The payment that the test helper just made up.
pub async fn made_up_payment(world: &World, m: usize) -> Option<PaymentRow> {
    let merchant = &world.model.merchants[m];
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT id FROM payments WHERE account = $1 AND mode = $2 AND simulated = 1 ORDER BY id DESC LIMIT 1";
    let (id,): (String,) = reader.one(sql, &of(&merchant.scope)).await.unwrap()?;
    if merchant.seen.values().any(|seen| seen.payment == id) {
        return None;
    }
    till_store::payments::find(&mut reader, &merchant.scope, &id)
        .await
        .unwrap()
}

pub async fn touched(world: &World, model: &Model, touched: &Touched) -> Check {
    for m in &touched.merchants {
        merchant_row(world, &model.merchants[*m]).await?;
    }
    for network in &touched.networks {
        nets::check(world, model, network).await?;
    }
    let mut invoices = touched.invoices.clone();
    invoices.sort();
    invoices.dedup();
    for (m, id) in &invoices {
        one(world, model, *m, id).await?;
    }
    Ok(())
}

async fn one(world: &World, model: &Model, m: usize, id: &str) -> Check {
    let merchant = &model.merchants[m];
    let checked = async {
        invoice::check(world, merchant, id).await?;
        books::of_invoice(world, merchant, id).await?;
        events::check(world, model, m, id).await
    };
    checked.await.map_err(|wrong| format!("m{m} {id}: {wrong}"))
}

async fn merchant_row(world: &World, merchant: &Merchant) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let found = till_store::accounts::merchant(&mut reader, &merchant.scope)
        .await
        .unwrap();
    let row = found.ok_or("a merchant is gone")?;
    let review = merchant
        .review_cents
        .map(|cents| format!("{}.{:02}", cents / 100, cents % 100));
    let tolerance = u32::try_from(merchant.tolerance_bps).unwrap();
    same("tolerance", row.underpay_tolerance_bps, tolerance)?;
    same("manual review amount", &row.manual_review_amount, &review)?;
    same("webhook URL", &row.webhook_url, &merchant.url)?;
    same("clock offset", row.clock_offset_ms, merchant.offset_ms)
}

/// Everything, at once.
pub async fn all(world: &mut World) -> Check {
    let model = world.model.clone();
    for (m, merchant) in model.merchants.iter().enumerate() {
        merchant_row(world, merchant).await?;
        counts(world, merchant)
            .await
            .map_err(|wrong| format!("m{m}: {wrong}"))?;
        leases::check(world, merchant)
            .await
            .map_err(|wrong| format!("m{m}: {wrong}"))?;
        links::check(world, merchant)
            .await
            .map_err(|wrong| format!("m{m}: {wrong}"))?;
        bindings::check(world, merchant)
            .await
            .map_err(|wrong| format!("m{m}: {wrong}"))?;
        for id in merchant.invoices.keys() {
            one(world, &model, m, id).await?;
        }
    }
    for network in model.nets.keys() {
        nets::check(world, &model, network).await?;
    }
    books::only_grew(world).await?;
    deliveries::received(world)
}

/// Nothing is there that nobody asked for.
async fn counts(world: &World, merchant: &Merchant) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let of_invoices = merchant.invoices.values().map(|it| it.events.len());
    let events = of_invoices.sum::<usize>() + merchant.link_events;
    let told = merchant.invoices.values().flat_map(|it| &it.events);
    let decisions = told.filter(|event| event.kind == "invoice.review_resolved");
    let decisions = decisions.count();
    let since = world.real_now() - crate::model::KEPT_MS;
    let keys = merchant
        .keys
        .values()
        .filter(|kept| kept.at >= since)
        .count();
    let timers = merchant
        .invoices
        .values()
        .filter(|invoice| invoice.timer.is_some())
        .count();
    for (table, condition, expected) in [
        ("invoices", "$3 = $3", merchant.invoices.len()),
        ("payments", "$3 = $3", merchant.seen.len()),
        ("events", "$3 = $3", events),
        ("payment_links", "$3 = $3", merchant.links.len()),
        ("wallet_bindings", "$3 = $3", merchant.bindings.len()),
        // The model has no team that is told of reviews.
        ("timers", "$3 = $3 AND kind <> 'tell_review'", timers),
        ("review_decisions", "$3 = $3", decisions),
        ("idempotency_keys", "created_at >= $3", keys),
    ] {
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE account = $1 AND mode = $2 AND {condition}"
        );
        let (found,): (i64,) = reader
            .one(&sql, &and(&merchant.scope, since))
            .await
            .unwrap()
            .unwrap();
        same(
            &format!("the number of {table}"),
            usize::try_from(found).unwrap(),
            expected,
        )?;
    }
    Ok(())
}
