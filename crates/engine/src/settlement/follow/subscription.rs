//! Subscriptions follow the invoices that charge them: a paid one renews, a closed one calls for the next attempt,
//! and one whose payment was undone leaves its period unpaid.
//!
//! Only the attempt under way is followed here. What happens to the invoice of another, say because a payment comes back
//! that had left the chain, may concern invoices and credit that nobody holds now: a timer looks at it, at once.

use std::collections::BTreeMap;

use till_core::event::EventType;
use till_core::invoice::{Assessment, Status as InvoiceStatus};
use till_core::money::Units;
use till_core::scope::Scope;
use till_core::subscription::{ChargeState, NextStep, Status, next, status};
use till_core::timer::TimerKind;
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};
use till_store::timers::TimerRow;
use till_store::{Tx, Write};

use super::follower::Follower;
use super::period::{made, renew, take_up, undo};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox::{self, EventContent};
use crate::settlement::facts::Tracked;
use crate::settlement::tell::render;
use crate::view::SubscriptionView;

/// Subscriptions that follow, and what is written for them in the end.
#[derive(Default)]
struct Following {
    rows: BTreeMap<String, (SubscriptionRow, PlanRow)>,
    charges: BTreeMap<(String, i64), ChargeRow>,
    writes: Vec<Write>,
    /// By what they are about.
    timers: BTreeMap<String, TimerRow>,
}

