//! Facts in, and all that follows from them: worked out without the database, then written together.

use std::collections::{HashMap, HashSet};

use till_core::event::{Stood, announce};
use till_core::id::IdKind;
use till_core::invoice::{Assessment, Facts, Part, Review, Summary, assess};
use till_core::ledger::{self, EntryKind};
use till_core::payment::PaymentStatus;
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::journal::NewEntry;
use till_store::payments::PaymentRow;
use till_store::screenings::ScreeningRow;
use till_store::{Tx, Write};

use super::facts::{LockedInvoice, Tracked};
use super::follow::Follower;
use super::tell::{Extra, events_of};
use super::{follow, judge, reopen};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;

/// An invoice whose facts change, in one step or several, until all that follows is written.
pub struct Settling<'c> {
    pub context: &'c Context<'c>,
    pub held: LockedInvoice,
    /// When it happens, in business time.
    pub at: i64,
    entries: Vec<NewEntry>,
    /// What the lists said of senders.
    screened: Vec<ScreeningRow>,
    events: Vec<EventRow>,
    /// Payments that are not where they were, as they left, until the step that tells of it.
    left: Vec<PaymentRow>,
    /// Whether some step made it wait again.
    pub has_reopened: bool,
}

impl<'c> Settling<'c> {
    pub fn new(context: &'c Context<'c>, held: LockedInvoice) -> Settling<'c> {
        Settling {
            context,
            at: held.moment(context),
            held,
            entries: Vec::new(),
            screened: Vec::new(),
            events: Vec::new(),
            left: Vec::new(),
            has_reopened: false,
        }
    }

    /// Takes payments that are gone out of the books, before the same step takes them in as what they are now. Nothing is
    /// told before that step: nobody hears of a moment that never was.
    pub fn take_back(&mut self, places: &[usize]) -> Result<(), Fail> {
        if places.is_empty() {
            return Ok(());
        }
        let (context, at) = (self.context, self.at);
        let after = self.held.assess(at);
        let places: HashSet<usize> = places.iter().copied().collect();
        let payments = self.held.payments.iter_mut().enumerate();
        let gone = payments.filter(|(place, _)| places.contains(place));
        let gone = gone.map(|(_, payment)| payment);
        let entries = move_payments(context, at, gone, &HashSet::new(), &after)?;
        self.entries.extend(entries);
        let rows = places.iter().map(|place| &self.held.payments[*place].is);
        self.left.extend(rows.cloned());
        Ok(())
    }

    /// Works out what the facts now say: what differs from the step before is told and journalled.
    pub fn step(&mut self, extra: Option<&Extra>) -> Result<(), Fail> {
        let (context, at, held) = (self.context, self.at, &mut self.held);
        let before = held.invoice.is.status;
        let was_closed = held.invoice.is.closed_at.is_some();
        let terms = held.terms();
        let screened = judge::pass_verdicts(context, &terms, held);
        self.screened.extend(screened);
        let facts = Facts {
            terms: &terms,
            payments: &held.facts(),
            cancelled_at: held.invoice.is.cancelled_at,
        };
        let after = assess(&facts, at);
        let left = std::mem::take(&mut self.left);
        let who_left: HashSet<&str> = left.iter().map(|row| &*row.id).collect();
        let announcements = announce(before, &stood(held, &who_left), &after);
        let payments = held.payments.iter_mut();
        let entries = move_payments(context, at, payments, &who_left, &after)?;
        self.entries.extend(entries);
        apply(at, &mut held.invoice.is, &after);
        follow::lease::apply(context, at, held, was_closed);
        follow::link_unit::apply(&mut held.invoice.is, &after);
        follow::refund::apply(at, held, &after);
        let events = events_of(context, at, held, &left, &announcements, extra)?;
        let streamed = events.iter().filter(|event| event.stream_seq.is_some());
        held.invoice.is.stream_seq += i64::try_from(streamed.count()).map_err(Fail::broken)?;
        self.events.extend(events);
        self.has_reopened |= was_closed && !after.is_over;
        held.next_step();
        Ok(())
    }
}

/// Works out what the facts now say and writes the difference.
pub async fn settle(
    tx: &mut Tx,
    context: &Context<'_>,
    held: LockedInvoice,
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

/// An invoice whose facts have changed, or whose time has.
pub struct Change<'c> {
    pub context: &'c Context<'c>,
    pub held: LockedInvoice,
    pub extra: Option<Extra>,
}

/// The same for many invoices at once.
pub async fn settle_all(tx: &mut Tx, changes: Vec<Change<'_>>) -> Result<Vec<InvoiceRow>, Fail> {
    let mut settled = Vec::with_capacity(changes.len());
    for mut change in changes {
        if reopen::is_due(change.context, &change.held) {
            reopen::renew(tx, change.context, &mut change.held).await?;
        }
        let mut settling = Settling::new(change.context, change.held);
        settling.step(change.extra.as_ref())?;
        settled.push(settling);
    }
    commit(tx, settled, []).await
}

