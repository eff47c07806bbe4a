//! A subscription, and all that a change of it may touch, locked.
//!
//! Whoever changes a subscription together with invoices holds the invoices first, in the order of their ids, as
//! settling does: the other order would let two of them wait for each other.

use till_core::invoice::Status as InvoiceStatus;
use till_core::scope::Scope;
use till_core::subscription::ChargeState;
use till_core::timer::TimerKind;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};
use till_store::timers::Due;
use till_store::{Queries, Tx};

use super::purse::{Purse, top_ups};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, LockedInvoice};

pub(super) struct Locked {
    pub(super) row: SubscriptionRow,
    pub(super) plan: PlanRow,
    /// The attempt under way.
    pub(super) charge: Option<ChargeRow>,
    /// Its invoice, if that may still be paid.
    pub(super) invoice: Option<LockedInvoice>,
    /// The invoice of another attempt, if the caller named one.
    pub(super) other: Option<LockedInvoice>,
    pub(super) purse: Purse,
    /// Settling an invoice has changed which attempt is under way: what is held here does not fit any more, and another
    /// step is needed.
    pub(super) is_stale: bool,
}

impl Locked {
    /// Whether there is an open invoice that nothing was paid to.
    pub(super) fn is_unpaid(&self, context: &Context<'_>) -> bool {
        let open = self.invoice.as_ref();
        open.is_some_and(|held| {
            held.assess(held.moment(context)).status == InvoiceStatus::AwaitingPayment
        })
    }

    /// Whether there is an open invoice that nothing was paid to, or one that has expired so without that being written
    /// yet.
    pub(super) fn has_nothing(&self, context: &Context<'_>) -> bool {
        let open = self.invoice.as_ref();
        let is_over = |held: &LockedInvoice| {
            held.assess(held.moment(context)).status == InvoiceStatus::Expired
        };
        self.is_unpaid(context) || open.is_some_and(is_over)
    }

