//! Credit whose payment left the chain after it was set aside or used. A period that credit alone paid is unpaid again,
//! and an invoice that was lowered by it and not paid yet makes room for another. Where the payer has paid the rest, the
//! period stays paid: nobody is asked twice for the same invoice, and the books show who bears it.

use till_core::subscription::ChargeState;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::subscriptions::{self, ChargeRow};
use till_store::timers::TimerRow;

use super::hold::{Locked, hold_with};
use super::step::catch_up;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::follow::subscription::undo;

/// A payment of a top-up is gone: what it paid for is looked at, one charge in each unit of work.
pub async fn void_credit(tx: &mut Tx, context: &Context<'_>, payment: &str) -> Result<(), Fail> {
    let scope = &context.scope;
    let entries = credits::of_payment(tx, scope, payment).await?;
    let Some(first) = entries.first() else {
        return Ok(());
    };
    let seen = subscriptions::find(tx, scope, &first.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of credit is missing"))?;
    let charge = subscriptions::charge(tx, scope, &seen.id, first.charge).await?;
    let charge = charge.ok_or_else(|| Fail::broken("the charge of credit is missing"))?;
    let beside = credits::of_charge(tx, scope, &seen.id, first.charge).await?;
    let mut more: Vec<String> = beside.iter().map(|entry| entry.top_up.clone()).collect();
    more.extend(charge.invoice.clone());
    let mut locked = hold_with(tx, context, &seen, more).await?;
    let beside = credits::of_charge(tx, scope, &seen.id, first.charge).await?;
    if locked.purse.is_gone(payment)? {
        let (gone, beside): (Vec<_>, Vec<_>) =
            beside.into_iter().partition(|it| it.payment == payment);
        for entry in gone {
            locked.purse.take_back(entry, context.now)?;
        }
        locked.make_up(tx, context, charge, beside).await?;
        if entries.iter().any(|entry| entry.charge != first.charge) {
            let kind = TimerKind::VoidCredit;
            let again = TimerRow::new(scope, kind, payment, context.now);
            till_store::timers::set(tx, &[again]).await?;
        }
    }
    catch_up(tx, context, locked).await.map(drop)
}

impl Locked {
    /// What the charge had is not enough any more. `beside` is what is left of it.
    async fn make_up(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        beside: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        let is_current = self.row.charge == Some(charge.number);
        if charge.invoice.is_none() && charge.state == ChargeState::Paid {
            charge.state = undo(&mut self.row, &charge, ChargeState::Closed);
            tx.write(&subscriptions::charge_states([&charge])?).await?;
            if self.row.charge != Some(charge.number) {
                return Ok(());
            }
        } else if is_current && self.is_unpaid(context) {
            self.cancel_invoice(tx, context).await?;
        } else {
            return Ok(());
        }
        // Charged anew, from the first attempt: it is not the payer who did not pay.
        for entry in beside {
            self.purse.take_back(entry, context.now)?;
        }
        self.row.end_charge();
        Ok(())
    }
}
