//! Charging a period: prepaid credit first, an invoice for the rest, who is told of it, and until when it stays open.

use till_core::calendar::{self, Unit};
use till_core::credit::Drawn;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::money::{Units, show};
use till_core::subscription::{ChargeState, LEAD_MS, Rhythm};
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};

use super::hold::Locked;
use super::remind::remind;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::create::{Billed, create_billed};
use crate::invoices::quote::NewInvoice;
use crate::outbox;
use crate::settlement::follow::subscription::{refresh, renew, told};

/// Whether the payer is waiting for the invoice, or is to be reminded of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    Asked,
    Due,
}

pub(super) fn rhythm(row: &SubscriptionRow, plan: &PlanRow) -> Rhythm {
    Rhythm {
        unit: plan.interval_unit,
        count: plan.interval_count,
        zone: plan.billing_timezone.clone(),
        anchor: row.anchor,
        first: row.anchor_period,
    }
}

/// Charges the next period, by its first attempt or a further one. What an earlier attempt had set aside is drawn again.
pub(super) async fn charge(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &mut Locked,
    occasion: Occasion,
) -> Result<(), Fail> {
    let (plan, now) = (&locked.plan, context.now);
    let (period_start, period_end) = rhythm(&locked.row, plan).period(locked.row.next_period);
    let expires_at = open_until(context, &locked.row, plan, period_start);
    locked.purse.give_back(now)?;
    let drawn = locked.purse.draw(now, plan.amount_minor, plan.currency);
    let invoice = match drawn.pays_all() {
        true => None,
        false => Some(invoice(tx, context, locked, expires_at, &drawn).await?),
    };
    let row = &mut locked.row;
    row.charges += 1;
    row.attempt += 1;
    let charge = ChargeRow {
        scope: context.scope.clone(),
        subscription: row.id.clone(),
        number: row.charges,
        invoice: invoice.as_ref().map(|invoice| invoice.id.clone()),
        period: row.next_period,
        attempt: row.attempt,
        state: match invoice {
            Some(_) => ChargeState::Open,
            None => ChargeState::Paid,
        },
        period_start,
        period_end,
        // Later attempts leave the end of the grace period where the first one put it.
        grace_end: row.grace_end.unwrap_or(expires_at),
        created_at: now,
    };
    subscriptions::insert_charge(tx, &charge).await?;
    locked.purse.set_aside(context, row, &drawn)?;
    let event = match &invoice {
        Some(invoice) => {
            await_payment(row, &charge, invoice);
            EventType::SubscriptionInvoiceCreated
        }
        None => {
            locked.purse.use_up();
            renew(row, &charge);
            EventType::SubscriptionRenewed
        }
    };
    let mut events: Vec<_> = refresh(context, now, row, plan)?.into_iter().collect();
    events.push(told(context, now, event, row, invoice.as_ref())?);
    outbox::record(tx, context, &events).await?;
    match invoice {
        Some(invoice) if occasion == Occasion::Due => {
            remind(tx, context, &locked.row.customer, &invoice).await
        }
        _ => Ok(()),
    }
}

fn await_payment(row: &mut SubscriptionRow, charge: &ChargeRow, invoice: &InvoiceRow) {
    row.charge = Some(charge.number);
    row.charge_invoice = Some(invoice.id.clone());
    row.latest_invoice = Some(invoice.id.clone());
    (row.grace_end, row.charge_closed) = (Some(charge.grace_end), false);
}

async fn invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &Locked,
    expires_at: i64,
    drawn: &Drawn,
) -> Result<InvoiceRow, Fail> {
    let (row, plan) = (&locked.row, &locked.plan);
    let request = NewInvoice {
        amount: show(Units(plan.amount_minor.into()), plan.currency.decimals()),
        currency: plan.currency.code().to_owned(),
        assets: plan.assets.clone(),
        description: Some(plan.name.clone()),
        ..NewInvoice::default()
    };
    let billed = Billed {
        customer: &row.customer,
        subscription: Some(&row.id),
        expires_at: Some(expires_at),
        credit: Some(drawn),
    };
    create_billed(tx, context, &request, billed).await
}

/// The first attempt is open until the grace period ends, a later one for some days; none for less than the time a
/// renewal has at least, however late the server is.
fn open_until(context: &Context<'_>, row: &SubscriptionRow, plan: &PlanRow, start: i64) -> i64 {
    let least = context.now.saturating_add(LEAD_MS);
    let until = match row.grace_end {
        None => {
            let zone = &plan.billing_timezone;
            calendar::after(start, zone, Unit::Day, plan.grace_days.into())
        }
        Some(_) => context.now.saturating_add(context.engine.config.attempt_ms),
    };
    until.max(least)
}

/// What could not be invoiced, in the words of whoever asked for it.
pub(super) fn invoice_failed(fail: Fail) -> Fail {
    match fail {
        Fail::Refused(refusal) => {
            Refusal::new(Code::SubscriptionInvoiceFailed, refusal.message).into()
        }
        other => other,
    }
}
