//! Subscriptions follow the invoices that charge them: a paid one renews, a closed one calls for the next attempt,
//! and one whose payment was undone leaves its period unpaid.

use std::collections::BTreeMap;

use till_core::event::EventType;
use till_core::scope::Scope;
use till_core::subscription::{ChargeState, Status, Step, next, status};
use till_core::timer::TimerKind;
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};
use till_store::timers::TimerRow;
use till_store::{Tx, Write};

use super::Follower;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox::{self, Told};
use crate::settlement::tell::render;
use crate::view::SubscriptionView;

/// Subscriptions that follow, and what is written for them in the end.
#[derive(Default)]
struct Following {
    rows: BTreeMap<String, (SubscriptionRow, PlanRow)>,
    charges: BTreeMap<(String, i64), ChargeRow>,
    writes: Vec<Write>,
    timers: BTreeMap<String, TimerRow>,
}

/// The caller holds the invoices; their subscriptions are locked after them, as everywhere, in the order of their ids.
pub(in crate::settlement) async fn writes(
    tx: &mut Tx,
    settled: &[Follower<'_>],
) -> Result<Vec<Write>, Fail> {
    let has_moved = |done: &&Follower<'_>| {
        let stored = done.held.invoice.stored();
        stored.map(charge_state) != Some(charge_state(&done.held.invoice.is))
    };
    let moved: Vec<(&str, &Follower<'_>)> = settled
        .iter()
        .filter(has_moved)
        .filter_map(|done| Some((done.held.invoice.is.subscription.as_deref()?, done)))
        .collect();
    if moved.is_empty() {
        return Ok(Vec::new());
    }
    let mut following = Following::default();
    let by_id: BTreeMap<&str, &Follower<'_>> = moved.iter().copied().collect();
    for (id, done) in by_id {
        let locked = lock(tx, &done.context.scope, id).await?;
        following.rows.insert(id.to_owned(), locked);
    }
    for (id, done) in moved {
        following.follow(tx, id, done).await?;
    }
    let rows = following.rows.values().map(|(row, _)| row);
    let timers: Vec<TimerRow> = following.timers.into_values().collect();
    let mut writes = following.writes;
    writes.push(subscriptions::updates(rows)?);
    writes.push(subscriptions::charge_states(following.charges.values())?);
    writes.push(till_store::timers::rows(&timers));
    Ok(writes)
}

fn charge_state(invoice: &InvoiceRow) -> ChargeState {
    ChargeState::of(invoice.status, invoice.closed_at)
}

async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<(SubscriptionRow, PlanRow), Fail> {
    let row = subscriptions::lock(tx, scope, id).await?;
    let row = row.ok_or_else(|| Fail::broken("an invoice's subscription is missing"))?;
    let plan = till_store::plans::find(tx, scope, &row.plan).await?;
    let plan = plan.ok_or_else(|| Fail::broken("a subscription's plan is missing"))?;
    Ok((row, plan))
}

impl Following {
    async fn charge(&self, tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<ChargeRow, Fail> {
        let known = |charge: &&ChargeRow| charge.invoice.as_deref() == Some(invoice);
        if let Some(known) = self.charges.values().find(known) {
            return Ok(known.clone());
        }
        let charge = subscriptions::charge_by_invoice(tx, scope, invoice).await?;
        charge.ok_or_else(|| Fail::broken("a subscription's charge is missing"))
    }

    fn keep(&mut self, charge: ChargeRow) {
        let key = (charge.subscription.clone(), charge.number);
        self.charges.insert(key, charge);
    }

    async fn follow(&mut self, tx: &mut Tx, id: &str, done: &Follower<'_>) -> Result<(), Fail> {
        let (context, invoice) = (done.context, &done.held.invoice.is);
        let mut charge = self.charge(tx, &context.scope, &invoice.id).await?;
        let Some((mut row, plan)) = self.rows.get(id).cloned() else {
            return Ok(());
        };
        let now = charge_state(invoice);
        let is_current = row.charge == Some(charge.number);
        let mut renewed = false;
        match (charge.state, now) {
            // Nothing is charged any more; what arrives all the same is the merchant's to refund.
            _ if row.cancelled_at.is_some() => {
                charge.state = charge.state.after_the_end(now);
                self.keep(charge);
                return Ok(());
            }
            // Another attempt paid the period already: this money is the merchant's to refund.
            (_, ChargeState::Paid) if row.next_period > charge.period => return Ok(()),
            (ChargeState::Open | ChargeState::Closed, ChargeState::Paid) => {
                // A payment made in time but seen late: the attempt that followed has nothing left to charge.
                if let (false, Some(other)) = (is_current, &row.charge_invoice) {
                    let mut other = self.charge(tx, &context.scope, other).await?;
                    other.state = ChargeState::Closed;
                    self.keep(other);
                }
                charge.state = ChargeState::Paid;
                renew(&mut row, &charge);
                renewed = true;
            }
            (ChargeState::Open, ChargeState::Closed) => {
                charge.state = ChargeState::Closed;
                row.charge_closed |= is_current;
            }
            (ChargeState::Closed, ChargeState::Open) if is_current => {
                (charge.state, row.charge_closed) = (ChargeState::Open, false);
            }
            (ChargeState::Paid, after) => charge.state = undo(&mut row, &charge, after),
            _ => return Ok(()),
        }
        let mut events: Vec<EventRow> = refresh(context, done.at, &mut row, &plan)?
            .into_iter()
            .collect();
        if renewed {
            let event = EventType::SubscriptionRenewed;
            events.push(told(context, done.at, event, &row, Some(invoice))?);
        }
        self.writes.extend(outbox::writes(context, &events)?);
        if let Some(timer) = timer(context, done.at, &row, &plan) {
            self.timers.insert(row.id.clone(), timer);
        }
        self.keep(charge);
        self.rows.insert(row.id.clone(), (row, plan));
        Ok(())
    }
}

/// The period that was charged is paid: it is the current one, and the next begins where it ends.
pub fn renew(row: &mut SubscriptionRow, charge: &ChargeRow) {
    row.end_charge();
    row.next_period = charge.period + 1;
    row.current_period_start = charge.period_start;
    row.current_period_end = charge.period_end;
    row.paid_until = Some(charge.period_end);
}

/// What paid a period is gone. If that was the last that was paid, and the next is not being charged yet, it is unpaid
/// again and charged by the same attempt; an earlier one stays what it was, but for its charge.
pub fn undo(row: &mut SubscriptionRow, charge: &ChargeRow, after: ChargeState) -> ChargeState {
    let is_last = row.next_period == charge.period + 1;
    if row.cancelled_at.is_some() || !is_last || row.charge.is_some() {
        return ChargeState::Closed;
    }
    row.next_period = charge.period;
    (row.charge, row.charge_invoice) = (Some(charge.number), charge.invoice.clone());
    row.attempt = charge.attempt;
    row.grace_end = Some(charge.grace_end);
    row.charge_closed = after == ChargeState::Closed;
    // What came before was paid, or the trial; before the very first there was nothing.
    let is_first = charge.period == 0 && row.trial_end.is_none();
    row.paid_until = (!is_first).then_some(charge.period_start);
    after
}

/// What the facts say now. Becoming past due is told whenever it is noticed.
pub fn refresh(
    context: &Context<'_>,
    at: i64,
    row: &mut SubscriptionRow,
    plan: &PlanRow,
) -> Result<Option<EventRow>, Fail> {
    let facts = row.facts(plan.max_attempts);
    let before = std::mem::replace(&mut row.status, status(&facts, at));
    row.past_due_since = match row.status {
        Status::PastDue => row.past_due_since.or(Some(at)),
        _ => None,
    };
    row.next_invoice_at = match next(&facts, at) {
        Some((due, Step::Charge)) => Some(due.max(at)),
        _ => None,
    };
    match (before, row.status) {
        (Status::PastDue, _) => Ok(None),
        (_, Status::PastDue) => {
            told(context, at, EventType::SubscriptionPastDue, row, None).map(Some)
        }
        _ => Ok(None),
    }
}

/// The timer of what falls due next. One that fires for nothing does no harm, so none is ever taken back.
pub fn timer(
    context: &Context<'_>,
    at: i64,
    row: &SubscriptionRow,
    plan: &PlanRow,
) -> Option<TimerRow> {
    let (due, _) = next(&row.facts(plan.max_attempts), at)?;
    let kind = TimerKind::StepSubscription;
    Some(TimerRow::new(&context.scope, kind, &row.id, due.max(at)))
}

/// An event about a subscription, and the invoice it is about if it is about one.
pub fn told(
    context: &Context<'_>,
    at: i64,
    event: EventType,
    row: &SubscriptionRow,
    invoice: Option<&InvoiceRow>,
) -> Result<EventRow, Fail> {
    let object = serde_json::to_string(&SubscriptionView::of(row)?).map_err(Fail::broken)?;
    let shown = invoice
        .map(|invoice| render(context, invoice))
        .transpose()?;
    let told = Told {
        event,
        subject: &row.id,
        invoice: invoice.map(|invoice| invoice.id.as_str()),
        stream_seq: None,
        object: &object,
        extra: shown.as_deref().map(|shown| ("invoice", shown)),
        payments: None,
    };
    Ok(outbox::make_at(context, at, told))
}
