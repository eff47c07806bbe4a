//! What an invoice asks for once the credit that lowers it has changed.

use till_core::asset::Registry;
use till_core::credit::{Drawn, Value};
use till_core::invoice::{PayOption, Status};
use till_core::money::Units;
use till_core::pricing::at_par;
use till_store::credits::CreditRow;
use till_store::invoices::InvoiceRow;

/// Has an invoice ask for its price less credit of this value, whatever it asked for before.
pub(super) fn ask_for_the_rest(invoice: &mut InvoiceRow, credit: &Value) {
    let rest = Drawn::leaving(credit, invoice.amount_minor, invoice.currency);
    let mut options = std::mem::take(&mut invoice.options);
    for option in &mut options {
        option.due = rest.due(whole(invoice, option));
    }
    invoice.options = options;
    let due_minor = rest.due_minor(invoice.amount_minor);
    invoice.due_minor = (!credit.is_zero()).then_some(due_minor);
}

/// By how much credit has lowered an invoice.
pub(super) fn lowered(invoice: &InvoiceRow) -> Value {
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

/// Whether an invoice that was paid in part asks for as much as if nothing had been paid: refunds have taken all of it.
pub(super) fn asks_for_all(
    options: &[PayOption],
    status: Status,
    remaining: Option<&(String, Units)>,
) -> bool {
    let asks = |asset: &str, units: Units| {
        let mut options = options.iter();
        options.any(|option| option.asset == *asset && units >= option.due)
    };
    status == Status::PartiallyPaid && remaining.is_some_and(|(asset, units)| asks(asset, *units))
}

pub(super) fn worth(entries: &[CreditRow]) -> Value {
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

/// The whole price at par. None unless the asset is a stablecoin, as in all that a subscription asks for.
fn par(invoice: &InvoiceRow, option: &PayOption) -> Option<Units> {
    let asset = Registry::builtin().asset(&option.asset)?;
    asset.currency.as_ref()?;
    at_par(invoice.amount_minor, invoice.currency, option.decimals)
}
