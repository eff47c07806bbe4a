//! Charging a period: prepaid credit first, an invoice for the rest, who is told of it, and until when it stays open.

use till_core::credit::Drawn;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::invoice::Status as InvoiceStatus;
use till_core::money::{Units, show};
use till_core::scope::Scope;
use till_core::subscription::{ChargeState, LEAD_MS};
use till_store::Tx;
use till_store::credits;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};

use super::hold::Locked;
use super::remind::remind;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::create::{Billed, create_billed};
use crate::invoices::quote::NewInvoice;
use crate::offers;
use crate::outbox;
use crate::settlement::follow::period::{PeriodAttempts, grace_end, made, renew, rhythm};
use crate::settlement::follow::subscription::{refresh, told};
use crate::settlement::with_payments;

/// An invoice that was open for less than this is one that nobody could have paid.
const MOMENT_MS: i64 = 60_000;

/// Why a period is charged: somebody asked and waits for the invoice, or it fell due and the customer gets a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    Asked,
    Due,
}

/// Where a period begins and ends. One from before a resumption began billing anew keeps the bounds that it had.
pub(super) async fn bounds(
    tx: &mut Tx,
    row: &SubscriptionRow,
    plan: &PlanRow,
    period: i64,
) -> Result<(i64, i64), Fail> {
    if period < row.anchor_period {
        let made = subscriptions::charges_of_period(tx, &row.scope, &row.id, period).await?;
        if let Some(made) = made.last() {
            return Ok((made.period_start, made.period_end));
        }
    }
    Ok(rhythm(row, plan).period(period))
}

/// The invoice of the earliest attempt at the next period that somebody has paid to, or still may. It is resolved before the
/// period is charged again.
pub(super) async fn earlier(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &SubscriptionRow,
) -> Result<Option<String>, Fail> {
    let (scope, id) = (&row.scope, &row.id);
    if row.charge.is_some() {
        return Ok(None);
    }
    let made = subscriptions::charges_of_period(tx, scope, id, row.next_period).await?;
    let waiting = waiting(tx, context, &made).await?;
    let is_spare = |invoice: &String| {
        let mut spare = made.iter().filter(|it| it.state == ChargeState::Spare);
        spare.any(|it| it.invoice.as_ref() == Some(invoice))
    };
    // What was paid beside it counts when nothing of it does.
    let first = waiting
        .into_iter()
        .min_by_key(|id| (is_spare(id), id.clone()));
    Ok(first)
}

/// The invoices of these attempts that neither expired nor were cancelled, without the one that paid; and those of
/// spare attempts, which were paid beside it. Of one under review it counts what it would be without what is held.
pub(super) async fn waiting(
    tx: &mut Tx,
    context: &Context<'_>,
    made: &[ChargeRow],
) -> Result<Vec<String>, Fail> {
    let unpaid = made.iter().filter(|made| made.state != ChargeState::Paid);
    let ids = unpaid.filter_map(|made| Some((&made.scope, made.invoice.as_deref()?)));
    let ids: Vec<(&Scope, &str)> = ids.collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = till_store::invoices::find_many(tx, &ids).await?;
    let is_spare = |invoice: &InvoiceRow| {
        let mut spare = made.iter().filter(|it| it.state == ChargeState::Spare);
        spare.any(|it| it.invoice.as_deref() == Some(&*invoice.id))
    };
    let (mut waiting, mut questioned) = (Vec::new(), Vec::new());
    for invoice in found {
        match invoice.status {
            _ if is_spare(&invoice) => waiting.push(invoice.id),
            InvoiceStatus::Expired | InvoiceStatus::Cancelled => {}
            InvoiceStatus::UnderReview => questioned.push(invoice),
            _ => waiting.push(invoice.id),
        }
    }
    if questioned.is_empty() {
        return Ok(waiting);
    }
    for held in with_payments(tx, questioned).await? {
        let status = held.assess(held.moment(context)).status_without_held;
        let is_over = matches!(status, InvoiceStatus::Expired | InvoiceStatus::Cancelled);
        if !is_over || has_credit(tx, made, held.id()).await? {
            waiting.push(held.invoice.is.id);
        }
    }
    Ok(waiting)
}

/// Whether the attempt that this invoice is of has credit, which is returned before its period is charged again.
async fn has_credit(tx: &mut Tx, made: &[ChargeRow], invoice: &str) -> Result<bool, Fail> {
    let charge = made
        .iter()
        .find(|it| it.invoice.as_deref() == Some(invoice));
    let Some(charge) = charge else {
        return Ok(false);
    };
    let has = credits::of_charge(tx, &charge.scope, &charge.subscription, charge.number).await?;
    Ok(!has.is_empty())
}

