//! Facts in, and all that follows from them: worked out without the database, then written together.

use std::collections::HashMap;

use till_core::event::{Stood, announce};
use till_core::id::IdKind;
use till_core::invoice::{Assessment, Facts, Part, Review, Status, Summary, assess};
use till_core::ledger::{self, EntryKind};
use till_core::payment::PaymentStatus;
use till_store::Tx;
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::journal::NewEntry;

use super::facts::Held;
use super::follow::Follower;
use super::tell::{Extra, events_of};
use super::{follow, judge};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;

/// An invoice whose facts have changed, or whose time has.
pub struct Change<'c> {
    pub context: &'c Context<'c>,
    pub held: Held,
    pub extra: Option<Extra>,
}

/// What follows from a change.
pub(super) struct Settled<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) held: Held,
    /// When it happens, in business time.
    pub(super) at: i64,
    pub(super) before: Status,
    pub(super) entries: Vec<NewEntry>,
    pub(super) events: Vec<EventRow>,
}

/// Works out what the facts now say and writes the difference.
pub async fn settle(
    tx: &mut Tx,
    context: &Context<'_>,
    held: Held,
    extra: Option<Extra>,
) -> Result<InvoiceRow, Fail> {
    let change = Change {
        context,
        held,
        extra,
    };
    let settled = settle_all(tx, vec![change]).await?.pop();
    settled.ok_or_else(|| Fail::broken("a change was settled without a result"))
}

/// The same for many invoices, of many accounts, in a few statements.
pub async fn settle_all(tx: &mut Tx, changes: Vec<Change<'_>>) -> Result<Vec<InvoiceRow>, Fail> {
    let mut settled: Vec<Settled<'_>> = changes
        .into_iter()
        .map(work_out)
        .collect::<Result<_, _>>()?;
    name_reversed(tx, &mut settled).await?;
    write(tx, &settled).await?;
    for done in &settled {
        if !done.events.is_empty() {
            done.context.effects.stream(done.held.id());
        }
    }
    Ok(settled
        .into_iter()
        .map(|done| done.held.invoice.is)
        .collect())
}

fn work_out(change: Change<'_>) -> Result<Settled<'_>, Fail> {
    let Change {
        context,
        mut held,
        extra,
    } = change;
    let at = held.moment(context);
    let before = held.invoice.is.status;
    let terms = held.terms();
    judge::pass_verdicts(context, &terms, &mut held);
    let after = assess(
        &Facts {
            terms: &terms,
            payments: &held.facts(),
            cancelled_at: held.invoice.is.cancelled_at,
        },
        at,
    );
    let announcements = announce(before, &stood(&held), &after);
    let entries = move_payments(context, at, &mut held, &after)?;
    apply(at, &mut held.invoice.is, &after);
    follow::link_unit::apply(&mut held.invoice.is);
    let events = events_of(context, at, &held, &announcements, extra.as_ref())?;
    let streamed = events.iter().filter(|event| event.stream_seq.is_some());
    held.invoice.is.stream_seq += i64::try_from(streamed.count()).map_err(Fail::broken)?;
    Ok(Settled {
        context,
        held,
        at,
        before,
        entries,
        events,
    })
}

/// The payments as the database has them.
fn stood(held: &Held) -> Vec<Stood<'_>> {
    let known = held.payments.iter().filter_map(|it| it.was.as_ref());
    let stood = known.map(|was| Stood {
        payment: &was.id,
        status: was.status,
        credited: was.credit_turn.is_some(),
    });
    stood.collect()
}

/// Each payment's status and position follow from the assessment; what moved is journalled.
fn move_payments(
    context: &Context<'_>,
    at: i64,
    held: &mut Held,
    after: &Assessment,
) -> Result<Vec<NewEntry>, Fail> {
    let parts: HashMap<&str, &Part> = after
        .parts
        .iter()
        .map(|part| (part.payment.as_str(), part))
        .collect();
    let mut entries = Vec::new();
    for payment in &mut held.payments {
        let part = parts
            .get(payment.is.id.as_str())
            .ok_or_else(|| Fail::broken("a payment was not assessed"))?;
        let was_credited = payment
            .was
            .as_ref()
            .is_some_and(|was| was.status == PaymentStatus::Credited);
        let row = &mut payment.is;
        row.status = part.status;
        row.credit_turn = part.credited;
        if part.status == PaymentStatus::Credited && !was_credited {
            row.credited_at = Some(at);
        }
        if let Some((kind, lines)) = ledger::entry(row.position, part.position) {
            row.entries += 1;
            row.position = part.position;
            entries.push(NewEntry {
                id: context.engine.ids.make(IdKind::JournalEntry),
                scope: context.scope.clone(),
                kind,
                invoice: Some(row.invoice.clone()),
                subject: row.id.clone(),
                step: row.entries,
                reverses: None,
                asset: row.asset.clone(),
                lines,
                created_at: at,
            });
        }
    }
    Ok(entries)
}

fn apply(at: i64, row: &mut InvoiceRow, after: &Assessment) {
    let opened_at = row.summary.review.map_or(at, |review| review.opened_at);
    let review = after.hold.map(|hold| Review { hold, opened_at });
    row.summary = Summary {
        received: after.received.clone(),
        remaining: after.remaining.clone(),
        overpaid: after.overpaid.clone(),
        review,
    };
    row.status = after.status;
    let kept_if = |holds: bool, since: Option<i64>| holds.then(|| since.unwrap_or(at));
    row.paid_at = kept_if(after.status.is_paid(), row.paid_at);
    row.closed_at = kept_if(after.status.is_closed(), row.closed_at);
}

/// An entry that takes back says which one.
async fn name_reversed(tx: &mut Tx, settled: &mut [Settled<'_>]) -> Result<(), Fail> {
    let entries = settled.iter_mut().flat_map(|done| &mut done.entries);
    for entry in entries.filter(|entry| entry.kind == EntryKind::Reversal) {
        let (scope, subject) = (&entry.scope, &entry.subject);
        entry.reverses = till_store::journal::last_entry(tx, scope, subject).await?;
    }
    Ok(())
}

/// Everything in one trip: payments, journal, invoices, what follows them, events.
async fn write(tx: &mut Tx, settled: &[Settled<'_>]) -> Result<(), Fail> {
    let payments = || settled.iter().flat_map(|done| &done.held.payments);
    let is_new = |payment: &&super::facts::Tracked<_>| payment.was.is_none();
    let new = payments().filter(is_new).map(|payment| &payment.is);
    let moved = payments().filter(|payment| !is_new(payment) && payment.is_changed());
    let entries: Vec<NewEntry> = settled
        .iter()
        .flat_map(|done| done.entries.clone())
        .collect();
    let invoices = settled
        .iter()
        .map(|done| &done.held.invoice)
        .filter(|invoice| invoice.is_changed());
    let mut writes = vec![
        till_store::payments::rows(new),
        till_store::payments::updates(moved.map(|payment| &payment.is))?,
        till_store::journal::rows(&entries),
        till_store::invoices::updates(invoices.map(|invoice| &invoice.is))?,
    ];
    let followers: Vec<Follower<'_>> = settled
        .iter()
        .map(|done| Follower {
            context: done.context,
            held: &done.held,
            at: done.at,
            before: done.before,
        })
        .collect();
    writes.extend(follow::writes(&followers)?);
    for done in settled {
        writes.extend(outbox::writes(done.context, &done.events)?);
    }
    Ok(tx.write_all(&till_store::merged(writes)).await?)
}
