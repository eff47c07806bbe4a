//! Invoices that are made one by one, in the unit of work that has a reason for them: a payment link's, a customer's.

use till_core::credit::Drawn;
use till_core::id::IdKind;
use till_core::link::Unit;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::leases::LeaseRow;
use till_store::links::LinkRow;

use super::deposits;
use super::rows::{created, expiry, leases_of, options_with, row_of};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::quote::{NewInvoice, quote};
use crate::outbox;

/// An invoice of a payment link: no address yet, and a time by which a network must be picked.
pub async fn create_link_invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewInvoice,
    link: &LinkRow,
) -> Result<InvoiceRow, Fail> {
    let engine = context.engine;
    let quote = quote(context, request)?;
    let id = engine.ids.make(IdKind::Invoice);
    let mut row = row_of(context, request, &quote, &id, quote.options.clone());
    let select_by = context.now.saturating_add(engine.config.select_ms);
    row.select_by = Some(select_by.min(row.expires_at));
    row.payment_link = Some(link.id.clone());
    row.link_unit = Some(Unit::Reserved);
    // Once it gives its unit to others it takes nothing more: one unit is never sold twice.
    let is_limited = link.quantity_limit.is_some();
    row.takes_until = is_limited.then(|| row.terms().closes_at());
    write_one(tx, context, row, &[]).await
}

/// Whom an invoice is for, and until when it can be paid if not for the time that any other can.
#[derive(Clone, Copy, Debug)]
pub struct Billed<'a> {
    pub customer: &'a str,
    pub subscription: Option<&'a str>,
    pub expires_at: Option<i64>,
    /// What was paid in part takes the rest until then, if not for good.
    pub takes_until: Option<i64>,
    /// Prepaid credit that pays a part of it.
    pub credit: Option<&'a Drawn>,
}

/// An invoice of a customer, made with its addresses in the unit of work that has a reason for it.
pub async fn create_billed(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewInvoice,
    billed: Billed<'_>,
) -> Result<InvoiceRow, Fail> {
    let mut quote = quote(context, request)?;
    if let Some(credit) = billed.credit {
        for option in &mut quote.options {
            option.due = credit.due(option.due);
        }
    }
    let deposits = deposits::allocate_one(tx, context, &quote).await?;
    let id = context.engine.ids.make(IdKind::Invoice);
    let options = options_with(&quote, &deposits)?;
    let mut row = row_of(context, request, &quote, &id, options);
    row.customer = Some(billed.customer.to_owned());
    row.subscription = billed.subscription.map(str::to_owned);
    row.expires_at = billed.expires_at.unwrap_or(row.expires_at);
    row.takes_until = billed.takes_until;
    let credit = billed.credit.filter(|credit| !credit.from.is_empty());
    row.due_minor = credit.map(|credit| credit.due_minor(row.amount_minor));
    let leases = leases_of(context, &id, &deposits)?;
    write_one(tx, context, row, &leases).await
}

async fn write_one(
    tx: &mut Tx,
    context: &Context<'_>,
    row: InvoiceRow,
    leases: &[LeaseRow],
) -> Result<InvoiceRow, Fail> {
    let object = crate::settlement::render(context, &row)?;
    let event = created(context, &row.id, &object);
    let mut writes = vec![
        till_store::invoices::rows(std::slice::from_ref(&row)),
        till_store::leases::rows(leases)?,
        till_store::timers::rows(&[expiry(&row)]),
    ];
    writes.extend(outbox::writes(context, &[event])?);
    tx.write_all(&till_store::merged(writes)).await?;
    context.effects.stream(&row.id);
    Ok(row)
}
