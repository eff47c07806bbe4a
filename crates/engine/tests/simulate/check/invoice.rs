//! An invoice and its payments as they are stored, against the model. (I07, I08, I18, I26)

use till_store::payments::PaymentRow;

use super::{same, status_at};
use crate::chain::TransferId;
use crate::expect::Seen;
use crate::model::Merchant;
use crate::world::{Check, World};

pub async fn check(world: &World, merchant: &Merchant, id: &str) -> Check {
    let expected = &merchant.invoices[id];
    let mut reader = world.engine.db.read().await.unwrap();
    let found = till_store::invoices::find(&mut reader, &merchant.scope, id)
        .await
        .unwrap();
    let row = found.ok_or("an acknowledged invoice is gone")?;
    same("status", row.status.as_str(), expected.now.status)?;
    same("cancelled_at", row.cancelled_at, expected.cancelled_at)?;
    same("paid_at", row.paid_at, expected.paid_at)?;
    same("closed_at", row.closed_at, expected.closed_at)?;
    same("expires_at", row.expires_at, expected.terms.expires_at)?;
    same("select_by", row.select_by, expected.terms.select_by)?;
    same("the link", &row.payment_link, &expected.link)?;
    let tolerance = u32::try_from(expected.terms.tolerance_bps).unwrap();
    same("tolerance", row.tolerance_bps, tolerance)?;
    let summary = &row.summary;
    let plain = |(asset, units): &(String, till_core::money::Units)| (asset.clone(), units.0);
    let received: Vec<(String, u128)> = summary.received.iter().map(plain).collect();
    same("received", &received, &expected.now.received)?;
    same(
        "remaining",
        &summary.remaining.as_ref().map(plain),
        &expected.now.remaining,
    )?;
    same(
        "overpaid",
        &summary.overpaid.as_ref().map(plain),
        &expected.now.overpaid,
    )?;
    let hold = expected.now.hold.clone().zip(expected.review_since);
    let review = summary
        .review
        .map(|review| (review.hold.as_str().to_owned(), review.opened_at));
    same("review", &review, &hold)?;

    // The stored status is what the facts give now; only an expiry may still have to be looked at.
    let now = world.real_now() + merchant.offset_ms;
    let fresh = status_at(merchant, id, now);
    if fresh != row.status.as_str() && !(expected.timer.is_some() && fresh == "expired") {
        return Err(format!(
            "the facts give {fresh}, but {} is stored",
            row.status.as_str()
        ));
    }

    let rows = till_store::payments::of_invoice(&mut reader, &merchant.scope, id)
        .await
        .unwrap();
    let ids = merchant.payments_of(id);
    same("the number of payments", rows.len(), ids.len())?;
    for row in &rows {
        let id = TransferId {
            network: row.network.clone(),
            tx: row.tx_hash.clone(),
            place: row.place,
        };
        let mut seen = merchant.seen_at(&id);
        let seen = seen.find(|seen| seen.payment == row.id);
        let seen = seen.ok_or("a payment that nobody sent")?;
        payment(row, seen).map_err(|wrong| format!("{} {}: {wrong}", row.id, row.tx_hash))?;
    }
    Ok(())
}

fn payment(row: &PaymentRow, seen: &Seen) -> Check {
    same("payment id", &row.id, &seen.payment)?;
    same("status", row.status.as_str(), seen.part.status)?;
    same("units", row.units.0, seen.units)?;
    same("asset", &row.asset, &seen.asset)?;
    same("suffix", row.suffix.0, seen.suffix.unwrap_or(0))?;
    let by = match seen.suffix {
        Some(_) => "wallet_binding",
        None => "deposit_address",
    };
    same("what it was known by", row.attributed_by.as_str(), by)?;
    same("level", row.level.as_str(), seen.level.as_str())?;
    same(
        "first level",
        row.first_level.as_str(),
        seen.first_level.as_str(),
    )?;
    let verdict = row.verdict.map(till_core::payment::Verdict::show);
    same("verdict", &verdict, &seen.verdict)?;
    same("gone_at", row.gone_at, seen.gone_at)?;
    same("turn", row.credit_turn, seen.part.turn)?;
    same("first_seen_at", row.first_seen_at, seen.first_seen_at)?;
    same("credited_at", row.credited_at, seen.credited_at)?;
    let block = (row.block_number, row.block_hash.clone(), row.block_time);
    let expected = match &seen.block {
        Some((number, hash, time)) => (Some(*number), Some(hash.clone()), Some(*time)),
        None => (None, None, None),
    };
    same("block", block, expected)?;
    same("entries", row.entries, seen.entries)
}
