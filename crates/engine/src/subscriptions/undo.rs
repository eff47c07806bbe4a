//! Credit whose payment left the chain after it was set aside or used. What it paid of a price is due again: a period that
//! credit alone paid is charged anew, an invoice that nobody has paid to makes room for another, and one that somebody has
//! asks for what is missing.

use till_core::invoice::Status as InvoiceStatus;
use till_core::subscription::ChargeState;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::subscriptions::{self, ChargeRow};
use till_store::timers::TimerRow;

use super::due::{ask_for_the_rest, worth};
use super::hold::{Locked, hold_with};
use super::step::catch_up;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::follow::period::undo;

/// A payment of a top-up is gone: what it paid for is looked at, one charge in each unit of work.
pub async fn void_credit(tx: &mut Tx, context: &Context<'_>, payment: &str) -> Result<(), Fail> {
    let scope = &context.scope;
    let entries = credits::of_payment(tx, scope, payment).await?;
    let Some(first) = entries.first() else {
        return Ok(());
    };
    let seen = subscriptions::find(tx, scope, &first.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of credit is missing"))?;
    let charge = charge_of(tx, first).await?;
    let beside = credits::of_charge(tx, scope, &seen.id, first.charge).await?;
    let more = beside.iter().map(|entry| entry.top_up.clone()).collect();
    let mut locked = hold_with(tx, context, &seen, charge.invoice.as_deref(), more).await?;
    let charge = charge_of(tx, first).await?;
    let beside = credits::of_charge(tx, scope, &seen.id, first.charge).await?;
    if locked.purse.is_gone(payment)? {
        let (gone, beside): (Vec<_>, Vec<_>) =
            beside.into_iter().partition(|it| it.payment == payment);
        for entry in gone {
            locked.purse.take_back(entry, context.now)?;
        }
        locked.make_up(tx, context, charge, beside).await?;
        if entries
            .iter()
            .any(|entry| entry.charge != first.charge || entry.subscription != first.subscription)
        {
            let kind = TimerKind::VoidCredit;
            let again = TimerRow::new(scope, kind, payment, context.now);
            till_store::timers::set(tx, &[again]).await?;
        }
    }
    catch_up(tx, context, locked).await.map(drop)
}

async fn charge_of(tx: &mut Tx, entry: &CreditRow) -> Result<ChargeRow, Fail> {
    let (scope, id) = (&entry.scope, &entry.subscription);
    let charge = subscriptions::charge(tx, scope, id, entry.charge).await?;
    charge.ok_or_else(|| Fail::broken("the charge of credit is missing"))
}

impl Locked {
    /// A period that credit alone paid is unpaid, and what it took is the customer's again.
    pub(super) async fn unpay(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        taken: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        let (scope, id) = (&context.scope, &self.row.id);
        let first = charge.period.min(self.row.next_period);
        let mut passed = subscriptions::passed_from(tx, scope, id, first - 1).await?;
        passed.retain(|passed| passed.number != charge.number);
        undo(&mut self.row, &self.plan, &charge, &passed);
        charge.state = ChargeState::Closed;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
        for entry in taken {
            self.purse.take_back(entry, context.now)?;
        }
        Ok(())
    }

    /// What the charge had is not enough any more. `beside` is what is left of it.
    async fn make_up(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        charge: ChargeRow,
        beside: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        // Nothing is charged any more: the books show who bears it.
        if self.row.cancelled_at.is_some() {
            return Ok(());
        }
        let is_current = self.row.charge == Some(charge.number);
        if charge.invoice.is_none() {
            return self.unpay(tx, context, charge, beside).await;
        }
        if is_current && self.is_unpaid(context) {
            // Charged anew, by the same attempt: it is not the payer who did not pay.
            return self.withdraw(tx, context).await;
        }
        let held = match is_current {
            true => self.invoice.take().or_else(|| self.other.take()),
            false => self.other.take(),
        };
        let is_over = |status| matches!(status, InvoiceStatus::Cancelled | InvoiceStatus::Expired);
        match held {
            Some(mut held) if !is_over(held.invoice.is.status) => {
                ask_for_the_rest(&mut held.invoice.is, &worth(&beside));
                self.settle(tx, context, held).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}
