//! A renewal's invoice between two moments: a top-up that lowered it has left the chain, and nobody has looked at it since.

use till_core::invoice::Status as InvoiceStatus;
use till_store::{Tx, credits, subscriptions};

use super::due::{ask_for_the_rest, give_more_time, lowered, worth};
use super::facts::LockedInvoice;
use crate::base::Context;
use crate::base::fail::Fail;

/// Whoever pays the invoice now pays towards what the credit that is on the chain leaves of the price, and not towards what it
/// asked for before. Sharing the credit anew is left to who looks next.
pub async fn leave_out_lost_credit(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &mut LockedInvoice,
) -> Result<(), Fail> {
    let (scope, invoice) = (&context.scope, &mut held.invoice.is);
    let is_over = matches!(
        invoice.status,
        InvoiceStatus::Cancelled | InvoiceStatus::Expired
    );
    let (Some(id), Some(_)) = (&invoice.subscription, invoice.due_minor) else {
        return Ok(());
    };
    if is_over || held.is_of_ended {
        return Ok(());
    }
    let Some(charge) = subscriptions::charge_by_invoice(tx, scope, &invoice.id).await? else {
        return Ok(());
    };
    // What is held or was rejected stays taken.
    let lost = credits::lost_of_charge(tx, scope, id, charge.number).await?;
    if lost.is_empty() {
        return Ok(());
    }
    let mut there = credits::of_charge(tx, scope, id, charge.number).await?;
    there.retain(|entry| !lost.contains(entry));
    let has = worth(&there);
    if has >= lowered(invoice) {
        return Ok(());
    }
    let row = subscriptions::find(tx, scope, id).await?;
    let row = row.ok_or_else(|| Fail::broken("the subscription of an invoice is missing"))?;
    let plan = till_store::plans::find(tx, scope, &row.plan).await?;
    let plan = plan.ok_or_else(|| Fail::broken("a subscription's plan is missing"))?;
    give_more_time(context, &plan, charge.attempt, invoice);
    ask_for_the_rest(invoice, &has);
    Ok(())
}
