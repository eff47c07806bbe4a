//! Refunds follow the payments they are drawn from: the one place where a refund's status is set.

use till_core::invoice::Assessment;
use till_core::money::Units;
use till_core::refund::{Cover, Facts, RefundStatus, ReviewReason, source_doubt, status};
use till_store::Write;
use till_store::refunds::RefundRow;

use super::follower::Follower;
use crate::base::fail::Fail;
use crate::screening;
use crate::settlement::facts::LockedInvoice;

/// Gives each refund the status that its facts call for. `after` is what the invoice comes to with these facts.
pub(in crate::settlement) fn apply(at: i64, held: &mut LockedInvoice, after: &Assessment) {
    let cover = cover(held, after);
    let mut received = Received::default();
    for index in 0..held.refunds.len() {
        let row = &held.refunds[index].is;
        let sources = sources_doubt(held, row);
        let facts = Facts {
            is_sent: row.sent_at.is_some(),
            is_cancelled: row.cancelled_at.is_some(),
            is_claimed: row.claimed_at.is_some(),
            screening: row.screening.as_ref().and_then(screening::doubt_of),
            sources,
            was_covered: row.was_covered,
            cover,
            is_received: sources.is_some() || received.has(held, row),
        };
        let (status, reason) = status(&facts);
        let row = &mut held.refunds[index].is;
        (row.status, row.review_reason) = (status, reason);
        if status == RefundStatus::ReadyToSend {
            row.ready_at = row.ready_at.or(Some(at));
        }
    }
}

/// A cancelled invoice asks for nothing, so nothing is missing of its price.
fn cover(held: &LockedInvoice, after: &Assessment) -> Cover {
    if after.is_covered || held.invoice.is.cancelled_at.is_some() {
        Cover::Paid
    } else if after.is_covered_with_disputed {
        Cover::Disputed
    } else {
        Cover::Missing
    }
}

/// The first thing that is wrong with the payments that a refund is drawn from.
fn sources_doubt(held: &LockedInvoice, row: &RefundRow) -> Option<ReviewReason> {
    let is_source = |id: &str| row.sources.iter().any(|(of, _)| of == id);
    let payments = held.payments.iter().map(|payment| &payment.is);
    let sources = payments.filter(|payment| is_source(&payment.id));
    let doubts = sources
        .filter_map(|payment| source_doubt(payment.status, payment.verdict, payment.disputed));
    doubts.min()
}

/// What was received in each asset and is not refunded yet, as refunds are looked at one after the other.
#[derive(Default)]
struct Received(Vec<(String, Units)>);

impl Received {
    /// Whether what this refund gives back is there, besides what was sent and what earlier ones give back.
    fn has(&mut self, held: &LockedInvoice, row: &RefundRow) -> bool {
        if !row.counts() || row.sent_at.is_some() {
            return true;
        }
        let known = self.0.iter().position(|(asset, _)| *asset == row.asset);
        let at = known.unwrap_or_else(|| {
            self.0.push((row.asset.clone(), left(held, &row.asset)));
            self.0.len() - 1
        });
        let left = &mut self.0[at].1;
        match left.minus(row.units) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }
}

/// What was received in an asset, without what was sent back.
fn left(held: &LockedInvoice, asset: &str) -> Units {
    let of_asset = || {
        let payments = held.payments.iter().map(|payment| &payment.is);
        payments.filter(|payment| payment.asset == asset)
    };
    let received = of_asset().filter(|payment| payment.status.is_posted());
    let received = received.fold(Units::ZERO, |sum, payment| sum.plus(payment.units));
    let sent = of_asset().fold(Units::ZERO, |sum, payment| sum.plus(payment.refunds_sent));
    received.minus(sent).unwrap_or(Units::ZERO)
}

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Vec<Write>, Fail> {
    let mut writes = Vec::new();
    for done in settled {
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        for refund in &done.held.refunds {
            if refund.is_new() {
                new.push(refund.is.clone());
            } else if refund.is_changed() {
                changed.push(refund.is.clone());
            }
        }
        writes.extend(till_store::refunds::rows(
            &new,
            done.at,
            done.context.actor(),
        ));
        writes.extend(till_store::refunds::updates(
            &mut changed,
            done.at,
            done.context.actor(),
        )?);
    }
    Ok(writes)
}
