//! Amounts of journal lines, as numbers and as texts.

use till_core::asset::Registry;
use till_core::ledger::Group;
use till_core::money::{Units, show_signed};
use till_store::journal::PostedLine;

use crate::base::fail::Fail;

/// Whole tokens; an asset the registry has lost shows its base units.
pub(super) fn shown(asset: &str, units: i128) -> String {
    let asset = Registry::builtin().asset(asset);
    show_signed(units, asset.map_or(0, |asset| asset.decimals))
}

/// A line's groups and amount, in the domain's types.
pub(super) fn moved(line: &PostedLine) -> Result<(Group, Group, Units), Fail> {
    let wrong = || Fail::broken(format!("journal entry {} cannot be read", line.entry));
    let group = |text: &str| Group::parse(text).ok_or_else(wrong);
    let amount: u128 = line.amount.parse().map_err(|_| wrong())?;
    Ok((group(&line.debit)?, group(&line.credit)?, Units(amount)))
}

pub(super) fn wide(units: Units) -> i128 {
    i128::try_from(units.0).unwrap_or(i128::MAX)
}
