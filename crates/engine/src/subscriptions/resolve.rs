//! Resolves an attempt that is not under way, and whose invoice has changed all the same: a payment was made in time and
//! seen late, came back after it had left the chain, or left it while another period was being charged. One that is under
//! way again, because what had paid it left the chain, is given its time again.
//!
//! One attempt pays a period, and one invoice at a time may be paid for it. An attempt that was paid in full has paid the
//! period; one that was paid in part goes on. If somebody has paid to another attempt at the period, all that was paid to
//! this one can be refunded.

use till_core::event::EventType;
use till_core::invoice::Status as InvoiceStatus;
use till_core::scope::Scope;
use till_core::subscription::{ChargeState, LEAD_MS};
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::invoices::InvoiceRow;
use till_store::subscriptions::{self, ChargeRow};

use super::charge::waiting;
use super::due::{ask_for_the_rest, asks_for_all, lowered, worth};
use super::hold::{Locked, hold_with};
use super::looks::share_again;
use super::step::{catch_up, keep_no_credit, resolve_later};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::LockedInvoice;
use crate::settlement::follow::period::{grace_end, renew, rhythm, take_up};
use crate::settlement::follow::subscription::{attempts, refresh, state_without_held, told};

pub async fn resolve(tx: &mut Tx, context: &Context<'_>, invoice: &str) -> Result<(), Fail> {
    let scope = &context.scope;
    let Some(charge) = subscriptions::charge_by_invoice(tx, scope, invoice).await? else {
        return Ok(());
    };
    let seen = subscriptions::find(tx, scope, &charge.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of a charge is missing"))?;
    let aside = aside_for(tx, &charge).await?;
    let more: Vec<String> = aside.iter().map(|entry| entry.top_up.clone()).collect();
    let mut locked = hold_with(tx, context, &seen, Some(invoice), more.clone()).await?;
    let charge = subscriptions::charge(tx, scope, &seen.id, charge.number).await?;
    let charge = charge.ok_or_else(|| Fail::broken("a charge vanished"))?;
    let aside = aside_for(tx, &charge).await?;
    if aside.iter().any(|entry| !more.contains(&entry.top_up)) {
        return Err(Fail::Again);
    }
    let is_current = locked.row.charge == Some(charge.number);
    if is_current && charge.was_paid && charge.state == ChargeState::Open {
        locked.give_time(tx, context, charge.attempt).await?;
        // Whoever looks next has its invoice.
        locked.is_stale = true;
    }
    let is_settled = is_current || charge.state == ChargeState::Paid;
    if let (Some(held), false) = (locked.other.take(), is_settled) {
        Box::pin(locked.decide(tx, context, charge, held, aside)).await?;
    }
    Box::pin(catch_up(tx, context, locked)).await.map(drop)
}

/// The credit reserved for an attempt, and that with which credit alone paid the same period.
async fn aside_for(tx: &mut Tx, charge: &ChargeRow) -> Result<Vec<CreditRow>, Fail> {
    let (scope, id) = (&charge.scope, &charge.subscription);
    let mut aside = credits::of_charge(tx, scope, id, charge.number).await?;
    let made = subscriptions::charges_of_period(tx, scope, id, charge.period).await?;
    if let Some(paid) = made.iter().find(|it| is_by_credit(it)) {
        aside.extend(credits::of_charge(tx, scope, id, paid.number).await?);
    }
    Ok(aside)
}

fn is_by_credit(charge: &ChargeRow) -> bool {
    charge.state == ChargeState::Paid && charge.invoice.is_none()
}

impl Locked {
    async fn decide(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        charge: ChargeRow,
        mut held: LockedInvoice,
        aside: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        let (aside, paid_with): (Vec<_>, Vec<_>) = aside
            .into_iter()
            .partition(|entry| entry.charge == charge.number);
        let cancelled_at = held.invoice.is.cancelled_at;
        let is_cancelled = cancelled_at.is_some();
        let is_again = self.may_count_again(&charge, &held);
        if is_again {
            held.invoice.is.cancelled_at = None;
        }
        // What came to a cancelled invoice was not judged, and is before it counts.
        let judged = held.judged(context);
        let state = by_now(context, &judged);
        let is_ended = self.row.cancelled_at.is_some();
        // Nothing that is sent to it counts, and it does not say so yet.
        let waits = |it: &InvoiceRow| it.status == InvoiceStatus::AwaitingPayment;
        let is_left = is_ended && held.invoice.stored().is_some_and(waits);
        if state == ChargeState::Closed && !is_partly(context, &judged) && !is_left {
            self.give_back(context, aside)?;
            return forget_spare(tx, charge).await;
        }
        let (scope, id) = (&context.scope, &self.row.id);
        let mut passed = subscriptions::passed_from(tx, scope, id, charge.period).await?;
        let other = passed.first().filter(|it| it.period == charge.period);
        let other = other.cloned();
        if is_ended && other.is_none() {
            self.give_back(context, aside)?;
            return self.leave(tx, context, charge, held).await;
        }
        let under_way = self.charge.as_ref().map(|other| other.period);
        let has_rival = under_way == Some(charge.period);
        // What came after its time was refundable, and may be promised back by now: then it cannot count after all.
        let is_spent = state == ChargeState::Closed && !is_again && is_promised(&held);
        // Nothing makes room for an attempt of which refunds have taken all.
        let has_something = has_something(context, &judged, cancelled_at);
        let counts = match &other {
            // Credit pays what nobody has paid: it makes room for who has paid, and pays the rest of it.
            Some(other) => {
                let is_part = is_partly(context, &judged) && !is_ended;
                let is_paid_to = state == ChargeState::Paid || (is_part && !is_spent);
                // Nobody is asked for the rest after the end: who has not paid all with the credit that there is has paid nothing.
                let is_enough =
                    !is_ended || self.is_enough(context, &held, (&aside, &paid_with))?;
                is_by_credit(other) && is_paid_to && has_something && is_enough
            }
            None if is_cancelled && has_rival && !has_something => false,
            None if state != ChargeState::Paid && self.waits_before(tx, &charge).await? => false,
            None => !is_spent && (!has_rival || self.makes_room(context, &charge, state)),
        };
        if !counts {
            self.give_back(context, aside)?;
            if !is_cancelled {
                held.invoice.is.cancelled_at = Some(held.moment(context));
                self.settle(tx, context, held).await?;
            }
            return spare(tx, charge, is_spent).await;
        }
        if let Some(other) = other {
            self.unpay(tx, context, other, paid_with).await?;
            let (scope, id) = (&context.scope, &self.row.id);
            passed = subscriptions::passed_from(tx, scope, id, charge.period).await?;
        } else if has_rival {
            match self.invoice.is_some() {
                true => self.withdraw_as(tx, context, ChargeState::Spare).await?,
                false => self.set_down(context.now)?,
            }
        }
        if state != ChargeState::Paid && charge.period > self.row.next_period {
            return self
                .wait_for_its_turn(tx, context, charge, held, aside)
                .await;
        }
        // Another period is being charged, which makes room: then this one is looked at again.
        if self.row.charge.is_some() && state != ChargeState::Paid {
            resolve_later(tx, context, charge.invoice.as_slice()).await?;
            return match is_again {
                true => spare(tx, charge, is_spent).await,
                false => Ok(()),
            };
        }
        self.give_back(context, aside)?;
        self.go_on(tx, context, charge, held, &passed).await
    }

    /// Whether an attempt may count again whose invoice was cancelled through no fault of its payer: it was paid to
    /// before that, by what is on the chain now and was not promised back.
    fn may_count_again(&self, charge: &ChargeRow, held: &LockedInvoice) -> bool {
        let Some(at) = held.invoice.is.cancelled_at else {
            return false;
        };
        let facts = held.facts();
        let mut in_time = facts
            .iter()
            .filter(|it| it.arrived_at() <= at && !it.is_held());
        charge.state.may_count_again()
            && self.row.cancelled_at.is_none()
            && in_time.any(|payment| !payment.is_gone())
            && !would_count_twice(held)
    }

    /// Whether the attempt under way makes room for another at the same period: if nobody has paid to it; and, unless
    /// it is under review, if the other is paid in full or was made before it.
    fn makes_room(&self, context: &Context<'_>, other: &ChargeRow, state: ChargeState) -> bool {
        let (Some(rival), Some(held)) = (&self.charge, &self.invoice) else {
            return true;
        };
        match held.assess(held.moment(context)).status {
            InvoiceStatus::AwaitingPayment => true,
            InvoiceStatus::UnderReview => false,
            _ => state == ChargeState::Paid || other.number < rival.number,
        }
    }

    /// Whether the credit that lowered an invoice is there again once this is returned.
    fn is_enough(
        &self,
        context: &Context<'_>,
        held: &LockedInvoice,
        (aside, paid_with): (&[CreditRow], &[CreditRow]),
    ) -> Result<bool, Fail> {
        let (wanted, currency) = (lowered(&held.invoice.is), held.invoice.is.currency);
        let returned = [aside, paid_with].concat();
        let purse = &self.purse;
        Ok(purse.find_after(context.now, &wanted, currency, &returned)? >= wanted)
    }

    /// Whether an earlier attempt at the same period waits for its rest: one invoice at a time asks for a period.
    async fn waits_before(&self, tx: &mut Tx, charge: &ChargeRow) -> Result<bool, Fail> {
        let (scope, id) = (&charge.scope, &charge.subscription);
        let made = subscriptions::charges_of_period(tx, scope, id, charge.period).await?;
        let is_closed = |it: &&ChargeRow| it.state == ChargeState::Closed;
        let before = made.iter().filter(|it| it.number < charge.number);
        let before = before.filter(is_closed);
        let ids = before.filter_map(|it| Some((&it.scope, it.invoice.as_deref()?)));
        let ids: Vec<(&Scope, &str)> = ids.collect();
        if ids.is_empty() {
            return Ok(false);
        }
        let found = till_store::invoices::find_many(tx, &ids).await?;
        Ok(found.iter().any(|it| {
            let is_partly = it.status == InvoiceStatus::PartiallyPaid && it.closed_at.is_none();
            is_partly && !asks_for_all(&it.options, it.status, it.summary.remaining.as_ref())
        }))
    }

    /// Returns the credit reserved for the attempt to the customer.
    fn give_back(&mut self, context: &Context<'_>, aside: Vec<CreditRow>) -> Result<(), Fail> {
        for entry in aside {
            self.purse.take_back(entry, context.now)?;
        }
        Ok(())
    }

    /// Handles an attempt at a later period while an earlier one is owed. An invoice that nobody has paid to is
    /// cancelled; any other waits, and takes the rest meanwhile.
    async fn wait_for_its_turn(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        mut held: LockedInvoice,
        aside: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        let at = held.moment(context);
        let assessed = held.assess(at);
        if assessed.status != InvoiceStatus::AwaitingPayment {
            // While it was cancelled, others may have had the credit that had lowered it.
            let has = worth(&aside);
            let has_risen = has < lowered(&held.invoice.is);
            if has_risen {
                ask_for_the_rest(&mut held.invoice.is, &has);
            }
            if has_risen || assessed.is_over {
                held.invoice.is.takes_until = Some(self.more_time(context, charge.attempt));
            }
            if held.invoice.is_changed() {
                self.settle(tx, context, held).await?;
                charge.state = ChargeState::Closed;
                tx.write(&subscriptions::charge_states([&charge])?).await?;
                self.look_at_rivals(tx, context, &charge).await?;
            }
            return Ok(());
        }
        self.give_back(context, aside)?;
        held.invoice.is.cancelled_at = Some(at);
        self.settle(tx, context, held).await?;
        charge.state = ChargeState::Withdrawn;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
        Ok(())
    }

    /// Has the attempt count: as the payment of its period, or as the attempt under way.
    async fn go_on(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        mut held: LockedInvoice,
        passed: &[ChargeRow],
    ) -> Result<(), Fail> {
        let has_risen = self.lower_again(context, &charge, &mut held.invoice.is)?;
        // Who had paid it learns only now that something is missing, however much of the time is left.
        if has_risen || charge.was_paid || by_now(context, &held) == ChargeState::Closed {
            held.invoice.is.takes_until = Some(self.more_time(context, charge.attempt));
        }
        let state = by_now(context, &held);
        let invoice = self.settle(tx, context, held).await?;
        if charge.period >= self.row.anchor_period {
            self.move_to_its_place(&mut charge);
        }
        charge.state = state;
        if charge.state == ChargeState::Paid {
            self.purse.use_up(charge.number);
            let at = invoice.paid_at.unwrap_or(context.now);
            renew(&mut self.row, &self.plan, &mut charge, at, passed);
            if let Some(under_way) = &self.charge {
                self.row.grace_end = Some(under_way.grace_end);
            }
            refresh(context, context.now, &mut self.row, &self.plan)?;
            let event = EventType::SubscriptionRenewed;
            let event = told(context, context.now, event, &self.row, Some(&invoice))?;
            let writes = outbox::writes_after(context, &invoice.id, &event)?;
            tx.write_all(&writes).await?;
        } else if self.row.charge.is_none() {
            let attempts = attempts(tx, &self.row, &charge).await?;
            take_up(&mut self.row, &charge, charge.state, attempts);
            self.charge = Some(charge.clone());
            // Whoever looks next has its invoice.
            self.is_stale = true;
        } else {
            charge.state = ChargeState::Closed;
        }
        tx.write(&subscriptions::charge_states([&charge])?).await?;
        match charge.state {
            ChargeState::Paid => self.look_at_others(tx, context, charge.period).await,
            // It asks for its rest again, for which there may be credit.
            _ => {
                self.look_at_rivals(tx, context, &charge).await?;
                share_again(tx, context, &self.row.customer).await
            }
        }
    }

    /// Moves the attempt to where its period is by now: a pause may have moved it.
    pub(super) fn move_to_its_place(&self, charge: &mut ChargeRow) {
        let (start, end) = rhythm(&self.row, &self.plan).period(charge.period);
        if start != charge.period_start {
            charge.grace_end = grace_end(&self.plan, start).max(start.saturating_add(LEAD_MS));
        }
        (charge.period_start, charge.period_end) = (start, end);
    }

    /// Reserves again the credit that had lowered the invoice. Returns whether some of it is gone; the invoice asks for
    /// that, then.
    fn lower_again(
        &mut self,
        context: &Context<'_>,
        charge: &ChargeRow,
        invoice: &mut InvoiceRow,
    ) -> Result<bool, Fail> {
        let wanted = lowered(invoice);
        let found = self.purse.find(context.now, &wanted, invoice.currency);
        self.purse.set_aside_again(context, charge, &found.from)?;
        let is_short = found.value < wanted;
        if is_short {
            ask_for_the_rest(invoice, &found.value);
        }
        Ok(is_short)
    }

    /// Closes an attempt's invoice after its subscription ended. If it was paid in full before, that attempt counts as
    /// the period's payment.
    async fn leave(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        mut held: LockedInvoice,
    ) -> Result<(), Fail> {
        let status = held.assess(held.moment(context)).status;
        if matches!(
            status,
            InvoiceStatus::AwaitingPayment | InvoiceStatus::Expired
        ) {
            held.invoice.is.cancelled_at = Some(held.moment(context));
        } else if !status.is_paid() {
            keep_no_credit(&mut held, &charge);
            held.stop_taking(context);
        } else {
            charge.state = ChargeState::Paid;
            tx.write(&subscriptions::charge_states([&charge])?).await?;
            // What lowered it pays its part again.
            share_again(tx, context, &self.row.customer).await?;
            return self.look_at_others(tx, context, charge.period).await;
        }
        self.settle(tx, context, held).await.map(drop)
    }

    /// Has the other attempts at a period resolved again. What was paid to them is not needed once the period is paid,
    /// and may be once it is not any more.
    pub(super) async fn look_at_others(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        period: i64,
    ) -> Result<(), Fail> {
        let (scope, id) = (&context.scope, &self.row.id);
        let made = subscriptions::charges_of_period(tx, scope, id, period).await?;
        let others = waiting(tx, context, &made).await?;
        resolve_later(tx, context, &others).await
    }

    /// Has those attempts resolved again that wait beside this one for the rest of the same period: the earliest of them goes on
    /// waiting.
    async fn look_at_rivals(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        charge: &ChargeRow,
    ) -> Result<(), Fail> {
        let (scope, id) = (&context.scope, &self.row.id);
        let mut made = subscriptions::charges_of_period(tx, scope, id, charge.period).await?;
        made.retain(|it| it.number > charge.number && it.state == ChargeState::Closed);
        let rivals = waiting(tx, context, &made).await?;
        resolve_later(tx, context, &rivals).await
    }

    /// Until when an invoice that gets its time again takes the rest: as long as the attempts that are left.
    pub(super) fn more_time(&self, context: &Context<'_>, attempt: u32) -> i64 {
        let left = i64::from(self.plan.max_attempts.saturating_sub(attempt)) + 1;
        let life_ms = context.engine.config.attempt_ms.saturating_mul(left);
        context.now.saturating_add(life_ms.max(LEAD_MS))
    }

    /// Gives the open invoice its time again, in which it takes the rest.
    pub(super) async fn give_time(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        attempt: u32,
    ) -> Result<(), Fail> {
        let Some(mut held) = self.invoice.take() else {
            return Ok(());
        };
        held.invoice.is.takes_until = Some(self.more_time(context, attempt));
        self.settle(tx, context, held).await.map(drop)
    }
}

/// The state of a charge by its invoice now, though the invoice's time may be over without that being written yet.
/// What an attempt that is not under way is: what is held pays nothing before somebody has decided about it.
fn by_now(context: &Context<'_>, held: &LockedInvoice) -> ChargeState {
    let at = held.moment(context);
    state_without_held(&held.assess(at), at)
}

fn is_partly(context: &Context<'_>, held: &LockedInvoice) -> bool {
    let assessed = held.assess(held.moment(context));
    assessed.status_without_held == InvoiceStatus::PartiallyPaid
}

/// Marks an attempt that was paid beside the counting one as `Spare`: it may count if the other is reversed. `Closed`
/// if what was paid to it was promised back.
async fn spare(tx: &mut Tx, mut charge: ChargeRow, is_spent: bool) -> Result<(), Fail> {
    charge.state = match is_spent {
        true => ChargeState::Closed,
        false => ChargeState::Spare,
    };
    tx.write(&subscriptions::charge_states([&charge])?).await?;
    Ok(())
}

/// Withdraws a spare attempt of which nothing is left that could count. Should a payment to it come back, it may count
/// again.
async fn forget_spare(tx: &mut Tx, mut charge: ChargeRow) -> Result<(), Fail> {
    if charge.state == ChargeState::Spare {
        charge.state = ChargeState::Withdrawn;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
    }
    Ok(())
}

/// Whether refunds have left something of what was paid to an invoice, before it was cancelled if it was.
fn has_something(context: &Context<'_>, held: &LockedInvoice, cancelled_at: Option<i64>) -> bool {
    let assessed = held.assess(held.moment(context));
    let options = &held.invoice.is.options;
    let facts = held.facts();
    let mut in_time = facts
        .iter()
        .filter(|it| cancelled_at.is_none_or(|at| it.arrived_at() <= at) && !it.is_held());
    in_time.any(|payment| !payment.is_gone() && payment.counted_units() > payment.taken.withdrawn)
        && !asks_for_all(options, assessed.status, assessed.remaining.as_ref())
}

/// Whether something is to be refunded, or was, that would pay the price all the same: what a refund took out of the price when it
/// was made does not.
fn would_count_twice(held: &LockedInvoice) -> bool {
    let mut payments = held.payments.iter().map(|payment| &payment.is);
    payments.any(|it| it.refunds_due.plus(it.refunds_sent) > it.withdrawn)
}

/// Whether something that was paid is to be refunded, or was.
fn is_promised(held: &LockedInvoice) -> bool {
    let mut payments = held.payments.iter().map(|payment| &payment.is);
    payments.any(|it| !it.refunds_due.is_zero() || !it.refunds_sent.is_zero())
}
