//! A subscription, and all that a change of it may touch, locked.
//!
//! Whoever changes a subscription together with invoices holds the invoices first, in the order of their ids, as
//! settling does: the other order would let two of them wait for each other.

use till_core::invoice::Status as InvoiceStatus;
use till_core::scope::Scope;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, SubscriptionRow};
use till_store::{Queries, Tx};

use super::purse::{Purse, top_ups};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, Held};

pub(super) struct Locked {
    pub(super) row: SubscriptionRow,
    pub(super) plan: PlanRow,
    /// The invoice that may still be paid.
    pub(super) invoice: Option<Held>,
    pub(super) purse: Purse,
}

impl Locked {
    /// Whether there is an open invoice that nothing was paid to.
    pub(super) fn is_unpaid(&self, context: &Context<'_>) -> bool {
        let open = self.invoice.as_ref();
        open.is_some_and(|held| {
            held.assess(held.moment(context)).status == InvoiceStatus::AwaitingPayment
        })
    }

    /// Cancels the open invoice; its subscription follows.
    pub(super) async fn cancel_invoice(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<(), Fail> {
        let Some(mut held) = self.invoice.take() else {
            return Ok(());
        };
        held.invoice.is.cancelled_at = Some(held.moment(context));
        settlement::settle(tx, context, held, None).await?;
        let followed = subscriptions::lock(tx, &context.scope, &self.row.id).await?;
        self.row = followed.ok_or_else(|| Fail::broken("a subscription vanished"))?;
        Ok(())
    }
}

/// `seen` is the subscription as it was before anything was locked.
pub(super) async fn hold(
    tx: &mut Tx,
    context: &Context<'_>,
    seen: &SubscriptionRow,
) -> Result<Locked, Fail> {
    hold_with(tx, context, seen, Vec::new()).await
}

/// The same, with more invoices: top-ups beside those of the customer's credit.
pub(super) async fn hold_with(
    tx: &mut Tx,
    context: &Context<'_>,
    seen: &SubscriptionRow,
    more: Vec<String>,
) -> Result<Locked, Fail> {
    let scope = &context.scope;
    let mut ids = top_ups(tx, scope, &seen.customer, Some(seen)).await?;
    ids.extend(seen.open_invoice().map(str::to_owned));
    ids.extend(more);
    let mut held = hold_all(tx, scope, &ids).await?;
    let open = seen.open_invoice();
    let at = open.and_then(|open| held.iter().position(|held| held.id() == open));
    let invoice = at.map(|at| held.remove(at));
    let row = subscriptions::lock(tx, scope, &seen.id).await?;
    let row = row.ok_or_else(|| Fail::broken("a subscription vanished"))?;
    if (row.charge, row.open_invoice()) != (seen.charge, open) {
        return Err(Fail::Again);
    }
    let plan = plan_of(tx, context, &row).await?;
    let purse = Purse::open(tx, scope, held, Some(&row)).await?;
    Ok(Locked {
        row,
        plan,
        invoice,
        purse,
    })
}

pub(super) async fn hold_all(
    tx: &mut Tx,
    scope: &Scope,
    ids: &[String],
) -> Result<Vec<Held>, Fail> {
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
