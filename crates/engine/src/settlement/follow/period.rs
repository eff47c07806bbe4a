//! What being paid, and being paid no more, does to a subscription: its first unpaid period is what it is charged for.

use till_core::subscription::ChargeState;
use till_store::subscriptions::{ChargeRow, SubscriptionRow};

/// A period is paid. `paid` are the attempts that paid for it and later ones, by period: where an earlier one was owed,
/// those after it are paid already.
pub fn renew(row: &mut SubscriptionRow, charge: &ChargeRow, paid: &[ChargeRow]) {
    if row.charge.is_none_or(|current| current == charge.number) {
        row.end_charge();
    }
    // An earlier one is still owed, or billing has started anew since. Something is paid all the same.
    if charge.period != row.next_period {
        row.paid_until = row.paid_until.or(Some(row.created_at));
        return;
    }
    let mut last = charge;
    for later in paid {
        if later.period == last.period + 1 {
            last = later;
        }
    }
    row.next_period = last.period + 1;
    row.current_period_start = last.period_start;
    row.current_period_end = last.period_end;
    row.paid_until = Some(last.period_end);
}

/// What paid a period is gone: it is owed again, before any later one. `paid` are the attempts that paid for the period
/// before it and for later ones. Says whether it can be charged at once, or another period is being charged still.
pub fn undo(row: &mut SubscriptionRow, charge: &ChargeRow, paid: &[ChargeRow]) -> bool {
    if row.cancelled_at.is_some() || charge.period > row.next_period {
        return false;
    }
    row.next_period = charge.period;
    // What came before was paid, or the trial; before the very first there was nothing, unless a later one is paid.
    let has_later = paid.iter().any(|paid| paid.period > charge.period);
    let is_first = charge.period == 0 && row.trial_end.is_none();
    row.paid_until = (!is_first || has_later).then_some(charge.period_start);
    let before = paid.iter().find(|paid| paid.period + 1 == charge.period);
    let before = match (before, row.trial_end) {
        (Some(before), _) => Some((before.period_start, before.period_end)),
        (None, Some(trial_end)) if charge.period == 0 => Some((row.created_at, trial_end)),
        (None, _) => None,
    };
    if let (Some(had), false) = (before, has_later) {
        (row.current_period_start, row.current_period_end) = had;
    }
    if charge.invoice.is_some() {
        let late_at = row.grace_end.unwrap_or(charge.grace_end);
        row.grace_end = Some(late_at.min(charge.grace_end));
    }
    row.charge.is_none()
}

/// An attempt that was made before is the one under way again. `attempts` is how many its period has had.
pub fn take_up(row: &mut SubscriptionRow, charge: &ChargeRow, state: ChargeState, attempts: u32) {
    (row.charge, row.charge_invoice) = (Some(charge.number), charge.invoice.clone());
    row.attempt = attempts;
    row.grace_end = Some(charge.grace_end);
    row.charge_closed = state == ChargeState::Closed;
}