/// The caller holds the invoices; their subscriptions are locked after them, as everywhere, in the order of their ids.
pub(in crate::settlement) async fn writes(
    tx: &mut Tx,
    settled: &[Follower<'_>],
) -> Result<Vec<Write>, Fail> {
    let moved: Vec<(&str, &Follower<'_>)> = settled
        .iter()
        .filter(|done| has_moved(done))
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

/// What a charge is has changed, or nobody is paying it any more.
fn has_moved(done: &Follower<'_>) -> bool {
    let Some(stored) = done.held.invoice.stored() else {
        return true;
    };
    let waits_again =
        done.status() == InvoiceStatus::AwaitingPayment && stored.status != done.status();
    // What was closed and empty has something again, which may be too much for its period.
    let is_partly = done.status() == InvoiceStatus::PartiallyPaid;
    let has_again = is_partly && stored.closed_at.is_some() && stored.status != done.status();
    // What paid a period may be gone though its invoice was under review or cancelled before.
    let is_questioned = is_questioned(done.status());
    let has_lost = done.held.payments.iter().any(Tracked::is_changed)
        || asks(stored) != asks(&done.held.invoice.is);
    let is_decided = stored.status == InvoiceStatus::UnderReview && stored.status != done.status();
    waits_again
        || has_again
        || (is_questioned && has_lost)
        || is_decided
        || charge_state(stored) != charge_state(&done.held.invoice.is)
}

/// Somebody must decide about it, or has rejected what was held.
fn is_questioned(status: InvoiceStatus) -> bool {
    matches!(
        status,
        InvoiceStatus::UnderReview | InvoiceStatus::Cancelled
    )
}

fn asks(invoice: &InvoiceRow) -> Vec<Units> {
    invoice.options.iter().map(|option| option.due).collect()
}

/// What the invoice is to an attempt that is over. What is held pays nothing before somebody has decided about it: until then the
/// attempt is what it would be without that, for anybody can send something to an address.
fn state_of_over(done: &Follower<'_>) -> ChargeState {
    let assessed = done.held.assess(done.at);
    state_without_held(&assessed, done.at)
}

pub fn state_without_held(assessed: &Assessment, at: i64) -> ChargeState {
    let closed_at = assessed.is_over_without_held.then_some(at);
    ChargeState::of(assessed.status_without_held, closed_at)
}

pub fn charge_state(invoice: &InvoiceRow) -> ChargeState {
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

    /// The attempts beside this one by which a period and later ones are paid or forgiven, as they are by now.
    async fn passed_from(
        &self,
        tx: &mut Tx,
        charge: &ChargeRow,
        period: i64,
    ) -> Result<Vec<ChargeRow>, Fail> {
        let (scope, id) = (&charge.scope, &charge.subscription);
        let mut passed = subscriptions::passed_from(tx, scope, id, period).await?;
        let known = |passed: &ChargeRow| self.charges.get(&(id.clone(), passed.number));
        passed.retain(|passed| {
            let is_paid = known(passed).is_none_or(|known| known.state == ChargeState::Paid);
            is_paid && passed.number != charge.number
        });
        Ok(passed)
    }

    async fn follow(&mut self, tx: &mut Tx, id: &str, done: &Follower<'_>) -> Result<(), Fail> {
        let (context, invoice) = (done.context, &done.held.invoice.is);
        let mut charge = self.charge(tx, &context.scope, &invoice.id).await?;
        let Some((mut row, plan)) = self.rows.get(id).cloned() else {
            return Ok(());
        };
        let now = match charge.state {
            ChargeState::Paid if is_paid_without(done) => ChargeState::Paid,
            ChargeState::Open | ChargeState::Paid => charge_state(invoice),
            _ => state_of_over(done),
        };
        let is_current = row.charge == Some(charge.number);
        let mut renewed = false;
        match (charge.state, now) {
            // Nothing is charged any more; what arrives all the same is the merchant's to refund.
            _ if row.cancelled_at.is_some() => charge.state = charge.state.after_the_end(now),
            (ChargeState::Paid, ChargeState::Paid) => return Ok(()),
            (ChargeState::Paid, _) => {
                let first = charge.period.min(row.next_period);
                let passed = self.passed_from(tx, &charge, first - 1).await?;
                let locked = (&mut row, &plan);
                charge.state = undone(tx, locked, &charge, invoice, &passed, done.at).await?;
                // What goes on has its time again.
                self.set(context, TimerKind::ResolveCharge, &invoice.id);
                for spare in spares(tx, &charge).await? {
                    self.set(context, TimerKind::ResolveCharge, &spare);
                }
            }
            _ if !is_current => {}
            // It has something again after its time: whoever looks at it gives it more.
            (ChargeState::Closed, ChargeState::Closed)
                if invoice.status == InvoiceStatus::PartiallyPaid =>
            {
                let late_at = row.grace_end;
                row.end_charge();
                row.grace_end = late_at;
            }
            (_, ChargeState::Paid) => {
                let passed = self.passed_from(tx, &charge, charge.period).await?;
                charge.state = ChargeState::Paid;
                renew(&mut row, &plan, &mut charge, done.at, &passed);
                renewed = true;
            }
            (
                _,
                ChargeState::Closed
                | ChargeState::Withdrawn
                | ChargeState::Paused
                | ChargeState::Forgiven
                | ChargeState::Spare,
            ) => {
                (charge.state, row.charge_closed) = (ChargeState::Closed, true);
                // The merchant skips this attempt: what follows it comes when it would have come.
                let is_skipped = invoice.cancelled_at.is_some();
                row.retry_at = is_skipped.then_some(invoice.expires_at);
                // Paid in part, it was waited for as long as there could have been attempts.
                if invoice.status == InvoiceStatus::PartiallyPaid {
                    row.attempt = row.attempt.max(plan.max_attempts);
                } else if charge.was_paid {
                    row.attempt = not_the_last(&plan, row.attempt);
                }
            }
            (_, ChargeState::Open) => {
                (charge.state, row.charge_closed) = (ChargeState::Open, false);
                row.retry_at = None;
            }
        }
        if row.charge != Some(charge.number) && charge.state != ChargeState::Paid {
            self.set(context, TimerKind::ResolveCharge, &invoice.id);
        }
        if has_lost_its_part(done) {
            for spare in spares(tx, &charge).await? {
                self.set(context, TimerKind::ResolveCharge, &spare);
            }
        }
        if row.cancelled_at.is_none() {
            let late = refresh(context, done.at, &mut row, &plan)?;
            self.writes
                .extend(outbox::writes(context, late.as_slice())?);
            if renewed {
                let event = EventType::SubscriptionRenewed;
                let event = told(context, done.at, event, &row, Some(invoice))?;
                let writes = outbox::writes_after(context, &invoice.id, &event)?;
                self.writes.extend(writes);
            }
            // Credit that a closed attempt had set aside is returned at once, and an invoice that is not to be asked for makes room.
            self.set(context, TimerKind::StepSubscription, &row.id);
        }
        self.keep(charge);
        self.rows.insert(row.id.clone(), (row, plan));
        Ok(())
    }

    /// Due at once.
    fn set(&mut self, context: &Context<'_>, kind: TimerKind, subject: &str) {
        let timer = TimerRow::new(&context.scope, kind, subject, context.now);
        self.timers.insert(subject.to_owned(), timer);
    }
}

/// What was paid of it has left the chain: what was paid beside it may count now.
fn has_lost_its_part(done: &Follower<'_>) -> bool {
    let stored = done.held.invoice.stored();
    let was_partly = stored.is_some_and(|was| was.status == InvoiceStatus::PartiallyPaid);
    let has_nothing = matches!(
        done.status(),
        InvoiceStatus::AwaitingPayment | InvoiceStatus::Expired
    );
    was_partly && has_nothing
}

/// It is paid without what somebody must decide about, or has rejected, whereby the invoice was cancelled: no stranger can
/// make a period unpaid.
fn is_paid_without(done: &Follower<'_>) -> bool {
    let mut held = done.held.clone();
    held.invoice.is.cancelled_at = None;
    is_questioned(done.status()) && held.assess(done.at).is_covered
}

/// An attempt's payment is gone. It goes on itself where it can: not while another period is being charged, and not when it
/// is paid in part and its time is over, for then it must be given more first.
async fn undone(
    tx: &mut Tx,
    (row, plan): (&mut SubscriptionRow, &PlanRow),
    charge: &ChargeRow,
    invoice: &InvoiceRow,
    passed: &[ChargeRow],
    at: i64,
) -> Result<ChargeState, Fail> {
    let state = charge_state(invoice);
    let is_spent = state == ChargeState::Closed && invoice.status == InvoiceStatus::PartiallyPaid;
    if !undo(row, plan, charge, passed, at) || is_spent {
        return Ok(ChargeState::Closed);
    }
    let mut attempts = attempts(tx, row, charge).await?;
    if state == ChargeState::Closed {
        attempts = not_the_last(plan, attempts);
    }
    take_up(row, charge, state, attempts);
    Ok(state)
}

/// The invoices of other attempts at the charge's period that were paid beside it: one of them may count now.
async fn spares(tx: &mut Tx, charge: &ChargeRow) -> Result<Vec<String>, Fail> {
    let (scope, id) = (&charge.scope, &charge.subscription);
    let made = subscriptions::charges_of_period(tx, scope, id, charge.period).await?;
    let spare = made.into_iter().filter(|it| it.state == ChargeState::Spare);
    Ok(spare.filter_map(|it| it.invoice).collect())
}

/// An attempt that was paid once, in whatever steps that was undone, is not what the payer let close: where it was the last,
/// there is one more in its place.
fn not_the_last(plan: &PlanRow, attempts: u32) -> u32 {
    attempts.min(plan.max_attempts.saturating_sub(1))
}

/// How many attempts the charge's period has had.
pub async fn attempts(tx: &mut Tx, row: &SubscriptionRow, charge: &ChargeRow) -> Result<u32, Fail> {
    let (scope, id) = (&charge.scope, &charge.subscription);
    let all = subscriptions::charges_of_period(tx, scope, id, charge.period).await?;
    let made = made(row, &all, charge.period_start);
    Ok(made.attempts.max(charge.attempt))
}

/// What the facts say now. Becoming past due is told whenever it is noticed.
pub fn refresh(
    context: &Context<'_>,
    at: i64,
    row: &mut SubscriptionRow,
    plan: &PlanRow,
) -> Result<Option<EventRow>, Fail> {
    let is_late = restate(at, row, plan);
    let event = || told(context, at, EventType::SubscriptionPastDue, row, None);
    is_late.then(event).transpose()
}

/// What the facts say now. Returns whether it has just become past due, which must be told.
pub fn restate(at: i64, row: &mut SubscriptionRow, plan: &PlanRow) -> bool {
    let facts = row.facts(plan.max_attempts);
    let before = std::mem::replace(&mut row.status, status(&facts, at));
    row.past_due_since = match row.status {
        Status::PastDue => row.past_due_since.or(Some(at)),
        _ => None,
    };
    row.next_invoice_at = match next(&facts, at) {
        Some((due, NextStep::Charge)) => Some(due.max(at)),
        _ => None,
    };
    before != Status::PastDue && row.status == Status::PastDue
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
    let told = EventContent {
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
