//! Events: exactly those that happened, in order, each with its delivery; the stream without gaps, its last
//! event where the invoice stands; nothing of one merchant in another's. (I09, I10, I11, I21, I22)

use std::collections::BTreeMap;

use serde_json::Value;
use till_store::Queries as _;

use super::transitions::{Cause, legal};
use super::{and, same};
use crate::model::Model;
use crate::world::{Check, World};

pub async fn check(world: &World, model: &Model, m: usize, id: &str) -> Check {
    let merchant = &model.merchants[m];
    let expected = &merchant.invoices[id];
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT id, type, stream_seq, body, account, mode FROM events WHERE subject = $3 \
         AND account = $1 AND mode = $2 ORDER BY id";
    type Row = (String, String, Option<i64>, String, String, String);
    let rows: Vec<Row> = reader.all(sql, &and(&merchant.scope, id)).await.unwrap();
    let found: Vec<(&str, Option<i64>)> = rows.iter().map(|row| (&*row.1, row.2)).collect();
    let told: Vec<(&str, Option<i64>)> = expected
        .events
        .iter()
        .map(|event| (&*event.kind, event.seq))
        .collect();
    same("the events", &found, &told)?;

    let sql = "SELECT event, CAST(count(*) AS BIGINT) FROM deliveries WHERE account = $1 AND mode = $2 \
         AND subject = $3 AND attempt = 1 GROUP BY event";
    let firsts: Vec<(String, i64)> = reader.all(sql, &and(&merchant.scope, id)).await.unwrap();
    let firsts: BTreeMap<String, i64> = firsts.into_iter().collect();

    let mut status = String::new();
    let (mut cause, mut cancelled) = (Cause::Silent, false);
    let (mut paid, mut excuses) = (0, 0);
    for ((event, kind, seq, body, ..), told) in rows.iter().zip(&expected.events) {
        let sends = firsts.get(event).copied().unwrap_or(0);
        let wanted = i64::from(told.hooked) + told.replays;
        same(&format!("first deliveries of {kind}"), sends, wanted)?;
        let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        same("the event's id", body["id"].as_str(), Some(event.as_str()))?;
        same(
            "the event's type",
            body["type"].as_str(),
            Some(kind.as_str()),
        )?;
        same("the event's invoice", body["invoice_id"].as_str(), Some(id))?;
        let live = merchant.scope.mode.is_live();
        same("livemode", body["livemode"].as_bool(), Some(live))?;
        let object = &body["data"]["object"];
        same("the object's id", object["id"].as_str(), Some(id))?;
        about_payment(kind, &body)?;
        // A freeze takes back that it is paid, and a thaw may give it again.
        excuses += i32::from(kind == "invoice.under_review" && status == "paid");
        if seq.is_some() {
            let next = match kind.as_str() {
                "invoice.created" => "awaiting_payment",
                kind => kind.trim_start_matches("invoice."),
            };
            same(
                "the status in the event",
                object["status"].as_str(),
                Some(next),
            )?;
            if !status.is_empty() && !legal(&status, next, cause, cancelled) {
                return Err(format!(
                    "{status} cannot become {next} by {cause:?}: {found:?}"
                ));
            }
            next.clone_into(&mut status);
            cause = Cause::Silent;
            cancelled |= status == "cancelled";
        }
        match kind.as_str() {
            "invoice.payment_reversed" => cause = Cause::Reversal,
            "invoice.review_resolved" => cause = Cause::Decision,
            _ => {}
        }
        paid += i32::from(kind == "invoice.paid");
        excuses += i32::from(matches!(
            kind.as_str(),
            "invoice.payment_reversed" | "invoice.review_resolved"
        ));
    }
    same(
        "the last status on the stream",
        status.as_str(),
        expected.now.status,
    )?;
    if paid > 1 + excuses {
        return Err(format!("paid {paid} times, with {excuses} reasons to"));
    }
    let strangers = model
        .merchants
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != m);
    for (_, stranger) in strangers {
        if rows.iter().any(|row| row.3.contains(&stranger.mark)) {
            return Err(format!("an event carries what is of {}", stranger.mark));
        }
    }
    Ok(())
}

fn about_payment(kind: &str, body: &Value) -> Check {
    let status = body["data"]["payment"]["status"].as_str();
    match kind {
        "invoice.payment_reversed" => same("the payment in the event", status, Some("reversed")),
        "invoice.wrong_asset" | "invoice.late_payment" => {
            same("the payment in the event", status, Some("refundable"))
        }
        _ => same("a payment in the event", status, None),
    }
}
