//! What an invoice asks for when the credit that lowered it is not what it was.

use till_core::asset::Registry;
use till_core::credit::{Drawn, Value};
use till_core::invoice::PayOption;
use till_core::money::Units;
use till_core::pricing::at_par;
use till_core::subscription::LEAD_MS;
use till_store::credits::CreditRow;
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;

use crate::base::Context;

/// What is left of the price after credit of this value is due, whatever was before.
pub fn ask_for_the_rest(invoice: &mut InvoiceRow, credit: &Value) {
    let rest = Drawn::leaving(credit, invoice.amount_minor, invoice.currency);
    let mut options = std::mem::take(&mut invoice.options);
    for option in &mut options {
        option.due = rest.due(whole(invoice, option));
    }
    invoice.options = options;
    let due_minor = rest.due_minor(invoice.amount_minor);
    invoice.due_minor = (!credit.is_zero()).then_some(due_minor);
}

/// By how much credit has lowered it.
pub fn lowered(invoice: &InvoiceRow) -> Value {
    let lowered = |option: &PayOption| {
        let whole = par(invoice, option)?;
        let credit = Units(whole.0.saturating_sub(option.due.0));
        Some(Value::of(credit, option.decimals))
    };
    let exact = invoice.options.iter().filter_map(lowered).max();
    exact.unwrap_or_else(|| {
        let minor = invoice.amount_minor.saturating_sub(invoice.to_pay_minor());
        Value::of(Units(minor.into()), invoice.currency.decimals())
    })
}

/// Whether it asks for what credit of this value leaves of the price, and not for more.
pub fn is_lowered_by(invoice: &InvoiceRow, credit: &Value) -> bool {
    let mut asks = invoice.clone();
    ask_for_the_rest(&mut asks, credit);
    lowered(&asks) <= lowered(invoice)
}

pub fn worth(entries: &[CreditRow]) -> Value {
    entries.iter().fold(Value::zero(), |sum, entry| {
        let asset = Registry::builtin().asset(&entry.asset);
        let decimals = asset.map_or(0, |asset| asset.decimals);
        sum.plus(&Value::of(entry.units, decimals))
    })
}

/// The whole price in an option's asset.
fn whole(invoice: &InvoiceRow, option: &PayOption) -> Units {
    par(invoice, option).unwrap_or_else(|| {
        let to_pay = u128::from(invoice.to_pay_minor().max(1));
        let whole = option.due.0.saturating_mul(invoice.amount_minor.into());
        Units(whole.div_ceil(to_pay))
    })
}

/// The same where the asset is a stablecoin, as in all that a subscription asks for.
fn par(invoice: &InvoiceRow, option: &PayOption) -> Option<Units> {
    let asset = Registry::builtin().asset(&option.asset)?;
    asset.currency.as_ref()?;
    at_par(invoice.amount_minor, invoice.currency, option.decimals)
}

/// It takes the rest for as long as there could be attempts from now on, and no shorter than it was promised.
pub fn give_more_time(
    context: &Context<'_>,
    plan: &PlanRow,
    attempt: u32,
    invoice: &mut InvoiceRow,
) {
    let left = i64::from(plan.max_attempts.saturating_sub(attempt)) + 1;
    let life_ms = context.engine.config.attempt_ms.saturating_mul(left);
    let until = context.now.saturating_add(life_ms.max(LEAD_MS));
    invoice.takes_until = invoice.takes_until.max(Some(until));
}
