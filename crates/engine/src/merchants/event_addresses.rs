//! What is sent late, once more, or listed asks for money only where it still reaches the invoice: an event keeps the addresses
//! that its invoice had then, and one of them may be another invoice's by now.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use till_core::scope::Scope;
use till_store::{Queries, StoreError};

use crate::base::fail::Fail;
use crate::settlement::facts::ended;
use crate::view::InvoiceView;

#[derive(Deserialize)]
struct Event<'b> {
    #[serde(borrow)]
    data: Data<'b>,
}

#[derive(Deserialize)]
struct Data<'b> {
    #[serde(borrow)]
    object: EventSubject<'b>,
    #[serde(borrow)]
    invoice: Option<EventSubject<'b>>,
}

/// What an event tells of: an invoice, where it has ways to pay.
#[derive(Deserialize)]
struct EventSubject<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow)]
    payment_options: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct PaymentOption<'b> {
    #[serde(borrow)]
    address: Option<Cow<'b, str>>,
}

/// Takes out of these events the addresses that their invoices do not have at this moment of the account's time.
pub async fn take_out_lost(
    q: &mut impl Queries,
    scope: &Scope,
    now: i64,
    bodies: &mut [&mut String],
) -> Result<(), Fail> {
    let told = bodies.iter().flat_map(|body| ways(body));
    let invoices: BTreeSet<String> = told.map(|(id, _)| id.into_owned()).collect();
    if invoices.is_empty() {
        return Ok(());
    }
    let ids: Vec<(&Scope, &str)> = invoices.iter().map(|id| (scope, &**id)).collect();
    let rows = till_store::invoices::find_many(q, &ids).await?;
    let ended = ended(q, &rows).await?;
    let mut held: HashMap<&str, HashSet<String>> = HashMap::new();
    for row in &rows {
        let is_ended = |id: &String| ended.contains_key(id);
        let view = InvoiceView::of(row, "", None, now)?;
        let view = match row.subscription.as_ref().is_some_and(is_ended) {
            true => view.of_ended(),
            false => view,
        };
        let shown = view.payment_options.into_iter();
        held.insert(&row.id, shown.filter_map(|way| way.address).collect());
    }
    for body in bodies {
        if let Some(kept) = without_lost(body, &held)? {
            **body = kept;
        }
    }
    Ok(())
}

/// The invoices that an event tells of, with the ways to pay as it has them.
fn ways(body: &str) -> Vec<(Cow<'_, str>, &str)> {
    // Events are ours, and most have no address: only what may have one is read.
    if !body.contains("\"address\":\"") {
        return Vec::new();
    }
    let Ok(Event { data }) = serde_json::from_str::<Event<'_>>(body) else {
        return Vec::new();
    };
    let told = [Some(data.object), data.invoice];
    let told = told.into_iter().flatten();
    told.filter_map(|it| Some((it.id, it.payment_options?.get())))
        .collect()
}

/// None where every address of the event is still its invoice's.
fn without_lost(
    body: &str,
    held: &HashMap<&str, HashSet<String>>,
) -> Result<Option<String>, StoreError> {
    let mut changed = None;
    for (invoice, options) in ways(body) {
        let corrupt = |error| StoreError::corrupt("events", "body", &invoice, error);
        let shown: Vec<PaymentOption<'_>> = serde_json::from_str(options).map_err(corrupt)?;
        let of_invoice = held.get(&*invoice);
        let is_held = |address: &str| of_invoice.is_some_and(|held| held.contains(address));
        let addresses = shown.iter().filter_map(|way| way.address.as_deref());
        let mut kept = options.to_owned();
        for lost in addresses.filter(|address| !is_held(address)) {
            kept = kept.replace(&format!("\"address\":\"{lost}\""), "\"address\":null");
        }
        if kept != options {
            let whole = changed.unwrap_or_else(|| body.to_owned());
            changed = Some(whole.replace(options, &kept));
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"id":"evt_1","data":{"object":{"id":"inv_a","metadata":{"address":"12 High Street"},"payment_options":[{"asset":"A","address":"0x1"},{"asset":"B","address":"T2"},{"asset":"C","address":null}]}}}"#;

    fn held(of: &[(&'static str, &[&str])]) -> HashMap<&'static str, HashSet<String>> {
        let set = |addresses: &[&str]| addresses.iter().map(ToString::to_string).collect();
        of.iter().map(|(id, held)| (*id, set(held))).collect()
    }

    #[test]
    fn only_addresses_that_are_lost_are_taken_out() {
        let all = held(&[("inv_a", &["0x1", "T2"])]);
        assert_eq!(without_lost(BODY, &all).unwrap(), None);
        let one = without_lost(BODY, &held(&[("inv_a", &["T2"])])).unwrap();
        let expected = BODY.replace("\"address\":\"0x1\"", "\"address\":null");
        assert_eq!(one, Some(expected.clone()));
        // Another's address is no better for being held by somebody.
        let others = held(&[("inv_b", &["0x1"]), ("inv_a", &["T2"])]);
        assert_eq!(without_lost(BODY, &others).unwrap(), Some(expected));
    }

    #[test]
    fn the_invoice_of_a_subscription_s_event_is_looked_at_and_a_refund_s_address_is_not() {
        let renewal = BODY.replace(
            "\"object\":{\"id\":\"inv_a\"",
            "\"object\":{\"id\":\"sub_a\"},\"invoice\":{\"id\":\"inv_a\"",
        );
        let kept = without_lost(&renewal, &held(&[])).unwrap().unwrap();
        assert!(
            !kept.contains("0x1") && kept.contains("12 High Street"),
            "{kept}"
        );
        let refund = r#"{"data":{"object":{"id":"rfd_a","payout":{"address":"0x1"}}}}"#;
        assert_eq!(without_lost(refund, &held(&[])).unwrap(), None);
    }
}