/// Writes what was worked out for many invoices, of many accounts, and whatever else belongs to it, in one trip.
pub async fn commit(
    tx: &mut Tx,
    mut settled: Vec<Settling<'_>>,
    others: impl IntoIterator<Item = Write>,
) -> Result<Vec<InvoiceRow>, Fail> {
    name_reversed(tx, &mut settled).await?;
    let mut writes = writes(&settled)?;
    let followers = followers(&settled);
    writes.push(follow::lease::paid_numbers(tx, &followers).await?);
    writes.extend(follow::subscription::writes(tx, &followers).await?);
    writes.extend(others);
    tx.write_all(&till_store::merged(writes)).await?;
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

/// The payments as they were before this step, and which of them left on the way.
fn stood<'h>(held: &'h LockedInvoice, left: &HashSet<&str>) -> Vec<Stood<'h>> {
    let known = held.payments.iter().filter_map(|it| it.was.as_ref());
    let stood = known.map(|was| Stood {
        payment: &was.id,
        status: was.status,
        credited: was.credit_turn.is_some(),
        left: left.contains(&*was.id),
    });
    stood.collect()
}

/// Each payment's status and position follow from the assessment; what moved is journalled.
fn move_payments<'p>(
    context: &Context<'_>,
    at: i64,
    payments: impl Iterator<Item = &'p mut Tracked<PaymentRow>>,
    left: &HashSet<&str>,
    after: &Assessment,
) -> Result<Vec<NewEntry>, Fail> {
    let parts: HashMap<&str, &Part> = after
        .parts
        .iter()
        .map(|part| (part.payment.as_str(), part))
        .collect();
    let mut entries = Vec::new();
    for payment in payments {
        let part = parts
            .get(payment.is.id.as_str())
            .ok_or_else(|| Fail::broken("a payment was not assessed"))?;
        let was_credited = payment
            .was
            .as_ref()
            .is_some_and(|was| was.status == PaymentStatus::Credited)
            && !left.contains(&*payment.is.id);
        let row = &mut payment.is;
        row.status = part.status;
        row.credit_turn = part.credited;
        if part.status == PaymentStatus::Credited && !was_credited {
            row.credited_at = Some(at);
        }
        if let Some((kind, lines)) = ledger::entry(row.position, part.position) {
            let refunded = |row: &PaymentRow| (row.refunds_due, row.refunds_sent);
            let is_its_own = payment.was.as_ref().map(refunded) != Some(refunded(row));
            let kind = kind.of_refunds(is_its_own);
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
        asked: after.asked.clone(),
    };
    row.status = after.status;
    let kept_if = |holds: bool, since: Option<i64>| holds.then(|| since.unwrap_or(at));
    row.paid_at = kept_if(after.status.is_paid(), row.paid_at);
    row.closed_at = kept_if(after.is_over, row.closed_at);
}

/// An entry that takes back says which one: of the same change, or the last that was written.
async fn name_reversed(tx: &mut Tx, settled: &mut [Settling<'_>]) -> Result<(), Fail> {
    for done in settled {
        for at in 0..done.entries.len() {
            let (earlier, rest) = done.entries.split_at_mut(at);
            let entry = &mut rest[0];
            if entry.kind != EntryKind::Reversal {
                continue;
            }
            let same_change = earlier
                .iter()
                .rfind(|other| other.subject == entry.subject)
                .map(|other| other.id.clone());
            entry.reverses = match same_change {
                Some(id) => Some(id),
                None => till_store::journal::last_entry(tx, &entry.scope, &entry.subject).await?,
            };
        }
    }
    Ok(())
}

fn followers<'s>(settled: &'s [Settling<'_>]) -> Vec<Follower<'s>> {
    let follower = |done: &'s Settling<'_>| Follower {
        context: done.context,
        held: &done.held,
        at: done.at,
        waited: done.has_reopened,
    };
    settled.iter().map(follower).collect()
}

/// Payments, journal, invoices, what follows them, events.
fn writes(settled: &[Settling<'_>]) -> Result<Vec<Write>, Fail> {
    let payments = || settled.iter().flat_map(|done| &done.held.payments);
    let new = payments()
        .filter(|payment| payment.is_new())
        .map(|payment| &payment.is);
    let moved = payments()
        .filter(|payment| !payment.is_new() && payment.is_changed())
        .map(|payment| &payment.is);
    let entries: Vec<NewEntry> = settled
        .iter()
        .flat_map(|done| done.entries.clone())
        .collect();
    let invoices = settled
        .iter()
        .map(|done| &done.held.invoice)
        .filter(|invoice| invoice.is_changed())
        .map(|invoice| &invoice.is);
    let mut writes = vec![
        till_store::payments::rows(new),
        till_store::payments::updates(moved)?,
        till_store::screenings::rows(settled.iter().flat_map(|done| &done.screened)),
        till_store::invoices::updates(invoices)?,
    ];
    writes.extend(till_store::sums::posted(&entries)?);
    writes.extend(follow::writes(&followers(settled))?);
    for done in settled {
        writes.extend(outbox::writes(done.context, &done.events)?);
    }
    Ok(writes)
}
