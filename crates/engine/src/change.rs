//! The one place where an invoice changes: facts in, and all that follows from them written together.

use till_core::asset::{Family, Registry};
use till_core::event::{Announcement, EventType, announce};
use till_core::id::Kind;
use till_core::invoice::{Assessment, Facts, Status, Terms, assess, judge};
use till_core::ledger::{self, EntryKind};
use till_core::money::Currency;
use till_core::payment::{Hold, Payment, PaymentStatus};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::events::NewEvent;
use till_store::invoices::InvoiceRow;
use till_store::journal::NewEntry;
use till_store::payments::PaymentRow;

use crate::context::Context;
use crate::events::{self, Told};
use crate::fail::Fail;
use crate::notify;
use crate::view::{InvoiceView, PaymentView, Summary, payer_payments};

/// An invoice and its payments, locked for change.
pub struct Held {
    pub row: InvoiceRow,
    pub terms: Terms,
    pub payments: Vec<HeldPayment>,
}

pub struct HeldPayment {
    pub row: PaymentRow,
    pub fact: Payment,
    /// The status before this change; none for a payment that is new.
    pub was: Option<PaymentStatus>,
    /// The row as the database has it; what differs from it is written.
    pub stored: Option<PaymentRow>,
}

impl HeldPayment {
    pub fn known(row: PaymentRow) -> Result<HeldPayment, Fail> {
        Ok(HeldPayment {
            fact: row.fact()?,
            was: Some(row.status()?),
            stored: Some(row.clone()),
            row,
        })
    }
}

/// Something to announce beside what the difference says: a review's outcome.
pub struct Extra {
    pub event: EventType,
    pub name: &'static str,
    pub json: String,
}

pub async fn hold(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<Option<Held>, Fail> {
    let Some(row) = till_store::invoices::lock(tx, scope, invoice).await? else {
        return Ok(None);
    };
    let terms = row.terms()?;
    let rows = till_store::payments::of_invoice(tx, scope, invoice).await?;
    let payments = rows
        .into_iter()
        .map(HeldPayment::known)
        .collect::<Result<_, _>>()?;
    Ok(Some(Held {
        row,
        terms,
        payments,
    }))
}

impl Held {
    pub fn assess(&self, now: i64) -> Assessment {
        let facts = self.facts();
        assess(
            &Facts {
                terms: &self.terms,
                payments: &facts,
                cancelled_at: self.row.cancelled_at,
            },
            now,
        )
    }

    fn facts(&self) -> Vec<Payment> {
        self.payments
            .iter()
            .map(|payment| payment.fact.clone())
            .collect()
    }
}

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
    crate::links::follow_unit(tx, context, &mut held.row).await?;
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
    follow_lease(
        tx,
        context,
        &held,
        status_before.is_closed(),
        after.status.is_closed(),
    )
    .await?;
    if after.status.is_paid() && !status_before.is_paid() {
        notify::on_paid(tx, context, &held.row).await?;
    }
    events::record(tx, context, &events).await?;
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

struct Rendered<'a> {
    before: &'a InvoiceRow,
    held: &'a Held,
    extra: Option<Extra>,
}

fn events_of(
    context: &Context<'_>,
    rendered: &Rendered<'_>,
    announcements: &[Announcement],
) -> Result<Vec<NewEvent>, Fail> {
    if announcements.is_empty() && rendered.extra.is_none() {
        return Ok(Vec::new());
    }
    let held = rendered.held;
    let object = render(context, &held.row)?;
    let rows: Vec<PaymentRow> = held
        .payments
        .iter()
        .map(|payment| payment.row.clone())
        .collect();
    let payments = serde_json::to_string(&payer_payments(&rows)?).map_err(Fail::broken)?;
    let mut seq = rendered.before.stream_seq;
    let mut told_so_far = Vec::new();
    let mut push = |event: EventType, object: &str, extra: Option<(&str, &str)>| {
        let stream_seq = event.is_streamed().then(|| {
            seq += 1;
            seq
        });
        let told = Told {
            event,
            invoice: Some(&held.row.id),
            stream_seq,
            object,
            extra,
            payments: stream_seq.map(|_| payments.as_str()),
        };
        told_so_far.push(events::make(context, told));
    };
    if let Some(extra) = &rendered.extra {
        push(extra.event, &object, Some((extra.name, &extra.json)));
    }
    for announcement in announcements {
        if announcement.event == EventType::InvoiceStatus(Status::Detected)
            && held.row.status != "detected"
        {
            // Seen and settled in one step: the event still shows the invoice as it was when it was seen.
            let mut seen = rendered.before.clone();
            seen.status = Status::Detected.as_str().to_owned();
            (seen.closed_at, seen.summary) = (None, None);
            push(announcement.event, &render(context, &seen)?, None);
            continue;
        }
        let payment = match announcement.payment {
            Some(index) => {
                Some(serde_json::to_string(&PaymentView::of(&rows[index])?).map_err(Fail::broken)?)
            }
            None => None,
        };
        push(
            announcement.event,
            &object,
            payment.as_deref().map(|payment| ("payment", payment)),
        );
    }
    Ok(told_so_far)
}

pub fn render(context: &Context<'_>, row: &InvoiceRow) -> Result<String, Fail> {
    let key = context.merchant.row.publishable_key.as_deref();
    let view = InvoiceView::of(row, &context.engine.config.checkout_url, key)?;
    serde_json::to_string(&view).map_err(Fail::broken)
}

/// A closed invoice's addresses begin to cool down; one that opens again takes them back.
async fn follow_lease(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &Held,
    was_closed: bool,
    is_closed: bool,
) -> Result<(), Fail> {
    let mut families: Vec<(Family, u64)> = Vec::new();
    for option in &held.terms.options {
        let family = Registry::builtin()
            .asset(&option.asset)
            .map(|asset| asset.family);
        if let (Some(family), Some(deposit)) = (family, &option.deposit)
            && !families.iter().any(|(known, _)| *known == family)
        {
            families.push((family, deposit.number));
        }
    }
    let paid_now = |family: Family| {
        held.payments.iter().any(|payment| {
            let network = Registry::builtin().network(&payment.row.network);
            payment.was.is_none() && network.is_some_and(|network| network.family == family)
        })
    };
    for (family, number) in families {
        let number = i64::try_from(number).map_err(Fail::broken)?;
        if was_closed != is_closed {
            let free_at = is_closed.then(|| {
                context
                    .now
                    .saturating_add(context.engine.config.cooldown_ms)
            });
            let invoice = held.row.id.as_str();
            till_store::leases::set_free_at(tx, &context.scope, family, number, invoice, free_at)
                .await?;
        }
        if family == Family::Bitcoin && paid_now(family) {
            till_store::leases::note_paid(tx, &context.scope, family, number).await?;
        }
    }
    Ok(())
}