/// Charges the next period: the first attempt, or a retry. Credit that an earlier attempt reserved is released and drawn
/// again.
pub(super) async fn charge(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &mut Locked,
    occasion: Occasion,
) -> Result<(), Fail> {
    let (plan, now, period) = (&locked.plan, context.now, locked.row.next_period);
    locked.purse.give_back(now)?;
    let drawn = locked.purse.draw(now, plan.amount_minor, plan.currency);
    let tolerance_bps = context.merchant.row.underpay_tolerance_bps;
    if drawn.pays_all(plan.amount_minor, tolerance_bps) {
        return locked.pay_by_credit(tx, context, period, &drawn.from).await;
    }
    let (mut charge, until) = attempt(tx, context, locked, period).await?;
    let invoice = invoice(tx, context, locked, until, &drawn).await?;
    charge.invoice = Some(invoice.id.clone());
    let row = &mut locked.row;
    (row.charges, row.attempt) = (charge.number, charge.attempt);
    subscriptions::insert_charge(tx, &charge).await?;
    locked.purse.set_aside(context, &charge, &drawn.from)?;
    await_payment(row, &charge, &invoice);
    let late = refresh(context, now, row, &locked.plan)?;
    outbox::record(tx, context, late.as_slice()).await?;
    let event = EventType::SubscriptionInvoiceCreated;
    let event = told(context, now, event, row, Some(&invoice))?;
    tx.write_all(&outbox::writes_after(context, &invoice.id, &event)?)
        .await?;
    locked.charge = Some(charge);
    match occasion {
        Occasion::Due => remind(tx, context, &locked.row.customer, &invoice).await,
        Occasion::Asked => Ok(()),
    }
}

/// These attempts without those whose invoice made room for another before anybody could pay it: they came and went while several
/// facts were looked at, in whatever order, and nobody's time began with them.
async fn without_momentary(tx: &mut Tx, made: Vec<ChargeRow>) -> Result<Vec<ChargeRow>, Fail> {
    let may_be = |it: &ChargeRow| it.state.may_count_again() && !it.was_paid;
    let ids = made.iter().filter(|it| may_be(it));
    let ids = ids.filter_map(|it| Some((&it.scope, it.invoice.as_deref()?)));
    let ids: Vec<(&Scope, &str)> = ids.collect();
    if ids.is_empty() {
        return Ok(made);
    }
    let found = till_store::invoices::find_many(tx, &ids).await?;
    let is_momentary = |it: &ChargeRow| {
        let invoice = found
            .iter()
            .find(|invoice| it.invoice.as_deref() == Some(&*invoice.id));
        let cancelled_at = invoice.and_then(|invoice| invoice.cancelled_at);
        cancelled_at.is_some_and(|at| at.saturating_sub(it.created_at) < MOMENT_MS)
    };
    let mut left = made.clone();
    left.retain(|it| !(may_be(it) && is_momentary(it)));
    Ok(left)
}

/// The next attempt at a period, open and without an invoice, and its time limits.
async fn attempt(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &Locked,
    period: i64,
) -> Result<(ChargeRow, Until), Fail> {
    let (scope, row, plan) = (&context.scope, &locked.row, &locked.plan);
    let before = subscriptions::charges_of_period(tx, scope, &row.id, period).await?;
    let before = without_momentary(tx, before).await?;
    let (period_start, period_end) = bounds(tx, row, plan, period).await?;
    let before = made(row, &before, period_start);
    let made = before.attempts.min(plan.max_attempts.saturating_sub(1));
    let withdrawn = match &before.withdrawn {
        Some(invoice) => till_store::invoices::find(tx, scope, invoice).await?,
        None => None,
    };
    let withdrawn = withdrawn.filter(|invoice| invoice.expires_at > context.now);
    let ends_at = withdrawn.as_ref().map(|invoice| invoice.expires_at);
    let until = Until::of(context, locked, (period_start, made), &before, ends_at);
    let charge = ChargeRow {
        scope: scope.clone(),
        subscription: row.id.clone(),
        number: row.charges + 1,
        invoice: None,
        period,
        attempt: made + 1,
        state: ChargeState::Open,
        // What was paid once is not what the payer let close, whichever invoice asks for it now.
        was_paid: ends_at.is_some(),
        period_start,
        period_end,
        grace_end: until.late_at,
        created_at: context.now,
    };
    Ok((charge, until))
}

