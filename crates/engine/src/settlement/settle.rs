//! Facts in, and all that follows from them written together.

use till_core::asset::Registry;
use till_core::event::announce;
use till_core::id::Kind;
use till_core::invoice::{Assessment, Facts, Status, judge};
use till_core::ledger::{self, EntryKind};
use till_core::money::Currency;
use till_core::payment::{Hold, Payment, PaymentStatus};
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::journal::NewEntry;
use till_store::payments::PaymentRow;

use super::facts::Held;
use super::follow;
use super::tell::{Extra, Rendered, events_of};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::view::Summary;

/// Works out what the facts now say and writes the difference: payments, journal, invoice, lease, events.
pub async fn settle(
    tx: &mut Tx,
    context: &Context<'_>,
    mut held: Held,
    extra: Option<Extra>,
) -> Result<InvoiceRow, Fail> {
    pass_verdicts(context, &mut held);
    let after = held.assess(context.now);
    let status_before = held.row.status()?;
    let was: Vec<Option<PaymentStatus>> = held.payments.iter().map(|payment| payment.was).collect();
    let announcements = announce(status_before, &was, &after);
    let before = held.row.clone();
    write_payments(tx, context, &mut held, &after).await?;
    apply_to_row(context, &mut held.row, &after)?;
    follow::link_unit::follow(tx, context, &mut held.row).await?;
    let rendered = Rendered {
        before: &before,
        held: &held,
        extra,
    };
    let events = events_of(context, &rendered, &announcements)?;
    held.row.stream_seq += i64::try_from(
        events
            .iter()
            .filter(|event| event.stream_seq.is_some())
            .count(),
    )
    .map_err(Fail::broken)?;
    if differs(&before, &held.row) {
        till_store::invoices::update(tx, &held.row).await?;
    }
    if after.status.is_closed() && !status_before.is_closed() {
        till_store::bindings::close(tx, &context.scope, &held.row.id).await?;
    }
    follow::lease::follow(
        tx,
        context,
        &held,
        status_before.is_closed(),
        after.status.is_closed(),
    )
    .await?;
    if after.status.is_paid() && !status_before.is_paid() {
        follow::receipt::on_paid(tx, context, &held.row).await?;
    }
    outbox::record(tx, context, &events).await?;
    if !events.is_empty() {
        context.effects.stream(&held.row.id);
    }
    Ok(held.row)
}

fn pass_verdicts(context: &Context<'_>, held: &mut Held) {
    let facts = held.facts();
    let limit = manual_review_minor(context, &held.row.currency);
    let senders: Vec<Option<Hold>> = held
        .payments
        .iter()
        .map(|payment| risk_of(&payment.row))
        .collect();
    let risk = |payment: &Payment| {
        let index = facts.iter().position(|fact| fact.id == payment.id)?;
        senders[index]
    };
    let facts_view = Facts {
        terms: &held.terms,
        payments: &facts,
        cancelled_at: held.row.cancelled_at,
    };
    for (index, verdict) in judge(&facts_view, limit, risk) {
        let payment = &mut held.payments[index];
        payment.fact.verdict = Some(verdict);
        payment.row.verdict = Some(verdict.show());
    }
}

/// The limit is set in USD; an invoice in another currency is measured by the same figure of its own.
fn manual_review_minor(context: &Context<'_>, currency: &str) -> Option<u64> {
    let text = context.merchant.row.manual_review_amount.as_deref()?;
    let decimals = Currency::parse(currency)?.decimals();
    // Two decimals were checked when it was set; a currency without minor units rounds the limit down.
    let cents = till_core::money::parse(text, 2).ok()?.0;
    let scaled = cents.checked_mul(10u128.pow(decimals))? / 100;
    u64::try_from(scaled).ok()
}

/// Test mode matches documented addresses; the real lists join here when networks are watched.
fn risk_of(payment: &PaymentRow) -> Option<Hold> {
    let sender = payment.sender.as_deref()?;
    let family = Registry::builtin().network(&payment.network)?.family;
    if payment.mode != "test" {
        return None;
    }
    till_chains::test_screening()
        .iter()
        .find(|(listed, _, address)| *listed == family && *address == sender)
        .and_then(|(_, list, _)| Hold::parse(list))
}

/// Each payment's status and position follow from the assessment; what moved is journalled.
async fn write_payments(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &mut Held,
    after: &Assessment,
) -> Result<(), Fail> {
    let (mut new, mut entries) = (Vec::new(), Vec::new());
    for (payment, part) in held.payments.iter_mut().zip(&after.parts) {
        let row = &mut payment.row;
        row.status = part.status.as_str().to_owned();
        if part.status == PaymentStatus::Credited && payment.was != Some(PaymentStatus::Credited) {
            row.credited_at = Some(context.now);
        }
        if let Some((kind, lines)) = ledger::entry(row.position()?, part.position) {
            let reverses = match kind {
                EntryKind::Reversal => {
                    till_store::journal::last_entry(tx, &context.scope, &row.id).await?
                }
                _ => None,
            };
            row.entries += 1;
            row.position = serde_json::to_string(&part.position).map_err(Fail::broken)?;
            entries.push(NewEntry {
                id: context.engine.ids.make(Kind::JournalEntry),
                scope: context.scope.clone(),
                kind,
                invoice: row.invoice.clone(),
                payment: row.id.clone(),
                step: row.entries,
                reverses,
                asset: row.asset.clone(),
                lines,
                created_at: context.now,
            });
        }
        match &payment.stored {
            None => new.push(row.clone()),
            Some(stored) if stored != row => till_store::payments::update(tx, row).await?,
            Some(_) => {}
        }
    }
    till_store::payments::insert(tx, &new).await?;
    till_store::journal::append(tx, &entries).await?;
    Ok(())
}

fn apply_to_row(
    context: &Context<'_>,
    row: &mut InvoiceRow,
    after: &Assessment,
) -> Result<(), Fail> {
    let opened_at = match Summary::read(row)?.review {
        Some((_, at)) => at,
        None => context.now,
    };
    let summary = Summary {
        received: after.received.clone(),
        remaining: after.remaining.clone(),
        overpaid: (after.status == Status::Overpaid)
            .then(|| after.overpaid.clone())
            .flatten(),
        review: (after.status == Status::UnderReview)
            .then(|| after.hold.map(|hold| (hold.as_str().to_owned(), opened_at)))
            .flatten(),
    };
    row.status = after.status.as_str().to_owned();
    row.summary = if summary == Summary::default() {
        None
    } else {
        Some(serde_json::to_string(&summary).map_err(Fail::broken)?)
    };
    row.paid_at = if after.status.is_paid() {
        row.paid_at.or(Some(context.now))
    } else {
        None
    };
    row.closed_at = if after.status.is_closed() {
        row.closed_at.or(Some(context.now))
    } else {
        None
    };
    Ok(())
}

fn differs(before: &InvoiceRow, after: &InvoiceRow) -> bool {
    let key = |row: &InvoiceRow| {
        let unit = row.link_unit.clone();
        let times = (row.paid_at, row.closed_at, row.cancelled_at, row.stream_seq);
        (
            row.status.clone(),
            row.summary.clone(),
            row.options.clone(),
            unit,
            times,
        )
    };
    key(before) != key(after)
}