    /// Cancels the open invoice, and updates the subscription with it. What was paid to it can be refunded.
    pub(super) async fn cancel_invoice(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<(), Fail> {
        let Some(mut held) = self.invoice.take() else {
            return Ok(());
        };
        held.invoice.is.cancelled_at = Some(held.moment(context));
        self.settle(tx, context, held).await.map(drop)
    }

    /// Settles an invoice, which updates its subscription, and reads the subscription again.
    pub(super) async fn settle(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        held: LockedInvoice,
    ) -> Result<InvoiceRow, Fail> {
        subscriptions::update(tx, &self.row).await?;
        let settled = settlement::settle(tx, context, held, None).await?;
        let followed = subscriptions::lock(tx, &context.scope, &self.row.id).await?;
        let followed = followed.ok_or_else(|| Fail::broken("a subscription vanished"))?;
        self.is_stale |= followed.charge != self.row.charge;
        self.row = followed;
        Ok(settled)
    }

    /// Withdraws the attempt under way: cancels its invoice, and does not charge the period for now.
    pub(super) async fn withdraw(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<(), Fail> {
        self.withdraw_as(tx, context, ChargeState::Withdrawn).await
    }

    /// Spares another attempt than the one under way: cancels its invoice, which is held as `other`.
    pub(super) async fn spare_other(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
    ) -> Result<(), Fail> {
        let Some(mut held) = self.other.take() else {
            return Ok(());
        };
        held.invoice.is.cancelled_at = Some(held.moment(context));
        self.settle(tx, context, held).await?;
        charge.state = ChargeState::Spare;
        Ok(tx
            .write(&subscriptions::charge_states([&charge])?)
            .await
            .map(drop)?)
    }

    pub(super) async fn withdraw_as(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        state: ChargeState,
    ) -> Result<(), Fail> {
        self.cancel_invoice(tx, context).await?;
        if let Some(mut charge) = self.charge.clone() {
            charge.state = state;
            tx.write(&subscriptions::charge_states([&charge])?).await?;
        }
        self.set_down(context.now)
    }

    /// Stops charging the period for now, and returns the credit reserved for it. Its grace ends when it did.
    pub(super) fn set_down(&mut self, at: i64) -> Result<(), Fail> {
        let late_at = self.row.grace_end;
        self.end_charge(at)?;
        self.row.grace_end = late_at;
        Ok(())
    }

    /// Stops charging the period for now, and leaves its invoice waiting for its turn. Reserved credit stays with the
    /// invoice, which asks for the rest meanwhile.
    pub(super) fn put_by(&mut self) {
        let late_at = self.row.grace_end;
        if let Some(charge) = self.row.charge {
            self.purse.use_up(charge);
        }
        self.charge = None;
        self.row.end_charge();
        self.row.grace_end = late_at;
    }

    /// Ends the attempt under way, and returns the credit reserved for it.
    pub(super) fn end_charge(&mut self, at: i64) -> Result<(), Fail> {
        self.purse.give_back(at)?;
        self.charge = None;
        self.row.end_charge();
        Ok(())
    }
}

/// Locks a subscription and all that a change of it may touch. `seen` is its row as read before: if another attempt is
/// under way by now, the unit of work is run again.
pub(super) async fn hold(
    tx: &mut Tx,
    context: &Context<'_>,
    seen: &SubscriptionRow,
) -> Result<Locked, Fail> {
    hold_with(tx, context, seen, None, Vec::new()).await
}

/// Like [`hold`], with the invoice of another attempt, and with more top-ups than those of the customer's credit.
pub(super) async fn hold_with(
    tx: &mut Tx,
    context: &Context<'_>,
    seen: &SubscriptionRow,
    other: Option<&str>,
    more: Vec<String>,
) -> Result<Locked, Fail> {
    let scope = &context.scope;
    let open = seen.open_invoice();
    let mut ids = top_ups(tx, scope, &seen.customer, Some(seen)).await?;
    ids.extend([open, other].into_iter().flatten().map(str::to_owned));
    ids.extend(more);
    let mut held = hold_all(tx, scope, &ids).await?;
    let mut take = |id: &str| {
        let at = held.iter().position(|held| held.id() == id);
        at.map(|at| held.remove(at))
    };
    let invoice = open.and_then(&mut take);
    let other = other.and_then(&mut take);
    let row = subscriptions::lock(tx, scope, &seen.id).await?;
    let row = row.ok_or_else(|| Fail::broken("a subscription vanished"))?;
    if (row.charge, row.open_invoice()) != (seen.charge, open) {
        return Err(Fail::Again);
    }
    let plan = plan_of(tx, context, &row).await?;
    let charge = match row.charge {
        Some(number) => subscriptions::charge(tx, scope, &row.id, number).await?,
        None => None,
    };
    let purse = Purse::open(tx, scope, held, Some(&row)).await?;
    Ok(Locked {
        row,
        plan,
        charge,
        invoice,
        other,
        purse,
        is_stale: false,
    })
}

pub(super) async fn hold_all(
    tx: &mut Tx,
    scope: &Scope,
    ids: &[String],
) -> Result<Vec<LockedInvoice>, Fail> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<(&Scope, &str)> = ids.iter().map(|id| (scope, id.as_str())).collect();
    settlement::hold_many(tx, &ids).await
}

pub(super) async fn plan_of(
    q: &mut impl Queries,
    context: &Context<'_>,
    row: &SubscriptionRow,
) -> Result<PlanRow, Fail> {
    let plan = till_store::plans::find(q, &context.scope, &row.plan).await?;
    plan.ok_or_else(|| Fail::broken("a subscription's plan is missing"))
}

/// Locks all that these timers of a customer may touch, before the first of them is run: the invoices first, then the
/// subscriptions, as everywhere.
pub(super) async fn lock_all(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    due: &[Due],
) -> Result<(), Fail> {
    let scope = &context.scope;
    let mut invoices = till_store::invoices::unsettled_of(tx, scope, customer).await?;
    let resolved = due
        .iter()
        .filter(|timer| timer.kind == TimerKind::ResolveCharge.as_str());
    invoices.extend(resolved.map(|timer| timer.subject.clone()));
    let ids: Vec<(&Scope, &str)> = invoices.iter().map(|id| (scope, id.as_str())).collect();
    if !ids.is_empty() {
        till_store::invoices::lock_many(tx, &ids).await?;
    }
    Ok(subscriptions::lock_all_of(tx, scope, customer).await?)
}