impl Locked {
    /// Pays a period by this credit alone: the next period, or a later one that was paid with it before.
    pub(super) async fn pay_by_credit(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        period: i64,
        from: &[(String, Units)],
    ) -> Result<(), Fail> {
        let (mut charge, _) = attempt(tx, context, self, period).await?;
        charge.state = ChargeState::Paid;
        let (row, now) = (&mut self.row, context.now);
        let passed = subscriptions::passed_from(tx, &context.scope, &row.id, period).await?;
        let late_at = row.grace_end;
        let is_next = period == row.next_period;
        if is_next {
            row.end_charge();
            self.charge = None;
        }
        renew(row, &self.plan, &mut charge, now, &passed);
        if !is_next {
            row.grace_end = late_at;
        }
        row.charges = charge.number;
        subscriptions::insert_charge(tx, &charge).await?;
        self.purse.set_aside(context, &charge, from)?;
        self.purse.use_up(charge.number);
        let late = refresh(context, now, row, &self.plan)?;
        outbox::record(tx, context, late.as_slice()).await?;
        let event = told(context, now, EventType::SubscriptionRenewed, row, None)?;
        outbox::record(tx, context, &[event]).await
    }
}

fn await_payment(row: &mut SubscriptionRow, charge: &ChargeRow, invoice: &InvoiceRow) {
    row.charge = Some(charge.number);
    row.charge_invoice = Some(invoice.id.clone());
    row.latest_invoice = Some(invoice.id.clone());
    row.grace_end = Some(charge.grace_end);
    (row.charge_closed, row.retry_at) = (false, None);
}

async fn invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &Locked,
    until: Until,
    drawn: &Drawn,
) -> Result<InvoiceRow, Fail> {
    let (row, plan) = (&locked.row, &locked.plan);
    let request = NewInvoice {
        amount: show(Units(plan.amount_minor.into()), plan.currency.decimals()),
        currency: plan.currency.code().to_owned(),
        assets: offers::steady(context, plan.assets.as_deref(), NOT_STEADY)?,
        description: Some(plan.name.clone()),
        ..NewInvoice::default()
    };
    let billed = Billed {
        customer: &row.customer,
        subscription: Some(&row.id),
        expires_at: Some(until.expires_at),
        takes_until: Some(until.takes_until),
        credit: Some(drawn),
    };
    create_billed(tx, context, &request, billed).await
}

/// Why assets whose price moves are refused: an invoice that waits for days cannot promise what a coin will be worth.
pub(super) const NOT_STEADY: &str =
    "A subscription cannot be paid in an asset whose price moves: its invoices wait for days";

/// The time limits of an attempt.
#[derive(Clone, Copy, Debug)]
struct Until {
    expires_at: i64,
    /// Until when an invoice that was paid in part takes the rest: for as long as there could be attempts.
    takes_until: i64,
    /// When the subscription becomes past due.
    late_at: i64,
}

impl Until {
    /// The first attempt is open until the grace period ends, a later one for some days. None is open for less than the
    /// lead time of a renewal, however late the server is; one in place of another that was withdrawn is open no longer than that
    /// would be. One in place of another that had been paid, and was withdrawn while credit paid, ends when that would have ended
    /// (`ends_at`).
    fn of(
        context: &Context<'_>,
        locked: &Locked,
        (start, made): (i64, u32),
        before: &PeriodAttempts,
        ends_at: Option<i64>,
    ) -> Until {
        let (row, plan) = (&locked.row, &locked.plan);
        let (now, attempt_ms) = (context.now, context.engine.config.attempt_ms);
        let until = match made {
            0 => grace_end(plan, start),
            _ => before.tried_at.unwrap_or(now).saturating_add(attempt_ms),
        };
        let begun = before.tried_at.map(|at| at.saturating_add(LEAD_MS));
        let at_least = begun.filter(|end| *end > now);
        let at_least = at_least.unwrap_or(now.saturating_add(LEAD_MS));
        let expires_at = ends_at.unwrap_or(until.max(at_least));
        let more = i64::from(plan.max_attempts.saturating_sub(made + 1));
        Until {
            expires_at,
            takes_until: expires_at.saturating_add(attempt_ms.saturating_mul(more)),
            // Later attempts leave the end of the grace period where the first one put it; what could not be invoiced before
            // it was over is late already.
            late_at: before
                .late_at
                .or(row.grace_end.filter(|late_at| *late_at <= now))
                .unwrap_or(expires_at),
        }
    }
}

/// Turns the refusal of an invoice into the refusal of the request that wanted it, with the same message.
pub(super) fn invoice_failed(fail: Fail) -> Fail {
    match fail {
        Fail::Refused(refusal) => {
            Refusal::new(Code::SubscriptionInvoiceFailed, refusal.message).into()
        }
        other => other,
    }
}
